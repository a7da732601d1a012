"""Keeps long-lived tasks running: one that ends by itself is started again and never silently gone; knows nothing of what they do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from refdesk.errors import DeadlineExceeded, ResourceExhausted, Unavailable
from refdesk.ingest import metrics

log = structlog.get_logger()

OUTAGE = (Unavailable, DeadlineExceeded, ResourceExhausted)
"""Something that is needed cannot be reached now: no document is to blame."""


class Backoff:
    """Pauses that double up to a bound, and start anew after a success."""

    def __init__(self, most_seconds: float, first_seconds: float = 0.25) -> None:
        self._most_seconds = most_seconds
        self._first_seconds = first_seconds
        self._next_seconds = first_seconds

    def next(self, asked_seconds: float | None = None) -> float:
        """Seconds to pause now: what the other side asked for, else the next in the row."""
        seconds = self._next_seconds
        self._next_seconds = min(self._next_seconds * 2, self._most_seconds)
        return min(asked_seconds or seconds, self._most_seconds)

    def reset(self) -> None:
        """It works again."""
        self._next_seconds = self._first_seconds


async def keep_running(
    name: str,
    task: Callable[[], Awaitable[None]],
    most_pause_seconds: float,
    *,
    done: Callable[[], bool] = lambda: False,
) -> None:
    """Runs a task until it is cancelled, or ends while `done`; after any other end it pauses and runs it again."""
    backoff = Backoff(most_pause_seconds)
    loop = asyncio.get_running_loop()
    while True:
        started = loop.time()
        try:
            await task()
            if done():
                return
            log.warning("a task ended by itself", task=name)
        except Exception:
            log.exception("a task failed", task=name)
        metrics.RESTARTS.labels(name).inc()
        if loop.time() - started > 2 * most_pause_seconds:
            backoff.reset()
        await asyncio.sleep(backoff.next())
