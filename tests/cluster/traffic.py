"""Questions and change events at a steady rate while a desk is changed under them, and a judge of the answers.

A call whose connection breaks before it is answered is made again, as clients of HTTP do, for a few seconds and no longer: a process
that is killed takes the calls with it that it had just begun. Whatever was answered counts as it was answered, the first time.
"""

from __future__ import annotations

import http.client
import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from cluster.desk import Desk, call_tool, push
from faults.judge import LIES
from faults.traffic import QUERY, REVISION, page
from system.pushing import Statement, expected

PER_SECOND = 5.0
CALLERS = 24
"""As many calls may be under way; more than the rate needs, so that a slow answer holds up no other."""
AGAIN_SECONDS = 5.0
PAUSE_SECONDS = 0.1
DOCUMENTS = 30
MOST_SECONDS = 900.0
"""A test that hangs ends its traffic."""


@dataclass(frozen=True)
class Answer:
    """What came of one call; `mode` is empty where it was an error, `text` says which."""

    began_at: float
    ended_at: float
    mode: str
    text: str
    mixed: bool = False
    """Whether an excerpt shows two revisions of its document."""
    connections: int = 1
    """On how many it was made until one was answered."""


@dataclass
class Traffic:
    """What was asked and pushed, and what came of it."""

    answers: list[Answer] = field(default_factory=list)
    pushes: list[Answer] = field(default_factory=list)
    acknowledged: list[Statement] = field(default_factory=list)
    search_away: list[tuple[float, float]] = field(default_factory=list)
    """When the one search pod was not ready: an error that says so and when to come back is right then."""

    @property
    def expected(self) -> dict[str, str]:
        """Path to text of what must stand."""
        return expected(self.acknowledged)

    @property
    def broken(self) -> int:
        """Connections that broke under a call."""
        return sum(one.connections - 1 for one in (*self.answers, *self.pushes))

    def wrong(self) -> list[str]:
        """Everything that was not answered as it must be, a line each."""
        lines = [f"question: {why}: {one}" for one in self.answers if (why := self._judge(one))]
        return lines + [f"push: {one}" for one in self.pushes if not one.mode]

    def summary(self) -> str:
        """How many, how fast."""
        took = sorted(one.ended_at - one.began_at for one in self.answers) or [0.0]
        return (
            f"{len(self.answers)} questions, {len(self.pushes)} pushes, {self.broken} broken connections, {len(self.wrong())} wrong, "
            f"median {took[len(took) // 2]:.2f} s, longest {took[-1]:.2f} s"
        )

    def _judge(self, one: Answer) -> str:
        if one.mixed:
            return "two revisions of a document in one excerpt"
        if any(lie in one.text for lie in LIES):
            return "it says that nothing is there"
        if one.mode == "hybrid":
            return ""
        away = any(start - 1 < one.ended_at and one.began_at < end for start, end in self.search_away)
        if away and not one.mode and "retry in" in one.text:
            return ""
        return "degraded" if one.mode else "failed"


@contextmanager
def traffic(desk: Desk, earlier: Traffic | None = None, seed: int = 1) -> Iterator[Traffic]:
    """Asks and pushes from the first node while the block runs; goes on from what an earlier one has published."""
    seen = Traffic(acknowledged=list(earlier.acknowledged) if earlier else [])
    address, ending = desk.address("gateway"), threading.Event()
    threads = [
        threading.Thread(target=_keep_asking, args=(desk, address, seen, ending), name="questions", daemon=True),
        threading.Thread(target=_keep_pushing, args=(desk, address, seen, ending, seed), name="pushes", daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        ending.set()
        for thread in threads:
            thread.join(60)


def publish(desk: Desk, statements: list[Statement], seen: Traffic) -> None:
    """Pushes statements one by one."""
    address = desk.address("gateway")
    with desk.cluster.network():
        for statement in statements:
            seen.pushes.append(_push(address, statement, desk, seen))


def first_load(documents: int = DOCUMENTS) -> list[Statement]:
    """A page for each document."""
    return [
        Statement(f"keys/{number}.md", number + 1, page(f"system {number}", number + 1)) for number in range(documents)
    ]


def _keep_asking(desk: Desk, address: str, seen: Traffic, ending: threading.Event) -> None:
    network = desk.cluster.network

    def ask() -> None:
        with network():
            seen.answers.append(_again(lambda: _ask(address, desk)))

    with ThreadPoolExecutor(CALLERS) as pool:
        under_way: list[Future[None]] = []
        for _ in _beats(ending):
            under_way = [one for one in under_way if not one.done()]
            if len(under_way) < CALLERS:
                under_way.append(pool.submit(ask))


def _keep_pushing(desk: Desk, address: str, seen: Traffic, ending: threading.Event, seed: int) -> None:
    rng = random.Random(seed)
    first = max((one.revision for one in seen.acknowledged), default=0) + 1
    revisions = itertools.count(first)
    with desk.cluster.network():
        for _ in _beats(ending):
            number, revision = rng.randrange(DOCUMENTS), next(revisions)
            text = "" if rng.random() < 0.05 else page(f"system {number}", revision)
            statement = Statement(f"keys/{number}.md", revision, text)
            seen.pushes.append(_push(address, statement, desk, seen))


def _beats(ending: threading.Event) -> Iterator[None]:
    """PER_SECOND until the end; what a busy machine made late is left out, not made up for at once."""
    ends_at = time.monotonic() + MOST_SECONDS
    while (now := time.monotonic()) < ends_at:
        yield
        if ending.wait(max(0.0, now + 1 / PER_SECOND - time.monotonic())):
            return


def _push(address: str, statement: Statement, desk: Desk, seen: Traffic) -> Answer:
    """One event; what is not acknowledged is sent again, as publishers do, but its first answer counts."""
    first: Answer | None = None
    for _ in range(50):
        answer = _again(lambda: _post(address, statement, desk))
        first = first or answer
        if answer.mode:
            seen.acknowledged.append(statement)
            return first
        time.sleep(PAUSE_SECONDS)
    return first or answer


def _ask(address: str, desk: Desk) -> tuple[str, str, bool]:
    result = call_tool(address, "search_docs", {"query": QUERY}, desk.headers("read"))
    text = "\n".join(part["text"] for part in result["content"])
    structured: dict[str, Any] = result.get("structuredContent") or {}
    if result.get("isError") or not structured:
        return "", text, False
    mixed = any(len(set(REVISION.findall(one["excerpt"]))) > 1 for one in structured["results"])
    return str(structured["mode"]), text, mixed


def _post(address: str, statement: Statement, desk: Desk) -> tuple[str, str, bool]:
    status, body = push(address, statement, desk.headers("publish"))
    return ("kept" if status in (200, 202) else ""), f"{status} {body}", False


def _again(call: Callable[[], tuple[str, str, bool]]) -> Answer:
    began_at = time.monotonic()
    for connections in itertools.count(1):
        try:
            mode, text, mixed = call()
        except (OSError, http.client.HTTPException) as failure:
            mode, text, mixed = "", f"no answer: {failure!r}", False
            if time.monotonic() < began_at + AGAIN_SECONDS:
                time.sleep(PAUSE_SECONDS)
                continue
        return Answer(began_at, time.monotonic(), mode, text[:300] if not mode else text, mixed, connections)
    raise AssertionError("unreachable")
