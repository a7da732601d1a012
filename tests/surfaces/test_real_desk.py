"""The docs surface over the real services, in one process and as five on OpenSearch and NATS: what one tool shows, another can read."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent, TextResourceContents

from system.desks import DeskProcess

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parent / "golden" / "tools_list.json"
ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search_docs", {"query": "rotate the signing key"}),
    ("search_docs", {"query": "HALYARD_DISPATCH_TIMEOUT", "limit": 1}),
    ("search_docs", {"query": "the pager goes round", "source": "handbook"}),
    ("search_docs", {"query": "zebra crossing paint thickness"}),
    ("search_docs", {"query": "x", "source": "nowhere"}),
    ("search_docs", {"query": "x", "sauce": "nowhere"}),
    ("list_topics", {}),
    ("list_topics", {"limit": 2}),
    ("read_document", {"path": "handbook/ops/keys.md", "max_tokens": 300}),
    ("read_document", {"path": "handbook/ops/keys.md", "heading": "Keys > Rotation"}),
    ("read_document", {"path": "handbook/ops/kyes.md"}),
]


@pytest.mark.promise("docs.44", "docs.50")
@pytest.mark.anyio
@pytest.mark.parametrize("mode", ERAS)
async def test_what_one_tool_shows_another_reads(desk: DeskProcess, pages: dict[str, str], mode: str) -> None:
    async with Client(f"{desk.url}/mcp", mode=mode) as client:
        assert client.protocol_version == ERAS[mode]
        assert "It holds 3 documents" in (client.instructions or "")
        await check_desk(client, pages)


@pytest.mark.anyio
@pytest.mark.parametrize(("mode", "code"), [("auto", -32602), ("legacy", -32002)])
async def test_what_does_not_exist_is_said_in_the_words_of_the_era(desk: DeskProcess, mode: str, code: int) -> None:
    async with Client(f"{desk.url}/mcp", mode=mode) as client:
        with pytest.raises(MCPError) as refusal:
            await client.read_resource("contextator://default/handbook/none.md")
        assert refusal.value.error.code == code
        with pytest.raises(MCPError, match='no tool "write_docs"; valid: search_docs, list_topics, read_document'):
            await client.call_tool("write_docs", {})
        refused = await client.call_tool("search_docs", {"query": "token", "limit": "five"})
        assert refused.is_error


@pytest.mark.promise("docs.7")
@pytest.mark.anyio
async def test_structured_content_fits_the_schema_that_its_tool_is_listed_with(desk: DeskProcess) -> None:
    async with Client(f"{desk.url}/mcp") as client:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        for name, arguments in CALLS:
            answer = await client.call_tool(name, arguments)
            if not answer.is_error:
                jsonschema.validate(answer.structured_content, schemas[name])


def test_tools_are_listed_as_the_golden_answer_has_them(desk: DeskProcess) -> None:
    status, listed = send(desk, "POST", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    for tool in listed["result"]["tools"]:
        assert tool.pop("outputSchema")["type"] == "object"  # what structured output adds
    assert (status, listed) == (200, golden)


@pytest.mark.parametrize(
    ("method", "body", "headers", "status"),
    [
        ("GET", None, {}, 405),
        ("DELETE", None, {}, 405),
        ("POST", "{", {}, 400),
        ("POST", [{"jsonrpc": "2.0", "id": 1, "method": "ping"}], {}, 400),
        ("POST", {}, {"Host": "evil.example"}, 421),
        ("POST", {}, {"Origin": "http://evil.example"}, 403),
        ("POST", {}, {"Content-Type": "text/plain"}, 415),
    ],
)
def test_what_cannot_be_answered_is_refused(
    desk: DeskProcess, method: str, body: object, headers: dict[str, str], status: int
) -> None:
    assert send(desk, method, body, headers)[0] == status


def test_five_processes_on_servers_answer_as_one_process_does(
    one_process: DeskProcess, five_on_servers: DeskProcess
) -> None:
    for tool, arguments in CALLS:
        assert five_on_servers.call(tool, arguments) == one_process.call(tool, arguments), (tool, arguments)


def send(desk: DeskProcess, method: str, body: object, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    """Status and JSON body of the answer to one request at the surface's address."""
    data = None if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(f"{desk.url}/mcp", data, {**usual, **(headers or {})}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as failure:
        with failure:
            return failure.code, None


async def check_desk(client: Client, pages: dict[str, str]) -> None:
    """Searches, lists and reads the pages through one client."""
    listing = await text_of(client, "list_topics")
    assert re.findall(r"^• (\S+)", listing, re.MULTILINE) == [
        "handbook/travel.md",
        "handbook/ops/keys.md",
        "handbook/ops/pager.md",
    ]
    answer = await text_of(client, "search_docs", query="rotate the signing key")
    found = re.search(r"^### 1\. (\S+) — (.*?)(?: \(score -?\d\.\d{3}\))?$", answer, re.MULTILINE)
    assert found is not None
    assert found[1] == "handbook/ops/keys.md"
    section = await text_of(client, "read_document", path=found[1], heading=found[2])
    assert "Rotate the signing key with keytool every month." in section
    assert "### 1. handbook/travel.md" in await text_of(
        client, "search_docs", query="HALYARD_DISPATCH_TIMEOUT", limit=1
    )
    for resource in (await client.list_resources()).resources:
        contents = (await client.read_resource(resource.uri)).contents[0]
        assert isinstance(contents, TextResourceContents)
        assert contents.text.strip() == pages[resource.name.removeprefix("handbook/")].rpartition("---\n")[2].strip()
        assert await pages_of(client, resource.name) == contents.text.split()


async def pages_of(client: Client, path: str) -> list[str]:
    """The words of a document, read in small pieces by following the calls that each answer names."""
    words: list[str] = []
    arguments: dict[str, int] = {"max_tokens": 350}
    for _ in range(20):
        text = await text_of(client, "read_document", path=path, **arguments)
        body, _, note = text.split("\n---\n", 1)[1].partition("\n\n[Cut at ")
        words += body.split()
        if not note:
            break
        arguments = {name: int(number) for name, number in re.findall(r"(from|to|max_tokens)=(\d+)", note)}
    return words


async def text_of(client: Client, tool: str, **arguments: object) -> str:
    """A tool's answer, which must not be an error."""
    result = await client.call_tool(tool, arguments)
    part = result.content[0]
    assert isinstance(part, TextContent)
    assert not result.is_error, part.text
    return part.text
