"""The shapes that the site surface answers, as JSON Schema: its output schemas, and what describe_schema tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXT: dict[str, Any] = {"type": "string"}


def record(properties: Mapping[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """A closed object; all that is not named optional is required."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


def items(of: Mapping[str, Any]) -> dict[str, Any]:
    """A list."""
    return {"type": "array", "items": dict(of)}


MODES = ("hybrid", "keyword", "semantic")
OMITTED = {"type": "integer", "minimum": 1, "description": "How many more there are than fit into this answer."}

DOC_RESOURCE = record(
    {
        "pageId": {**TEXT, "description": "The page's id; absent where no page was found."},
        "path": {**TEXT, "description": "Path on the site."},
        "url": {**TEXT, "description": "Canonical absolute address; empty where there is an error."},
        "title": TEXT,
        "setId": {**TEXT, "description": "The documentation set that it belongs to."},
        "content": {**TEXT, "description": "The page as Markdown, or a spec as it was published."},
        "error": {**TEXT, "description": "Why there is no content."},
        "next": {"type": "object", "description": "Where content is cut: arguments of the same tool for the rest."},
    },
    optional=("pageId", "title", "setId", "content", "error", "next"),
)
SEARCH_RESULT = record(
    {
        "pageId": TEXT,
        "path": TEXT,
        "url": TEXT,
        "title": TEXT,
        "setId": TEXT,
        "snippet": {**TEXT, "description": "Where the page answers, at most 300 characters."},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
    }
)
DOCUMENTATION_SET = record(
    {
        "id": {**TEXT, "description": "What setId and pageTypeIds take."},
        "name": TEXT,
        "type": {"type": "string", "enum": ["documentation", "api"]},
        "basePath": TEXT,
    }
)
CONTENT_ITEM = {
    "type": "object",
    "description": "A folder (name, title, children), a page (pageId, path, url), or an external link (href).",
    "properties": {
        "name": TEXT,
        "title": TEXT,
        "children": {"type": "array", "items": {"type": "object"}},
        "pageId": TEXT,
        "path": TEXT,
        "url": TEXT,
        "method": {**TEXT, "description": "HTTP method of an operation of an API reference."},
        "href": TEXT,
    },
    "required": ["title"],
    "additionalProperties": False,
}
PAGES = record({"resources": items(DOC_RESOURCE)})

OVERVIEW = record(
    {"title": TEXT, "description": TEXT, "sets": items(DOCUMENTATION_SET), "omitted": OMITTED}, optional=("omitted",)
)
SETS = record({"sets": items(DOCUMENTATION_SET), "omitted": OMITTED}, optional=("omitted",))
CONTENTS = record(
    {
        "setId": TEXT,
        "name": TEXT,
        "items": items(CONTENT_ITEM),
        "nextCursor": {**TEXT, "description": "Pass it as cursor for the rest; absent at the end."},
    },
    optional=("nextCursor",),
)
SEARCH = record(
    {
        "mode": {"type": "string", "enum": list(MODES)},
        "results": items(SEARCH_RESULT),
        "message": {**TEXT, "description": "What could not be searched; absent when all was."},
    },
    optional=("message",),
)

SHAPES: Mapping[str, Any] = {
    "DocResource": DOC_RESOURCE,
    "DocumentationSet": DOCUMENTATION_SET,
    "ContentItem": CONTENT_ITEM,
    "SearchResult": SEARCH_RESULT,
    "PagesEnvelope": PAGES,
}
DESCRIPTION = record({name: {"type": "object"} for name in SHAPES})
