"""Properties of what a record becomes, over any two contents and any history of its head."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.ingest import records
from refdesk.ingest.records import Found, Generation, Origin, Verdict

ONE, TWO = Generation("made", 1, 250), Generation("made", 2, 250)
ORIGIN = Origin("d1", "handbook", "guide", "guide/a.md")
CHUNKS = st.lists(st.sampled_from("abcdef"), unique=True)
FOLLOWED = st.sampled_from([(ONE,), (TWO,), (ONE, TWO)])


def parsed(chunks: list[str], generations: tuple[Generation, ...]) -> pb.Document:
    heads = [
        pb.Head(generation=one.name, chunks=[pb.ChunkSpan(chunk_id=f"{one.name}/{name}") for name in chunks])
        for one in generations
    ]
    return pb.Document(text="".join(chunks), language="en", heads=heads)


def found(chunks: list[str], revision: str = "s") -> Found:
    return Found(revision, content_hash="h" + "".join(chunks))


def ids_of(head: pb.Head | None) -> set[str]:
    return {span.chunk_id for span in head.chunks} if head else set()


@given(CHUNKS, CHUNKS, FOLLOWED, FOLLOWED, st.data())
def test_missing_vectors_are_the_new_chunks_and_the_missing_ones_that_are_still_listed(
    before: list[str],
    after: list[str],
    known: tuple[Generation, ...],
    later: tuple[Generation, ...],
    data: st.DataObject,
) -> None:
    view = records.cut_record(None, ORIGIN, found(before), parsed(before, known), known)
    for head in view.heads:
        pending = data.draw(st.sets(st.sampled_from(sorted(ids_of(head))))) if head.chunks else set()
        head.missing_vectors[:] = sorted(pending)
        head.swept = True
    record = records.cut_record(view, ORIGIN, found(after), parsed(after, later), later)
    for generation in later:
        head, old = records.find_head(record, generation.name), records.find_head(view, generation.name)
        assert head is not None
        still = set(old.missing_vectors) & ids_of(head) if old else set()
        assert set(head.missing_vectors) == (ids_of(head) - ids_of(old)) | still
        assert set(records.new_chunk_ids(view, head)) == ids_of(head) - ids_of(old)
        assert not head.swept
    assert record.revision == view.revision + 1


@given(CHUNKS, CHUNKS, FOLLOWED, FOLLOWED)
def test_a_head_that_was_not_cut_stays_only_with_the_same_content(
    before: list[str], after: list[str], known: tuple[Generation, ...], later: tuple[Generation, ...]
) -> None:
    view = records.cut_record(None, ORIGIN, found(before), parsed(before, known), known)
    record = records.cut_record(view, ORIGIN, found(after), parsed(after, later), later)
    cut = {one.name for one in later}
    kept = {one.name for one in known} if before == after else set()
    assert {head.generation for head in record.heads} == cut | kept


@given(CHUNKS, FOLLOWED, st.booleans())
def test_what_was_put_is_judged_the_same_and_any_difference_is_not(
    chunks: list[str], followed: tuple[Generation, ...], always: bool
) -> None:
    view = records.cut_record(None, ORIGIN, found(chunks), parsed(chunks, followed), followed)
    same = Found("s", content_hash=view.content_hash, always_puts=always)
    assert records.judge(view, ORIGIN, same, followed) is (Verdict.TOUCH if always else Verdict.SAME)
    other_revision = Found("t", content_hash=view.content_hash)
    assert records.judge(view, ORIGIN, other_revision, followed) is Verdict.TOUCH
    assert records.judge(view, ORIGIN, Found("s", content_hash="else"), followed) is Verdict.CUT
    assert records.judge(view, ORIGIN, Found("", absent=True), followed) is Verdict.BURY
    moved = Found("s", content_hash=view.content_hash, previous_paths=("guide/old.md",))
    assert records.judge(view, ORIGIN, moved, followed) is Verdict.TOUCH


def test_metadata_that_its_source_declares_otherwise_is_cut_again() -> None:
    view = records.cut_record(None, ORIGIN, found(["a"]), parsed(["a"], (ONE,)), (ONE,))
    for changed in (
        {"version": "v2"},
        {"url": "https://x/"},
        {"kind": "api"},
        {"language": "de"},
        {"chunk_tokens": 99},
    ):
        origin = Origin(**{**vars(ORIGIN), **changed})
        assert records.judge(view, origin, found(["a"]), (ONE,)) is Verdict.CUT


def test_a_pushed_revision_older_than_the_record_is_nothing_to_do_and_an_equal_one_goes_on() -> None:
    origin = Origin(**{**vars(ORIGIN), "pushed": True})
    view = records.cut_record(None, origin, found(["a"], "10"), parsed(["a"], (ONE,)), (ONE,))
    assert records.judge(view, origin, found(["b"], "9"), (ONE,)) is Verdict.OLDER
    assert records.judge(view, origin, found(["a"], "10"), (ONE,)) is Verdict.SAME
    assert records.judge(view, origin, found(["b"], "11"), (ONE,)) is Verdict.CUT


def test_a_buried_record_has_empty_heads_of_every_followed_generation_and_keeps_its_text() -> None:
    view = records.cut_record(None, ORIGIN, found(["a"]), parsed(["a"], (ONE,)), (ONE,))
    record = records.buried_record(view, ORIGIN, Found("", absent=True), (ONE, TWO))
    assert record.deleted
    assert record.text == "a"
    assert {head.generation: (len(head.chunks), head.swept) for head in record.heads} == {
        ONE.name: (0, False),
        TWO.name: (0, False),
    }
    assert records.judge(record, ORIGIN, Found("", absent=True), (ONE, TWO)) is Verdict.SAME


@given(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=12))
def test_the_last_five_other_contents_are_remembered_newest_last(history: list[str]) -> None:
    record = None
    for name in history:
        record = records.cut_record(record, ORIGIN, found([name]), parsed([name], (ONE,)), (ONE,))
    assert record is not None
    expected: list[str] = []
    for before, after in itertools.pairwise(history):
        if before != after:
            expected = [one for one in expected if one != before] + [before]
    assert list(record.previous_content_hashes) == ["h" + name for name in expected][-5:]


def test_a_language_that_the_model_does_not_speak_is_never_missing() -> None:
    english = Generation("made", 1, 250, frozenset({"en"}))
    german = parsed(["a"], (english,))
    german.language = "de"
    record = records.cut_record(None, ORIGIN, found(["a"]), german, (english,))
    assert not record.heads[0].embeddable
    assert not record.heads[0].missing_vectors
    undetermined = parsed(["a"], (english,))
    undetermined.language = "und"
    assert records.cut_record(None, ORIGIN, found(["a"]), undetermined, (english,)).heads[0].embeddable


def test_a_document_that_becomes_embeddable_misses_all_its_chunks() -> None:
    english = Generation("made", 1, 250, frozenset({"en"}))
    german = parsed(["a", "b"], (english,))
    german.language = "de"
    view = records.cut_record(None, ORIGIN, found(["a", "b"]), german, (english,))
    record = records.cut_record(view, ORIGIN, found(["b"]), parsed(["b"], (english,)), (english,))
    assert list(record.heads[0].missing_vectors) == ["made.c1/b"]
