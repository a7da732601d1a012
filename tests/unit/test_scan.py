"""What differs between a listing and the records."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from refdesk.ingest.scan import Known, Move, compare, pair_moves
from refdesk.ingest.sources.interface import ListedDocument, Listing, Skipped


def list_of(documents: dict[str, str], *skipped: Skipped) -> Listing:
    return Listing(tuple(ListedDocument(path, revision, 1) for path, revision in sorted(documents.items())), skipped)


def known_of(documents: dict[str, str], *, deleted: bool = False) -> dict[str, Known]:
    return {path: Known(revision, f"hash of {path}", deleted) for path, revision in documents.items()}


def test_new_edited_vanished_and_unchanged_are_told_apart() -> None:
    plan = compare(
        list_of({"new": "1", "same": "1", "edited": "2"}), known_of({"same": "1", "edited": "1", "gone": "1"})
    )
    assert dict(plan.new) == {"new": "1"}
    assert dict(plan.edited) == {"edited": "2"}
    assert list(plan.vanished) == ["gone"]
    assert plan.unchanged_count == 1


def test_a_scan_that_finds_nothing_changed_plans_nothing() -> None:
    assert compare(list_of({"a": "1", "b/c": "2"}), known_of({"a": "1", "b/c": "2"})).is_empty


def test_a_deleted_document_that_is_back_is_new_even_at_its_old_revision() -> None:
    plan = compare(list_of({"a": "1"}), known_of({"a": "1"}, deleted=True))
    assert dict(plan.new) == {"a": "1"}


def test_a_deleted_document_that_stays_away_does_not_vanish_again() -> None:
    assert compare(list_of({}), known_of({"a": "1"}, deleted=True)).is_empty


def test_what_cannot_be_read_is_neither_changed_nor_gone() -> None:
    unreadable = (Skipped("locked.md", "", unreadable=True), Skipped("vault/", "", unreadable=True))
    known = known_of({"locked.md": "1", "vault/a": "1", "vault/b/c": "1", "vaulted": "1"})
    assert list(compare(list_of({}, *unreadable), known).vanished) == ["vaulted"]


def test_what_the_rules_now_leave_out_vanishes() -> None:
    assert list(compare(list_of({}, Skipped("big.md", "larger")), known_of({"big.md": "1"})).vanished) == ["big.md"]


def test_only_what_lies_at_or_under_the_hinted_places_can_vanish() -> None:
    known = known_of({"ops/a": "1", "ops/deep/b": "1", "opsx": "1", "notes": "1", "other": "1"})
    assert list(compare(list_of({}), known, {"ops/", "notes"}).vanished) == ["notes", "ops/a", "ops/deep/b"]


def test_a_vanished_and_a_new_document_of_one_content_are_a_move() -> None:
    plan = compare(list_of({"new/a": "2", "new/b": "2"}), known_of({"old/a": "1"}))
    moved = pair_moves(plan, {"new/a": "hash of old/a", "new/b": "another"})
    assert moved.moves == (Move("old/a", "new/a"),)
    assert not moved.vanished
    assert set(moved.new) == {"new/a", "new/b"}


def test_equal_contents_are_paired_one_to_one_and_by_file_name_first() -> None:
    known = {path: Known("1", "same") for path in ("old/x.md", "old/y.md", "old/z.md")}
    plan = compare(list_of({"new/y.md": "2", "aaa.md": "2"}), known)
    moved = pair_moves(plan, {"new/y.md": "same", "aaa.md": "same"})
    assert moved.moves == (Move("old/x.md", "aaa.md"), Move("old/y.md", "new/y.md"))
    assert list(moved.vanished) == ["old/z.md"]


names = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("123"))


@given(listed=names, known=names, deleted=st.sets(st.sampled_from("abcdefgh")), hashes=names)
def test_following_a_plan_makes_the_records_equal_to_the_listing(
    listed: dict[str, str], known: dict[str, str], deleted: set[str], hashes: dict[str, str]
) -> None:
    records = {path: Known(revision, hashes.get(path, "1"), path in deleted) for path, revision in known.items()}
    plan = compare(list_of(listed), records)
    plan = pair_moves(plan, {path: hashes.get(path, "1") for path in plan.new})
    alive = {path: record.revision for path, record in records.items() if not record.deleted}
    for path in [*plan.vanished, *(move.old for move in plan.moves)]:
        del alive[path]
    assert {**alive, **plan.new, **plan.edited} == listed
    assert len({move.new for move in plan.moves}) == len(plan.moves)
    assert all(records[move.old].content_hash == hashes.get(move.new, "1") for move in plan.moves)
