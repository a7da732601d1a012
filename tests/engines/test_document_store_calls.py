"""Rows of calls in every document store: noted once, read by what is asked, dropped when they are old."""

from __future__ import annotations

import pytest

from fakes.records import PROJECT
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import DocumentStore

pytestmark = pytest.mark.anyio


def call(name: str, at: int, **fields: object) -> pb.CallRecord:
    return pb.CallRecord(
        **{"call_id": name, "at_milliseconds": at, "project": PROJECT, "tool": "search_docs", **fields}
    )  # type: ignore[arg-type]


async def names(
    store: DocumentStore,
    selection: pb.CallSelection = pb.CALL_SELECTION_UNSPECIFIED,
    since: int = 0,
    limit: int = 10,
    project: str = PROJECT,
) -> list[str]:
    return [one.call_id for one in await store.list_calls(project, selection, since, limit)]


async def test_a_call_is_noted_once_and_read_as_it_was_written_the_newest_first(store: DocumentStore) -> None:
    first = call("a", 1, inputs='{"query": "ключ"}', mode="hybrid", elapsed_milliseconds=1.5, record_count=3)
    await store.put_calls([first, call("b", 3), call("c", 2)])
    await store.put_calls([call("a", 9, tool="other"), call("d", 4)])  # a batch that is sent again, and what is new
    assert await names(store) == ["d", "b", "c", "a"]
    assert (await store.list_calls(PROJECT, pb.CALL_SELECTION_UNSPECIFIED, 0, 10))[-1] == first
    assert await names(store, since=3) == ["d", "b"]
    assert await names(store, limit=1) == ["d"]


async def test_what_found_nothing_and_what_was_denied_are_found_by_that(store: DocumentStore) -> None:
    denied = call("c", 3, denied="unknown", tool="")
    await store.put_calls([call("a", 1), call("b", 2, found_nothing=True), denied, call("x", 4, project="other")])
    assert await names(store, pb.CALL_SELECTION_FOUND_NOTHING) == ["b"]
    assert await names(store, pb.CALL_SELECTION_DENIED) == ["c"]
    assert await names(store, project="other") == ["x"]
    assert await names(store, project="") == []


async def test_old_rows_of_one_project_are_dropped(store: DocumentStore) -> None:
    await store.put_calls([call(str(number), number) for number in range(30)])
    await store.put_calls([call("x", 1, project="other"), call("y", 1, project="")])
    assert await store.purge_calls(PROJECT, 25) == 25
    assert await names(store) == ["29", "28", "27", "26", "25"]
    assert await names(store, project="other") == ["x"]
    assert await store.purge_calls("", 2) == 1
