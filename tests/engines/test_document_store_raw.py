"""What every DocumentStore promises of pushed documents: conditional puts, one at a path, and pages that skip nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import DocumentStore
from refdesk.docstore.engines.raw_interface import RawPut

pytestmark = pytest.mark.anyio
PROJECT, SOURCE = "handbook", "wiki"


def record(
    path: str, text: str = "", *, changes: int = 1, project: str = PROJECT, source: str = SOURCE
) -> pb.RawDocument:
    return pb.RawDocument(
        project=project,
        source=source,
        path=path,
        revision=changes * 10,
        stated_revision=changes * 10,
        content=text.encode(),
        content_bytes=len(text.encode()),
        content_hash=f"hash of {text}",
        facts=pb.RawFacts(title=f"Title of {path}", language="en"),
        events=[pb.RawEvent(id=f"e{changes}", revision=changes * 10)],
        change_count=changes,
    )


async def put(store: DocumentStore, *records: pb.RawDocument, at: int = 1) -> list[bool]:
    return await store.put_raw([RawPut(one, one.change_count - 1) for one in records], at)


async def read(
    store: DocumentStore, path: str, *, project: str = PROJECT, source: str = SOURCE, with_content: bool = True
) -> pb.RawDocument | None:
    [found] = await store.get_raw(project, source, [path], with_content=with_content)
    return found


async def paths(store: DocumentStore, after: str = "", limit: int = 100, *, since: int = 0) -> list[str]:
    return [one.path for one in await store.list_raw(PROJECT, SOURCE, after, limit, put_since_milliseconds=since)]


async def test_a_record_is_read_back_as_it_was_put_with_the_time_of_the_put(store: DocumentStore) -> None:
    one = record("ops/schlüssel 𝔸.md", "één\n𝔸\n")
    one.deleted = one.dropped = True
    assert await put(store, one, at=42) == [True]
    one.put_at_milliseconds = 42
    assert await read(store, one.path) == one
    one.content = b""
    assert await read(store, one.path, with_content=False) == one


async def test_what_is_handed_in_is_never_changed(store: DocumentStore) -> None:
    one = record("a.md", "text")
    before = one.SerializeToString()
    await put(store, one, at=42)
    assert one.SerializeToString() == before


async def test_content_of_any_bytes_is_kept(store: DocumentStore) -> None:
    one = record("a.md")
    one.content = bytes(range(256)) * 4096
    await put(store, one)
    found = await read(store, "a.md")
    assert found is not None
    assert found.content == one.content


async def test_unknown_is_none_and_keeps_its_place(store: DocumentStore) -> None:
    await put(store, record("a.md"), record("b.md"))
    found = await store.get_raw(PROJECT, SOURCE, ["b.md", "none.md", "a.md", "b.md"], with_content=True)
    assert [one.path if one else None for one in found] == ["b.md", None, "a.md", "b.md"]


async def test_a_put_is_done_only_over_what_its_writer_read(store: DocumentStore) -> None:
    assert await put(store, record("a.md", "one")) == [True]
    assert await put(store, record("a.md", "late")) == [False]
    assert await put(store, record("a.md", "later", changes=3)) == [False]
    assert await put(store, record("b.md", "of nothing", changes=2)) == [False]
    found = await read(store, "a.md")
    assert found is not None
    assert (found.content, found.change_count) == (b"one", 1)
    assert await read(store, "b.md") is None


async def test_a_put_that_conflicts_keeps_no_other_of_its_call_from_being_done(store: DocumentStore) -> None:
    await put(store, record("a.md", "one"))
    batch = [record("0.md"), record("a.md", "late"), record("b.md", changes=5), record("z.md")]
    assert await put(store, *batch) == [True, False, False, True]
    assert await paths(store) == ["0.md", "a.md", "z.md"]


async def test_of_two_writers_that_read_the_same_one_wins(store: DocumentStore) -> None:
    await put(store, record("a.md", "one"))
    assert sorted(
        [
            *await put(store, record("a.md", "mine", changes=2)),
            *await put(store, record("a.md", "yours", changes=2)),
        ]
    ) == [False, True]


async def test_the_empty_path_is_a_record_that_no_page_has(store: DocumentStore) -> None:
    assert await put(store, record("", "a.md\nb.md"), record("a.md")) == [True, True]
    found = await read(store, "")
    assert found is not None
    assert found.content == b"a.md\nb.md"
    assert await paths(store) == ["a.md"]
    assert await put(store, record("", "c.md", changes=2)) == [True]


async def test_pages_are_in_the_order_of_code_points_without_content_and_skip_nothing(store: DocumentStore) -> None:
    names = ["A.md", "a b.md", "a-b.md", "a.md", "a/b.md", "b.md", "z.md", "ä.md", "日本.md", "\U0001d538.md"]
    await put(store, *(record(name, f"text of {name}") for name in reversed(names)))
    assert sorted(names) == names
    seen: list[str] = []
    while page := await paths(store, seen[-1] if seen else "", limit=3):
        assert len(page) <= 3
        seen += page
    assert seen == names
    listed = await store.list_raw(PROJECT, SOURCE, "", 100)
    assert {one.content for one in listed} == {b""}
    assert [one.content_bytes for one in listed] == [len(f"text of {name}".encode()) for name in names]


async def test_a_page_may_ask_for_what_was_put_since_a_time_inclusive(store: DocumentStore) -> None:
    await put(store, record("a.md"), record("b.md"), at=10)
    await put(store, record("c.md"), at=20)
    await put(store, record("a.md", "two", changes=2), at=30)
    assert await paths(store, since=20) == ["a.md", "c.md"]
    assert await paths(store, since=21) == ["a.md"]
    assert await paths(store, "a.md", since=20) == ["c.md"]
    assert await paths(store, limit=1, since=20) == ["a.md"]
    assert await paths(store, since=31) == []


async def test_projects_and_sources_see_nothing_of_each_other(store: DocumentStore) -> None:
    mine = record("a.md", "mine")
    other_source = record("a.md", "other source", source="wiki2")
    other_project = record("a.md", "other project", project="handbook2")
    assert await put(store, mine, other_source, other_project) == [True, True, True]
    assert await paths(store) == ["a.md"]
    for one in (mine, other_source, other_project):
        found = await read(store, "a.md", project=one.project, source=one.source)
        assert found is not None
        assert found.content == one.content
    assert await read(store, "a.md", project="handbook", source="wiki3") is None


async def test_what_was_put_is_there_when_the_store_is_opened_again(
    reopen_store: Callable[[], Awaitable[DocumentStore]],
) -> None:
    store = await reopen_store()
    await put(store, record("a.md", "text"), record("", "a.md"), at=7)
    store = await reopen_store()
    found = await read(store, "a.md")
    assert found is not None
    assert (found.content, found.put_at_milliseconds) == (b"text", 7)
    assert await put(store, record("a.md", "again")) == [False]
    assert await put(store, record("a.md", "next", changes=2)) == [True]
