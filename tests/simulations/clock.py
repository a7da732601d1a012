"""An event loop on a clock of its own: where everything waits, the clock jumps to what is due next; knows nothing of what runs on it.

It keeps no sockets and does without what asyncio's own loops do for those, which would take most of a run's time.
"""

from __future__ import annotations

import asyncio
import asyncio.base_events
import heapq
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, TypeVar

Result = TypeVar("Result")
MOST_ROUNDS = 1_000_000
"""Of one run: a hundred times as many as the longest that ended well took."""


class Stuck(AssertionError):
    """Nothing is due any more, or it goes on for ever."""


class SimulatedLoop(asyncio.base_events.BaseEventLoop):
    """Equal seeds give equal runs."""

    def __init__(self) -> None:
        super().__init__()
        self._seconds = 0.0
        self._rounds = 0
        self._resting: list[tuple[float, int, asyncio.Future[None]]] = []

    def time(self) -> float:
        """Seconds since the run began."""
        return self._seconds

    def rest(self, seconds: float) -> asyncio.Future[None]:
        """Done after so long."""
        self._rounds += 1
        future = self.create_future()
        heapq.heappush(self._resting, (self._seconds + seconds, self._rounds, future))
        return future

    def call_soon(self, callback: Callable[..., Any], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """At the next round."""
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def _run_once(self) -> None:
        ready = self._ready
        if not ready:
            self._jump()
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()

    def _jump(self) -> None:
        """To what is due next, which is then ready."""
        self._rounds += 1
        resting, scheduled = self._resting, self._scheduled
        if self._rounds > MOST_ROUNDS:
            raise Stuck("it goes on for ever")
        if resting and not (scheduled and scheduled[0]._when < resting[0][0]):
            self._seconds, _, future = heapq.heappop(resting)
            if not future.done():
                future.set_result(None)
        elif scheduled:
            handle = heapq.heappop(scheduled)
            handle._scheduled = False
            if not handle._cancelled:
                self._seconds = max(self._seconds, handle._when)
                self._ready.append(handle)
        else:
            raise Stuck("nothing is due any more")

    def _write_to_self(self) -> None:
        pass


def run(loop: SimulatedLoop, coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Runs it to its end, and ends the loop. Raises: Stuck."""
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(coroutine)
