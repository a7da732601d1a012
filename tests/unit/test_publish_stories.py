"""What reconciling finds and mends, told worker by worker; the stories of the protocol itself are in test_publish_counterexamples."""

from __future__ import annotations

import pytest

from fakes.desk import PROJECT, SOURCE, FakeDesk
from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.search.v1 import search_pb2
from refdesk.ingest.changes import Change

pytestmark = pytest.mark.anyio

A = Change(SOURCE, "a.md")
WORDS, VECTORS = search_pb2.ENGINE_WORDS, search_pb2.ENGINE_VECTORS


def page(name: str) -> str:
    return f"# {name}\n\n" + " ".join(f"{name}{number}" for number in range(40))


def record_now(desk: FakeDesk) -> pb.Document:
    copy = pb.Document()
    copy.CopyFrom(desk.docstore.records[ids.document_id(PROJECT, SOURCE, "a.md")])
    return copy


async def test_entries_of_a_document_that_was_never_recorded_are_removed() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    crashed = desk.publisher()
    prepared = await crashed.prepare([A])
    await crashed._write_words(prepared.works, prepared.generations)
    desk.source.remove("a.md")
    assert desk.entries(WORDS)
    await desk.reconciler().run()
    assert desk.entries(WORDS) == {}


@pytest.mark.parametrize("was_deleted", [False, True])
async def test_entries_of_a_document_that_went_away_before_it_was_put_are_removed_without_reconciling(
    was_deleted: bool,
) -> None:
    desk = FakeDesk()
    if was_deleted:
        desk.source.write("a.md", page("beta"))
        await desk.publish("a.md")
        await desk.finish()
        desk.source.remove("a.md")
        await desk.publish("a.md")
    desk.source.write("a.md", page("alpha"))
    announced = Change(SOURCE, "a.md", keep_absent=True)
    failed = desk.publisher()
    prepared = await failed.prepare([announced])
    await failed._write_words(prepared.works, prepared.generations)  # and the answer is lost
    desk.source.remove("a.md")
    await desk.publisher().publish([announced])
    assert desk.entries(WORDS) == {}
    assert record_now(desk).deleted
    assert (record_now(desk).source == "unrecorded") is not was_deleted


async def test_what_is_gone_and_was_never_recorded_gets_no_name_so_that_a_backup_is_restored_over_it() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    failed = desk.publisher()
    prepared = await failed.prepare([A])
    await failed._write_words(prepared.works, prepared.generations)
    desk.source.remove("a.md")
    await desk.reconciler().run()
    for change in (Change(SOURCE, "a.md", keep_absent=True), A):
        revision = record_now(desk).revision
        await desk.publisher().publish([change])
        assert (record_now(desk).source, record_now(desk).revision) == ("unrecorded", revision + 1)
        assert record_now(desk).deleted


async def test_a_document_that_comes_back_after_its_orphans_were_removed_is_published_under_its_own_path() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    slow = desk.publisher()
    prepared = await slow.prepare([A])
    await slow._write_words(prepared.works, prepared.generations)
    await desk.reconciler().run()
    await slow._put(prepared.works)  # loses to the tombstone
    assert record_now(desk).deleted
    await desk.publish("a.md")
    await desk.finish()
    assert record_now(desk).path == "guide/a.md"
    assert desk.differences() == []


async def test_chunks_that_an_engine_lost_are_written_again() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    await desk.finish()
    for engine in (WORDS, VECTORS):
        desk.search.index(engine, PROJECT, "made.c1").clear()
    findings = await desk.reconciler().run()
    assert findings.republished_count == 1
    await desk.finish()
    assert desk.differences() == []


async def test_reconciling_a_sound_index_changes_nothing() -> None:
    desk = FakeDesk()
    for number in range(5):
        desk.source.write(f"{number}.md", page(f"alpha{number}"))
    await desk.publish(*(f"{number}.md" for number in range(5)))
    await desk.finish()
    puts = desk.docstore.puts
    findings = await desk.reconciler().run()
    assert (findings.record_count, findings.republished_count, findings.swept_count) == (5, 0, 0)
    assert desk.docstore.puts == puts


async def test_a_source_that_is_cut_otherwise_now_is_published_again() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    await desk.finish()
    before = record_now(desk).heads[0].fingerprint
    settings = desk.source_settings.model_copy(update={"chunk_tokens": 120, "version": "v2"})
    desk.sources[SOURCE] = type(desk.sources[SOURCE])(settings, desk.source)
    await desk.reconciler().run()
    assert record_now(desk).version == "v2"
    assert record_now(desk).heads[0].fingerprint != before
    await desk.finish()
    assert desk.differences() == []
