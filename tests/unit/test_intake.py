"""Events of source systems over the queue: kept by docstore before they are acknowledged, published, parked where nobody can take them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection

import pytest

from fakes.desk import FakeDesk
from fakes.events import MemoryEvents
from fakes.pushes import PROJECT, SOURCE, project
from fakes.raw_store import PushDocstore
from fakes.waiting import until
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.errors import Internal, NotFound, Unavailable
from refdesk.ingest.changes import Followed
from refdesk.ingest.consumer import Consumer
from refdesk.ingest.intake import Intake
from refdesk.ingest.settings import IngestSettings
from refdesk.ingest.sources.push import PushSource
from refdesk.ingest.sources.raw_reader import RawReader
from refdesk.ingest.stores import Stores
from refdesk.projects import SourceSettings
from refdesk.source_events import TYPE_NAMES, SourceEventType

pytestmark = pytest.mark.anyio
SETTINGS = IngestSettings(batch_documents=64, deliveries=3, retry_seconds=0.01, outage_seconds=0.02)


class Desk(FakeDesk):
    """A desk whose one source takes pushes."""

    def __init__(self) -> None:
        super().__init__()
        self.docstore = PushDocstore(self.weather)
        self.docstore.projects[PROJECT] = project()
        self.stores = Stores(PROJECT, self.docstore, self.search)  # type: ignore[arg-type]
        settings = SourceSettings(name=SOURCE, kind="push", language="en")
        reader = PushSource(settings, RawReader(self.docstore, PROJECT, SOURCE, 5))  # type: ignore[arg-type]
        self.sources = {SOURCE: Followed(settings, reader)}
        self.events = MemoryEvents()
        self.hints: list[tuple[str, str, set[str]]] = []
        self.hint_down = False

    async def hint(self, slug: str, source: str, paths: Collection[str]) -> None:
        if self.hint_down:
            raise Unavailable("the source cannot be listed now")
        if source not in ("docs", SOURCE):
            raise NotFound(f"project {slug} has no source {source}")
        self.hints.append((slug, source, set(paths)))

    def consumer(self) -> Consumer:
        intake = Intake(self.docstore, {PROJECT: {SOURCE, "docs"}}, self.hint, 5)  # type: ignore[arg-type]
        return Consumer(self.events, {PROJECT: self.publisher()}, SETTINGS, intake=intake)

    async def consume(self, holds: Callable[[], bool]) -> None:
        """Runs a consumer until something holds, then drains it."""
        consumer = self.consumer()
        running = asyncio.create_task(consumer.run())
        await until(holds)
        consumer.drain()
        await asyncio.wait_for(running, 20)

    def send(
        self, kind: SourceEventType, path: str | None, revision: int | None = None, *, on: str = "", **members: object
    ) -> None:
        made = {"specversion": "1.0", "id": f"{kind} {path} {revision}", "source": SOURCE, "type": TYPE_NAMES[kind]}
        made |= {"subject": path, "revision": revision}
        if kind is SourceEventType.PUSHED:
            made |= {"datacontenttype": "text/markdown", "data": page(f"{path}{revision}")}
        name = on or f"refdesk.events.{PROJECT}.{members.get('source', SOURCE)}.{kind}"
        self.events.arrive(name, json.dumps({**made, **members}).encode())

    def push(self, path: str, revision: int, **members: object) -> None:
        self.send(SourceEventType.PUSHED, path, revision, **members)

    def live(self) -> dict[str, pb.Document]:
        return {record.path: record for record in self.docstore.records.values() if not record.deleted}

    def kept(self, path: str) -> pb.RawDocument | None:
        return self.docstore.raw_store.records.get((PROJECT, SOURCE, path))


def page(word: str) -> str:
    return f"# {word}\n\n" + " ".join(f"{word}{number}" for number in range(40))


async def test_pushes_out_of_order_are_published_as_their_revisions_say() -> None:
    desk = Desk()
    for number in range(10):
        desk.push(f"{number}.md", 5)
        desk.push(f"{number}.md", 4)
    desk.send(SourceEventType.REMOVED, "3.md", 9)
    desk.push("3.md", 8)
    await desk.consume(lambda: len(desk.live()) == 9)
    assert await desk.events.pending() == 0
    assert {record.source_revision for record in desk.live().values()} == {"5"}
    assert "wiki/3.md" not in desk.live()
    assert desk.events.parked == []


async def test_what_was_published_goes_when_it_is_removed() -> None:
    desk = Desk()
    desk.push("a.md", 1)
    await desk.consume(lambda: bool(desk.live()))
    desk.send(SourceEventType.REMOVED, "a.md", 2)
    await desk.consume(lambda: not desk.live())
    assert await desk.events.pending() == 0


async def test_nothing_is_acknowledged_before_docstore_has_it() -> None:
    desk = Desk()
    desk.docstore.weather.down.add("docstore")
    desk.push("a.md", 1)
    consumer = desk.consumer()
    running = asyncio.create_task(consumer.run())
    await until(lambda: any(count > 1 for lane in desk.events._lanes.values() for _, _, count in lane))
    assert await desk.events.pending() == 1
    assert desk.kept("a.md") is None
    desk.docstore.weather.down.clear()
    await until(lambda: bool(desk.live()))
    consumer.drain()
    await asyncio.wait_for(running, 20)
    assert await desk.events.pending() == 0


async def test_an_event_delivered_twice_is_one_document() -> None:
    desk = Desk()
    for _ in range(3):
        desk.push("a.md", 1)
    await desk.consume(lambda: bool(desk.live()))
    assert desk.docstore.puts == 1
    record = desk.kept("a.md")
    assert record is not None
    assert record.change_count == 1


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"on": f"refdesk.events.{PROJECT}.docs.pushed"}, "the subject says source docs and the event says wiki"),
        ({"revision": None}, "needs the attribute revision"),
        ({"subject": "../a.md"}, "must be relative to its source"),
        ({"source": "docs"}, "has no source docs that takes pushes"),
    ],
)
async def test_an_event_that_nobody_can_take_is_parked_visibly_and_holds_up_nothing(
    bad: dict[str, object], reason: str
) -> None:
    desk = Desk()
    desk.send(SourceEventType.PUSHED, "bad.md", **{"revision": 1, **bad})  # type: ignore[arg-type]
    desk.push("good.md", 1)
    await desk.consume(lambda: bool(desk.live()))
    assert await desk.events.pending() == 0
    [(_, said)] = desk.events.parked
    assert reason in said
    [report] = desk.docstore.reports.values()
    assert report.kind == pb.REPORT_KIND_PARKED
    assert report.path in (SOURCE, "docs")
    assert report.reason == f"an event was set aside: {said}"
    assert desk.live().keys() == {"wiki/good.md"}


async def test_an_event_for_what_is_not_declared_is_parked_and_reported_nowhere() -> None:
    desk = Desk()
    desk.push("a.md", 1, on="refdesk.events.secret.wiki.pushed")
    desk.push("a.md", 1, source="nowhere")
    await desk.consume(lambda: len(desk.events.parked) == 2)
    assert sorted(reason for _, reason in desk.events.parked) == [
        "project handbook has no source nowhere that takes pushes",
        "project secret has no source wiki that takes pushes",
    ]
    assert desk.docstore.reports == {}


async def test_one_that_docstore_cannot_take_by_a_defect_is_parked_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    put = desk.docstore.put_raw_documents

    async def failing(request: pb.PutRawDocumentsRequest) -> pb.PutRawDocumentsResponse:
        if any(item.content.path == "poison.md" for item in request.items):
            raise Internal("docstore failed; the log has the details")
        return await put(request)

    monkeypatch.setattr(desk.docstore, "put_raw_documents", failing)
    for path in ("a.md", "poison.md", "b.md"):
        desk.push(path, 1)
    await desk.consume(lambda: len(desk.live()) == 2)
    assert [reason for _, reason in desk.events.parked] == ["docstore failed; the log has the details"]


async def test_the_same_revision_with_another_content_is_parked_with_what_to_do() -> None:
    desk = Desk()
    desk.push("a.md", 1)
    await desk.consume(lambda: bool(desk.live()))
    desk.push("a.md", 1, id="other", data="# other\n")
    await desk.consume(lambda: bool(desk.events.parked))
    assert "is known with another content: send a higher one" in desk.events.parked[0][1]


async def test_hints_and_listings_have_their_source_looked_at_before_they_are_acknowledged() -> None:
    desk = Desk()
    desk.hint_down = True
    desk.send(SourceEventType.CHANGED, "b.md", source="docs")
    desk.send(SourceEventType.CHANGED, "a.md", source="docs")
    desk.send(SourceEventType.LISTED, None, 3, data={"documents": []})
    consumer = desk.consumer()
    running = asyncio.create_task(consumer.run())
    await until(lambda: any(count > 1 for lane in desk.events._lanes.values() for _, _, count in lane))
    assert await desk.events.pending() == 3
    desk.hint_down = False
    await until(lambda: len(desk.hints) >= 2)
    consumer.drain()
    await asyncio.wait_for(running, 20)
    assert await desk.events.pending() == 0
    assert (PROJECT, SOURCE, set()) in desk.hints
    assert {path for _, source, paths in desk.hints if source == "docs" for path in paths} == {"a.md", "b.md"}
    desk.send(SourceEventType.CHANGED, "a.md", source="nowhere")
    await desk.consume(lambda: bool(desk.events.parked))
