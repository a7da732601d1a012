"""Golden transcripts: calls whose answers are derived from what the references print, word for word, and not from our own output.

An entry of golden/<surface>.json names the `example` of its reference, the call, and either
- `reference`: what the reference prints, verbatim (`text` as lines, `structuredContent`), and `ours`: every place where our answer says
  something else, with its reason: `documents` (it depends on what is indexed), `elided` (the reference leaves it out with a …), or
  `decided: …` (a design decision that stands above the example); or
- `answer`: what is answered, written by hand, where the reference only tells in prose what is in it; `fixed` are the words, names and
  numbers in it that the reference fixes, everything else depends on documents or is ours.
"""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

GOLDEN = Path(__file__).parent / "golden"
ERAS = ("2025-11-25", "2026-07-28")
REASONS = re.compile(r"documents|elided|decided: \S.*")
META = "io.modelcontextprotocol"


@dataclass(frozen=True)
class Transcript:
    """A call and its whole answer; `desk` says what the desk holds, in the words of the surface's own desk."""

    name: str
    example: str
    tool: str
    arguments: dict[str, Any]
    answer: dict[str, Any]
    desk: dict[str, Any] = field(default_factory=dict)
    eras: tuple[str, ...] = ERAS


def transcripts(surface: str) -> list[Transcript]:
    """Those of a surface, derived. Raises: AssertionError for an entry that is not derived as it says."""
    entries = json.loads((GOLDEN / f"{surface}.json").read_text(encoding="utf-8"))
    return [
        Transcript(
            entry["name"],
            entry["example"],
            entry["tool"],
            entry["arguments"],
            derive(entry),
            entry.get("desk", {}),
            tuple(entry.get("eras", ERAS)),
        )
        for entry in entries
    ]


def derive(entry: dict[str, Any]) -> dict[str, Any]:
    """The expected answer: the reference's with each of `ours` in its place, or the written one with all that is fixed in it."""
    if "answer" in entry:
        assert not {"reference", "ours"} & entry.keys() and entry["fixed"], entry["name"]
        answer = _joined(entry["answer"])
        whole = json.dumps(answer, ensure_ascii=False)
        for words in entry["fixed"]:
            assert json.dumps(words, ensure_ascii=False)[1:-1] in whole, (entry["name"], words)
        return answer
    answer = _joined(copy.deepcopy(entry["reference"]))
    for change in entry["ours"]:
        assert REASONS.fullmatch(change["why"]), (entry["name"], change)
        if "from" in change:
            place = change.get("in", "text")
            assert answer[place].count(_lines(change["from"])) == 1, (entry["name"], change)
            answer[place] = answer[place].replace(_lines(change["from"]), _lines(change["to"]))
        else:
            _put(answer, change["at"].split("."), change["is"], entry["name"])
    return answer


def _put(answer: Any, path: list[str], value: Any, name: str) -> None:
    for part in path[:-1]:
        answer = answer[int(part)] if isinstance(answer, list) else answer[part]
    key: Any = int(path[-1]) if isinstance(answer, list) else path[-1]
    if isinstance(answer, list) and key == len(answer):
        answer.append(value)
        return
    assert isinstance(answer, list) or answer.get(key) != value, (name, path)
    answer[key] = value


def _joined(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: _lines(value) if name in ("text", "instructions") else value for name, value in answer.items()}


def _lines(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "\n".join(text)


class Wire:
    """A client that shows what came over the wire as it came; `session` where the era has one."""

    def __init__(self, http: httpx2.AsyncClient, url: str, era: str, client_name: str = "transcripts") -> None:
        self._http, self._url, self._era = http, url, era
        self._info = {"name": client_name, "version": "1"}
        self._session = ""
        self.instructions = ""

    async def begin(self) -> None:
        """Introduces itself, and learns the instructions."""
        modern = self._era == ERAS[-1]
        parameters = {} if modern else {"protocolVersion": self._era, "capabilities": {}, "clientInfo": self._info}
        hello = await self.ask("server/discover" if modern else "initialize", parameters)
        self.instructions = hello["instructions"]

    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The answer of a tool."""
        return await self.ask("tools/call", {"name": tool, "arguments": arguments})

    async def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """A result without what its era puts into every one."""
        headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": self._era}
        if self._era == ERAS[-1]:
            headers["mcp-method"] = method
            if name := parameters.get("name") or parameters.get("uri"):
                headers["mcp-name"] = name
            about = {"protocolVersion": self._era, "clientInfo": self._info, "clientCapabilities": {}}
            parameters = {**parameters, "_meta": {f"{META}/{key}": value for key, value in about.items()}}
        elif self._session:
            headers["mcp-session-id"] = self._session
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        answer = await self._http.post(self._url, json=body, headers=headers)
        self._session = answer.headers.get("mcp-session-id", self._session)
        result = dict(answer.json()["result"])
        return {name: value for name, value in result.items() if name not in ("resultType", "_meta")}


def shown(result: dict[str, Any]) -> dict[str, Any]:
    """A result as transcripts have it: the text of its first part, its other parts, its data."""
    text, *rest = result["content"]
    assert text["type"] == "text"
    answer: dict[str, Any] = {"text": text["text"]}
    if rest:
        answer["resources"] = [part["resource"] for part in rest]
    if "structuredContent" in result:
        answer["structuredContent"] = result["structuredContent"]
    if result["isError"]:
        answer["isError"] = True
    return answer
