"""What readers give their callers, and what one caller's fate does to the others."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from refdesk.errors import Unavailable
from refdesk.ingest.sources.readers import SHARE, THREADS, Readers

pytestmark = pytest.mark.anyio
MANY = 3 * SHARE * THREADS + 1
WAIT_SECONDS = 10


async def test_each_caller_gets_what_its_own_path_gives() -> None:
    readers = Readers(str.upper)
    paths = [f"path {number}" for number in range(MANY)]
    assert await asyncio.gather(*map(readers.read, paths)) == [path.upper() for path in paths]
    assert await readers.read("later") == "LATER"


async def test_an_error_reaches_the_caller_of_its_path_alone() -> None:
    def read(path: str) -> str:
        if path.endswith("7"):
            raise Unavailable(path)
        return path

    readers = Readers(read)
    paths = [str(number) for number in range(MANY)]
    for path, outcome in zip(
        paths, await asyncio.gather(*map(readers.read, paths), return_exceptions=True), strict=True
    ):
        if path.endswith("7"):
            assert isinstance(outcome, Unavailable)
            assert outcome.message == path
        else:
            assert outcome == path


async def test_a_few_reads_wait_side_by_side() -> None:
    together = threading.Barrier(THREADS)

    def read(path: str) -> int:
        return together.wait(WAIT_SECONDS)

    readers = Readers(read)
    found = await asyncio.gather(*(readers.read("a") for _ in range(THREADS)))
    assert sorted(found) == list(range(THREADS))


async def test_a_caller_that_goes_away_takes_no_other_caller_with_it() -> None:
    started, go_on = threading.Event(), threading.Event()

    def read(path: str) -> str:
        started.set()
        assert go_on.wait(WAIT_SECONDS)
        return path

    readers = Readers(read)
    callers = [asyncio.create_task(readers.read(str(number))) for number in range(MANY)]
    await asyncio.to_thread(started.wait, WAIT_SECONDS)
    callers[0].cancel()
    callers[-1].cancel()
    await asyncio.sleep(0)
    go_on.set()
    async with asyncio.timeout(WAIT_SECONDS):
        found = await asyncio.gather(*callers, return_exceptions=True)
    assert found[1:-1] == [str(number) for number in range(1, MANY - 1)]
    assert isinstance(found[0], asyncio.CancelledError)
    assert isinstance(found[-1], asyncio.CancelledError)
    assert await readers.read("later") == "later"


async def test_who_asks_again_the_moment_all_threads_are_done_is_answered() -> None:
    go_on = threading.Event()

    def read(path: str) -> str:
        assert go_on.wait(WAIT_SECONDS)
        return path

    done: list[str] = []

    async def read_and_again_if_first() -> None:
        done.append(await readers.read("first"))
        if len(done) == 1:
            await readers.read("second")

    readers = Readers(read)
    reading = asyncio.gather(*(read_and_again_if_first() for _ in range(THREADS)))
    await asyncio.sleep(0.05)  # every thread is at work
    go_on.set()
    time.sleep(0.2)  # noqa: ASYNC251 - the loop hears of all of them in one turn
    await asyncio.wait_for(reading, WAIT_SECONDS)
