"""Bounds how many calls run and how long others wait for a place, and refuses the rest early; knows nothing of what a call does."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType

from refdesk.errors import ResourceExhausted
from refdesk.gateway.metrics import CALLS, REFUSED_CALLS

SLOWNESS = 0.1
"""Share of the newest gap between two places that came free in the moving mean of them."""
UNBOUNDED = float("inf")


class Admission:
    """`async with admission:` holds one of `running` places; at most `waiting` callers queue for one, in order.

    A caller that would wait longer than `wait_seconds`, going by how fast places come free while others wait, is refused when it comes; one
    that has waited that long, because places come free no more, is refused then.
    """

    def __init__(
        self,
        running: int,
        waiting: int,
        wait_seconds: float = UNBOUNDED,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._free = running
        self._most_waiting = waiting
        self._wait_seconds = wait_seconds
        self._clock = clock
        self._queue: deque[asyncio.Future[None]] = deque()
        self._gap_seconds = 0.0
        self._freed_at: float | None = None

    def refuse_when_full(self) -> None:
        """Raises: ResourceExhausted where a caller that came now would be refused, with the time after which it may come again."""
        if self._free:
            return
        expected_seconds = (len(self._queue) + 1) * self._gap_seconds
        if len(self._queue) >= self._most_waiting or expected_seconds > self._wait_seconds:
            raise self._refusal()

    async def __aenter__(self) -> None:
        """Takes a place, or waits for one.

        Raises: ResourceExhausted at once when too many wait already; later, when no place came free in time.
        """
        self.refuse_when_full()
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
        self._note_gap()
        self._pass_on()

    async def _wait(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            async with asyncio.timeout(self._wait_seconds if self._wait_seconds < UNBOUNDED else None):
                await turn
        except TimeoutError:
            self._leave(turn)
            raise self._refusal() from None
        except asyncio.CancelledError:
            self._leave(turn)
            raise

    def _leave(self, turn: asyncio.Future[None]) -> None:
        if turn.done() and not turn.cancelled():
            self._pass_on()  # the place was given to a caller that no longer wants it
        elif turn in self._queue:  # else it was passed over already
            self._queue.remove(turn)

    def _pass_on(self) -> None:
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
        self._freed_at = None

    def _note_gap(self) -> None:
        """Between two places that came free while somebody waited lies what one more caller has to wait longer."""
        now, freed_at = self._clock(), self._freed_at
        self._freed_at = now if self._queue else None
        if freed_at is None or not self._queue:
            return
        gap_seconds = now - freed_at
        self._gap_seconds += (SLOWNESS if self._gap_seconds else 1.0) * (gap_seconds - self._gap_seconds)

    def _refusal(self) -> ResourceExhausted:
        REFUSED_CALLS.inc()
        wait_seconds = len(self._queue) * self._gap_seconds
        return ResourceExhausted("too many calls are under way", retry_after_seconds=max(1.0, wait_seconds))
