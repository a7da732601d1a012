"""Weather on a simulated clock, and workers that are killed at a named step or anywhere; counts what it did."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

from fakes.weather import Weather
from refdesk.errors import RefdeskError, Unavailable
from refdesk.ingest import growing, publish, vectors
from simulations.clock import SimulatedLoop

Result = TypeVar("Result")
TICK_SECONDS = 0.001
"""About what one call of an engine takes."""
STALL_TICKS = 400
STEPS = (*(f"ingest.step{step}.{side}" for step in range(1, 7) for side in ("before", "after")), "ingest.grow.before")


class Crash(BaseException):
    """The worker is gone, at a named step."""


class SimulatedWeather(Weather):
    """As Weather, but pauses are times of the loop's clock; `counts` says how often each thing happened."""

    def __init__(
        self, seed: int, *, turns: int, stalling: float, failing: float, lying: float, crashing: float = 0.0
    ) -> None:
        super().__init__(seed, turns=turns, stalling=stalling, failing=failing, lying=lying)
        self.crashing = crashing
        self.counts: Counter[str] = Counter()
        self._doomed: dict[object, str] = {}
        self.loop = SimulatedLoop()

    async def before(self, engine: str) -> None:
        await self.pause()
        if engine in self.down or (self.failing and self.random.random() < self.failing):
            self.counts["failed"] += 1
            raise Unavailable(f"{engine} cannot be reached")

    async def after(self, engine: str) -> None:
        await self.pause()
        if self.lying and self.random.random() < self.lying:
            self.counts["failed after it was done"] += 1
            raise Unavailable(f"{engine} did not answer")

    async def pause(self, _: float = 0.0) -> None:
        if self.stalling and self.random.random() < self.stalling:
            await self.rest(STALL_TICKS)
        else:
            await self.rest(self.turns)

    async def rest(self, most_ticks: float) -> None:
        """Some time, at most so long."""
        await self.loop.rest(self.random.random() * most_ticks * TICK_SECONDS)

    async def survive(self, work: Callable[[], Awaitable[Result]]) -> Result | None:
        """Does some work; None where it failed, or where whoever did it was killed meanwhile."""
        dice = self.random.random() if self.crashing else 1.0
        task = asyncio.ensure_future(work())
        if dice < self.crashing / 2:
            self._doomed[task] = self.random.choice(STEPS)
        elif dice < self.crashing:
            delay = self.random.random() * STALL_TICKS / 2 * TICK_SECONDS
            self.loop.call_later(delay, self._kill, task)
        try:
            return await task
        except (RefdeskError, asyncio.CancelledError, Crash):
            me = asyncio.current_task()
            if me and me.cancelling():
                raise  # it is the run that ends
            return None
        finally:
            self._doomed.pop(task, None)

    def _kill(self, task: asyncio.Future[object]) -> None:
        if task.cancel():
            self.counts["killed between two steps"] += 1

    def reach(self, name: str) -> None:
        """Takes the place of failpoints.reach. Raises: Crash."""
        if self._doomed and self._doomed.get(asyncio.current_task()) == name:
            self.counts[f"killed at {name}"] += 1
            raise Crash(name)

    @contextlib.contextmanager
    def over(self, seed: int) -> Iterator[None]:
        """It reigns over the workers' named steps, and over what they choose at random, until the block ends."""
        before = [(module, module.reach) for module in (publish, vectors, growing)]
        random.seed(seed)
        for module, _ in before:
            module.reach = self.reach  # type: ignore[assignment]
        try:
            yield
        finally:
            for module, reach in before:
                module.reach = reach

    def clear_up(self) -> None:
        """No more failures, stalls or crashes."""
        self.failing = self.lying = self.stalling = self.crashing = 0.0
