"""The docs surface over the real services: what one tool shows, another can read, and all of it together is the documents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mcp import Client
from mcp.types import TextContent, TextResourceContents

from models import build_tiny_model
from system.desks import DeskProcess, running

pytestmark = pytest.mark.slow

PAGES = {
    "ops/keys.md": "# Keys\n\nAbout keys.\n\n## Rotation\n\n"
    + "Rotate the signing key with keytool every month. " * 40,
    "ops/pager.md": "# Pager\n\nThe rota changes on Monday.\n\n## Rotation\n\nThe pager goes round by the week.\n",
    "travel.md": "---\ntitle: Travel policy\n---\nBook trains before flights, within HALYARD_DISPATCH_TIMEOUT seconds.\n",
}


@pytest.mark.anyio
async def test_what_one_tool_shows_another_reads(tmp_path: Path) -> None:
    docs = tmp_path / "handbook"
    for name, text in PAGES.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text)
    model = build_tiny_model(tmp_path / "model")
    with running(DeskProcess(docs, tmp_path / "data", model)) as desk:
        desk.wait_until_settled(len(PAGES))
        for mode in ("auto", "legacy"):
            async with Client(f"{desk.url}/mcp", mode=mode) as client:
                await check_desk(client)


async def check_desk(client: Client) -> None:
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
        assert contents.text.strip() == PAGES[resource.name.removeprefix("handbook/")].rpartition("---\n")[2].strip()
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
