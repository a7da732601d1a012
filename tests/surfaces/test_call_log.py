"""Exactly one row a call, written behind the answers; what happens to rows while docstore is away, and at the end."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx2
import pytest
from mcp import Client

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.gateway import call_log
from refdesk.gateway.call_log import DAY_MILLISECONDS, CallLog
from refdesk.gateway.operator_calls import count
from refdesk.gateway.surfaces.interface import Caller, ToolAnswer
from surfaces.desks import Desk, ask, served
from surfaces.fakes import FakeDocstore, FakeSearch, hit, leg

pytestmark = pytest.mark.anyio
FOUND = ToolAnswer("text", {}, "hybrid", "", 3)
NOTHING = ToolAnswer("text", {}, "lexical", "embedder_unavailable", 0)


def note(
    log: CallLog, name: str = "search_docs", answer: ToolAnswer | None = FOUND, error: str = "", **inputs: Any
) -> None:
    log.note_call("handbook", "docs", name, inputs, Caller("0123456789ab", "claude-code", "2.1"), 0.25, answer, error)


async def test_each_call_of_a_tool_is_one_row_with_what_was_asked_and_how_it_ended() -> None:
    hits = [hit("api/reference/auth.md#1", cosine=0.7, coverage=0.9)]
    desk = Desk(search=FakeSearch(leg(search_api.LEG_KIND_LEXICAL, hits), leg(search_api.LEG_KIND_SEMANTIC, hits)))
    async with served(desk.gateway()) as url, Client(f"{url}/mcp") as client:
        await client.call_tool("search_docs", {"query": "token", "limit": 2})
        await client.call_tool("read_document", {"path": "api/reference/auth.md"})
        await client.call_tool("read_document", {"path": "nowhere.md"})
        await client.list_tools()
    rows = desk.docstore.noted
    assert [(row.tool, row.error) for row in rows] == [
        ("search_docs", ""),
        ("read_document", ""),
        ("read_document", "NOT_FOUND"),
    ]
    assert {(row.project, row.surface) for row in rows} == {("handbook", "docs")}
    assert json.loads(rows[0].inputs) == {"query": "token", "limit": 2}
    assert (rows[0].mode, rows[0].record_count > 0, rows[1].record_count) == ("hybrid", True, 1)
    assert all(row.client_name and row.elapsed_milliseconds > 0 for row in rows)
    assert abs(rows[0].at_milliseconds / 1000 - time.time()) < 60
    assert len({row.call_id for row in rows}) == 3


async def test_an_answer_does_not_wait_for_its_row_nor_fail_by_it() -> None:
    class Refusing(FakeDocstore):
        async def put_calls(self, request: pb.PutCallsRequest) -> pb.PutCallsResponse:
            raise errors.Unavailable("docstore does not answer")

    desk = Desk()
    desk.docstore = Refusing(desk.docstore.documents, desk.docstore.project)
    assert "Authentication" in await ask(desk, "read_document", path="api/reference/auth.md")


async def test_rows_wait_while_docstore_is_away_and_are_written_once_in_their_order() -> None:
    docstore = FakeDocstore()
    log = CallLog(docstore)
    docstore.down = True
    for number in range(1200):
        note(log, query=str(number))
    with pytest.raises(errors.Unavailable):
        await log._flush()
    docstore.down = False
    await log._flush()
    await log._flush()
    assert [json.loads(row.inputs)["query"] for row in docstore.noted] == [str(number) for number in range(1200)]


async def test_more_rows_than_may_wait_push_out_the_oldest_and_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_log, "MOST_ROWS", 10)
    docstore = FakeDocstore()
    log, before = CallLog(docstore), call_log.LOST_CALLS._value.get()
    for number in range(13):
        note(log, query=str(number))
    await log._flush()
    assert [json.loads(row.inputs)["query"] for row in docstore.noted] == [str(number) for number in range(3, 13)]
    assert call_log.LOST_CALLS._value.get() - before == 3


async def test_what_waits_at_the_end_is_written() -> None:
    docstore = FakeDocstore()
    log = CallLog(docstore)
    log.start()
    note(log)
    await log.close()
    assert len(docstore.noted) == 1


async def test_rows_are_dropped_after_the_days_that_a_project_says() -> None:
    docstore = FakeDocstore(project=pb.Project(slug="handbook", log_days=7))
    log = CallLog(docstore)
    await log._purge()
    await log._purge()  # once an hour
    days = {project: round((time.time() * 1000 - before) / DAY_MILLISECONDS) for project, before in docstore.purged}
    assert days == {"": 30, "handbook": 7}
    assert len(docstore.purged) == 2


async def test_only_a_search_that_ran_and_found_nothing_found_nothing() -> None:
    docstore = FakeDocstore()
    log = CallLog(docstore)
    note(log, answer=NOTHING, query="a")
    note(log, answer=None, error="UNAVAILABLE", query="b")
    note(log, "list_topics", NOTHING)
    await log._flush()
    assert [row.found_nothing for row in docstore.noted] == [True, False, False]
    assert [row.degraded for row in docstore.noted] == ["embedder_unavailable", "", "embedder_unavailable"]


def test_a_report_counts_what_came_and_says_when_last() -> None:
    calls = [pb.CallRecord(inputs=query, at_milliseconds=at) for query, at in (("a", 9), ("b", 8), ("a", 7))]
    assert count(calls, lambda call: call.inputs) == [
        {"what": "a", "count": 2, "last_milliseconds": 9},
        {"what": "b", "count": 1, "last_milliseconds": 8},
    ]


async def test_a_denied_attempt_is_a_row_without_a_reader() -> None:
    desk = Desk()
    headers = {"Accept": "application/json", "Authorization": "Bearer rdk_0123456789ab_" + "a" * 43}
    async with served(desk.gateway()) as url, httpx2.AsyncClient(headers=headers) as http:
        answer = await http.post(f"{url}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert answer.status_code == 401
    assert [(row.denied, row.project, row.key_id, row.tool) for row in desk.docstore.noted] == [
        ("unknown", "", "0123456789ab", "")
    ]
