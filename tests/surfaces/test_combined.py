"""Several surfaces at one address: one list of tools, one search_docs, instructions that fit, and addresses trimmed to some tools."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.projects import SURFACES
from surfaces.desks import Desk, served
from surfaces.fakes import FakeSearch, hit, leg

pytestmark = pytest.mark.anyio
DOCS_TOOLS = ["search_docs", "list_topics", "read_document"]


def desk_on(*surfaces: str) -> Desk:
    hits = [hit("api/reference/auth.md#1", cosine=0.7, coverage=0.9)]
    desk = Desk(search=FakeSearch(leg(search_api.LEG_KIND_LEXICAL, hits), leg(search_api.LEG_KIND_SEMANTIC, hits)))
    del desk.docstore.project.surfaces[:]
    desk.docstore.project.surfaces.extend(surfaces)
    return desk


async def tools_of(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


async def test_a_project_is_served_on_the_surfaces_that_it_declares_and_each_has_its_own_address() -> None:
    async with served(desk_on("docs", "notes").gateway()) as url:
        async with Client(f"{url}/mcp") as both:
            assert await tools_of(both) == [*DOCS_TOOLS, "query", "get", "multi_get", "status"]
        async with Client(f"{url}/mcp/handbook/docs") as docs:
            assert await tools_of(docs) == DOCS_TOOLS
        async with Client(f"{url}/mcp/handbook/all") as everything:
            names = await tools_of(everything)
    assert names[: len(DOCS_TOOLS)] == DOCS_TOOLS
    assert len(set(names)) == len(names)
    assert {"get_site_overview", "query"} <= set(names)


@pytest.mark.parametrize("names", list(itertools.permutations(("docs", "site", "notes"))))
async def test_the_order_of_tools_is_not_that_of_the_declaration(names: tuple[str, ...]) -> None:
    async with served(desk_on(*names).gateway()) as url, Client(f"{url}/mcp") as client:
        assert (await tools_of(client))[:3] == DOCS_TOOLS


@pytest.mark.promise("docs.55")
async def test_beside_site_search_docs_is_one_tool_in_the_form_of_docs_with_sites_arguments() -> None:
    async with served(desk_on("docs", "site").gateway()) as url, Client(f"{url}/mcp") as client:
        [tool] = [tool for tool in (await client.list_tools()).tools if tool.name == "search_docs"]
        assert list(tool.input_schema["properties"]) == [
            *("query", "limit", "source", "path_prefix", "version", "max_tokens"),
            *("mode", "pageTypeIds"),
        ]
        plain = await client.call_tool("search_docs", {"query": "token"})
        assert plain.content[0].text.startswith('Found 1 result for "token" in project "handbook"')
        assert plain.structured_content is None
        words = await client.call_tool("search_docs", {"query": "token", "mode": "keyword", "pageTypeIds": ["api"]})
        assert "Found 1 result" in words.content[0].text
        for wrong, said in (
            ({"pageTypeIds": ["nowhere"]}, 'no source "nowhere"'),
            ({"pageTypeIds": ["api"], "source": "policies"}, "none of pageTypeIds"),
            ({"mode": "fuzzy"}, "hybrid"),
        ):
            refused = await client.call_tool("search_docs", {"query": "token", **wrong})
            assert refused.is_error
            assert said in refused.content[0].text
        overview = await client.call_tool("get_site_overview", {})
        assert overview.structured_content is not None  # that surface answers data whatever is set


async def test_an_address_is_trimmed_to_the_tools_that_it_names() -> None:
    async with served(desk_on("docs").gateway()) as url:
        async with Client(f"{url}/mcp/handbook/all?tools=get_site_overview,search_docs") as client:
            assert await tools_of(client) == ["search_docs", "get_site_overview"]
            with pytest.raises(MCPError, match='no tool "read_document"; valid: search_docs, get_site_overview'):
                await client.call_tool("read_document", {"path": "api/changes.md"})
        async with Client(f"{url}/mcp?tools=search_docs") as client:
            assert await tools_of(client) == ["search_docs"]
        async with Client(f"{url}/mcp?tools=search_docs,write") as client:
            with pytest.raises(MCPError, match=r'no tool "write" to trim to; valid: search_docs, list_topics'):
                await client.list_tools()


@pytest.mark.promise("docs.1", "docs.3")
@pytest.mark.parametrize("path", ["/mcp", "/mcp/handbook/all", *(f"/mcp/handbook/{name}" for name in SURFACES)])
async def test_with_two_hundred_sources_instructions_and_descriptions_are_not_cut_by_clients(path: str) -> None:
    desk = desk_on(*SURFACES)
    sources = [
        pb.Source(
            name=f"source-number-{number}", kind="folder", type="documentation", description="What stands in it. " * 10
        )
        for number in range(200)
    ]
    desk.docstore.project.sources.extend(sources)
    async with served(desk.gateway()) as url, Client(url + path) as client:
        assert bool(client.instructions) == (not path.endswith("/procedures"))  # that surface adds none without pins
        assert len(client.instructions or "") <= 2048
        for tool in (await client.list_tools()).tools:
            assert len(tool.description or "") <= 2048
            hints: Any = tool.annotations
            assert (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint) == (
                *(True, False, True, False),
            )
            assert tool.title
