"""Documents as MCP resources: contextator://project/source/path, listed in pages; knows nothing of what a document says."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.errors import NotFound
from refdesk.gateway.surfaces.docs.wording import one_line, quoted
from refdesk.gateway.surfaces.interface import MIME_TYPE

SCHEME = "contextator"


def resource_uri(project: str, path: str) -> str:
    """The address of a document."""
    return f"{SCHEME}://{project}/{quote(path, safe='/')}"


def resource_path(project: str, uri: str) -> str:
    """The path that an address of this project names.

    Raises: NotFound for any other address.
    """
    start = f"{SCHEME}://{project}/"
    if not uri.startswith(start):
        raise NotFound(f"no resource {quoted(one_line(uri, 200))}; those of this project begin with {start}")
    try:
        return unquote(uri.removeprefix(start), errors="strict")
    except UnicodeDecodeError:
        raise NotFound(f"no resource {quoted(one_line(uri, 200))}; its escapes are not UTF-8") from None


def describe(project: str, document: docstore_api.DocumentSummary) -> dict[str, Any]:
    """A document in a listing of resources."""
    return {
        "uri": resource_uri(project, document.path),
        "name": document.path,
        "title": one_line(document.title, 200) or document.path,
        "mimeType": MIME_TYPE,
    }


def template(project: str) -> dict[str, Any]:
    """How the addresses of a project are built."""
    return {
        "uriTemplate": f"{SCHEME}://{project}/{{source}}/{{+path}}",
        "name": "document",
        "title": "Indexed document",
        "description": "The stored Markdown of one document, by the path that search_docs and list_topics show.",
        "mimeType": MIME_TYPE,
    }
