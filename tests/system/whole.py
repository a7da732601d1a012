"""A real desk that serves every surface, and for each tool of each a call whose answer is known from the pages alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from models import build_tiny_model
from refdesk import ids
from refdesk.gateway.surfaces.combined import ALL
from refdesk.projects import SURFACES
from system.desks import DeskProcess

PROJECT, STRUCTURED = "default", "structured"
"""The second one publishes output schemas of every tool."""
ADDRESSES = {name: f"/mcp/{PROJECT}/{name}" for name in (*SURFACES, ALL)}
AUTHENTICATION = "getting-started/authentication.md"
BEARER = "Every request carries a bearer token in the Authorization header."
GREETING = "Use the customer's first name."
PINNED = "# Core procedures (always apply)"
PAGES = {
    AUTHENTICATION: f"# Authentication\n\n{BEARER}\n\n## Rotation\n\nRotate the signing key with keytool every month.\n",
    "tone.md": f"# Tone\n\nWrite as you would speak.\n\n## Greetings\n\n{GREETING}\n",
    "journals/2025-05-01.md": "# First\n\nA day of May.\n",
    "journals/2025-05-02.md": "# Second\n\nAnother day of May.\n",
}
SPEC = """openapi: 3.0.3
info: {title: Shop, version: "2.1"}
paths:
  /refunds/{id}:
    delete:
      summary: Cancel a refund
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses: {"204": {description: Gone}}
"""
DOCUMENTS = len(PAGES) + 3
"""A spec is kept whole, and has a page of its own and one an operation."""


@dataclass(frozen=True)
class Call:
    """A tool and its arguments, what its text says, and what its data holds (None: it has none)."""

    tool: str
    arguments: dict[str, Any]
    says: str
    data: dict[str, Any] | None = None


def page_id(path: str) -> str:
    """The id of a page of the source docs."""
    return ids.document_id(PROJECT, "docs", path)


SITE_PAGE = {
    "pageId": page_id(AUTHENTICATION),
    "path": "/docs/getting-started/authentication/",
    "url": "https://docs.example.com/docs/getting-started/authentication/",
    "title": "Authentication",
    "setId": "docs",
}
SETS = {
    "sets": [
        {"id": "docs", "name": "Documentation", "type": "documentation", "basePath": "/docs/"},
        {"id": "shop", "name": "shop", "type": "api", "basePath": "/shop/"},
    ]
}
FOUND = 'Found 1 result for "signing key"'
SEARCH_DOCS = {"query": "signing key", "limit": 1}
CALLS: dict[str, list[Call]] = {
    "docs": [
        Call("search_docs", SEARCH_DOCS, f'{FOUND} in project "{PROJECT}":\n\n### 1. docs/{AUTHENTICATION} — '),
        Call("list_topics", {}, "\n• docs/journals/2025-05-01.md — First (1 chunk)\n"),
        Call(
            "read_document",
            {"path": f"docs/{AUTHENTICATION}", "heading": "Authentication > Rotation"},
            f"File: docs/{AUTHENTICATION}\nTitle: Authentication\n---\n## Rotation\n\nRotate the signing key",
        ),
    ],
    "site": [
        Call(
            "get_site_overview", {}, "Example Docs", {"title": "Example Docs", "description": "How to build.", **SETS}
        ),
        Call("list_documentation_sets", {}, "basePath", SETS),
        Call("describe_schema", {}, '"DocResource"', {}),
        Call(
            "get_documentation_set", {"setId": "docs"}, page_id("tone.md"), {"setId": "docs", "name": "Documentation"}
        ),
        Call("search_docs", {"query": "bearer token", "limit": 1}, BEARER, {"mode": "hybrid"}),
        Call("search_api", {"query": "cancel a refund", "mode": "keyword"}, "/refunds/{id}", {"mode": "keyword"}),
        Call(
            "get_pages_by_id",
            {"pageIds": [page_id(AUTHENTICATION)]},
            BEARER,
            {"resources": [{**SITE_PAGE, "content": PAGES[AUTHENTICATION].strip()}]},
        ),
        Call(
            "get_pages_by_path",
            {"paths": ["/docs/getting-started/authentication/", "/blog/why/"]},
            "path is not within a documentation set: /blog/why/",
        ),
        Call("get_openapi_spec", {"setId": "shop"}, "Cancel a refund", {"title": "Shop", "setId": "shop"}),
    ],
    "procedures": [
        Call("get_toc", {}, f"## Tone  [doc {page_id('tone.md')[:8]}]\nWrite as you would speak."),
        Call("search_instructions", {"plan": "greeting a customer by the first name"}, GREETING),
        Call(
            "get_section",
            {"section_id": ids.section_id(page_id("tone.md"), ("Tone", "Greetings"), 0)[:8]},
            f"From: Tone  [doc {page_id('tone.md')[:8]}]\n\n{GREETING}",
        ),
    ],
    "notes": [
        Call("query", {"searches": [{"type": "lex", "query": "signing key"}]}, f"{FOUND}:\n\n#"),
        Call("get", {"file": "docs/tone.md"}, " docs/tone.md - Tone", {"uri": "qmd://docs/tone.md", "totalLines": 7}),
        Call("multi_get", {"pattern": "journals/2025-05*.md"}, "2 documents:\n", {"skipped": []}),
        Call("status", {}, "\n    - docs (4 documents)", {"hasVectorIndex": True, "needsEmbedding": 0}),
    ],
    "connector": [
        Call("search", {"query": "signing key"}, page_id(AUTHENTICATION)),
        Call(
            "fetch",
            {"id": page_id(AUTHENTICATION)},
            "keytool",
            {"id": page_id(AUTHENTICATION), "title": "Authentication", "url": SITE_PAGE["url"]},
        ),
    ],
}
CALLS[ALL] = [call for name in SURFACES for call in CALLS[name] if (name, call.tool) != ("site", "search_docs")]
"""Each tool once, in the order of the list: of the two search_docs the one of docs."""


def make_whole_desk(folder: Path) -> DeskProcess:
    """The desk, not started: a project on all surfaces over a documentation set and the spec of an API, and one with schemas."""
    for name, text in {**{f"docs/{name}": text for name, text in PAGES.items()}, "shop/shop.yaml": SPEC}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    at = "https://docs.example.com/docs/"
    project = {
        "title": "Example Docs",
        "description": "How to build.",
        "surfaces": [ALL],
        "pins": ["docs/tone.md"],
        "sources": [
            {"name": "docs", "path": str(folder / "docs"), "title": "Documentation", "base_url": at},
            {"name": "shop", "path": str(folder / "shop"), "type": "api"},
        ],
    }
    config = folder / "config.yaml"
    structured = {"structured_output": True, "sources": project["sources"][:1]}
    declared = {"projects": {PROJECT: project, STRUCTURED: structured}}
    config.write_text(yaml.safe_dump(declared), encoding="utf-8")
    arguments = ("--docs", "", "--config", str(config))
    return DeskProcess(folder / "docs", folder / "data", build_tiny_model(folder / "model"), arguments=arguments)
