"""What ingest tells of what waits: ages grow by themselves, labels name nothing, and there are never more of them than may be."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from prometheus_client import REGISTRY

from fakes.desk import FakeDesk
from fakes.events import MemoryEvents
from fakes.waiting import until
from refdesk.errors import Unavailable
from refdesk.ingest import backlog
from refdesk.ingest.backlog import MOST_LABELS, OTHER, Holdings, Sync, Watcher, labelled
from refdesk.ingest.events.event import ChangeEvent, ChangeType
from refdesk.telemetry.labels import source_label
from unit.test_consumer import change, consume, page

pytestmark = pytest.mark.anyio


class Clock:
    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        return self.seconds


async def nothing() -> Sequence[Holdings]:
    return []


def value(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(name, labels)


def sync(label: str, scanned_at_seconds: float = 1000.0, interval_seconds: float = 60.0) -> Sync:
    return Sync(label, scanned_at_seconds, interval_seconds, "followed")


def test_a_label_is_the_beginning_of_the_hash_that_sha256sum_prints_for_project_and_source() -> None:
    # printf %s default/handbook | sha256sum
    assert source_label("default", "handbook") == "c17cf09eea88"


async def test_the_age_of_the_oldest_change_grows_while_the_queue_cannot_be_asked() -> None:
    events = MemoryEvents()
    clock = Clock(0.0)
    watcher = Watcher(events, list, nothing, clock)
    await events.publish([ChangeEvent("1", "p", "s", "a.md", ChangeType.CHANGED, "2026-01-01T00:00:00Z")])
    began = (await events.backlog()).lanes["changed"].oldest_at_seconds
    clock.seconds = began + 5
    await watcher.tell_queue()
    assert value("refdesk_ingest_oldest_change_age_seconds", lane="changed") == pytest.approx(5)
    assert value("refdesk_ingest_oldest_change_age_seconds", lane="bulk") == 0
    assert value("refdesk_ingest_events_pending_count", lane="changed") == 1
    assert value("refdesk_ingest_queue_seen_timestamp_seconds") == began + 5
    events.is_down = True
    clock.seconds = began + 600
    with pytest.raises(Unavailable):
        await watcher.tell_queue()
    assert value("refdesk_ingest_oldest_change_age_seconds", lane="changed") == pytest.approx(600)
    assert value("refdesk_ingest_queue_seen_timestamp_seconds") == began + 5


async def test_a_queue_and_a_docstore_that_were_away_are_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "LOOK_SECONDS", 0.001)
    monkeypatch.setattr(backlog, "COUNT_SECONDS", 0.001)
    events, clock, asked = MemoryEvents(), Clock(7000.0), 0

    async def away_at_first() -> Sequence[Holdings]:
        nonlocal asked
        asked += 1
        if asked < 3:
            raise Unavailable("docstore does not answer")
        return [Holdings(77, 0, 0, {})]

    events.is_down = True
    watcher = Watcher(events, list, away_at_first, clock)
    watching = [asyncio.create_task(one()) for one in (watcher.watch_queue, watcher.watch_holdings)]
    await until(lambda: value("refdesk_ingest_documents_count") == 77)
    assert value("refdesk_ingest_queue_seen_timestamp_seconds") != 7000.0
    events.is_down = False
    await until(lambda: value("refdesk_ingest_queue_seen_timestamp_seconds") == 7000.0)
    for one in watching:
        one.cancel()
    await asyncio.gather(*watching, return_exceptions=True)


async def test_nothing_is_old_once_nothing_waits() -> None:
    events = MemoryEvents()
    watcher = Watcher(events, list, nothing)
    await events.publish([ChangeEvent("1", "p", "s", "a.md", ChangeType.CHANGED, "2026-01-01T00:00:00Z", True)])
    await watcher.tell_queue()
    assert value("refdesk_ingest_events_pending_count", lane="bulk") == 1
    [delivery] = await events.fetch(1, 1)
    await delivery.ack()
    await watcher.tell_queue()
    assert value("refdesk_ingest_events_pending_count", lane="bulk") == 0
    assert value("refdesk_ingest_oldest_change_age_seconds", lane="bulk") == 0


async def test_what_projects_hold_is_added_up() -> None:
    async def two() -> Sequence[Holdings]:
        return [Holdings(3, 30, 5, {"parked": 1}), Holdings(4, 40, 6, {"parked": 2, "skipped": 7})]

    await Watcher(MemoryEvents(), list, two).tell_holdings()
    assert value("refdesk_ingest_documents_count") == 7
    assert value("refdesk_ingest_chunks_count") == 70
    assert value("refdesk_ingest_vectors_pending_count") == 11
    assert value("refdesk_ingest_reported_documents_count", kind="parked") == 3
    assert value("refdesk_ingest_reported_documents_count", kind="skipped") == 7
    assert value("refdesk_ingest_reported_documents_count", kind="remark") == 0


async def test_a_source_that_is_followed_no_more_is_told_of_no_more() -> None:
    clock, sources = Clock(1100.0), [sync("aaa"), sync("bbb", 1040.0, 600.0)]
    watcher = Watcher(MemoryEvents(), lambda: sources, nothing, clock)
    watcher.tell_sources()
    assert value("refdesk_ingest_source_sync_age_seconds", source="aaa") == 100
    assert value("refdesk_ingest_source_sync_age_seconds", source="bbb") == 60
    assert value("refdesk_ingest_source_interval_seconds", source="bbb") == 600
    assert value("refdesk_ingest_sources_count", state="followed") == 2
    del sources[0]
    watcher.tell_sources()
    assert value("refdesk_ingest_source_sync_age_seconds", source="aaa") is None
    assert value("refdesk_ingest_source_interval_seconds", source="aaa") is None
    assert value("refdesk_ingest_sources_count", state="followed") == 1


def test_of_the_sources_without_a_label_of_their_own_the_one_furthest_behind_is_told() -> None:
    many = [sync(f"{number:04}", 5000.0) for number in range(MOST_LABELS + 20)]
    many[MOST_LABELS + 3] = sync(many[MOST_LABELS + 3].label, 100.0)
    told = labelled(many)
    assert len(told) == MOST_LABELS
    assert told[OTHER].scanned_at_seconds == 100.0
    assert OTHER not in labelled(many[:MOST_LABELS])


async def test_a_parked_document_is_counted_by_why_and_a_published_one_by_how_long_it_took() -> None:
    desk, events = FakeDesk(), MemoryEvents()
    desk.parsers.refused = "poison"
    desk.source.write("bad.md", "poison")
    desk.source.write("a.md", page("alpha"))
    before = {reason: value("refdesk_ingest_parked_total", reason=reason) or 0 for reason in ("unparsed", "refused")}
    timed = value("refdesk_ingest_searchable_seconds_count", lane="changed") or 0
    await events.publish([change("bad.md"), change("a.md")])
    await consume(desk, events, lambda: bool(desk.docstore.reports))
    assert value("refdesk_ingest_parked_total", reason="unparsed") == before["unparsed"] + 1
    assert value("refdesk_ingest_parked_total", reason="refused") == before["refused"]
    assert value("refdesk_ingest_searchable_seconds_count", lane="changed") == timed + 1
