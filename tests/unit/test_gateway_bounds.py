"""What the gateway bounds and refuses before any work is done: calls, bodies, hosts, origins, addresses to listen on."""

from __future__ import annotations

import asyncio
import contextlib
import json

import pytest

from refdesk import errors
from refdesk.gateway.admission import Admission
from refdesk.gateway.catalog import Memory
from refdesk.gateway.failures import explain, problem_body, problem_headers
from refdesk.gateway.messages import Flaw, read_message
from refdesk.gateway.origins import Origins
from refdesk.gateway.settings import GatewaySettings

WAIT_SECONDS = 5.0


async def held(admission: Admission, release: asyncio.Event, order: list[int], number: int) -> None:
    async with admission:
        order.append(number)
        await release.wait()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.anyio
async def test_calls_above_the_limit_wait_in_order_and_those_above_the_queue_are_refused_at_once() -> None:
    admission, release, order = Admission(running=1, waiting=2), asyncio.Event(), list[int]()
    tasks = [asyncio.create_task(held(admission, release, order, number)) for number in range(3)]
    await settle()
    assert order == [0]
    with pytest.raises(errors.ResourceExhausted) as refusal:
        async with admission:
            pass
    assert refusal.value.retry_after_seconds == 1
    release.set()
    async with asyncio.timeout(WAIT_SECONDS):
        await asyncio.gather(*tasks)
    assert order == [0, 1, 2]


@pytest.mark.anyio
async def test_a_caller_that_gives_up_waiting_takes_no_place_along() -> None:
    admission, release, order = Admission(running=1, waiting=2), asyncio.Event(), list[int]()
    first = asyncio.create_task(held(admission, release, order, 0))
    await settle()
    second = asyncio.create_task(held(admission, release, order, 1))
    third = asyncio.create_task(held(admission, release, order, 2))
    await settle()
    second.cancel()
    release.set()
    async with asyncio.timeout(WAIT_SECONDS):
        await asyncio.gather(first, third)
        async with admission:
            order.append(3)
    assert order == [0, 2, 3]


@pytest.mark.anyio
async def test_a_place_given_to_a_caller_that_is_gone_goes_to_the_next() -> None:
    admission, release, order = Admission(running=1, waiting=2), asyncio.Event(), list[int]()
    async with admission:
        second = asyncio.create_task(held(admission, release, order, 1))
        await settle()
    second.cancel()  # its turn has come, and it is cancelled before it runs
    with contextlib.suppress(asyncio.CancelledError):
        await second
    async with asyncio.timeout(WAIT_SECONDS), admission:
        order.append(2)
    assert order[-1] == 2


@pytest.mark.anyio
async def test_callers_side_by_side_share_one_reading() -> None:
    memory, readings, go = Memory[int](60), list[int](), asyncio.Event()

    async def read() -> int:
        readings.append(1)
        await go.wait()
        return 7

    tasks = [asyncio.create_task(memory.get("a", read)) for _ in range(3)]
    await settle()
    tasks[0].cancel()
    go.set()
    async with asyncio.timeout(WAIT_SECONDS):
        assert await asyncio.gather(*tasks[1:]) == [7, 7]
        assert await memory.get("a", read) == 7
    assert len(readings) == 1


@pytest.mark.anyio
async def test_a_reading_that_failed_is_tried_again() -> None:
    memory, answers = Memory[int](60), iter([errors.Unavailable("gone"), 7])

    async def read() -> int:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(errors.Unavailable):
        await memory.get("a", read)
    assert await memory.get("a", read) == 7


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the body is not JSON"),
        (b"{", "the body is not JSON"),
        (b'{"a": "\\ud800"}', "the body is not JSON"),
        (b"[" * 10_000, "the body is not JSON"),
        (b"[]", "the body must be one JSON-RPC object: send batches one by one"),
        (b"7", "the body must be one JSON-RPC object: send batches one by one"),
        (b'{"jsonrpc": "1.0", "method": "ping", "id": 1}', 'jsonrpc must be "2.0"'),
        (b'{"jsonrpc": "2.0", "method": 5, "id": 1}', "method must be a text: this server asks nothing"),
        (b'{"jsonrpc": "2.0", "id": 1, "result": {}}', "method must be a text: this server asks nothing"),
        (b'{"jsonrpc": "2.0", "method": "ping", "id": null}', "id must be a text or an integer"),
        (b'{"jsonrpc": "2.0", "method": "ping", "id": 1.5}', "id must be a text or an integer"),
        (b'{"jsonrpc": "2.0", "method": "ping", "id": true}', "id must be a text or an integer"),
        (b'{"jsonrpc": "2.0", "method": "ping", "id": 1, "params": []}', "params must be an object"),
    ],
)
def test_a_body_that_is_no_request_is_refused_in_our_words(body: bytes, message: str) -> None:
    flaw = read_message(body)
    assert isinstance(flaw, Flaw)
    assert flaw.message.startswith(message)


def test_requests_and_notifications_have_no_flaw() -> None:
    for body in (
        b'{"jsonrpc": "2.0", "method": "ping", "id": "x", "params": {}}',
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
    ):
        assert read_message(body) == json.loads(body)


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1:8080", True),
        ("localhost", True),
        ("LocalHost:1", True),
        ("[::1]:8080", True),
        ("docs.example.com", True),
        ("docs.example.com:443", True),
        ("", False),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example:80", False),
        ("localhost:evil", False),
    ],
)
def test_only_our_own_names_are_answered(host: str, allowed: bool) -> None:
    assert Origins(hosts=["docs.example.com"]).allows_host(host) is allowed


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("", True),
        ("http://localhost:6274", True),
        ("https://127.0.0.1", True),
        ("http://[::1]:3000", True),
        ("https://docs.example.com", True),
        ("https://docs.example.com:8443", False),
        ("null", False),
        ("http://evil.example", False),
        ("http://localhost.evil.example", False),
        ("http://localhost@evil.example", False),
        ("file://localhost", False),
        ("http://[", False),
    ],
)
def test_only_our_own_pages_may_call(origin: str, allowed: bool) -> None:
    assert Origins(origins=["https://docs.example.com/"]).allows_origin(origin) is allowed


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "docs.example.com", ""])
def test_on_an_address_that_can_be_reached_from_outside_keys_are_needed(host: str) -> None:
    assert GatewaySettings(host=host).requires_keys
    assert GatewaySettings(operator_listen=f"{host}:8081").operator_requires_keys


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_on_loopback_no_key_is_needed(host: str) -> None:
    assert not GatewaySettings(host=host).requires_keys
    assert not GatewaySettings(operator_listen=f"[{host}]:0" if ":" in host else f"{host}:0").operator_requires_keys


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (errors.ResourceExhausted("too many calls"), "busy, retry in 1 s: too many calls"),
        (errors.Unavailable("x is away", retry_after_seconds=2.5), "temporarily unavailable, retry in 3 s: x is away"),
        (errors.DeadlineExceeded("x is slow"), "took too long, retry in 1 s: x is slow"),
        (errors.NotFound("no x;\nthere is y"), "no x; there is y"),
        (errors.InvalidArgument("x is odd"), "x is odd"),
    ],
)
def test_a_failure_says_in_one_line_what_failed_and_what_to_try(error: errors.RefdeskError, line: str) -> None:
    assert explain(error) == line


def test_an_error_over_http_is_problem_json_with_a_time_to_come_back() -> None:
    busy = errors.ResourceExhausted("too many calls", retry_after_seconds=1)
    assert json.loads(problem_body(busy))["status"] == 429
    assert problem_headers(busy) == {"Retry-After": "1"}
    assert problem_headers(errors.NotFound("x")) == {}
