"""Child processes answer, fail, restart and end as their callers count on."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator

import psutil
import pytest

from refdesk.children import Child
from refdesk.errors import DeadlineExceeded, Internal, InvalidArgument, NotFound, ResourceExhausted, Unavailable

pytestmark = pytest.mark.anyio
PROGRAM = "unit.child_program"
LONG_SECONDS = 30.0


@pytest.fixture
async def child() -> AsyncIterator[Child]:
    child = Child(PROGRAM, name="test child")
    yield child
    await child.close()


async def test_a_call_answers_what_the_handler_returns(child: Child) -> None:
    vector = os.urandom(400_000)
    assert await child.call("echo", 1, "ü", vector, timeout_seconds=LONG_SECONDS) == (1, "ü", vector)


async def test_calls_at_once_get_their_own_answers(child: Child) -> None:
    answers = await asyncio.gather(*(child.call("echo", n, timeout_seconds=LONG_SECONDS) for n in range(200)))
    assert answers == [(n,) for n in range(200)]


async def test_an_error_keeps_its_class_message_and_retry_time(child: Child) -> None:
    with pytest.raises(InvalidArgument) as caught:
        await child.call("refuse", timeout_seconds=LONG_SECONDS)
    assert caught.value.message == "no such thing"
    assert caught.value.retry_after_seconds == 2.5
    with pytest.raises(NotFound, match="not here"):
        await child.call("refuse_in_own_words", timeout_seconds=LONG_SECONDS)


async def test_a_defect_is_internal_and_its_words_stay_out(child: Child, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Internal) as caught:
        await child.call("break_down", "secret", timeout_seconds=LONG_SECONDS)
    assert "secret" not in caught.value.message
    logged = capfd.readouterr().err
    assert "ValueError" in logged
    assert "secret" not in logged


async def test_a_timeout_kills_the_child_and_the_next_call_starts_another(child: Child) -> None:
    first = await child.call("pid", timeout_seconds=LONG_SECONDS)
    with pytest.raises(DeadlineExceeded, match=r"test child took longer than 0\.05 s for hang"):
        await child.call("hang", timeout_seconds=0.05)
    second = await child.call("pid", timeout_seconds=LONG_SECONDS)
    assert second != first
    assert not psutil.pid_exists(first)


async def test_waiting_behind_another_call_is_not_held_against_a_call(child: Child) -> None:
    slow = asyncio.create_task(child.call("work", 0.4, timeout_seconds=LONG_SECONDS))
    await asyncio.sleep(0)
    assert await child.call("echo", "quick", timeout_seconds=0.3) == ("quick",)
    assert await slow == "done"


async def test_a_dead_child_raises_unavailable_and_is_started_anew(child: Child) -> None:
    with pytest.raises(Unavailable, match="ended while it was at work"):
        await child.call("die", timeout_seconds=LONG_SECONDS)
    assert await child.call("echo", timeout_seconds=LONG_SECONDS) == ()


async def test_a_child_that_is_spent_answers_why_and_the_next_call_has_another(child: Child) -> None:
    before = await child.call("pid", timeout_seconds=20)
    with pytest.raises(Unavailable, match="the disk is full"):
        await child.call("give_up", timeout_seconds=20)
    async with asyncio.timeout(20):
        while True:
            try:
                after = await child.call("pid", timeout_seconds=20)
                break
            except Unavailable:  # it is ending
                continue
    assert after != before


async def test_calls_behind_a_death_fail_too(child: Child) -> None:
    await child.start()
    calls = [child.call(method, timeout_seconds=LONG_SECONDS) for method in ("die", "echo", "echo")]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [Unavailable] * 3


async def test_a_cancelled_caller_leaves_the_child_and_its_answers_alone(child: Child) -> None:
    pid = await child.call("pid", timeout_seconds=LONG_SECONDS)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(child.call("work", 0.2, timeout_seconds=LONG_SECONDS), 0.02)
    assert await child.call("pid", timeout_seconds=LONG_SECONDS) == pid


async def test_what_a_child_prints_does_not_reach_its_answers_or_our_output(
    child: Child, capfd: pytest.CaptureFixture[str]
) -> None:
    assert await child.call("chatter", timeout_seconds=LONG_SECONDS) == "clean"
    assert await child.call("echo", 1, timeout_seconds=LONG_SECONDS) == (1,)
    await child.close()
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "to file descriptor 1" in captured.err


async def test_more_memory_than_the_limit_is_an_error_of_the_call() -> None:
    child = Child(PROGRAM, name="small child", memory_limit_bytes=256 * 1024 * 1024)
    with pytest.raises(ResourceExhausted, match="more memory"):
        await child.call("take", 512 * 1024 * 1024, timeout_seconds=LONG_SECONDS)
    assert await child.call("take", 1024, timeout_seconds=LONG_SECONDS) == 1024
    await child.close()


async def test_a_module_that_cannot_start_is_unavailable(capfd: pytest.CaptureFixture[str]) -> None:
    child = Child("unit.no_such_program", name="missing child")
    with pytest.raises(Unavailable, match="missing child"):
        await child.start()
    await child.close()
    assert "no_such_program" in capfd.readouterr().err


async def test_close_finishes_calls_under_way_and_refuses_later_ones(child: Child) -> None:
    await child.start()
    pid = child.pid
    assert pid is not None
    under_way = asyncio.create_task(child.call("work", 0.1, timeout_seconds=LONG_SECONDS))
    await asyncio.sleep(0)
    await child.close()
    assert await under_way == "done"
    assert not psutil.pid_exists(pid)
    with pytest.raises(Unavailable, match="closed"):
        await child.call("echo", timeout_seconds=LONG_SECONDS)


PARENT = """
import asyncio, sys
from refdesk.children import Child
async def main():
    child = Child("unit.child_program", name="orphan")
    await child.start()
    print(child.pid, flush=True)
    await child.call("hang", timeout_seconds=60)
asyncio.run(main())
"""


def test_a_child_at_work_ends_when_its_parent_is_killed() -> None:
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as parent:
        assert parent.stdout is not None
        orphan = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        orphan.wait(timeout=10)
