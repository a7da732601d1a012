"""What every DocumentStore promises of records: conditional puts, notes, tombstones, purges, the catalog, the tenant wall."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from fakes.records import (
    GENERATION,
    PROJECT,
    TEXT,
    cut_lines,
    hydrate,
    make_record,
    make_tombstone,
    name_document,
    put,
    read,
)
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import DocumentStore, View

pytestmark = pytest.mark.anyio
OTHER = "model-b.c1"


async def test_a_record_is_read_back_as_it_was_put_with_the_time_of_the_put(store: DocumentStore) -> None:
    document = make_record(
        "guide/a.md", summary="About a", url="https://d/a/", version="v1", token_scale=1.5, bulk=True
    )
    document.previous_content_hashes.append("h0")
    assert await put(store, document, at=42) == [(True, 1)]
    document.put_at_milliseconds = 42
    assert (await read(store, "guide/a.md")).document == document
    [by_id] = await store.get_by_id(PROJECT, [document.document_id], TEXT)
    assert by_id.document == document


async def test_text_sections_and_heads_are_left_out_when_not_asked(store: DocumentStore) -> None:
    identifier = name_document("guide/a.md")
    heads = [cut_lines(identifier, "one\n"), cut_lines(identifier, "one\n", OTHER)]
    await put(store, make_record("guide/a.md", "one\n", heads=heads))
    document = (await read(store, "guide/a.md", View(generations=frozenset({OTHER})))).document
    assert (document.text, list(document.sections)) == ("", [])
    assert [head.generation for head in document.heads] == [OTHER]


async def test_unknown_is_said_per_item_and_never_an_empty_record(store: DocumentStore) -> None:
    await put(store, make_record("guide/a.md"))
    ids = [name_document("guide/none.md"), name_document("guide/a.md"), "not an id"]
    outcomes = [item.WhichOneof("outcome") for item in await store.get_by_id(PROJECT, ids, View())]
    assert outcomes == ["unknown", "document", "unknown"]


async def test_a_conflicting_item_changes_nothing_and_the_others_of_its_batch_are_put(store: DocumentStore) -> None:
    await put(store, make_record("guide/a.md", "old\n"))
    outcomes = await put(
        store, make_record("guide/a.md", "new\n"), make_record("guide/b.md"), make_record("guide/c.md", revision=4)
    )
    assert outcomes == [(False, 1), (True, 1), (False, 0)]
    assert (await read(store, "guide/a.md")).document.text == "old\n"
    assert (await read(store, "guide/c.md")).HasField("unknown")


async def test_of_two_puts_of_one_record_in_a_batch_the_second_sees_the_first(store: DocumentStore) -> None:
    first, second = make_record("guide/a.md", "1\n"), make_record("guide/a.md", "2\n", revision=2)
    late = make_record("guide/a.md", "late\n", revision=2)
    assert await put(store, first, second, late) == [(True, 1), (True, 2), (False, 2)]
    assert (await read(store, "guide/a.md")).document.text == "2\n"


async def test_a_note_changes_its_own_fields_and_leaves_the_revision(store: DocumentStore) -> None:
    document = make_record("guide/a.md", "one\ntwo\n")
    await put(store, document)
    first, second = (chunk.chunk_id for chunk in document.heads[0].chunks)
    note = pb.NoteDocumentsItem(
        document_id=document.document_id, project=PROJECT, generation=GENERATION, revision=1, swept=True
    )
    note.embedded_chunk_ids.append(first)
    note.token_counts.append(31)
    assert await store.note_documents([note]) == [True]
    found = (await read(store, "guide/a.md")).document
    [head] = found.heads
    assert (found.revision, list(head.missing_vectors), head.swept) == (1, [second], True)
    assert [chunk.token_count for chunk in head.chunks] == [31, 7]
    # A later note that says nothing of sweeping does not take it back.
    note.swept, note.embedded_chunk_ids[0] = False, second
    assert await store.note_documents([note, note]) == [True, True]
    [head] = (await read(store, "guide/a.md")).document.heads
    assert (list(head.missing_vectors), head.swept) == ([], True)


@pytest.mark.parametrize(
    "wrong",
    [{"revision": 2}, {"generation": OTHER}, {"project": "other"}, {"document_id": name_document("guide/b.md")}],
)
async def test_a_note_on_another_record_revision_or_generation_changes_nothing(
    store: DocumentStore, wrong: dict[str, str]
) -> None:
    document = make_record("guide/a.md")
    await put(store, document)
    values = {"document_id": document.document_id, "project": PROJECT, "generation": GENERATION, "revision": 1, **wrong}
    assert await store.note_documents([pb.NoteDocumentsItem(swept=True, **values)]) == [False]  # type: ignore[arg-type]
    assert not (await read(store, "guide/a.md")).document.heads[0].swept


async def test_a_deleted_document_keeps_its_record_and_serves_no_text(store: DocumentStore) -> None:
    document = make_record("guide/a.md", "secret\n")
    await put(store, document)
    await put(store, make_tombstone("guide/a.md", 2, text="secret\n"))
    found = (await read(store, "guide/a.md")).document
    assert (found.deleted, found.revision, found.source_revision, found.text) == (True, 2, "s2", "")
    assert await hydrate(store, document.heads[0].chunks[0].chunk_id) == []
    assert await store.list_documents(PROJECT, GENERATION, "", "", 10) == []
    assert await store.suggest_paths(PROJECT, "guide/a.md", 5) == []
    assert [each.document_id for each in await store.list_records(PROJECT, "", "", 10, with_heads=True)] == [
        document.document_id
    ]


async def test_a_purge_drops_content_of_documents_deleted_before_a_time_and_keeps_their_names(
    store: DocumentStore,
) -> None:
    await put(store, make_record("guide/a.md"), make_record("guide/b.md"), make_record("guide/c.md"))
    await put(store, make_tombstone("guide/a.md", 2, text="secret\n", title="Secret", summary="Secret"), at=2_000)
    await put(store, make_tombstone("guide/b.md", 2, text="secret\n"), at=3_000)
    assert await store.purge_documents("other", 9_000) == 0
    assert await store.purge_documents(PROJECT, 2_000) == 0
    assert await store.purge_documents(PROJECT, 2_001) == 1
    assert await store.purge_documents(PROJECT, 2_001) == 0
    found = (await read(store, "guide/a.md")).document
    assert (found.title, found.summary) == ("", "")
    assert (found.document_id, found.revision, found.source_revision) == (name_document("guide/a.md"), 2, "s2")
    assert (await read(store, "guide/c.md")).document.text == "one\ntwo\n"
    # The name may be used again, and purged again.
    assert await put(store, make_record("guide/a.md", "back\n", revision=3)) == [(True, 3)]
    assert (await read(store, "guide/a.md")).document.text == "back\n"
    await put(store, make_tombstone("guide/a.md", 4, text="back\n"), at=4_000)
    assert await store.purge_documents(PROJECT, 4_001) == 2  # b.md with it


async def test_a_project_is_put_on_the_revision_that_was_read_only(store: DocumentStore) -> None:
    assert await store.get_project("b") is None
    first = await store.put_project(pb.Project(slug="b", description="one"), 0)
    assert first == pb.Project(slug="b", description="one", revision=1)
    assert await store.put_project(pb.Project(slug="b", description="lost"), 0) is None
    second = await store.put_project(pb.Project(slug="b", description="two"), 1)
    await store.put_project(pb.Project(slug="a"), 0)
    assert await store.get_project("b") == second == pb.Project(slug="b", description="two", revision=2)
    assert [project.slug for project in await store.list_projects()] == ["a", "b"]


async def test_a_key_is_put_on_the_revision_that_was_read_only(store: DocumentStore) -> None:
    one, other = (pb.AccessKey(key_id=digit * 12, project=PROJECT, name="one") for digit in "ba")
    assert await store.get_keys([one.key_id]) == [None]
    first = await store.put_key(one, 0)
    assert first is not None
    assert first.revision == 1
    assert await store.put_key(one, 0) is None
    await store.put_key(other, 0)
    first.revoked_at_milliseconds = 7
    second = await store.put_key(first, 1)
    assert second is not None
    assert (second.revision, second.revoked_at_milliseconds) == (2, 7)
    assert await store.get_keys(["c" * 12, one.key_id]) == [None, second]
    assert [key.key_id for key in await store.list_keys()] == [other.key_id, one.key_id]


async def test_nothing_of_one_project_is_seen_from_another_even_by_the_same_path(store: DocumentStore) -> None:
    mine, theirs = make_record("g/a.md", "mine\n"), make_record("g/a.md", "theirs\n", project="other")
    await put(store, mine, theirs)
    assert (await read(store, "g/a.md")).document.text == "mine\n"
    [item] = await store.get_by_id(PROJECT, [theirs.document_id], TEXT)
    assert item.HasField("unknown")
    assert [each.document_id for each in await store.list_records(PROJECT, "", "", 9, with_heads=False)] == [
        mine.document_id
    ]
    assert await hydrate(store, theirs.heads[0].chunks[0].chunk_id) == []
    assert len(await store.list_unfinished(PROJECT, GENERATION, None, 9)) == 1
    assert len(await store.list_documents(PROJECT, GENERATION, "", "", 9)) == 1


async def test_everything_is_there_after_closing_and_opening(
    reopen_store: Callable[[], Awaitable[DocumentStore]],
) -> None:
    store = await reopen_store()
    document = make_record("g/a.md", "text " * 1000 + "\n")
    await put(store, document, at=5)
    await store.put_project(pb.Project(slug="p"), 0)
    stats = await store.get_stats(PROJECT, GENERATION)
    store = await reopen_store()
    document.put_at_milliseconds = 5
    assert (await read(store, "g/a.md")).document == document
    assert await store.get_stats(PROJECT, GENERATION) == stats
    assert [project.slug for project in await store.list_projects()] == ["p"]
    assert await put(store, make_record("g/a.md", revision=2)) == [(True, 2)]


async def test_of_two_records_at_one_path_the_current_one_is_read(store: DocumentStore) -> None:
    # Only a change of how ids are made leaves two; the older record is a tombstone then, whenever it was put.
    named_anew = make_record("guide/a.md", "now\n")
    named_anew.document_id = name_document("another way to name it")
    await put(store, make_tombstone("guide/a.md", 1), at=1)
    await put(store, named_anew, at=2)
    await put(store, make_tombstone("guide/a.md", 2), at=3)
    assert (await read(store, "guide/a.md")).document.text == "now\n"
