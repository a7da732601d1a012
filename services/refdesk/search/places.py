"""Bounds how many searches run and wait at once, and refuses the rest early; knows nothing of what a search does."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from refdesk.errors import ResourceExhausted
from refdesk.search.metrics import REFUSED, RUNNING, WAITING


class Places:
    """So many may run, so many more may wait."""

    def __init__(self, running: int, waiting: int) -> None:
        self._free = asyncio.Semaphore(running)
        self._most_waiting = waiting
        self._waiting = 0

    @contextlib.asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        """Holds a place. Raises: ResourceExhausted at once when too many wait already."""
        await self._acquire()
        RUNNING.inc()
        try:
            yield
        finally:
            RUNNING.dec()
            self._free.release()

    async def _acquire(self) -> None:
        if self._free.locked():
            if self._waiting >= self._most_waiting:
                REFUSED.inc()
                raise ResourceExhausted("too many searches are under way", retry_after_seconds=1)
            self._waiting += 1
            try:
                with WAITING.track_inprogress():
                    await self._free.acquire()
            finally:
                self._waiting -= 1
            return
        await self._free.acquire()
