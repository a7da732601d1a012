"""What every DocumentStore promises; a new engine is one more row in ENGINES."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from fakes.records import (
    GENERATION,
    PROJECT,
    cut_lines,
    make_record,
    make_tombstone,
    name_chunk,
    name_document,
    to_put,
)
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import DocumentStore, View, listing_key
from refdesk.docstore.engines.table import document_store
from refdesk.docstore.settings import DocstoreSettings

pytestmark = pytest.mark.anyio

Open = Callable[[], Awaitable[DocumentStore]]
ENGINES: dict[str, Callable[[Path], DocumentStore]] = {"file": lambda data: document_store(DocstoreSettings(), data)}

TEXT = View(include_text=True)
OTHER = "model-b.c1"


@pytest.fixture(params=sorted(ENGINES))
async def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Open]:
    """Opens the store; called again, closes it first and opens it on what it kept."""
    opened: list[DocumentStore] = []

    async def again() -> DocumentStore:
        for store in opened:
            await store.close()
        opened[:] = [ENGINES[request.param](tmp_path)]
        await opened[0].open()
        return opened[0]

    yield again
    for store in opened:
        await store.close()


@pytest.fixture
async def store(reopen: Open) -> DocumentStore:
    return await reopen()


async def put(store: DocumentStore, *documents: pb.Document, at: int = 1_000) -> list[tuple[bool, int]]:
    """Puts in one batch; (committed, revision) for each."""
    return [(each.committed, each.revision) for each in await store.put_documents(to_put(*documents), at)]


async def read(store: DocumentStore, path: str, view: View = TEXT) -> pb.GetDocumentsItem:
    [item] = await store.get_by_path(PROJECT, [path], view)
    return item


async def hydrate(
    store: DocumentStore, *chunk_ids: str, project: str = PROJECT, generation: str = GENERATION
) -> list[str]:
    """Texts of the chunks that are current."""
    found = await store.hydrate_chunks(project, generation, chunk_ids, with_neighbors=False)
    return [chunk.text for chunk in found]


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


async def test_chunks_are_hydrated_in_the_order_asked_with_place_and_neighbours(store: DocumentStore) -> None:
    text = "zero\none\ntwo\n"
    document = make_record("guide/a.md", text, url="https://d/a/", version="v2")
    await put(store, document, make_record("guide/b.md", "other\n"))
    ids = [chunk.chunk_id for chunk in document.heads[0].chunks]
    unlisted = name_chunk(document.document_id, "gone\n")
    found = await store.hydrate_chunks(PROJECT, GENERATION, [ids[2], unlisted, ids[0], ids[1]], with_neighbors=True)
    assert [(each.text, each.before, each.after) for each in found] == [
        ("two\n", "one\n", ""),
        ("zero\n", "", "one\n"),
        ("one\n", "zero\n", "two\n"),
    ]
    assert found[0] == pb.HydratedChunk(
        chunk_id=ids[2],
        document_id=document.document_id,
        path="guide/a.md",
        title="a.md",
        breadcrumb=["Top", "Line 3"],
        ordinal=2,
        chunk_count=3,
        text="two\n",
        before="one\n",
        has_vector=False,
        first_line=3,
        last_line=3,
        revision=1,
        source="guide",
        version="v2",
        url="https://d/a/",
        kind="documentation",
    )


async def test_offsets_count_characters_of_any_script_and_lead_and_tail_are_put_around(store: DocumentStore) -> None:
    text = "é𝔸😀漢字\nnext😀\n"
    document = make_record("guide/日本語/é😀.md", text)
    span = document.heads[0].chunks[1]
    span.lead, span.tail = "```py\n", "```\n"
    await put(store, document)
    first, second = (chunk.chunk_id for chunk in document.heads[0].chunks)
    assert await hydrate(store, second, first) == ["```py\nnext😀\n```\n", "é𝔸😀漢字\n"]
    assert (await read(store, "guide/日本語/é😀.md")).document.text == text


async def test_a_chunk_is_current_in_the_asked_generation_and_project_only(store: DocumentStore) -> None:
    identifier = name_document("guide/a.md")
    heads = [cut_lines(identifier, "one\n"), cut_lines(identifier, "one\n", OTHER)]
    await put(store, make_record("guide/a.md", "one\n", heads=heads))
    here, there = heads[0].chunks[0].chunk_id, heads[1].chunks[0].chunk_id
    assert await hydrate(store, here, there) == ["one\n"]
    assert await hydrate(store, there, generation=OTHER) == ["one\n"]
    assert await hydrate(store, here, there, project="other") == []
    assert await hydrate(store, "not an id") == []


async def test_an_edit_keeps_unchanged_chunks_and_drops_the_others_at_once(store: DocumentStore) -> None:
    await put(store, make_record("guide/a.md", "same\nold\n"))
    same, old, new = (name_chunk(name_document("guide/a.md"), line) for line in ("same\n", "old\n", "new\n"))
    assert await hydrate(store, same, old, new) == ["same\n", "old\n"]
    await put(store, make_record("guide/a.md", "new\nsame\n", revision=2))
    assert await hydrate(store, same, old, new) == ["same\n", "new\n"]


async def test_a_hydrated_chunk_says_when_its_vector_has_come(store: DocumentStore) -> None:
    document = make_record("guide/a.md", "one\n")
    silent = make_record("guide/b.md", "zwei\n")
    silent.heads[0].embeddable = False
    del silent.heads[0].missing_vectors[:]
    await put(store, document, silent)
    ids = [each.heads[0].chunks[0].chunk_id for each in (document, silent)]

    async def vectors() -> list[bool]:
        return [each.has_vector for each in await store.hydrate_chunks(PROJECT, GENERATION, ids, with_neighbors=False)]

    assert await vectors() == [False, False]
    note = pb.NoteDocumentsItem(
        document_id=document.document_id, project=PROJECT, generation=GENERATION, revision=1, embedded_chunk_ids=ids[:1]
    )
    assert await store.note_documents([note]) == [True]
    assert await vectors() == [True, False]


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
    # The name may be used again.
    assert await put(store, make_record("guide/a.md", "back\n", revision=3)) == [(True, 3)]
    assert (await read(store, "guide/a.md")).document.text == "back\n"


async def test_an_old_path_says_where_its_document_moved(store: DocumentStore) -> None:
    await put(store, make_record("guide/old.md"))
    moved = make_record("guide/new.md", previous_paths=["guide/older.md", "guide/old.md"])
    await put(store, make_tombstone("guide/old.md", 2), moved)
    for path, outcome in (("guide/old.md", "document"), ("guide/older.md", "unknown")):
        item = await read(store, path)
        assert (item.WhichOneof("outcome"), item.moved_to) == (outcome, "guide/new.md")
    assert (await read(store, "guide/new.md")).moved_to == ""
    # What stands at the old path again did not move.
    await put(store, make_record("guide/old.md", revision=3))
    assert (await read(store, "guide/old.md")).moved_to == ""
    await put(store, make_tombstone("guide/new.md", 2, previous_paths=["guide/older.md"]))
    assert (await read(store, "guide/older.md")).moved_to == ""


async def test_documents_are_listed_by_folder_then_path_a_folder_before_those_in_it(store: DocumentStore) -> None:
    paths = ["a/z.md", "a/b/c.md", "a/b-c/d.md", "a/b/c/e.md", "a-b/f.md", "a/ä/😀.md", "a/a.md"]
    await put(store, *(make_record(path) for path in paths))
    expected = ["a/a.md", "a/z.md", "a/b/c.md", "a/b/c/e.md", "a/b-c/d.md", "a/ä/😀.md", "a-b/f.md"]
    listed = await store.list_documents(PROJECT, GENERATION, "", "", 10)
    assert [each.path for each in listed] == expected == sorted(paths, key=listing_key)
    assert (listed[0].title, listed[0].chunk_count, listed[0].text_length, listed[0].source) == ("a.md", 2, 8, "a")
    in_source = await store.list_documents(PROJECT, OTHER, "a", "", 10)
    assert [each.path for each in in_source] == expected[:-1]
    assert {each.chunk_count for each in in_source} == {0}
    rest = await store.list_documents(PROJECT, GENERATION, "a", "a/b/c.md", 2)
    assert [each.path for each in rest] == expected[3:5]


async def test_unfinished_heads_come_changed_first_then_bulk_by_time(store: DocumentStore) -> None:
    await put(store, make_record("g/bulk.md", bulk=True), at=1)
    await put(store, make_record("g/late.md"), at=3)
    await put(store, make_record("g/early.md"), at=2)
    done = make_record("g/done.md")
    done.heads[0].swept = True
    del done.heads[0].missing_vectors[:]
    await put(store, done, make_record("g/dead.md"), at=1)
    await put(store, make_tombstone("g/dead.md", 2), at=4)
    names = ["g/early.md", "g/late.md", "g/dead.md", "g/bulk.md"]
    found = await store.list_unfinished(PROJECT, GENERATION, None, 10)
    assert [each.document.document_id for each in found] == [name_document(name) for name in names]
    assert [(each.document.missing_count, each.document.revision) for each in found] == [(2, 1), (2, 1), (0, 2), (2, 1)]
    rest = await store.list_unfinished(PROJECT, GENERATION, found[1].key, 1)
    assert [each.document.document_id for each in rest] == [name_document("g/dead.md")]
    assert await store.list_unfinished(PROJECT, OTHER, None, 10) == []


async def test_stats_count_current_documents_by_source_and_name_the_other_generations(store: DocumentStore) -> None:
    identifier = name_document("b/other.md")
    await put(
        store,
        make_record("a/x.md", "1\n2\n3\n", version="v2", language="fr"),
        make_record("a/y.md", "1\n", version="v1", language="en"),
        make_record("b/empty.md", "", sections=[], language="en"),
        make_record("b/other.md", "1\n", heads=[cut_lines(identifier, "1\n", OTHER)], language="en"),
        make_record("b/dead.md", "1\n", language="de"),
        make_record("b/far.md", "1\n", project="elsewhere"),
    )
    note = pb.NoteDocumentsItem(document_id=name_document("a/y.md"), project=PROJECT, generation=GENERATION, revision=1)
    note.embedded_chunk_ids.append(name_chunk(note.document_id, "1\n"))
    await store.note_documents([note])
    await put(store, make_tombstone("b/dead.md", 2))
    assert await store.get_stats(PROJECT, GENERATION) == pb.GetStatsResponse(
        document_count=4,
        chunk_count=4,
        embeddable_count=2,
        embedded_count=1,
        missing_vector_count=3,
        sources=[
            pb.SourceStats(source="a", document_count=2, chunk_count=4),
            pb.SourceStats(source="b", document_count=2),
        ],
        versions=["v1", "v2"],
        languages=["en", "fr"],
        other_generation_count=1,
        other_generations=[OTHER],
    )
    assert await store.get_stats("nobody", GENERATION) == pb.GetStatsResponse()


async def test_paths_are_suggested_the_same_name_first_then_the_likest(store: DocumentStore) -> None:
    paths = ["guide/setup/install.md", "guide/setup/uninstall.md", "api/zebra.md", "old/archive/quickstart.md"]
    await put(store, *(make_record(path) for path in paths))
    assert await store.suggest_paths(PROJECT, "guide/quickstart.md", 1) == ["old/archive/quickstart.md"]
    assert (await store.suggest_paths(PROJECT, "guide/setup/instal.md", 2))[0] == "guide/setup/install.md"
    assert await store.suggest_paths(PROJECT, "0123456789", 5) == []
    assert await store.suggest_paths("other", "guide/setup/install.md", 5) == []


async def test_reports_are_noted_replaced_cleared_and_counted_by_source(store: DocumentStore) -> None:
    skipped = pb.Report(path="a/2.md", kind=pb.REPORT_KIND_SKIPPED, reason="too large")
    parked = pb.Report(path="a/1.md", kind=pb.REPORT_KIND_PARKED, reason="cannot be read")
    assert await store.report_documents(PROJECT, "a", [skipped, parked], [], 5) == 2
    assert (
        await store.report_documents(PROJECT, "b", [pb.Report(path="b/1.md", kind=pb.REPORT_KIND_REMARK)], [], 6) == 1
    )
    skipped.reason = "empty"
    assert await store.report_documents(PROJECT, "a", [skipped], ["a/1.md", "a/none.md"], 7) == 1
    reports, count = await store.list_reports(PROJECT, "", 10)
    assert [(each.path, each.reason, each.reported_at_milliseconds) for each in reports] == [
        ("a/2.md", "empty", 7),
        ("b/1.md", "", 6),
    ]
    reports, count = await store.list_reports(PROJECT, "", 1)
    assert (len(reports), count) == (1, 2)
    assert await store.list_reports("other", "", 10) == ([], 0)


async def test_a_project_is_put_on_the_revision_that_was_read_only(store: DocumentStore) -> None:
    assert await store.get_project("b") is None
    first = await store.put_project(pb.Project(slug="b", description="one"), 0)
    assert first == pb.Project(slug="b", description="one", revision=1)
    assert await store.put_project(pb.Project(slug="b", description="lost"), 0) is None
    second = await store.put_project(pb.Project(slug="b", description="two"), 1)
    await store.put_project(pb.Project(slug="a"), 0)
    assert await store.get_project("b") == second == pb.Project(slug="b", description="two", revision=2)
    assert [project.slug for project in await store.list_projects()] == ["a", "b"]


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


async def test_everything_is_there_after_closing_and_opening(reopen: Open) -> None:
    store = await reopen()
    document = make_record("g/a.md", "text " * 1000 + "\n")
    await put(store, document, at=5)
    await store.put_project(pb.Project(slug="p"), 0)
    stats = await store.get_stats(PROJECT, GENERATION)
    store = await reopen()
    document.put_at_milliseconds = 5
    assert (await read(store, "g/a.md")).document == document
    assert await store.get_stats(PROJECT, GENERATION) == stats
    assert [project.slug for project in await store.list_projects()] == ["p"]
    assert await put(store, make_record("g/a.md", revision=2)) == [(True, 2)]
