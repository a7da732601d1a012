"""Asks the surface notes of a running desk through a real MCP client; knows nothing of how answers are written out."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent

from refdesk.commands.connecting import connect
from refdesk.commands.explain import explain as ask_why
from refdesk.desk import find_url
from refdesk.errors import InvalidArgument, NotFound, Unavailable

MOST_READS = 1_000
"""Of one document, each of 20,000 tokens at most."""

_TYPED = re.compile(r"(lex|vec|hyde|intent):\s*(.*)", re.DOTALL)

Data = dict[str, Any]


def read_searches(text: str) -> Data:
    """Arguments of a query: lines that begin with `lex:`, `vec:` or `hyde:` are sub-queries, one with `intent:` the intent.

    Anything else is a plain query. Raises: InvalidArgument for both together.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    typed = [_TYPED.fullmatch(line) for line in lines]
    if not any(typed):
        return {"query": text}
    if not all(typed):
        raise InvalidArgument("a query is plain, or every line of it begins with lex:, vec:, hyde: or intent:")
    pairs = [(one[1], one[2].strip()) for one in typed if one]
    searches = [{"type": kind, "query": query} for kind, query in pairs if kind != "intent"]
    intents = [query for kind, query in pairs if kind == "intent"]
    return {"searches": searches, **({"intent": intents[-1]} if intents else {})}


async def query(project: str, arguments: Data, *, full: bool) -> Data:
    """Results of a query as data; with `full`, each with the text of its document as `body`.

    Raises: NotFound where no desk runs or it does not serve this; InvalidArgument with what the desk says; Unavailable.
    """
    async with _asking(project) as client:
        answer = await _call(client, "query", arguments)
        for result in answer["results"] if full else ():
            result["body"] = (await _read(client, {"file": result["file"]}))["text"]
        return answer


def explain(project: str, arguments: Data) -> Data:
    """Why a query is answered as it is, from the operator API. Raises: as `query`."""
    names = {"candidateLimit": "candidate_limit", "collections": "sources"}
    asked = {names.get(name, name): value for name, value in arguments.items() if name != "minScore"}
    return dict(ask_why(project, {**asked, "surface": "notes"}))


async def get(project: str, arguments: Data) -> Data:
    """One document as data, whole where its lines are not bounded. Raises: as `query`."""
    async with _asking(project) as client:
        return await _read(client, arguments)


async def multi_get(project: str, arguments: Data) -> Data:
    """Documents as data, and what was skipped. Raises: as `query`."""
    async with _asking(project) as client:
        answer = await _call(client, "multi_get", arguments)
        for skipped in list(answer["skipped"]):
            if skipped["reason"].startswith("omitted:"):
                more = {key: value for key, value in arguments.items() if key in ("maxLines", "lineNumbers")}
                answer["documents"].append(await _read(client, {"file": skipped["file"], **more}))
                answer["skipped"].remove(skipped)
        for place, document in enumerate(answer["documents"]):
            if "maxLines" not in arguments and document["toLine"] < document["totalLines"]:
                more = {"file": document["name"], "lineNumbers": arguments.get("lineNumbers", False)}
                answer["documents"][place] = await _read(client, more)
        return answer


async def status(project: str) -> Data:
    """Totals and collections as data. Raises: as `query`."""
    async with _asking(project) as client:
        return await _call(client, "status", {})


async def _read(client: Client, arguments: Data) -> Data:
    """A document, in as many calls as it takes."""
    document = await _call(client, "get", arguments)
    last = document["totalLines"]
    if "maxLines" in arguments:
        last = min(last, document["fromLine"] + arguments["maxLines"] - 1)
    for _ in range(MOST_READS):
        if not document["fromLine"] <= document["toLine"] < last:
            break
        rest = {"fromLine": document["toLine"] + 1, "maxLines": last - document["toLine"]}
        more = await _call(client, "get", {**arguments, "file": document["name"], **rest})
        if more["docid"] != document["docid"] or more["toLine"] < more["fromLine"]:
            break
        document["text"] += f"\n{more['text']}"
        document["toLine"] = more["toLine"]
    if document["toLine"] >= last and (message := document.pop("message", "")):
        kept = [line for line in message.splitlines() if not line.startswith("[Lines ")]
        document.update({"message": "\n".join(kept)} if kept else {})
    return document


@asynccontextmanager
async def _asking(project: str) -> AsyncIterator[Client]:
    url = f"{find_url()}/mcp/{project}/notes"
    try:
        async with connect(url) as client:
            yield client
    except (OSError, ExceptionGroup, MCPError) as failure:
        raise _understood(failure, project, url) from None


async def _call(client: Client, tool: str, arguments: Mapping[str, Any]) -> Data:
    result = await client.call_tool(tool, dict(arguments))
    if result.is_error:
        said = _text(result)
        raise Unavailable(said) if said.startswith(("busy", "took too long", "temporarily")) else InvalidArgument(said)
    assert result.structured_content is not None
    return dict(result.structured_content)


def _text(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def _understood(failure: BaseException, project: str, url: str) -> NotFound | Unavailable | InvalidArgument:
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    if isinstance(failure, (NotFound, Unavailable, InvalidArgument)):
        return failure
    if isinstance(failure, MCPError) and "nothing is served" in failure.error.message:
        return NotFound(
            f"no project {project} with notes is served to you: name another with --project, or set REFDESK_KEY"
        )
    if isinstance(failure, MCPError):
        return Unavailable(failure.error.message)
    return Unavailable(f"the desk at {url} does not answer: is it still running?")
