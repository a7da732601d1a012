"""Tasks that swallow their cancellation end all the same."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from refdesk.commands.progress import Progress
from refdesk.commands.up import follow_until
from refdesk.tasks import end_tasks

pytestmark = pytest.mark.anyio


class Deaf:
    """Works for ever, and hears only so many cancellations as it is told to swallow and one more."""

    def __init__(self, swallowed: int) -> None:
        self.swallowed = swallowed
        self.started = asyncio.Event()

    async def follow(self) -> None:
        while True:
            try:
                self.started.set()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if not self.swallowed:
                    raise
                self.swallowed -= 1


async def test_a_task_that_swallows_its_cancellation_is_cancelled_again() -> None:
    deaf = Deaf(swallowed=2)
    task = asyncio.create_task(deaf.follow())
    await deaf.started.wait()
    await end_tasks([task], most_seconds=0.4)
    assert task.cancelled()


async def test_a_desk_that_is_told_to_stop_stops_though_its_progress_swallows_the_cancellation() -> None:
    deaf, stop = Deaf(swallowed=1), asyncio.Event()
    following = asyncio.create_task(follow_until(stop, cast(Progress, cast(Any, deaf))))
    await deaf.started.wait()
    stop.set()
    async with asyncio.timeout(30):
        await following


async def test_what_has_ended_is_left_alone() -> None:
    task = asyncio.create_task(asyncio.sleep(0))
    await task
    await end_tasks([task])
    assert not task.cancelled()
