"""A real desk with every surface, a spec, and a source that is pushed to; and how it is asked without a client's own checks."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from models import build_tiny_model
from refdesk.gateway.arguments import Tool
from refdesk.gateway.surfaces.connector import tools as connector
from refdesk.gateway.surfaces.docs import tools as docs
from refdesk.gateway.surfaces.notes import tools as notes
from refdesk.gateway.surfaces.procedures import tools as procedures
from refdesk.gateway.surfaces.site import tools as site
from refdesk.projects import SURFACES
from system.desks import DeskProcess
from system.test_openapi import PAGES as SPEC_PAGES
from system.test_openapi import SPEC

TABLES: Mapping[str, tuple[Tool, ...]] = {
    "docs": docs.TOOLS,
    "site": site.TOOLS,
    "procedures": procedures.TOOLS,
    "notes": notes.TOOLS,
    "connector": connector.TOOLS,
}
ALL = (docs.COMBINED_SEARCH, *(tool for name, tools in TABLES.items() for tool in tools if tool.name != "search_docs"))
PAGES = {
    "ops/keys.md": "# Keys\n\nAbout keys.\n\n## Rotation\n\nRotate the signing key every month.\n",
    "travel.md": "# Travel\n\nBook trains before flights.\n",
}
DOCUMENTS = len(PAGES) + len(SPEC_PAGES)
Json = dict[str, Any]


def make_bad_desk(root: Path) -> DeskProcess:
    """Not started."""
    for name, text in {**{f"handbook/{name}": text for name, text in PAGES.items()}, "shop/shop.yaml": SPEC}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    sources: list[Json] = [
        {"name": "handbook", "path": str(root / "handbook"), "version": "v1"},
        {"name": "shop", "path": str(root / "shop"), "type": "api"},
        {"name": "wiki", "kind": "push"},
    ]
    project = {"surfaces": list(SURFACES), "public_search": {"origins": []}, "sources": sources}
    config = root / "config.yaml"
    config.write_text(yaml.safe_dump({"projects": {"default": project}}), encoding="utf-8")
    arguments = ("--docs", "", "--config", str(config))
    return DeskProcess(root, root / "data", build_tiny_model(root / "model"), arguments=arguments)


def ask(desk: DeskProcess, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Status and body of an answer; POST where there is a body."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    request = urllib.request.Request(desk.url + path, data, dict(headers or {}))
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as failure:
        with failure:
            return failure.code, failure.read().decode()


def call(desk: DeskProcess, surface: str, tool: str, arguments: Json) -> tuple[bool, str]:
    """Whether a tool's answer is an error, and its text."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    headers = {"Content-Type": "application/json", "Accept": "application/json", "MCP-Protocol-Version": "2025-11-25"}
    status, text = ask(desk, f"/mcp/default/{surface}", body, headers)
    assert status == 200, text
    result = json.loads(text)["result"]
    return bool(result["isError"]), str(result["content"][0]["text"])


def assert_one_line(text: str, *says: str) -> None:
    """The text is one clear line: short, shown as it is, and with all of this in it."""
    assert len(text.splitlines()) == 1, text
    assert text.isprintable(), text
    assert 10 < len(text) < 700, text
    assert not [one for one in ("Traceback", "Internal", "NoneType", "defect", "pydantic", "ValueError") if one in text]
    for one in says:
        assert one in text, (one, text)
