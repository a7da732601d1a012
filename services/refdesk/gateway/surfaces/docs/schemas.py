"""The output schemas of the docs surface, published only where structured output is switched on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}


def record(properties: Mapping[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """A closed object; all that is not named optional is required."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


def items(of: Mapping[str, Any]) -> dict[str, Any]:
    """A list."""
    return {"type": "array", "items": dict(of)}


MESSAGE = {**TEXT, "description": "What to know about this answer and what to do next; empty when there is nothing."}

SEARCH = record(
    {
        "project": TEXT,
        "query": TEXT,
        "mode": {"type": "string", "enum": ["hybrid", "lexical", "semantic", "none"]},
        "not_searched": items(record({"leg": TEXT, "reason": TEXT})),
        "results": items(
            record(
                {
                    "rank": {"type": "integer", "minimum": 1},
                    "path": TEXT,
                    "title": TEXT,
                    "heading": {**TEXT, "description": "Breadcrumb: pass it to read_document as heading."},
                    "score": {"type": "number", "description": "Cosine similarity; absent where there is no vector."},
                    "excerpt": {**TEXT, "description": "The chunk between its neighbours; … marks a cut side."},
                    "chunk": {**COUNT, "description": "Pass it to read_document as from or to."},
                    "chunk_count": COUNT,
                    "version": TEXT,
                    "url": TEXT,
                },
                optional=("score", "version", "url"),
            )
        ),
        "left_out": {**COUNT, "description": "Results that did not fit."},
        "vectors": record({"embedded": COUNT, "embeddable": COUNT}),
        "message": MESSAGE,
    }
)

TOPICS = record(
    {
        "project": TEXT,
        "document_count": COUNT,
        "chunk_count": COUNT,
        "sources": items(record({"name": TEXT, "kind": TEXT, "description": TEXT})),
        "directories": items(
            record(
                {
                    "path": TEXT,
                    "document_count": COUNT,
                    "chunk_count": COUNT,
                    "documents": items(record({"path": TEXT, "title": TEXT, "chunk_count": COUNT})),
                }
            )
        ),
        "next_cursor": {**TEXT, "description": "Pass it as cursor for the next page; empty at the end."},
        "message": MESSAGE,
    }
)

DOCUMENT = record(
    {
        "path": TEXT,
        "title": TEXT,
        "text": {**TEXT, "description": "Markdown."},
        "chunk_count": COUNT,
        "url": TEXT,
        "version": TEXT,
        "is_cut": {"type": "boolean"},
        "next": {
            **record({"path": TEXT, "from": COUNT, "to": COUNT, "max_tokens": COUNT}, optional=("to", "max_tokens")),
            "description": "Arguments of read_document for the rest; absent when nothing is left.",
        },
        "message": MESSAGE,
    },
    optional=("next", "url", "version"),
)
