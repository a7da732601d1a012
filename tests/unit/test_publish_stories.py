"""Counterexamples to simpler protocols, replayed worker by worker: what each odd clause of the protocol prevents."""

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


@pytest.mark.parametrize("monotone", [True, False])
async def test_a_late_write_never_lowers_a_stamp_so_no_late_sweep_takes_a_listed_chunk(monotone: bool) -> None:
    desk = FakeDesk(monotone=monotone)
    await desk.publish("a.md")
    desk.source.write("a.md", page("alpha"))
    late = desk.publisher()
    prepared = await late.prepare([A])  # it has read r1
    await desk.publish("a.md")
    desk.source.remove("a.md")
    await desk.publish("a.md")
    emptied = record_now(desk)
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    await late.write(prepared)
    await desk.stores.sweep([emptied], ["made.c1"])  # a sweep that started before the text came back
    assert (desk.unfounded() == []) is monotone


async def test_a_slower_worker_with_older_content_conflicts_although_nothing_changed_in_the_end() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    slow = desk.publisher()
    desk.source.write("a.md", page("beta"))
    prepared = await slow.prepare([A])
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")  # the same content as on record: it puts all the same
    await slow.write(prepared)
    assert "alpha" in record_now(desk).text
    await desk.finish()
    assert desk.differences() == []


async def test_a_lost_note_sweeps_the_points_that_nobody_lists_any_more() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    vectors = desk.vectors()
    embed_texts = desk.embedder.embed_texts

    async def edit_meanwhile(request: object) -> object:
        desk.embedder.embed_texts = embed_texts  # type: ignore[method-assign]
        desk.source.write("a.md", page("beta"))
        await desk.publish("a.md")
        return await embed_texts(request)  # type: ignore[arg-type]

    desk.embedder.embed_texts = edit_meanwhile  # type: ignore[assignment,method-assign]
    await vectors.work()
    alive = {span.chunk_id for span in record_now(desk).heads[0].chunks}
    assert not {one for one in desk.entries(VECTORS) if one not in alive | {record_now(desk).document_id}}
    await desk.finish()
    assert desk.differences() == []


async def test_entries_of_a_crashed_worker_whose_event_was_lost_are_fenced_and_swept() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    desk.source.write("a.md", page("beta"))
    crashed = desk.publisher()
    prepared = await crashed.prepare([A])
    await crashed._write_words(prepared.works, prepared.generations)  # and then it is gone
    desk.source.write("a.md", page("alpha"))
    await desk.finish()
    assert desk.differences() != []
    findings = await desk.reconciler().run()
    assert findings.fenced_count == 1
    await desk.finish()
    assert desk.differences() == []


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
