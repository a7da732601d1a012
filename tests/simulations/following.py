"""A folder is scanned while pages come and go, and while much of it is out of sight: nothing goes that nobody removed."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from types import SimpleNamespace

from fakes.desk import PROJECT, SOURCE, FakeDesk
from fakes.events import MemoryEvents
from fakes.source import FakeSource
from refdesk import ids
from refdesk.errors import RefdeskError
from refdesk.ingest import following
from refdesk.ingest.changes import Followed
from refdesk.ingest.consumer import Consumer
from refdesk.ingest.following import ONE_GO_SECONDS, Follower
from refdesk.ingest.guard import DeleteLimit
from refdesk.ingest.settings import IngestSettings
from refdesk.ingest.source_records import SourceRecords
from refdesk.ingest.sources.interface import Listing
from simulations.clock import run
from simulations.publishing import RememberingParsers
from simulations.weather import STALL_TICKS, SimulatedWeather

SETTINGS = IngestSettings(batch_documents=4, deliveries=50, retry_seconds=0.001, outage_seconds=0.002)
LIMIT = DeleteLimit(documents=2, share=0.1)
PATHS = [f"{number}.md" for number in range(12)]
ROUNDS = 3


class Folder(FakeSource):
    """A folder some of whose documents are out of sight; whether a listing knows that it lacks them is `is_complete`."""

    is_complete = True

    async def list(self, within: Collection[str] | None = None) -> Listing:
        return replace(await super().list(within), complete=self.is_complete)


class Desk(FakeDesk):
    """A desk that follows a folder in bad weather."""

    weather: SimulatedWeather

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        share = self.random.choice((0.0, 0.03))
        super().__init__(SimulatedWeather(seed, turns=4, stalling=0.02, failing=share, lying=share))
        self.folder = self.source = Folder(self.weather, revisions_return=True)
        self.sources = {SOURCE: Followed(self.source_settings, self.folder)}
        self.parsers = RememberingParsers(self.weather)
        self.events = MemoryEvents()
        records = SourceRecords(self.stores, SOURCE)
        self.follower = Follower(PROJECT, self.source_settings, self.folder, self.events, records, limit=LIMIT)

    async def scan(self, paths: Collection[str] = ()) -> None:
        """Scans until it succeeds, and waits until all that was announced is published."""
        while True:
            with contextlib.suppress(RefdeskError):
                await self.follower.hint(paths)
                break
        while await self.events.pending():
            await self.weather.rest(20)

    def list_deleted(self, paths: Collection[str]) -> list[str]:
        """Those of these documents that are not there any more."""
        found = {path: self.docstore.records.get(ids.document_id(PROJECT, SOURCE, path)) for path in paths}
        return [path for path, record in found.items() if record is None or record.deleted]

    async def edit(self) -> None:
        """A person writes pages, and removes as many as go without a question."""
        for path in self.random.sample(PATHS, 3):
            self.folder.write(path, f"# {path}\n\nPage {self.random.choice(('amber', 'birch', 'cedar'))} of {path}.\n")
        for path in self.random.sample(sorted(self.folder.documents), self.random.choice((0, 1, 2))):
            self.folder.remove(path)
        await self.scan(self.random.choice(((), self.folder.documents.keys() | set(PATHS))))

    async def pass_by(self) -> None:
        """A page is written and announced, and gone while it is being published or before."""
        path = f"passing{self.random.randrange(3)}.md"
        self.folder.write(path, f"# {path}\n\nPage {self.random.choice(('amber', 'birch', 'cedar'))} of {path}.\n")
        with contextlib.suppress(RefdeskError):
            await self.follower.hint((path,))
        await self.weather.rest(STALL_TICKS)
        self.folder.remove(path)
        await self.scan()  # while this one looks, it may be put, and only the next one knows of it
        await asyncio.sleep(2 * ONE_GO_SECONDS)
        await self.scan()

    async def lose_sight(self) -> list[str]:
        """Some of it is out of sight, and seen again later; what was deleted of that."""
        standing = dict(self.folder.documents)
        self.folder.is_complete = self.random.random() < 0.6
        few = min(len(standing), LIMIT.documents + 1 if self.folder.is_complete else 1)
        hidden = self.random.sample(sorted(standing), self.random.randrange(few, len(standing) + 1))
        for path in hidden:
            del self.folder.documents[path]
        for _ in range(self.random.choice((1, 2))):
            await self.scan(self.random.choice(((), hidden)))
        deleted = self.list_deleted(hidden)
        self.folder.documents, self.folder.is_complete = standing, True
        await self.scan()
        self.weather.counts["times out of sight"] += 1
        return [f"{path} was deleted while it was out of sight" for path in deleted]


def simulate(seed: int) -> tuple[list[str], Counter[str]]:
    """What is wrong, and how often what happened."""
    desk = Desk(seed)
    before = following.time
    following.time = SimpleNamespace(  # type: ignore[assignment]
        monotonic=desk.weather.loop.time, time_ns=lambda: int(desk.weather.loop.time() * 1e9)
    )
    try:
        with desk.weather.over(seed):
            return run(desk.weather.loop, follow(desk)), desk.weather.counts
    finally:
        following.time = before


async def follow(desk: Desk) -> list[str]:
    """What is wrong."""
    consumers = [Consumer(desk.events, {PROJECT: desk.publisher()}, SETTINGS) for _ in range(2)]
    running = [asyncio.create_task(consumer.run()) for consumer in consumers]
    found: list[str] = []
    async with asyncio.timeout(36_000):
        for path in PATHS:
            desk.folder.write(path, f"# {path}\n\nThe first of {path}.\n")
        await desk.scan()
        for _ in range(ROUNDS):
            await asyncio.sleep(2 * ONE_GO_SECONDS)  # deletes so close to each other would be judged as one
            await desk.edit()
            await asyncio.sleep(2 * ONE_GO_SECONDS)
            await desk.pass_by()
            await asyncio.sleep(2 * ONE_GO_SECONDS)
            if len(desk.folder.documents) > LIMIT.documents:
                found += await desk.lose_sight()
        desk.weather.clear_up()
        await desk.scan()
        for consumer in consumers:
            consumer.drain()
        await asyncio.gather(*running)
        await desk.finish()
    return found or desk.differences()
