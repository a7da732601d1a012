"""A second generation starts, takes over, is left and dropped while workers publish, stall, fail and crash: at rest both are whole."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

from fakes.desk import MADE, PROJECT
from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.errors import RefdeskError
from refdesk.ingest.generations import AGAIN_SECONDS, Generations
from refdesk.ingest.records import Generation, find_head
from simulations.publishing import SECONDS, Simulation

PACKED = Generation("made", 2, 250, frozenset({"en"}))
KNOWN = {one.name: one for one in (MADE, PACKED)}


class GenerationSimulation(Simulation):
    """One seeded run with an operator who builds, switches, rolls back and drops at random moments."""

    def __init__(self, seed: int, *, checks: bool = True) -> None:
        super().__init__(seed, changes=8)
        self.checks = checks
        self.seconds = 1_000_000.0
        self.looked_at: dict[object, dict[str, int]] = {}
        self.move_count = 0

    async def run(self) -> list[str]:
        """Runs until everything is at rest; how the index differs from the source in any followed generation."""
        self.desk.clock = self.weather.loop.time
        while PROJECT not in self.desk.records.projects:
            with contextlib.suppress(RefdeskError):
                await self.desk.declare()
        self._watch_moves()
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(*self._actors())
            self.weather.clear_up()
            await self._settle()
            behind = self._list_behind(self.project.live_generation)
            self.seconds += AGAIN_SECONDS
            await self._reconcile()
            await self._settle()
        self.weather.counts["moves"] += self.move_count
        return self.desk.found or behind or self.desk.differences()

    def _actors(self) -> list[Coroutine[Any, Any, None]]:
        return [*super()._actors(), self._moves(), self._operator()]

    def _watch_moves(self) -> None:
        put_project = self.desk.records.put_project

        async def watched(request: docstore_pb2.PutProjectRequest) -> docstore_pb2.PutProjectResponse:
            before = self.project.live_generation  # of the expected revision, or the put conflicts
            response: docstore_pb2.PutProjectResponse = await put_project(request)
            self._follow()
            if request.project.live_generation != before:
                self._judge_move()
            return response

        self.desk.records.put_project = watched

    def _follow(self) -> None:
        """What answers, or may answer again, must be whole at any moment."""
        answering = [self.project.live_generation, *(one.generation for one in self.project.rollback_generations)]
        self.desk.followed = [KNOWN[name] for name in answering]

    @property
    def project(self) -> docstore_pb2.Project:
        return self.desk.records.projects[PROJECT]

    async def _settle(self) -> None:
        for _ in range(60):
            await self.desk.finish()
            if not await self.moves().work():
                self.desk.followed = [KNOWN[name] for name in self.project.followed_generations]
                return
        self.desk.found.append("it never settles")

    def moves(self) -> Generations:
        made = self.desk.moves(now=lambda: self.seconds)
        find_gap = made.find_gap

        async def look(generation: str) -> str:
            records = self.desk.records.records.items()
            self.looked_at[asyncio.current_task()] = {one: record.revision for one, record in records}
            return await find_gap(generation) if self.checks else ""

        made.find_gap = look  # type: ignore[method-assign]
        return made

    async def _moves(self) -> None:
        while not self.over:
            if not await self.weather.survive(self.moves().work):
                await self.weather.rest(40)

    async def _operator(self) -> None:
        verbs = ("build", "hold", "switch", "rollback", "drop")
        while not self.over:
            await self.weather.rest(300)
            with contextlib.suppress(RefdeskError):
                await self._act(self.moves(), self.random.choice(verbs))

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

    def _judge_move(self) -> None:
        """What the new live generation lacks may only be of documents that were put since it was looked at."""
        self.move_count += 1
        looked_at = self.looked_at[asyncio.current_task()]
        lacking = [
            f"{record.path} r{record.revision} was behind at the switch"
            for record in self.desk.records.records.values()
            if looked_at.get(record.document_id) == record.revision
            and self._is_behind(record, self.project.live_generation)
        ]
        self.desk.found += lacking

    def _list_behind(self, generation: str) -> list[str]:
        records = self.desk.records.records.values()
        return [f"{record.path} is behind at rest" for record in records if self._is_behind(record, generation)]

    @staticmethod
    def _is_behind(record: docstore_pb2.Document, generation: str) -> bool:
        head = find_head(record, generation)
        return not record.deleted and (head is None or bool(head.missing_vectors))
