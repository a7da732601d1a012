"""The notes surface: query, get, multi_get and status over one project; knows nothing of MCP's wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import NotFound
from refdesk.gateway.answers import SearchCore
from refdesk.gateway.arguments import check_text
from refdesk.gateway.budgets import MOST_TOKENS, Packer
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.surfaces.docs.wording import TITLE_CHARACTERS, one_line, quoted, unknown_tool
from refdesk.gateway.surfaces.interface import MIME_TYPE, Caller, Page, ToolAnswer
from refdesk.gateway.surfaces.listing import list_page
from refdesk.gateway.surfaces.notes.contexts import Contexts
from refdesk.gateway.surfaces.notes.get import Get, MultiGet
from refdesk.gateway.surfaces.notes.library import Library
from refdesk.gateway.surfaces.notes.query import Query
from refdesk.gateway.surfaces.notes.shown import Asked, Desk
from refdesk.gateway.surfaces.notes.status import USAGE, Status, compose_instructions
from refdesk.gateway.surfaces.notes.tools import GET, MULTI_GET, QUERY, STATUS, TOOLS
from refdesk.gateway.surfaces.notes.wording import SCHEME, resource_uri
from refdesk.gateway.tokens import TokenCounter


class NotesSurface:
    """Four read-only tools, and the documents as resources."""

    name = "notes"
    server_name = "qmd"
    always_structured = True

    def __init__(self, docstore: Docstore, core: SearchCore, catalog: Catalog, tokens: TokenCounter) -> None:
        self._docstore = docstore
        self._catalog = catalog
        self._library = library = Library(docstore)
        self._desk = desk = Desk(tokens)
        packer = Packer(tokens)
        self._tools = {
            QUERY.name: (QUERY, Query(core, catalog, library, packer).run),
            GET.name: (GET, Get(library, desk).run),
            MULTI_GET.name: (MULTI_GET, MultiGet(library, desk, packer).run),
            STATUS.name: (STATUS, Status(catalog).run),
        }
        self._definitions = {
            structured: [tool.definition(structured=structured) for tool in TOOLS] for structured in (False, True)
        }

    def definitions(self, *, structured: bool) -> list[dict[str, Any]]:
        """The four tools, always in this order."""
        return self._definitions[structured]

    async def call(
        self, project: docstore_api.Project, tool: str, arguments: Mapping[str, Any] | None, caller: Caller
    ) -> ToolAnswer:
        """Runs one tool.

        Raises: UnknownTool; NotFound for a document that does not exist; InvalidArgument; Unavailable and the like.
        """
        if tool not in self._tools:
            raise unknown_tool(tool, self._tools)
        definition, run = self._tools[tool]
        return await run(project, definition.read(arguments))

    async def instructions(self, project: docstore_api.Project | None) -> str:
        """At most 2,048 characters, from the live index."""
        if project is None:
            return USAGE
        return compose_instructions(project, await self._catalog.stats(project))

    async def list_resources(self, project: docstore_api.Project, cursor: str) -> Page:
        """A page of 200 documents.

        Raises: InvalidArgument for a cursor of another listing; Unavailable.
        """
        page = await list_page(self._docstore, project, cursor)
        contexts = Contexts(project)
        return Page([_describe(document, contexts) for document in page.documents], page.next_page_token)

    async def read_resource(self, project: docstore_api.Project, uri: str) -> str:
        """The Markdown of one document, under its context as a comment; with the same reach as get.

        Raises: NotFound; Unavailable.
        """
        check_text("uri", uri)
        if not uri.startswith(f"{SCHEME}://"):
            raise NotFound(f"no resource {quoted(one_line(uri, TITLE_CHARACTERS))}; they begin with {SCHEME}://")
        found = await self._library.find(project, uri)
        shown = await self._desk.show(project, found.document, Asked(), MOST_TOKENS)
        context = [f"<!-- Context: {shown.context.replace('--', '–')} -->"] if shown.context else []
        return "\n\n".join((*context, shown.text, *shown.notes))

    def resource_templates(self, project: docstore_api.Project) -> list[dict[str, Any]]:
        """The one template of the project's documents."""
        return [
            {
                "uriTemplate": f"{SCHEME}://{{collection}}/{{+path}}",
                "name": "document",
                "title": "Indexed document",
                "description": "The stored Markdown of one document, by the file that query shows.",
                "mimeType": MIME_TYPE,
            }
        ]


def _describe(document: docstore_api.DocumentSummary, contexts: Contexts) -> dict[str, Any]:
    shown = {
        "uri": resource_uri(document.path),
        "name": document.path,
        "title": one_line(document.title, TITLE_CHARACTERS) or document.path,
        "mimeType": MIME_TYPE,
    }
    context = contexts.of_path(document.path)
    return {**shown, "description": context} if context else shown
