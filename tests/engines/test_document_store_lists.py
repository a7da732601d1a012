"""What every DocumentStore promises of lists: order, counts, suggestions, reports, what moved."""

from __future__ import annotations

import pytest

from fakes.records import (
    GENERATION,
    PROJECT,
    cut_lines,
    hydrate,
    make_record,
    make_tombstone,
    name_chunk,
    name_document,
    put,
    read,
)
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import DocumentStore, listing_key

pytestmark = pytest.mark.anyio
OTHER = "model-b.c1"


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


async def test_dropped_heads_count_nowhere_any_more_and_leave_the_revision_and_the_other_heads(
    store: DocumentStore,
) -> None:
    names = [f"g/{name}.md" for name in "abcde"]
    both = [
        [cut_lines(name_document(name), "one\n", generation) for generation in (GENERATION, OTHER)] for name in names
    ]
    records = [make_record(name, "one\n", heads=heads) for name, heads in zip(names, both, strict=True)]
    await put(store, *records, make_record("g/x.md", project="elsewhere", heads=both[0]))
    await put(store, make_tombstone("g/e.md", 2, heads=[pb.Head(generation=OTHER)]))
    before = await store.get_stats(PROJECT, GENERATION)
    counts = [await store.drop_heads(PROJECT, OTHER, 2) for _ in range(4)]
    assert (sum(counts), counts[0], counts[-1]) == (5, 2, 0)
    assert await store.get_stats(PROJECT, GENERATION) == before
    gone = await store.get_stats(PROJECT, OTHER)
    assert (gone.chunk_count, gone.embeddable_count, gone.missing_vector_count) == (0, 0, 0)
    assert (gone.other_generation_count, list(gone.other_generations)) == (4, [GENERATION])
    assert await store.list_unfinished(PROJECT, OTHER, None, 9) == []
    assert await hydrate(store, both[0][1].chunks[0].chunk_id, generation=OTHER) == []
    assert await hydrate(store, both[0][0].chunks[0].chunk_id) == ["one\n"]
    kept = (await read(store, "g/a.md")).document
    assert (kept.revision, [head.generation for head in kept.heads]) == (1, [GENERATION])
    assert len(await store.list_unfinished("elsewhere", OTHER, None, 9)) == 1


async def test_a_head_that_was_dropped_can_be_put_again(store: DocumentStore) -> None:
    identifier = name_document("g/a.md")
    heads = [cut_lines(identifier, "one\n"), cut_lines(identifier, "one\n", OTHER)]
    await put(store, make_record("g/a.md", "one\n", heads=heads))
    assert await store.drop_heads(PROJECT, OTHER, 9) == 1
    assert await put(store, make_record("g/a.md", "one\n", revision=2, heads=heads)) == [(True, 2)]
    assert await hydrate(store, heads[1].chunks[0].chunk_id, generation=OTHER) == ["one\n"]
    assert (await store.get_stats(PROJECT, OTHER)).chunk_count == 1


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
