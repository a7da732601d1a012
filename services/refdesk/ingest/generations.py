"""One project's generations: builds one beside the live one, moves over, goes back, cleans up; knows nothing of how documents are cut.

What is to be done stands in the catalog, so a crash at any point is picked up from there: a build goes on, a generation that is no longer
followed is dropped, and every step may be repeated.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import structlog

from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.errors import InvalidArgument, Unavailable
from refdesk.failpoints import reach
from refdesk.generation import generation_name, read_name
from refdesk.ingest import metrics, roles
from refdesk.ingest.catalog import Catalog, Conflict
from refdesk.ingest.growing import Growth
from refdesk.ingest.records import find_head
from refdesk.ingest.settings import IngestSettings
from refdesk.ingest.stores import Stores
from refdesk.ingest.supervision import OUTAGE, Backoff

log = structlog.get_logger()

DAY_MILLISECONDS = 86_400_000
BUSY_SECONDS, IDLE_SECONDS = 0.5, 30.0
"""How often a build's progress is looked at, and how often whether a time is over."""
AGAIN_SECONDS = 3600.0
"""What a stalled writer left of a dropped generation is dropped by a second time, so much later."""
MOVES = 5
"""How often a switch that lost against another writer of the catalog is tried again."""

Project = docstore_pb2.Project


class Moved(NamedTuple):
    """What a switch did."""

    generation: str
    previous_generation: str
    until_milliseconds: int


class Generations:
    """The generations of one project.

    `reconcile` runs at once after a move; `verify` compares one generation's records with both engines and answers how many documents
    it had to write again; nothing is dropped while `exclusively` is held. Of several processes the one that has `held` does the work.
    """

    def __init__(
        self,
        slug: str,
        catalog: Catalog,
        stores: Stores,
        growth: Growth,
        reconcile: Callable[[], Awaitable[object]],
        verify: Callable[[str], Awaitable[int]],
        exclusively: asyncio.Lock,
        settings: IngestSettings,
        *,
        held: Callable[[], bool] = lambda: True,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._slug = slug
        self._catalog = catalog
        self._stores = stores
        self._growth = growth
        self._reconcile = reconcile
        self._verify = verify
        self._exclusively = exclusively
        self._settings = settings
        self._held = held
        self._now = now
        self._kicked = asyncio.Event()
        self._unreconciled = False
        self._is_stuck = False

    async def build(self, model_id: str, chunker_version: int, *, hold_switch: bool) -> str:
        """Begins to follow a new generation, or changes whether its switch is held; its name.

        Raises: InvalidArgument, AlreadyExists: what keeps it from being built; NotFound, Unavailable.
        """
        live = read_name((await self._catalog.read(self._slug)).live_generation)
        name = generation_name(model_id or live[0], chunker_version or live[1])
        await self._catalog.generation(name)
        await self._catalog.change(self._slug, lambda project: roles.built(project, name, hold_switch=hold_switch))
        log.info("a generation is being built", project=self._slug, generation=name)
        metrics.MOVES.labels("build").inc()
        self._kicked.set()
        return name

    async def switch(self, generation: str = "") -> Moved:
        """Has a followed generation answer, the one that is being built where none is named; one that answers already is left.

        Raises: InvalidArgument for one that is not followed; Unavailable while it is behind; NotFound.
        """
        return await self._move(lambda project: roles.find_followed(project, generation))

    async def roll_back(self) -> Moved:
        """Has the generation answer that answered last. Raises: as `switch`."""
        return await self._move(roles.find_previous)

    async def drop(self, generation: str = "") -> str:
        """Follows a generation no more, the one that is being built where none is named; its name.

        Raises: InvalidArgument for the live one, or one that is not followed; NotFound, Unavailable.
        """
        names: list[str] = []

        def unfollow(project: Project) -> Project:
            name = roles.find_followed(project, generation)
            if name == project.live_generation:
                raise InvalidArgument(f"generation {name} answers project {project.slug}: switch to another one first")
            names.append(name)
            return roles.unfollowed(project, name, self._now_milliseconds())

        await self._catalog.change(self._slug, unfollow)
        metrics.MOVES.labels("unfollow").inc()
        self._kicked.set()
        return names[-1]

    async def run(self) -> None:
        """Does what the catalog asks for until it is cancelled; pauses while something cannot be reached."""
        backoff = Backoff(self._settings.outage_seconds)
        while True:
            try:
                has_worked = (self._held() or self._unreconciled) and await self.work()
                waits_seconds = 0.0 if has_worked else await self._pause_seconds()
            except OUTAGE as error:
                waits_seconds = backoff.next(error.retry_after_seconds)
                metrics.OUTAGES.labels("generations").inc()
                log.warning("generations wait", reason=error.message, seconds=waits_seconds)
            else:
                backoff.reset()
            await self._wait(waits_seconds)

    async def work(self) -> bool:
        """One step of what the catalog asks for; False when there is nothing to do now. Raises: Unavailable and the like."""
        if self._unreconciled:
            await self._reconcile()
            self._unreconciled = False
        project = await self._catalog.read(self._slug)
        now = self._now_milliseconds()
        for name in roles.list_expired(project, now):
            with contextlib.suppress(Conflict):  # read anew, it may answer again
                await self._catalog.put(roles.unfollowed(project, name, now), project.revision)
                log.info("the time for rollback is over", project=self._slug, generation=name)
            return True
        for one in project.dropped_generations:
            wait_seconds = AGAIN_SECONDS if one.dropped_once else self._settings.generation_grace_seconds
            if now - one.since_milliseconds >= wait_seconds * 1000:
                await self._drop(one.generation, for_good=one.dropped_once)
                return True
        return await self._fill(project) or await self._advance(project)

    async def find_gap(self, generation: str) -> str:
        """What keeps a generation from answering, for people: documents without a head of it, or without vectors; empty when nothing does.

        Raises: Unavailable and the like.
        """
        if reason := self._catalog.absent_reason(generation):
            return reason
        behind, incomplete = list[str](), list[str]()
        async for record in self._stores.list_records():
            head = find_head(record, generation)
            if record.deleted:
                continue
            if head is None:
                behind.append(record.path)
            elif head.missing_vectors:
                incomplete.append(record.path)
        return _describe_gap(behind, incomplete)

    async def _find_losses(self, generation: str) -> str:
        """What engines lack of a generation that has never answered: it may have been dropped and followed anew, and a worker that stalled
        all the while have put one of its old heads back.
        """
        count = await self._verify(generation)
        return f"{count:,} documents were not whole in the indices and are written again" if count else ""

    async def _move(self, choose: Callable[[Project], str]) -> Moved:
        for _ in range(MOVES):
            project = await self._catalog.read(self._slug)
            generation = choose(project)
            if generation == project.live_generation:
                return Moved(generation, "", 0)
            await self._catalog.generation(generation)
            gap = await self.find_gap(generation)
            if not gap and generation == project.building_generation:
                gap = await self._find_losses(generation)
            if gap:
                raise Unavailable(f"generation {generation} of project {self._slug} cannot answer yet: {gap}")
            until = self._now_milliseconds() + int(self._settings.rollback_days * DAY_MILLISECONDS)
            reach("ingest.switch.before")
            try:
                await self._catalog.put(roles.switched(project, generation, until), project.revision)
            except Conflict:
                continue
            self._unreconciled = True
            reach("ingest.switch.after")
            log.info("another generation answers", project=self._slug, generation=generation)
            metrics.MOVES.labels("switch").inc()
            self._kicked.set()
            return Moved(generation, project.live_generation, until)
        raise Unavailable(f"project {self._slug} is being changed by somebody else; try again")

    async def _fill(self, project: Project) -> bool:
        """Has documents cut that lack a head of a followed generation: one that is built, or that a slow writer knew nothing of."""
        counts = [await self._stores.count(name) for name in project.followed_generations]
        lacks = any(one.other_generation_count for one in counts)
        grown_count = await self._growth.fill() if lacks else 0
        self._is_stuck = lacks and not grown_count
        return grown_count > 0

    async def _advance(self, project: Project) -> bool:
        """Moves over to what is being built when it is complete; False when there is nothing to do but wait."""
        generation = project.building_generation
        if not generation or project.hold_switch:
            return False
        stats = await self._stores.count(generation)
        if stats.other_generation_count or stats.missing_vector_count:
            return False
        try:
            await self.switch(generation)
        except (InvalidArgument, Unavailable) as error:
            log.info("a generation cannot answer yet", project=self._slug, generation=generation, reason=error.message)
            return False
        return True

    async def _drop(self, generation: str, *, for_good: bool) -> None:
        """Takes a generation that nobody follows off the records, then out of both engines."""
        reach("ingest.drop.before")
        async with self._exclusively:
            with contextlib.suppress(
                InvalidArgument
            ):  # it is followed again, and what is dropped of it now is made again
                await self._stores.drop_heads(generation)
                reach("ingest.drop.between")
                await self._stores.drop_entries(generation)
        reach("ingest.drop.after")
        await self._catalog.change(self._slug, lambda project: roles.dropped(project, generation, for_good=for_good))
        if not for_good:
            log.info("a generation is dropped", project=self._slug, generation=generation)
            metrics.MOVES.labels("drop").inc()

    async def _pause_seconds(self) -> float:
        project = await self._catalog.read(self._slug)
        waits = bool(project.building_generation) or any(not one.dropped_once for one in project.dropped_generations)
        return BUSY_SECONDS if waits and not self._is_stuck else IDLE_SECONDS

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._kicked.wait()
        except TimeoutError:
            pass
        self._kicked.clear()

    def _now_milliseconds(self) -> int:
        return int(self._now() * 1000)


def _describe_gap(behind: Sequence[str], incomplete: Sequence[str]) -> str:
    parts = []
    if behind:
        parts.append(f"{len(behind):,} documents are not cut for it yet ({behind[0]} is one)")
    if incomplete:
        parts.append(f"{len(incomplete):,} documents wait for vectors ({incomplete[0]} is one)")
    return " and ".join(parts)
