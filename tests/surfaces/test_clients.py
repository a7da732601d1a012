"""The gateway on a real port with the official client in both protocol eras, and what it says to anything else."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent, TextResourceContents

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.gateway.settings import GatewaySettings
from surfaces.desks import Desk, handbook, served
from surfaces.fakes import FakeSearch, hit, leg

GOLDEN = Path(__file__).parent / "golden"
ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}
ACCEPT = {"accept": "application/json, text/event-stream"}
WAIT_SECONDS = 10.0
TOKENS = "api/reference/auth.md#1"


def good() -> FakeSearch:
    hits = [hit(TOKENS, cosine=0.7, coverage=0.9)]
    return FakeSearch(leg(search_api.LEG_KIND_LEXICAL, hits), leg(search_api.LEG_KIND_SEMANTIC, hits))


def request(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, **({"params": params} if params is not None else {})}


def search_request(**arguments: Any) -> dict[str, Any]:
    return request("tools/call", {"name": "search_docs", "arguments": arguments})


@pytest.mark.promise("docs.1", "docs.50")
@pytest.mark.anyio
@pytest.mark.parametrize("mode", ERAS)
async def test_the_official_client_does_all_of_it_in_every_era(mode: str) -> None:
    async with served(Desk(search=good()).gateway()) as url, Client(f"{url}/mcp", mode=mode) as client:
        assert client.protocol_version == ERAS[mode]
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["search_docs", "list_topics", "read_document"]
        answer = await client.call_tool("search_docs", {"query": "token"})
        assert isinstance(answer.content[0], TextContent)
        assert answer.content[0].text.startswith("Found 1 result")
        assert answer.structured_content is None
        refused = await client.call_tool("search_docs", {"query": "token", "limit": "five"})
        assert refused.is_error
        page = await client.list_resources()
        assert page.resources[0].uri == "contextator://handbook/api/changes.md"
        contents = (await client.read_resource("contextator://handbook/api/reference/auth.md")).contents[0]
        assert isinstance(contents, TextResourceContents)
        assert contents.text.startswith("# Authentication")
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == ["contextator://handbook/{source}/{+path}"]
        assert (await client.list_prompts()).prompts == []
        with pytest.raises(MCPError, match='no tool "write_docs"; valid: search_docs, list_topics, read_document'):
            await client.call_tool("write_docs", {})


@pytest.mark.promise("docs.2")
@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_instructions_come_from_the_live_index(mode: str) -> None:
    desk = Desk()
    async with served(desk.gateway()) as url:
        async with Client(f"{url}/mcp", mode=mode) as client:
            assert client.instructions is not None
            assert client.instructions.startswith('The documentation of project "handbook". It holds 4 documents, 18 ')
            assert "policies (local), api (git: API reference), notion (notion)" in client.instructions.split("\n")[1]
            assert "Cite the file path" in client.instructions
        desk.docstore.documents.pop()
        async with Client(f"{url}/mcp", mode=mode) as client:
            assert "It holds 3 documents, 17 chunks." in (client.instructions or "")


@pytest.mark.promise("docs.51")
@pytest.mark.anyio
@pytest.mark.parametrize(("mode", "code"), [("auto", -32602), ("legacy", -32002)])
async def test_a_resource_that_does_not_exist_has_the_code_of_its_era(mode: str, code: int) -> None:
    async with served(Desk().gateway()) as url, Client(f"{url}/mcp", mode=mode) as client:
        for uri in ("contextator://handbook/api/none.md", "contextator://other/api/changes.md"):
            with pytest.raises(MCPError) as refusal:
                await client.read_resource(uri)
            assert refusal.value.error.code == code


@pytest.mark.promise("docs.6")
@pytest.mark.anyio
async def test_tools_are_listed_byte_for_byte_as_ever_while_structured_output_is_off() -> None:
    async with served(Desk().gateway()) as url, httpx2.AsyncClient(headers=ACCEPT) as http:
        answer = await http.post(f"{url}/mcp", json=request("tools/list"))
    assert answer.text == (GOLDEN / "tools_list.json").read_text(encoding="utf-8").strip()


@pytest.mark.promise("docs.7")
@pytest.mark.anyio
@pytest.mark.parametrize("by_project", [False, True])
async def test_structured_output_adds_schemas_and_content_that_fits_them_and_changes_no_text(by_project: bool) -> None:
    calls = [
        ("search_docs", {"query": "token"}),
        ("search_docs", {"query": "token", "source": "api"}),
        ("list_topics", {"limit": 2}),
        ("read_document", {"path": "api/reference/auth.md"}),
    ]
    plain, desk = Desk(search=good()), Desk(search=good())
    if by_project:
        desk.docstore.project.structured_output = True
    else:
        desk.settings = GatewaySettings(catalog_seconds=0, structured_output=True)
    async with served(plain.gateway()) as url, Client(f"{url}/mcp") as client:
        texts = [(await client.call_tool(name, arguments)).content for name, arguments in calls]
    async with served(desk.gateway()) as url, Client(f"{url}/mcp") as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        for (name, arguments), content in zip(calls, texts, strict=True):
            answer = await client.call_tool(name, arguments)
            assert answer.content == content
            jsonschema.validate(answer.structured_content, schemas[name])
        result = (await client.call_tool(*calls[0])).structured_content["results"][0]
        assert result["path"] == "api/reference/auth.md"
        assert result["heading"] == "Authentication > Tokens"
        assert result["score"] == 0.7
        assert "A token lives for an hour." in result["excerpt"]
        refused = await client.call_tool("search_docs", {"query": ""})
        assert refused.is_error
        assert refused.structured_content is None


@pytest.mark.promise("docs.52")
@pytest.mark.anyio
@pytest.mark.parametrize(
    "path", ["/mcp", "/mcp/", "/mcp/handbook", "/mcp/handbook/", "/mcp/handbook/docs", "/mcp/handbook/docs/"]
)
async def test_every_spelling_of_the_address_answers_without_a_redirect(path: str) -> None:
    async with served(Desk().gateway()) as url, httpx2.AsyncClient(headers=ACCEPT, follow_redirects=False) as http:
        answer = await http.post(url + path, json=request("ping"))
    assert answer.status_code == 200
    assert answer.json() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.promise("docs.52")
@pytest.mark.anyio
@pytest.mark.parametrize("path", ["/mcp/other", "/mcp/other/docs", "/mcp/handbook/sites", "/mcp/handbook/none/"])
async def test_an_unknown_project_or_surface_is_answered_in_the_same_words(path: str) -> None:
    async with served(Desk().gateway()) as url, httpx2.AsyncClient(headers=ACCEPT) as http:
        answer = await http.post(url + path, json=request("tools/list"))
    assert answer.status_code == 404
    assert answer.json() == {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {
            "code": -32600,
            "message": f"nothing is served at {path.rstrip('/')}: check the names of the project and of the surface",
        },
    }


@pytest.mark.anyio
async def test_without_a_name_the_only_project_answers_and_of_several_the_default_one() -> None:
    desk = Desk()
    async with served(desk.gateway()) as url, httpx2.AsyncClient(headers=ACCEPT) as http:
        assert (await http.post(f"{url}/mcp", json=request("ping"))).status_code == 200
        desk.docstore.others = [handbook("second")]
        assert (await http.post(f"{url}/mcp", json=request("ping"))).status_code == 404
        assert (await http.post(f"{url}/mcp/second", json=request("ping"))).status_code == 200
        desk.docstore.others = [handbook("default")]
        assert (await http.post(f"{url}/mcp", json=request("ping"))).status_code == 200


@pytest.mark.promise("docs.53")
@pytest.mark.anyio
@pytest.mark.parametrize("version", [None, "2025-06-18", "2026-07-28"])
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_whatever_is_no_post_is_answered_405_at_once(method: str, version: str | None) -> None:
    headers = {"accept": "text/event-stream", **({"mcp-protocol-version": version} if version else {})}
    async with served(Desk().gateway()) as url, httpx2.AsyncClient(headers=headers, timeout=WAIT_SECONDS) as http:
        answer = await http.request(method, f"{url}/mcp")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


@pytest.mark.promise("docs.53")
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json, text/event-stream", "application/json"),
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("text/event-stream", "text/event-stream"),
    ],
)
async def test_a_post_answers_json_or_events_by_what_is_accepted(accept: str, kind: str) -> None:
    async with served(Desk(search=good()).gateway()) as url, httpx2.AsyncClient(headers={"accept": accept}) as http:
        answer = await http.post(f"{url}/mcp", json=search_request(query="token"))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == kind
    body = answer.text.removeprefix("event: message\r\ndata: ")
    assert "Found 1 result" in json.loads(body)["result"]["content"][0]["text"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("headers", "content", "status"),
    [
        ({"host": "evil.example"}, b"{}", 421),
        ({"origin": "http://evil.example"}, b"{}", 403),
        ({"content-type": "text/plain"}, b"{}", 415),
        ({"accept": "text/html"}, b"{}", 406),
        ({}, b"{", 400),
        ({}, b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', 400),
        ({}, b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}', 400),
        ({}, b'{"pad": "' + b"x" * 5000 + b'"}', 413),
    ],
)
async def test_what_cannot_be_answered_is_refused_in_one_line_of_ours(
    headers: dict[str, str], content: bytes, status: int
) -> None:
    desk = Desk(settings=GatewaySettings(catalog_seconds=0, max_body_bytes=4096))
    async with served(desk.gateway()) as url, httpx2.AsyncClient() as http:
        answer = await http.post(
            f"{url}/mcp", headers={**ACCEPT, "content-type": "application/json", **headers}, content=content
        )
    assert answer.status_code == status
    message = answer.json()["error"]["message"]
    assert "\n" not in message
    assert "pydantic" not in message


@pytest.mark.anyio
@pytest.mark.parametrize("params", [{"name": "search_docs", "arguments": "x"}, {"name": 5}, {}])
async def test_a_call_of_the_wrong_shape_is_refused_in_our_words(params: dict[str, Any]) -> None:
    async with served(Desk().gateway()) as url, httpx2.AsyncClient(headers=ACCEPT) as http:
        answer = await http.post(f"{url}/mcp", json=request("tools/call", params))
    assert answer.json()["error"] == {
        "code": -32602,
        "message": "tools/call needs name, a text, and arguments, an object",
    }


@pytest.mark.anyio
async def test_calls_above_the_limits_are_refused_at_once_with_a_time_to_come_back() -> None:
    desk = Desk(search=good(), settings=GatewaySettings(catalog_seconds=0, concurrent_calls=1, queued_calls=1))
    desk.search.wait = asyncio.Event()
    async with served(desk.gateway()) as url, httpx2.AsyncClient(headers=ACCEPT, timeout=WAIT_SECONDS) as http:
        tasks = [asyncio.create_task(http.post(f"{url}/mcp", json=search_request(query="x"))) for _ in range(3)]
        done, running = await asyncio.wait(tasks, return_when="FIRST_COMPLETED", timeout=WAIT_SECONDS)
        (refused,) = [task.result() for task in done]
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert refused.json()["error"]["message"] == "busy, retry in 1 s: too many calls are under way"
        desk.search.wait.set()
        answers = await asyncio.gather(*running)
    assert [answer.status_code for answer in answers] == [200, 200]


@pytest.mark.anyio
async def test_a_client_may_connect_while_docstore_is_away_and_reads_what_is_wrong() -> None:
    desk = Desk(search=good())
    desk.docstore.down = True
    async with served(desk.gateway()) as url, Client(f"{url}/mcp", mode="legacy") as client:
        assert client.instructions == "temporarily unavailable, retry in 1 s: docstore does not answer"
        with pytest.raises(MCPError, match="temporarily unavailable, retry in 1 s"):
            await client.list_tools()
        desk.docstore.down = False
        assert len((await client.list_tools()).tools) == 3


@pytest.mark.promise("docs.50")
@pytest.mark.anyio
async def test_resources_are_listed_in_pages_by_an_opaque_cursor() -> None:
    desk = Desk()
    desk.docstore.documents = [
        docstore_api.Document(document_id=str(number), path=f"api/{number:03d} ä.md", source="api", heads=[{}])
        for number in range(201)
    ]
    async with served(desk.gateway()) as url, Client(f"{url}/mcp") as client:
        first = await client.list_resources()
        assert len(first.resources) == 200
        assert first.resources[0].uri == "contextator://handbook/api/000%20%C3%A4.md"
        assert first.next_cursor is not None
        rest = await client.list_resources(cursor=first.next_cursor)
        assert [one.name for one in rest.resources] == ["api/200 ä.md"]
        assert rest.next_cursor is None
        with pytest.raises(MCPError, match="cursor is not one of this listing"):
            await client.list_resources(cursor="other")


@pytest.mark.anyio
async def test_health_and_metrics_and_errors_over_http() -> None:
    desk = Desk(search=good())
    async with served(desk.gateway()) as url, httpx2.AsyncClient() as http:
        assert (await http.get(f"{url}/livez")).status_code == 200
        ready = await http.get(f"{url}/readyz")
        assert (ready.status_code, ready.json()) == (200, {"ready": True, "searched_by": "lexical", "reason": ""})
        await http.post(f"{url}/mcp", json=search_request(query="x"), headers=ACCEPT)
        metrics = (await http.get(f"{url}/metrics")).text
        assert 'gen_ai_tool_name="search_docs",mcp_method_name="tools/call"' in metrics
        assert 'refdesk_gateway_searches_total{mode="hybrid"}' in metrics
        missing = await http.get(f"{url}/nothing")
        assert missing.headers["content-type"] == "application/problem+json"
        assert missing.json()["detail"] == "nothing is served here: MCP is at /mcp"


@pytest.mark.anyio
async def test_the_gateway_is_ready_by_meaning_alone_and_not_ready_without_either() -> None:
    desk = Desk()
    desk.search.lexical = leg(
        search_api.LEG_KIND_LEXICAL, status=search_api.LEG_STATUS_FAILED, reason="lexical_unavailable"
    )
    gateway = desk.gateway()
    async with served(gateway) as url, httpx2.AsyncClient() as http:
        assert (await http.get(f"{url}/readyz")).json()["searched_by"] == "semantic"
        assert gateway.not_ready_reason() == ""
    assert gateway.not_ready_reason() == "the gateway is stopping"
    desk.search.semantic = leg(
        search_api.LEG_KIND_SEMANTIC, status=search_api.LEG_STATUS_FAILED, reason="embedder_unavailable"
    )
    async with served(desk.gateway()) as url, httpx2.AsyncClient() as http:
        ready = await http.get(f"{url}/readyz")
    assert ready.status_code == 503
    assert ready.json()["reason"] == "nothing can be searched: lexical_unavailable, embedder_unavailable"


@pytest.mark.anyio
async def test_a_gateway_that_was_ready_serves_on_through_an_outage_and_says_it() -> None:
    desk = Desk()
    gateway = desk.gateway()
    async with served(gateway) as url, httpx2.AsyncClient() as http:
        assert (await http.get(f"{url}/readyz")).status_code == 200
        for leg_kind in (search_api.LEG_KIND_LEXICAL, search_api.LEG_KIND_SEMANTIC):
            failed = leg(leg_kind, status=search_api.LEG_STATUS_FAILED, reason="embedder_unavailable")
            setattr(desk.search, "lexical" if leg_kind == search_api.LEG_KIND_LEXICAL else "semantic", failed)
        async with asyncio.timeout(20):
            while (await http.get(f"{url}/readyz")).status_code == 200:  # noqa: ASYNC110 - it looks every 2 s
                await asyncio.sleep(0.1)
        assert gateway.not_ready_reason() == ""


@pytest.mark.anyio
async def test_before_the_start_a_call_is_told_to_come_back() -> None:
    gateway = Desk().gateway()
    assert gateway.not_ready_reason() == "the gateway is starting"
    transport = httpx2.ASGITransport(app=gateway.app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=ACCEPT) as http:
        answer = await http.post("/mcp", json=request("ping"))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["error"]["message"] == "temporarily unavailable, retry in 1 s: the gateway is starting"
