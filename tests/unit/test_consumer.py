"""The loop between the queue and publishing: what is acknowledged, what comes again, what is set aside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from fakes.desk import PROJECT, SOURCE, FakeDesk
from fakes.events import MemoryEvents
from fakes.waiting import until
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.ingest.consumer import Consumer
from refdesk.ingest.events.event import ChangeEvent, ChangeType
from refdesk.ingest.settings import IngestSettings

pytestmark = pytest.mark.anyio
SETTINGS = IngestSettings(batch_documents=8, deliveries=3, retry_seconds=0.01, outage_seconds=0.02)


def change(path: str, number: int = 0, *, project: str = PROJECT, moved_from: str | None = None) -> ChangeEvent:
    return ChangeEvent(
        f"{project} {path} {number}",
        project,
        SOURCE,
        path,
        ChangeType.CHANGED,
        "2026-01-01T00:00:00Z",
        False,
        moved_from,
    )


def page(name: str) -> str:
    return f"# {name}\n\n" + " ".join(f"{name}{number}" for number in range(40))


async def consume(desk: FakeDesk, events: MemoryEvents, holds: Callable[[], bool]) -> None:
    """Runs a consumer until something holds, then drains it."""
    consumer = Consumer(events, {PROJECT: desk.publisher()}, SETTINGS)
    running = asyncio.create_task(consumer.run())
    await until(holds)
    consumer.drain()
    await asyncio.wait_for(running, 20)


async def test_what_is_published_is_acknowledged() -> None:
    desk, events = FakeDesk(), MemoryEvents()
    for number in range(30):
        desk.source.write(f"{number}.md", page(f"alpha{number}"))
    await events.publish([change(f"{number}.md") for number in range(30)])
    await consume(desk, events, lambda: len(desk.docstore.records) == 30)
    assert await events.pending() == 0
    await desk.finish()
    assert desk.differences() == []


async def test_several_hints_at_one_document_are_one_publication() -> None:
    desk, events = FakeDesk(), MemoryEvents()
    desk.source.write("a.md", page("alpha"))
    await events.publish([change("a.md", number) for number in range(6)])
    await consume(desk, events, lambda: bool(desk.docstore.records))
    assert await events.pending() == 0
    assert desk.docstore.puts == 1


async def test_a_document_that_fails_by_itself_is_parked_after_its_deliveries_and_holds_up_nothing() -> None:
    desk, events = FakeDesk(), MemoryEvents()
    desk.parsers.refused = "poison"
    desk.source.write("bad.md", "poison")
    desk.source.write("a.md", page("alpha"))
    await events.publish([change("bad.md"), change("a.md")])
    await consume(desk, events, lambda: "guide/bad.md" in desk.docstore.reports)
    report = desk.docstore.reports["guide/bad.md"]
    assert (report.kind, report.reason) == (pb.REPORT_KIND_PARKED, "parsing failed")
    assert await events.pending() == 0
    assert {record.path for record in desk.docstore.records.values() if not record.deleted} == {"guide/a.md"}


async def test_a_parked_document_is_published_when_it_changes_and_its_report_is_gone() -> None:
    desk, events = FakeDesk(), MemoryEvents()
    desk.parsers.refused = "poison"
    desk.source.write("bad.md", "poison")
    await events.publish([change("bad.md")])
    await consume(desk, events, lambda: bool(desk.docstore.reports))
    desk.source.write("bad.md", page("alpha"))
    await events.publish([change("bad.md", 2)])
    await consume(desk, events, lambda: not desk.docstore.reports)
    await desk.finish()
    assert desk.differences() == []


@pytest.mark.parametrize("engine", ["docstore", "words", "source"])
async def test_an_outage_parks_nothing_however_long_it_lasts(engine: str) -> None:
    desk, events = FakeDesk(), MemoryEvents()
    desk.weather.down.add(engine)
    desk.source.write("a.md", page("alpha"))
    await events.publish([change("a.md")])
    deliveries = 0

    def come_back() -> bool:
        nonlocal deliveries
        waiting = [count for lane in events._lanes.values() for _, _, count in lane]
        deliveries = max([deliveries, *waiting, *(one.deliveries for one in events._held)])
        if deliveries > 2 * SETTINGS.deliveries:
            desk.weather.down.clear()
        return bool(desk.docstore.records)

    await consume(desk, events, come_back)
    assert deliveries > SETTINGS.deliveries
    assert desk.docstore.reports == {}
    await desk.finish()
    assert desk.differences() == []


async def test_a_queue_that_is_away_is_waited_for() -> None:
    desk, events = FakeDesk(), MemoryEvents()
    desk.source.write("a.md", page("alpha"))
    await events.publish([change("a.md")])
    events.is_down = True
    turns = 0

    def come_back() -> bool:
        nonlocal turns
        turns += 1
        events.is_down = turns < 10
        return bool(desk.docstore.records)

    await consume(desk, events, come_back)
    assert desk.docstore.reports == {}


async def test_an_event_of_a_project_that_is_not_declared_is_dropped() -> None:
    desk, events = FakeDesk(), MemoryEvents()
    desk.source.write("a.md", page("alpha"))
    await events.publish([change("x.md", project="other"), change("a.md")])
    await consume(desk, events, lambda: bool(desk.docstore.records))
    assert await events.pending() == 0


async def test_a_consumer_that_is_cancelled_loses_nothing() -> None:
    desk, events = FakeDesk(), MemoryEvents()
    for number in range(12):
        desk.source.write(f"{number}.md", page(f"alpha{number}"))
    await events.publish([change(f"{number}.md") for number in range(12)])
    for turns in (3, 9, 27):
        running = asyncio.create_task(Consumer(events, {PROJECT: desk.publisher()}, SETTINGS).run())
        for _ in range(turns):
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await events.start()  # what was delivered and not acknowledged comes again
    await consume(desk, events, lambda: len(desk.docstore.records) == 12)
    assert await events.pending() == 0
    await desk.finish()
    assert desk.differences() == []


async def test_a_load_is_under_way_only_while_bulk_events_are_in_hand() -> None:
    desk, events = FakeDesk(), MemoryEvents()
    for number in range(4):
        desk.source.write(f"{number}.md", page(f"alpha{number}"))
    seen: set[bool] = set()
    consumer = Consumer(
        events, {PROJECT: desk.publisher()}, SETTINGS, published=lambda project, count: seen.add(consumer.loads)
    )
    await events.publish([replace(change(f"{number}.md"), bulk=True) for number in range(4)])
    running = asyncio.create_task(consumer.run())
    await until(lambda: len(desk.docstore.records) == 4 and not consumer.loads)
    consumer.drain()
    await asyncio.wait_for(running, 20)
    assert seen == {True}


async def test_a_run_that_broke_off_leaves_no_load_under_way() -> None:
    desk, events = FakeDesk(), MemoryEvents()
    desk.docstore.weather.down = {"docstore"}
    await events.publish([replace(change("a.md"), bulk=True)])
    consumer = Consumer(events, {PROJECT: desk.publisher()}, SETTINGS)
    consumer._in_flight.update(await events.fetch(1, 5))
    assert consumer.loads
    running = asyncio.create_task(consumer.run())
    await until(lambda: not consumer.loads)
    running.cancel()
    await asyncio.wait([running])
