"""How long calls wait for a place, and what becomes of a request for which there is none: no socket, and time that a test moves."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from refdesk import errors
from refdesk.gateway.admission import Admission
from refdesk.gateway.door import MOST_READ_BYTES, Door

pytestmark = pytest.mark.anyio
WAIT_SECONDS = 5.0
CALL = b'{"jsonrpc": "2.0", "id": "seven", "method": "ping"}'


class Clock:
    """Time that only a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Caller:
    """One call that runs until it is told to end."""

    def __init__(self, admission: Admission) -> None:
        self.is_running = False
        self._end = asyncio.Event()
        self.task = asyncio.create_task(self._run(admission))

    async def _run(self, admission: Admission) -> None:
        async with admission:
            self.is_running = True
            await self._end.wait()

    async def end(self) -> None:
        self._end.set()
        async with asyncio.timeout(WAIT_SECONDS):
            await self.task
        await settle()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_call_that_would_wait_too_long_is_refused_when_it_comes() -> None:
    clock = Clock()
    admission = Admission(running=1, waiting=100, wait_seconds=10, clock=clock)
    callers = [Caller(admission) for _ in range(4)]
    await settle()
    await callers[0].end()
    clock.now += 4  # from one place that came free to the next: so long does each that waits make the next one wait
    await callers[1].end()
    assert [caller.is_running for caller in callers] == [True, True, True, False]
    admission.refuse_when_full()  # the second that waits: 8 s
    callers.append(Caller(admission))
    await settle()
    with pytest.raises(errors.ResourceExhausted) as refusal:
        admission.refuse_when_full()  # the third: 12 s
    assert refusal.value.retry_after_seconds == 8
    for caller in callers[2:]:
        await caller.end()
    admission.refuse_when_full()


async def test_time_in_which_nobody_waits_tells_nothing_of_how_fast_places_come_free() -> None:
    clock = Clock()
    admission = Admission(running=1, waiting=100, wait_seconds=10, clock=clock)
    for _ in range(3):
        await Caller(admission).end()
        clock.now += 1000
    callers = [Caller(admission) for _ in range(50)]
    await settle()
    admission.refuse_when_full()
    for caller in callers:
        await caller.end()


async def test_a_call_for_which_no_place_comes_free_in_time_is_refused_and_takes_none_along() -> None:
    admission = Admission(running=1, waiting=2, wait_seconds=0.01)
    first, second = Caller(admission), Caller(admission)
    async with asyncio.timeout(WAIT_SECONDS):
        with pytest.raises(errors.ResourceExhausted):
            await second.task
    await first.end()
    third = Caller(admission)
    await settle()
    assert third.is_running
    await third.end()


async def test_a_call_that_gives_up_in_the_moment_in_which_a_place_comes_free_is_passed_over() -> None:
    admission = Admission(running=1, waiting=2, wait_seconds=WAIT_SECONDS)
    async with admission:
        gives_up, next_one = Caller(admission), Caller(admission)
        await settle()
        gives_up.task.cancel()  # it hears of it only after the place came free
    await settle()
    assert gives_up.task.cancelled()
    assert next_one.is_running
    await next_one.end()


class Conversation:
    """An ASGI request: what of its body comes, and what was answered."""

    def __init__(self, *parts: bytes, method: str = "POST", path: str = "/mcp", ends: bool = True) -> None:
        self.scope = {"type": "http", "method": method, "path": path, "headers": []}
        self._parts = list(parts)
        self._ends = ends
        self.sent: list[Any] = []

    async def receive(self) -> Any:
        if not self._parts:
            await asyncio.Event().wait()
        body = self._parts.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(self._parts) or not self._ends}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def error(self) -> Any:
        """The JSON-RPC error, and the id that it is for."""
        answer = json.loads(self.sent[1]["body"])
        return answer["error"]["message"], answer["id"]


async def pass_door(conversation: Conversation, *, full: bool = True) -> bool:
    """Whether the app behind the door heard of it."""
    heard: list[Any] = []

    def refuse_when_full() -> None:
        if full:
            raise errors.ResourceExhausted("too many calls are under way", retry_after_seconds=2.5)

    async def app(scope: Any, _receive: Any, _send: Any) -> None:
        heard.append(scope)

    async with asyncio.timeout(WAIT_SECONDS):
        await Door(app, refuse_when_full)(conversation.scope, conversation.receive, conversation.send)
    return bool(heard)


@pytest.mark.parametrize("path", ["/mcp", "/mcp/handbook/docs/"])
async def test_a_request_without_room_is_refused_before_anything_reads_it(path: str) -> None:
    conversation = Conversation(CALL, path=path)
    assert not await pass_door(conversation)
    start = conversation.sent[0]
    assert start["status"] == 429
    assert dict(start["headers"]) == {
        b"content-type": b"application/json",
        b"content-length": str(len(conversation.sent[1]["body"])).encode(),
        b"retry-after": b"3",
    }
    assert conversation.error == ("busy, retry in 3 s: too many calls are under way", "seven")


@pytest.mark.parametrize(
    "conversation",
    [
        Conversation(),
        Conversation(CALL[:10], ends=False),
        Conversation(CALL[:10], CALL[10:]),
        Conversation(b"{" + b" " * MOST_READ_BYTES + CALL[1:]),
        Conversation(b"no JSON"),
        Conversation(b"[]"),
        Conversation(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'),
    ],
    ids=["no body yet", "half a body", "a body in parts", "large", "no JSON", "no object", "a notification"],
)
async def test_a_refusal_waits_for_no_body_and_names_no_id_then(conversation: Conversation) -> None:
    assert not await pass_door(conversation)
    assert conversation.error == ("busy, retry in 3 s: too many calls are under way", None)


@pytest.mark.parametrize(
    "conversation",
    [
        Conversation(path="/readyz", method="GET"),
        Conversation(method="GET"),
        Conversation(CALL, path="/api/projects/p/events"),
    ],
    ids=["health", "no call", "a push"],
)
async def test_what_is_no_call_passes_a_full_desk(conversation: Conversation) -> None:
    assert await pass_door(conversation)


async def test_a_call_passes_where_there_is_room() -> None:
    conversation = Conversation(CALL)
    assert await pass_door(conversation, full=False)
    assert conversation.sent == []
