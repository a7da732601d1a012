"""Schemas of what the notes surface's tools answer as data; they describe what a client may rely on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TEXT: Mapping[str, Any] = {"type": "string"}
_COUNT: Mapping[str, Any] = {"type": "integer", "minimum": 0}
_CONTEXT = {
    "anyOf": [{"type": "string"}, {"type": "null"}],  # a list of types is not read by every client
    "description": "What the part of the collection is that it stands in.",
}
_MESSAGE = {"type": "string", "description": "What else is to be known; left out where nothing is."}


def _object(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(required)}


_RESULT = _object(
    {
        "docid": {"type": "string", "description": "# and 6 hex digits of the content; get takes it."},
        "file": {"type": "string", "description": "Path with the collection; get takes it."},
        "title": _TEXT,
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "context": _CONTEXT,
        "snippet": {"type": "string", "description": "Numbered lines around the best one."},
    },
    "docid",
    "file",
    "title",
    "score",
    "context",
    "snippet",
)
QUERY = _object(
    {
        "results": {"type": "array", "items": _RESULT},
        "mode": {
            "enum": ["hybrid", "lexical", "semantic"],
            "description": "What was searched, where it is less than asked.",
        },
        "message": _MESSAGE,
    },
    "results",
)
_DOCUMENT = {
    "uri": _TEXT,
    "name": _TEXT,
    "title": _TEXT,
    "mimeType": {"const": "text/markdown"},
    "docid": _TEXT,
    "context": _CONTEXT,
    "text": _TEXT,
    "fromLine": {"type": "integer", "minimum": 1},
    "toLine": _COUNT,
    "totalLines": _COUNT,
}
DOCUMENT = _object({**_DOCUMENT, "message": _MESSAGE}, *_DOCUMENT)
DOCUMENTS = _object(
    {
        "documents": {"type": "array", "items": _object({**_DOCUMENT, "message": _MESSAGE}, *_DOCUMENT)},
        "skipped": {
            "type": "array",
            "items": _object({"file": _TEXT, "reason": _TEXT}, "file", "reason"),
            "description": "What was asked for and does not come, and why.",
        },
        "message": _MESSAGE,
    },
    "documents",
    "skipped",
)
STATUS = _object(
    {
        "totalDocuments": _COUNT,
        "needsEmbedding": _COUNT,
        "hasVectorIndex": {"type": "boolean"},
        "collections": {
            "type": "array",
            "items": _object(
                {"name": _TEXT, "documents": _COUNT, "description": _TEXT}, "name", "documents", "description"
            ),
        },
    },
    "totalDocuments",
    "needsEmbedding",
    "hasVectorIndex",
    "collections",
)
