"""What surrounds a fake engine: other tasks that get their turn, calls that fail, and calls that fail after they have worked."""

from __future__ import annotations

import asyncio
import random

from refdesk.errors import Unavailable


class Weather:
    """Seeded. `stalling` is the share of pauses that take very long,
    `failing` that of calls that fail before they do anything, `lying` of those that fail after they did it."""

    def __init__(
        self, seed: int = 0, *, turns: int = 0, stalling: float = 0.0, failing: float = 0.0, lying: float = 0.0
    ) -> None:
        self.random = random.Random(seed)
        self.turns = turns
        self.stalling = stalling
        self.failing = failing
        self.lying = lying
        self.down: set[str] = set()

    async def before(self, engine: str) -> None:
        """Lets others have their turn, then fails or not."""
        await self.pause()
        if engine in self.down or self.random.random() < self.failing:
            raise Unavailable(f"{engine} cannot be reached")

    async def after(self, engine: str) -> None:
        """The work is done; whether the caller hears of it is another matter."""
        await self.pause()
        if self.random.random() < self.lying:
            raise Unavailable(f"{engine} did not answer")

    async def pause(self, _: float = 0.0) -> None:
        """Gives others a random number of turns; no time passes."""
        stalls = self.stalling and self.random.random() < self.stalling
        for _turn in range(self.random.randrange(400) if stalls else self.random.randrange(self.turns + 1)):
            await asyncio.sleep(0)
