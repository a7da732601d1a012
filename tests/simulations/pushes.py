"""Pushes come twice and out of order, hints are lost, calls fail, workers race: the index ends as the publisher's revisions say."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter

from fakes.desk import FakeDesk
from fakes.events import MemoryEvents
from fakes.pushes import PROJECT, SOURCE, content, deletion, listing, project
from fakes.raw_store import PushDocstore
from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.errors import RefdeskError
from refdesk.ingest.changes import Followed
from refdesk.ingest.consumer import Consumer
from refdesk.ingest.following import Follower
from refdesk.ingest.guard import DeleteLimit
from refdesk.ingest.settings import IngestSettings
from refdesk.ingest.source_records import SourceRecords
from refdesk.ingest.sources.push import PushSource
from refdesk.ingest.sources.raw_reader import RawReader
from refdesk.ingest.stores import Stores
from refdesk.projects import SourceSettings
from simulations.clock import run
from simulations.weather import SimulatedWeather

SETTINGS = IngestSettings(batch_documents=4, deliveries=50, retry_seconds=0.001, outage_seconds=0.002)
PATHS = [f"{number}.md" for number in range(6)]


class Desk(FakeDesk):
    """A desk whose one source takes pushes, in bad weather."""

    weather: SimulatedWeather

    def __init__(self, seed: int) -> None:
        super().__init__(SimulatedWeather(seed, turns=6, stalling=0.02, failing=0.04, lying=0.04))
        self.docstore = PushDocstore(self.weather)
        self.docstore.projects[PROJECT] = project()
        self.stores = Stores(PROJECT, self.docstore, self.search)  # type: ignore[arg-type]
        settings = SourceSettings(name=SOURCE, kind="push", language="en", chunk_tokens=100)
        self.pushed = PushSource(settings, RawReader(self.docstore, PROJECT, SOURCE, 5))  # type: ignore[arg-type]
        self.sources = {SOURCE: Followed(settings, self.pushed)}
        self.events = MemoryEvents()
        limit = DeleteLimit(documents=100)
        records = SourceRecords(self.stores, SOURCE)
        self.follower = Follower(PROJECT, settings, self.pushed, self.events, records, limit=limit)
        self.rng = random.Random(seed)
        self.wanted: dict[str, str] = {}

    async def publish_all(self, statements: list[pb.PutRawDocumentsItem]) -> None:
        """Sends each until it is acknowledged, as a publisher does; hints at some of them."""
        for item in statements:
            while True:
                try:
                    response = await self.docstore.put_raw_documents(
                        pb.PutRawDocumentsRequest(project=PROJECT, items=[item])
                    )
                except RefdeskError:
                    continue
                assert response.outcomes[0].reason == ""
                break
            if self.rng.random() < 0.5:
                paths = [] if item.HasField("listing") else [item.content.path or item.deletion.path]
                with contextlib.suppress(RefdeskError):
                    await self.follower.hint(paths)

    def make_statements(self) -> list[pb.PutRawDocumentsItem]:
        """What the source system says over time; what must stand in the end is noted."""
        statements = []
        for revision in range(1, self.rng.choice((8, 16, 24))):
            path, dice = self.rng.choice(PATHS), self.rng.random()
            if dice < 0.65:
                text = page(self.rng)
                self.wanted[path] = text
                statements.append(content(path, revision, text))
            elif dice < 0.9:
                self.wanted.pop(path, None)
                statements.append(deletion(path, revision))
            else:
                statements.append(listing(revision, *self.wanted))
        return statements

    def shuffled(self, statements: list[pb.PutRawDocumentsItem]) -> list[pb.PutRawDocumentsItem]:
        """Some twice, and all out of order, but for listings: one that comes late would name what is not there yet."""
        ordered: list[pb.PutRawDocumentsItem] = []
        while statements:
            place = next((n for n, one in enumerate(statements) if one.HasField("listing")), len(statements))
            some = statements[:place] + self.rng.sample(statements[:place], place // 3)
            self.rng.shuffle(some)
            ordered += [*some, *statements[place : place + 1]]
            statements = statements[place + 1 :]
        return ordered

    def push_differences(self) -> list[str]:
        """How the index differs from what must stand."""
        problems = []
        for path in PATHS:
            record = self.docstore.records.get(ids.document_id(PROJECT, SOURCE, path))
            text = record.text.strip() if record and not record.deleted else ""
            if text != self.wanted.get(path, "").strip():
                problems.append(f"{path} is {text[:40]!r} and not {self.wanted.get(path, '')[:40]!r}")
        return problems


def page(rng: random.Random) -> str:
    words = rng.sample(["amber", "birch", "cedar", "damask", "elder"], rng.randrange(1, 4))
    return "# Page\n\n" + "\n\n".join(f"## {word}\n\nAll about {word} {rng.randrange(10**6)}. " * 3 for word in words)


def simulate(seed: int) -> tuple[list[str], Counter[str]]:
    """What is wrong in the end, and how often what happened."""
    desk = Desk(seed)
    with desk.weather.over(seed):
        return run(desk.weather.loop, publish_and_compare(desk)), desk.weather.counts


async def publish_and_compare(desk: Desk) -> list[str]:
    """What is wrong in the end."""
    statements = desk.shuffled(desk.make_statements())
    desk.weather.counts["statements"] += len(statements)
    consumers = [Consumer(desk.events, {PROJECT: desk.publisher()}, SETTINGS) for _ in range(2)]
    running = [asyncio.create_task(consumer.run()) for consumer in consumers]
    side_by_side = 1 if any(one.HasField("listing") for one in statements) else 2
    async with asyncio.timeout(600):
        await asyncio.gather(*(desk.publish_all(statements[number::side_by_side]) for number in range(side_by_side)))
        desk.weather.clear_up()
        for _ in range(3):  # what is under way may be newer than a scan has seen
            await desk.follower.sync(False)
            while await desk.events.pending():
                await desk.weather.rest(20)
        for consumer in consumers:
            consumer.drain()
        await asyncio.gather(*running)
        await desk.finish()
    return desk.push_differences()
