"""The surface notes on a real desk: the commands, MCP over stdio and over a port, bridged to a desk or with one of their own."""

from __future__ import annotations

import csv
import io
import json
import os
import socket
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextContent

from models import build_tiny_model
from system.desks import DeskProcess, running, ticks

pytestmark = pytest.mark.slow
SECONDS = 60
PAGES = {
    "ops/keys.md": "# Keys\n\nRotate the signing key every month.\n\n## Emergency\n\nAuthentication with a token, then call.\n",
    "ops/pager.md": "# Pager\n\nThe rota of signing keys changes on Monday.\n",
    "journals/2025-05-01.md": "# First\n\nA day of May.\n",
    "journals/2025-05-02.md": "# Second\n\nAnother day of May.\n",
    "long.md": "# Long\n\n" + "\n".join(f"line {number} says something of its own" for number in range(4_000)) + "\n",
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskProcess]:
    folder = tmp_path_factory.mktemp("notes")
    docs = write_pages(folder / "handbook")
    model = build_tiny_model(folder / "model")
    with running(DeskProcess(docs, folder / "data", model)) as desk:
        desk.wait_until_settled(len(PAGES))
        yield desk


def write_pages(docs: Path) -> Path:
    for name, text in PAGES.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text)
    return docs


def environment(**more: str) -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if name != "REFDESK_URL"}, **more}


def run(desk: DeskProcess, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "refdesk", *arguments]
    env = environment(REFDESK_URL=desk.url)
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=env, check=False)


def out(desk: DeskProcess, *arguments: str) -> str:
    done = run(desk, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.promise("notes.50")
def test_query_prints_results_in_every_format(desk: DeskProcess) -> None:
    lex = "lex: sign rot -pager"
    assert "% handbook/ops/keys.md - Keys\n" in out(desk, "query", lex)
    rows = json.loads(out(desk, "query", lex, "--format", "json"))
    assert [row["file"] for row in rows] == ["handbook/ops/keys.md"]
    assert rows[0]["snippet"].startswith("3: Rotate the signing key every month.\n4: \n5: ## Emergency")
    read = list(csv.DictReader(io.StringIO(out(desk, "query", lex, "--format", "csv"))))
    assert [(row["docid"], row["file"], row["snippet"]) for row in read] == [
        (rows[0]["docid"], rows[0]["file"], rows[0]["snippet"])
    ]
    (item,) = ElementTree.fromstring(out(desk, "query", lex, "--format", "xml"))
    assert (item.get("file"), item.text) == (rows[0]["file"], rows[0]["snippet"])
    assert out(desk, "query", lex, "--format", "md").startswith("## handbook/ops/keys.md\n\n- docid: #")
    assert out(desk, "query", lex, "--format", "files") == f"{rows[0]['docid']},1.0,handbook/ops/keys.md,\n"
    (full,) = json.loads(out(desk, "query", lex, "--format", "json", "--full"))
    assert full["body"] == PAGES["ops/keys.md"].strip()
    both = json.loads(
        out(desk, "query", 'lex: "signing key"\nvec: who is called at night', "-n", "1", "--format", "json")
    )
    assert [row["file"] for row in both] == ["handbook/ops/keys.md"]
    assert json.loads(out(desk, "query", "signing", "--min-score", "1", "--format", "json")) is not None
    why = json.loads(out(desk, "query", "lex: sign -pager\nhyde: keys", "--explain", "--format", "json"))["explain"]
    assert [(leg["leg"], leg["weight"]) for leg in why["asked"]] == [("lexical", 2.0), ("hyde", 1.0)]
    assert why["candidates"][0]["ranks"][0] == {"leg": "lexical", "rank": 1}
    assert "asked: lexical x2, hyde x1" in out(desk, "query", "lex: sign -pager\nhyde: keys", "--explain")
    none = run(desk, "query", "lex: unheard", "--format", "json")
    assert (json.loads(none.stdout), none.returncode) == ([], 0)


@pytest.mark.promise("notes.51")
def test_get_and_multi_get_print_documents_whole_however_long(desk: DeskProcess) -> None:
    (row,) = json.loads(out(desk, "query", "lex: emergency", "--format", "json"))
    assert out(desk, "get", row["docid"]) == PAGES["ops/keys.md"]
    assert (
        out(desk, "get", "handbook/ops/keys.md:3", "-l", "1", "--line-numbers")
        == "3: Rotate the signing key every month.\n"
    )
    assert out(desk, "get", "handbook/long.md") == PAGES["long.md"]
    found = json.loads(out(desk, "multi-get", "journals/2025-05*.md", "--format", "json"))
    assert [one["name"] for one in found] == ["handbook/journals/2025-05-01.md", "handbook/journals/2025-05-02.md"]
    listed = run(desk, "multi-get", "handbook/ops/*.md,handbook/long.md,none.md", "--format", "files")
    assert [line.split(",")[1] for line in listed.stdout.splitlines()] == [
        "handbook/ops/keys.md",
        "handbook/ops/pager.md",
    ]
    assert "skipped none.md: document not found" in listed.stderr
    assert "skipped handbook/long.md: " in listed.stderr


@pytest.mark.promise("notes.32")
def test_a_docid_from_before_an_edit_brings_the_page_as_it_is_now(desk: DeskProcess) -> None:
    file = "handbook/journals/2025-05-01.md"
    (before,) = json.loads(out(desk, "get", file, "--format", "json"))
    (desk.docs / "journals/2025-05-01.md").write_text("# First\n\nIt rained.\n")
    after = before
    for _ in ticks(SECONDS, 0.5):
        (after,) = json.loads(out(desk, "get", file, "--format", "json"))
        if after["docid"] != before["docid"]:
            break
    done = run(desk, "get", before["docid"])
    assert done.stdout == "# First\n\nIt rained.\n"
    assert done.stderr == f"content changed, now {after['docid']}\n"


@pytest.mark.promise("notes.52")
def test_status_prints_collections(desk: DeskProcess) -> None:
    assert out(desk, "status").startswith('project "default": 5 documents')
    assert json.loads(out(desk, "status", "--format", "json")) == json.loads(out(desk, "status", "--json"))
    (row,) = csv.DictReader(io.StringIO(out(desk, "status", "--format", "csv")))
    assert (row["name"], row["documents"]) == ("handbook", "5")


@pytest.mark.promise("notes.53")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["query", "lex: -draft"], "searches[0]: lex: -draft only excludes"),
        (["query", "lex: a\nplain"], "a query is plain, or every line of it begins with lex:"),
        (["query", "x", "-c", "none"], 'no collection "none"; valid: handbook'),
        (["get", "handbook/ops/key.md"], "did you mean handbook/ops/keys.md"),
        (["get", "#ffffff"], "no document has the docid #ffffff"),
        (["multi-get", "none/*"], 'no files match "none/*"'),
        (
            ["query", "x", "--project", "other"],
            "no project other with notes is served to you: name another with --project",
        ),
    ],
)
def test_what_cannot_be_answered_is_one_line_and_no_success(desk: DeskProcess, arguments: list[str], says: str) -> None:
    done = run(desk, *arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.promise("notes.54")
@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_official_client_reaches_a_running_desk_over_stdio(desk: DeskProcess, mode: Any) -> None:
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "refdesk", "mcp"], env=environment(REFDESK_URL=desk.url)
    )
    async with Client(stdio_client(parameters), mode=mode) as client:
        await check_client(client)


@pytest.mark.promise("notes.55")
@pytest.mark.anyio
async def test_without_a_desk_one_is_opened_for_the_folder(tmp_path: Path) -> None:
    docs, model = write_pages(tmp_path / "handbook"), build_tiny_model(tmp_path / "model")
    env = environment(REFDESK_EMBEDDER__MODEL=str(model))
    arguments = ["-m", "refdesk", "mcp", "--docs", str(docs)]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=env, cwd=tmp_path)
    async with Client(stdio_client(parameters)) as client:
        await check_client(client)


async def check_client(client: Client) -> None:
    """Four tools, instructions, answers as data, resources, errors in our words."""
    assert [tool.name for tool in (await client.list_tools()).tools] == ["query", "get", "multi_get", "status"]
    assert "The first sub-query weighs double" in (client.instructions or "")
    for _ in ticks(SECONDS, 0.2):
        answer = await client.call_tool("query", {"searches": [{"type": "lex", "query": '"signing key"'}]})
        data = answer.structured_content
        if data and data["results"]:
            break
    assert data is not None
    assert [one["file"] for one in data["results"]] == ["handbook/ops/keys.md"]
    uri = "qmd://handbook/ops/keys.md"
    contents = (await client.read_resource(uri)).contents[0].model_dump()
    assert contents["text"].startswith("# Keys")
    refused = await client.call_tool("get", {"file": "none.md"})
    assert refused.is_error
    assert isinstance(refused.content[0], TextContent)
    assert refused.content[0].text.startswith('document not found: "none.md"')


@pytest.mark.promise("notes.54")
def test_nothing_but_the_protocol_goes_to_stdout(desk: DeskProcess) -> None:
    client = {"name": "test", "version": "1"}
    shake = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": shake},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "status", "arguments": {}}},
    ]
    command = [sys.executable, "-m", "refdesk", "mcp"]
    env = environment(REFDESK_URL=desk.url)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True) as process:
        assert process.stdin and process.stdout
        process.stdin.write("".join(f"{json.dumps(message)}\n" for message in messages))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        rest = process.stdout.read()
        assert process.wait(timeout=SECONDS) == 0
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["structuredContent"]["totalDocuments"] == len(PAGES)
    assert rest == ""


@pytest.mark.promise("notes.56")
@pytest.mark.anyio
async def test_http_on_a_port_of_its_own_has_mcp_and_health(desk: DeskProcess) -> None:
    with relayed(desk) as url:
        async with Client(f"{url}/mcp") as client:
            await check_client(client)
        async with httpx2.AsyncClient() as http:
            assert (await http.get(f"{url}/health")).json()["status"] == "ok"
            far = await http.post(f"{url}/mcp", content=b"{}", headers={"Host": "evil.example.com"})
            assert far.status_code == 421


@contextmanager
def relayed(desk: DeskProcess) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "refdesk", "mcp", "--http", "--port", str(port)]
    process = subprocess.Popen(command, env=environment(REFDESK_URL=desk.url))
    try:
        for _ in ticks(SECONDS, 0.1):
            assert process.poll() is None
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        assert process.wait(timeout=SECONDS) == 0


@pytest.mark.promise("notes.57")
def test_without_a_desk_and_without_a_folder_it_says_what_to_do(tmp_path: Path) -> None:
    for arguments in (["mcp"], ["query", "x"], ["get", "x"]):
        command = [sys.executable, "-m", "refdesk", *arguments]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env=environment(),
            cwd=tmp_path,
            check=False,
            input="",
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert "no desk runs here: start one" in done.stderr
