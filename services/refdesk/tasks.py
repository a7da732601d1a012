"""Ends tasks that would run for ever; knows nothing of what they do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import structlog

log = structlog.get_logger()

CANCELS = 4
"""How often a task is cancelled before it is given up."""
END_SECONDS = 10.0


async def end_tasks(tasks: Iterable[asyncio.Task[Any]], most_seconds: float = END_SECONDS) -> None:
    """Cancels tasks until they have ended, within bounds: one that swallows its cancellation is cancelled again.

    Python 3.11's `wait_for`, which nats-py waits with, swallows one that comes just when what it waits for is there.
    """
    left = {task for task in tasks if not task.done()}
    for _ in range(CANCELS):
        if not left:
            return
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=most_seconds / CANCELS)
    if left:
        log.error("tasks did not end", tasks=sorted(task.get_name() for task in left))
