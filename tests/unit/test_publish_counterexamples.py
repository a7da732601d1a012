"""The ten counterexamples that a model checker found to simpler protocols, replayed on the real workers, each with and without its clause.

In the stories r1, r2 … are revisions of the record of one document, whose text is alpha, beta, both or none.
"""

from __future__ import annotations

import pytest

from fakes.desk import MADE, PROJECT, SOURCE, FakeDesk
from mutants import change
from refdesk import failpoints, ids
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.search.v1 import search_pb2
from refdesk.docstore.engines.cuts import parse_cut
from refdesk.errors import Unavailable
from refdesk.ingest import entries, records
from refdesk.ingest.changes import Change, Followed
from refdesk.ingest.publish import Publisher
from refdesk.ingest.reconcile import Reconciler
from refdesk.ingest.records import Generation, find_head
from refdesk.ingest.sources.interface import RawDocument
from refdesk.ingest.vectors import Vectors

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("stands", [True, False], ids=["with", "without"])]

A = Change(SOURCE, "a.md")
WORDS, VECTORS = search_pb2.ENGINE_WORDS, search_pb2.ENGINE_VECTORS
PACKED = Generation("made", 2, 250, frozenset({"en"}))
Patch = pytest.MonkeyPatch


class Counting(Followed):
    """A source whose revisions never come back."""

    @property
    def revisions_return(self) -> bool:
        return False


def page(names: str) -> str:
    """A section for each name."""
    return "\n\n".join(f"# {name}\n\n" + " ".join(f"{name}{number}" for number in range(40)) for name in names.split())


def counting_desk(kind: str = "folder") -> FakeDesk:
    """A desk on a source whose revisions are 1, 2, 3 …"""
    desk = FakeDesk()
    desk.source = type(desk.source)(desk.weather)
    desk.source_settings = desk.source_settings.model_copy(update={"kind": kind})
    desk.sources = {SOURCE: Counting(desk.source_settings, desk.source)}
    return desk


def record_now(desk: FakeDesk) -> pb.Document:
    copy = pb.Document()
    copy.CopyFrom(desk.docstore.records[ids.document_id(PROJECT, SOURCE, "a.md")])
    return copy


def orphans(desk: FakeDesk, engine: int = WORDS) -> set[str]:
    """Chunks in an engine that the record does not list."""
    record = record_now(desk)
    listed = {span.chunk_id for head in record.heads for span in head.chunks}
    return desk.entries(engine).keys() - listed - {record.document_id}


async def write_words_and_crash(desk: FakeDesk) -> None:
    """A worker is gone after step 3."""
    crashed = desk.publisher()
    prepared = await crashed.prepare([A])
    await crashed._write_words(prepared.works, prepared.generations)


async def put_and_crash(desk: FakeDesk) -> None:
    """A worker is gone after step 4."""
    failpoints.arm("ingest.step4.after=fail")
    try:
        with pytest.raises(Unavailable):
            await desk.publish("a.md")
    finally:
        failpoints.arm("")


async def test_c1_a_late_write_never_lowers_a_stamp_so_no_late_sweep_takes_a_listed_chunk(stands: bool) -> None:
    desk = FakeDesk(monotone=stands)  # engines hold to this: the conformance suites show it of the real ones
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
    await desk.stores.sweep([emptied], [MADE.name])  # a sweep that started before the text came back
    assert (desk.unfounded() == []) is stands


async def test_c2_a_sweep_goes_up_to_the_revision_that_its_worker_read_and_no_further(
    stands: bool, monkeypatch: Patch
) -> None:
    if not stands:
        change(monkeypatch, entries, "sweep_item", ("up_to_stamp=record.revision", "up_to_stamp=record.revision + 1"))
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    read_by_a_reconciler = record_now(desk)
    desk.source.write("a.md", page("alpha beta"))
    await desk.publish("a.md")  # its new chunk bears r2
    await desk.stores.sweep([read_by_a_reconciler], [MADE.name])
    assert (desk.unfounded() == []) is stands


async def test_c3_entries_with_a_later_stamp_than_the_records_are_fenced_once_a_run_and_swept(
    stands: bool, monkeypatch: Patch
) -> None:
    if not stands:
        fences = "await self._fence([now[one] for one in later - findings.fenced], generation, findings)"
        change(monkeypatch, Reconciler, "_mend", (fences, "pass"))
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    desk.source.write("a.md", page("beta"))
    await write_words_and_crash(desk)  # and its event is lost
    desk.source.write("a.md", page("alpha"))
    await desk.finish()
    assert orphans(desk)
    findings = await desk.reconciler().run()
    await desk.finish()
    assert (findings.fenced_count == 1) is stands
    assert (desk.differences() == []) is stands


@pytest.mark.parametrize("revisions_return", [True, False])
async def test_c4_the_same_content_is_put_all_the_same_so_that_a_slower_worker_with_older_content_conflicts(
    stands: bool, revisions_return: bool, monkeypatch: Patch
) -> None:
    if not stands:
        clause = "found.always_puts or " if revisions_return else " or view.source_revision != found.source_revision"
        change(monkeypatch, records, "judge", (clause, ""))
    desk = FakeDesk() if revisions_return else counting_desk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    slow = desk.publisher()
    desk.source.write("a.md", page("beta"))
    prepared = await slow.prepare([A])
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")  # the same content as on record
    await slow.write(prepared)
    assert ("alpha" in record_now(desk).text) is stands
    await desk.finish()
    assert (desk.differences() == []) is stands


async def test_c5_an_event_sweeps_even_where_there_is_nothing_to_put(stands: bool, monkeypatch: Patch) -> None:
    if not stands:
        change(monkeypatch, Publisher, "write", ("work.outcome is None or work.ended", "work.ended"))
    desk = counting_desk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    slow = desk.publisher()
    desk.source.write("a.md", page("beta"))
    prepared = await slow.prepare([A])
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    await slow.write(prepared)  # it writes beta, conflicts, and finds nothing to put when it starts again
    await desk.finish()
    assert (orphans(desk) == set()) is stands


async def test_c6_a_push_of_the_revision_on_record_goes_on_where_a_crash_left_it(
    stands: bool, monkeypatch: Patch
) -> None:
    if not stands:
        older = "_number(found.source_revision) < _number(view.source_revision)"
        change(monkeypatch, records, "judge", (older, older.replace("<", "<=")))
    desk = counting_desk("push")
    desk.source.documents["a.md"] = RawDocument(page("alpha").encode(), "7")
    await desk.publish("a.md")
    desk.source.documents["a.md"] = RawDocument(page("beta").encode(), "8")
    await put_and_crash(desk)
    await desk.publish("a.md")
    assert (orphans(desk) == set()) is stands
    assert record_now(desk).heads[0].swept is stands


async def test_c7_a_deleted_document_keeps_heads_that_list_nothing_so_that_its_entries_are_swept(
    stands: bool, monkeypatch: Patch
) -> None:
    if not stands:
        change(monkeypatch, records, "buried_record", ("for one in generations:", "for one in ():"))
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    await desk.finish()
    desk.source.remove("a.md")
    await put_and_crash(desk)
    await desk.publish("a.md")
    await desk.finish()
    assert record_now(desk).deleted
    assert ((desk.entries(WORDS), desk.entries(VECTORS)) == ({}, {})) is stands


async def test_c8_new_content_drops_the_head_of_a_generation_that_its_worker_did_not_cut(
    stands: bool, monkeypatch: Patch
) -> None:
    if not stands:
        change(monkeypatch, records, "cut_record", ("if view and _same_content(view, record):", "if view:"))
    desk = FakeDesk()
    desk.followed = [MADE, PACKED]
    desk.source.write("a.md", page("alpha beta"))
    await desk.publish("a.md")
    heads = record_now(desk).heads
    hits = [span.chunk_id for head in heads if head.generation == PACKED.name for span in head.chunks]
    desk.followed = [MADE]  # all that this worker has heard of
    desk.source.write("a.md", page("gamma"))
    await desk.publish("a.md")
    record = record_now(desk)
    head = find_head(record, PACKED.name) or pb.Head()
    cut = parse_cut(record.SerializeToString(), head.SerializeToString(), record.text)
    shown = [cut.hydrate(one, with_neighbors=False).text for one in hits if one in cut.ordinals]
    assert (shown == []) is stands  # spans of the old text would be cut out of the new one


async def test_c9_a_lost_note_sweeps_the_points_that_nobody_lists_any_more(stands: bool, monkeypatch: Patch) -> None:
    if not stands:
        change(monkeypatch, Vectors, "_write", ("await self._resume(generation, lost)", "pass"))
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
    await desk.finish()
    assert (orphans(desk, VECTORS) == set()) is stands
    assert (desk.differences() == []) is stands


async def test_c10_a_put_carries_over_the_vectors_that_are_still_missing(stands: bool, monkeypatch: Patch) -> None:
    if not stands:
        carries = "has_vector.difference_update(old.missing_vectors)"
        change(monkeypatch, records, "missing_vectors", (carries, "pass"))
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha beta"))
    await desk.publish("a.md")  # its vectors are not made yet
    desk.source.write("a.md", page("alpha gamma"))
    await desk.publish("a.md")
    await desk.finish()
    without_point = {span.chunk_id for span in record_now(desk).heads[0].chunks} - desk.entries(VECTORS).keys()
    assert (without_point == set()) is stands
