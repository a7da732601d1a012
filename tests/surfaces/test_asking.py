"""Every surface asks alike: what stands in a search's way is said in the same words, and a row names what was not searched alike."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client
from mcp.types import TextContent

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.gateway.legs import Legs
from surfaces.desks import Desk, few_documents, handbook, served
from surfaces.fakes import FakeDocstore, FakeSearch, hit, leg
from surfaces.procedures_desk import make_desk as make_procedures_desk

pytestmark = pytest.mark.anyio
SEARCHES: list[tuple[str, str, dict[str, Any]]] = [
    ("docs", "search_docs", {"query": "token"}),
    ("site", "search_docs", {"query": "token"}),
    ("procedures", "search_instructions", {"plan": "token"}),
    ("procedures", "get_toc", {"query": "token"}),
    ("notes", "query", {"query": "token"}),
    ("connector", "search", {"query": "token"}),
]


async def answers_of(desk: Desk) -> list[tuple[bool, str]]:
    """Whether each search's answer is an error, and its text."""
    answers = []
    async with served(desk.gateway()) as url:
        for surface, tool, arguments in SEARCHES:
            async with Client(f"{url}/mcp/handbook/{surface}") as client:
                result = await client.call_tool(tool, arguments)
            part = result.content[0]
            assert isinstance(part, TextContent)
            answers.append((bool(result.is_error), part.text))
    return answers


async def test_a_model_that_nothing_hosts_is_told_in_the_same_words_everywhere() -> None:
    search = FakeSearch(failure=errors.NotFound('model "all-MiniLM-L6-v2" is not hosted here; hosted: tiny'))
    said = (
        'project "handbook" was indexed with all-MiniLM-L6-v2, but model "all-MiniLM-L6-v2" is not hosted here; '
        "hosted: tiny; its operator has to re-index it (refdesk generation build, or refdesk up --reindex)"
    )
    assert await answers_of(Desk(search=search)) == [(True, said)] * len(SEARCHES)


async def test_an_index_of_another_model_is_told_in_the_same_words_everywhere() -> None:
    desk = Desk()
    desk.docstore.stats = docstore_api.GetStatsResponse(
        document_count=4, other_generation_count=1, other_generations=["tiny.c1"]
    )
    said = (
        'project "handbook" was indexed with tiny, but is set to all-MiniLM-L6-v2: '
        "its operator has to re-index it (refdesk generation build, or refdesk up --reindex), or set the model back"
    )
    assert await answers_of(desk) == [(True, said)] * len(SEARCHES)


async def test_a_row_names_what_was_not_searched_by_its_reasons_whatever_the_surface() -> None:
    words = leg(search_api.LEG_KIND_LEXICAL, [hit("api/changes.md#0", coverage=1.0)])
    failed = leg(search_api.LEG_KIND_SEMANTIC, status=search_api.LEG_STATUS_FAILED, reason="embedder_unavailable")
    desk = Desk(search=FakeSearch(words, failed))
    assert [is_error for is_error, _ in await answers_of(desk)] == [False] * len(SEARCHES)
    rows = [(row.surface, row.mode, row.degraded) for row in desk.docstore.noted]
    assert rows == [(surface, "lexical", "embedder_unavailable") for surface, *_ in SEARCHES]


async def test_an_answer_makes_its_ranked_lists_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    rank = Legs.ranked

    def counted(legs: Legs, *arguments: Any) -> Any:
        made.append(legs)
        return rank(legs, *arguments)

    monkeypatch.setattr(Legs, "ranked", counted)
    found = [hit("api/changes.md#0", cosine=0.9, coverage=0.9)]
    search = FakeSearch(leg(search_api.LEG_KIND_LEXICAL, found), leg(search_api.LEG_KIND_SEMANTIC, found))
    desk = Desk(FakeDocstore(few_documents(), handbook()), search)
    async with served(desk.gateway()) as url, Client(f"{url}/mcp/handbook/docs") as client:
        await client.call_tool("search_docs", {"query": "token"})
    assert len(made) == 1


async def test_a_session_that_has_its_pins_does_not_have_them_read_again() -> None:
    desk = make_procedures_desk(pins=("policies/tone.md",), hits=("policies/refunds.md#0",))
    async with served(desk.gateway()) as url, Client(f"{url}/mcp/support/procedures", mode="legacy") as client:
        read = []
        for _ in range(3):
            before = desk.docstore.calls.count("get_documents")
            await client.call_tool("search_instructions", {"plan": "refunds"})
            read.append(desk.docstore.calls.count("get_documents") - before)
    assert read == [2, 1, 1]
