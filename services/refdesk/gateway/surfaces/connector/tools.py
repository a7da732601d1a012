"""The two tools of the connector surface, in the shape that its clients require."""

from __future__ import annotations

from typing import Any

from refdesk.gateway.arguments import TEXT, Argument, Tool
from refdesk.gateway.surfaces.docs.schemas import items, record

RESULTS = 10

_TEXT: dict[str, Any] = {"type": "string"}
_URL = {**_TEXT, "description": "Address to cite; never empty.", "minLength": 1}

SEARCH = Tool(
    "search",
    "Search the documentation",
    "Searches the documentation by meaning and by exact wording, and returns pages, the best first, each with an id "
    "for fetch and an address to cite. No results: nothing answers the question.",
    (Argument("query", TEXT, "A question, or an identifier to find exactly.", required=True, least=1, most=2_000),),
    record({"results": items(record({"id": _TEXT, "title": _TEXT, "url": _URL}))}),
)
FETCH = Tool(
    "fetch",
    "Fetch a page",
    "Returns the text of one page by the id that search gave. A page that is too long is cut: metadata.next_id is the "
    "id to fetch the rest with.",
    (Argument("id", TEXT, "An id, from a result of search.", required=True, least=1, most=200),),
    record(
        {
            "id": _TEXT,
            "title": _TEXT,
            "text": {**_TEXT, "description": "Markdown."},
            "url": _URL,
            "metadata": {"type": "object", "additionalProperties": _TEXT},
        }
    ),
)
TOOLS = (SEARCH, FETCH)
