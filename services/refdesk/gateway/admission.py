"""Bounds how many calls run and wait at once, and refuses the rest early; knows nothing of what a call does."""

from __future__ import annotations

import asyncio
from collections import deque
from types import TracebackType

from refdesk.errors import ResourceExhausted
from refdesk.gateway.metrics import CALLS, REFUSED_CALLS


class Admission:
    """`async with admission:` holds one of `running` places; at most `waiting` callers queue for one, in order."""

    def __init__(self, running: int, waiting: int) -> None:
        self._free = running
        self._most_waiting = waiting
        self._queue: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        """Takes a place, or waits for one.

        Raises: ResourceExhausted at once when too many wait already.
        """
        if self._free:
            self._free -= 1
        else:
            await self._wait()
        CALLS.inc()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Gives the place to the first that waits."""
        CALLS.dec()
        self._pass_on()

    async def _wait(self) -> None:
        if len(self._queue) >= self._most_waiting:
            REFUSED_CALLS.inc()
            raise ResourceExhausted("too many calls are under way", retry_after_seconds=1)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._pass_on()  # the place was given to a caller that no longer wants it
            else:
                self._queue.remove(turn)
            raise

    def _pass_on(self) -> None:
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
