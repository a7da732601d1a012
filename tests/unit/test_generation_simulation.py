"""A second generation starts, takes over, is left and dropped while workers publish, stall, fail and crash: at rest both are whole.

The same walk finds a switch that does not look whether the generation is complete.
"""

from __future__ import annotations

import asyncio
import contextlib
import time

import pytest

from fakes.desk import MADE, PROJECT
from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.errors import RefdeskError
from refdesk.ingest.generations import AGAIN_SECONDS, Generations
from refdesk.ingest.records import Generation, find_head
from unit.test_publish_simulation import Simulation

pytestmark = pytest.mark.anyio
PACKED = Generation("made", 2, 250, frozenset({"en"}))
KNOWN = {one.name: one for one in (MADE, PACKED)}


class GenerationSimulation(Simulation):
    """One seeded run with an operator who builds, switches, rolls back and drops at random moments."""

    def __init__(self, seed: int, *, checks: bool = True) -> None:
        super().__init__(seed, changes=16)
        self.checks = checks
        self.seconds = 1_000_000.0
        self.looked_at: dict[object, dict[str, int]] = {}
        self.has_moved = False

    async def run(self) -> list[str]:
        """Runs until everything is at rest; how the index differs from the source in any followed generation."""
        while PROJECT not in self.desk.docstore.projects:
            with contextlib.suppress(RefdeskError):
                await self.desk.declare()
        put_project = self.desk.docstore.put_project

        async def watched(request: docstore_pb2.PutProjectRequest) -> docstore_pb2.PutProjectResponse:
            before = self.project.live_generation  # of the expected revision, or the put conflicts
            response = await put_project(request)
            if request.project.live_generation != before:
                self._judge_move()
            return response

        self.desk.docstore.put_project = watched  # type: ignore[method-assign]
        tasks = [self._source(), self._vectors(), self._reconciler(), self._observer(), self._moves(), self._operator()]
        async with asyncio.timeout(60):
            await asyncio.gather(*(self._worker() for _ in range(self.workers)), *tasks)
        self.weather.failing = self.weather.lying = self.weather.stalling = 0.0
        await self._settle()
        behind = self._list_behind(self.project.live_generation)
        self.seconds += AGAIN_SECONDS
        await self.desk.reconciler(now_seconds=time.time() + 1).run()
        await self._settle()
        return self.found or behind or self.desk.differences()

    @property
    def project(self) -> docstore_pb2.Project:
        return self.desk.docstore.projects[PROJECT]

    async def _settle(self) -> None:
        for _ in range(60):
            await self.desk.finish()
            if not await self.moves().work():
                self.desk.followed = [KNOWN[name] for name in self.project.followed_generations]
                return
        self.found.append("it never settles")

    def moves(self) -> Generations:
        made = self.desk.moves(now=lambda: self.seconds)
        find_gap = made.find_gap

        async def look(generation: str) -> str:
            records = self.desk.docstore.records.items()
            self.looked_at[asyncio.current_task()] = {one: record.revision for one, record in records}
            return await find_gap(generation) if self.checks else ""

        made.find_gap = look  # type: ignore[method-assign]
        return made

    async def _moves(self) -> None:
        while not self.over:
            await asyncio.sleep(0)
            await self._until_crash(self.moves().work)

    async def _operator(self) -> None:
        verbs = ("build", "hold", "switch", "rollback", "drop")
        while not self.over:
            for _ in range(self.random.randrange(300)):
                await asyncio.sleep(0)
            verb = self.random.choice(verbs)
            with contextlib.suppress(RefdeskError):
                await self._act(self.moves(), verb)

    async def _act(self, moves: Generations, verb: str) -> None:
        other = 1 if self.project.live_generation == PACKED.name else 2
        if verb in ("build", "hold"):
            await moves.build("", other, hold_switch=verb == "hold")
        elif verb == "switch":
            await moves.switch()
        elif verb == "rollback":
            await moves.roll_back()
        else:
            await moves.drop(next(name for name in KNOWN if name != self.project.live_generation))

    async def _observer(self) -> None:
        while not self.over:
            answering = [self.project.live_generation, *(one.generation for one in self.project.rollback_generations)]
            self.desk.followed = [KNOWN[name] for name in answering]
            self.found = self.found or self.desk.unfounded()
            await asyncio.sleep(0)

    def _judge_move(self) -> None:
        """What the new live generation lacks may only be of documents that were put since it was looked at."""
        self.has_moved = True
        looked_at = self.looked_at[asyncio.current_task()]
        lacking = [
            f"{record.path} r{record.revision} was behind at the switch"
            for record in self.desk.docstore.records.values()
            if looked_at.get(record.document_id) == record.revision
            and self._is_behind(record, self.project.live_generation)
        ]
        self.found = self.found or lacking

    def _list_behind(self, generation: str) -> list[str]:
        records = self.desk.docstore.records.values()
        return [f"{record.path} is behind at rest" for record in records if self._is_behind(record, generation)]

    @staticmethod
    def _is_behind(record: docstore_pb2.Document, generation: str) -> bool:
        head = find_head(record, generation)
        return not record.deleted and (head is None or bool(head.missing_vectors))


@pytest.mark.parametrize("seed", range(25))
async def test_at_rest_every_followed_generation_is_what_the_source_says(seed: int) -> None:
    assert await GenerationSimulation(seed).run() == []


async def test_the_walk_moves_and_finds_a_switch_that_looks_at_nothing() -> None:
    moved = 0
    for seed in range(60):
        simulation = GenerationSimulation(seed, checks=False)
        found = await simulation.run()
        moved += simulation.has_moved
        if any("behind at the switch" in one for one in found):
            return
    pytest.fail(f"60 seeds found nothing; {moved} moved")
