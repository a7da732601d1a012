"""The docs surface: search_docs, list_topics, read_document over one project; knows nothing of MCP's wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.gateway.answers import SearchCore
from refdesk.gateway.arguments import check_text
from refdesk.gateway.budgets import MOST_TOKENS, Packer
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.surfaces.docs import instructions, resources
from refdesk.gateway.surfaces.docs.cutting import Cutter
from refdesk.gateway.surfaces.docs.document import ReadDocument
from refdesk.gateway.surfaces.docs.search import SearchDocs
from refdesk.gateway.surfaces.docs.tools import COMBINED_SEARCH, LIST_TOPICS, READ_DOCUMENT, SEARCH_DOCS
from refdesk.gateway.surfaces.docs.topics import ListTopics
from refdesk.gateway.surfaces.docs.wording import unknown_tool
from refdesk.gateway.surfaces.interface import Caller, Page, ToolAnswer
from refdesk.gateway.surfaces.listing import list_page
from refdesk.gateway.tokens import TokenCounter


class DocsSurface:
    """Three read-only tools, and the documents as resources."""

    name = "docs"
    server_name = "refdesk"
    always_structured = False

    def __init__(
        self,
        docstore: Docstore,
        core: SearchCore,
        catalog: Catalog,
        tokens: TokenCounter,
        most_characters: int,
        *,
        beside_site: bool = False,
    ) -> None:
        self._docstore = docstore
        self._catalog = catalog
        packer = Packer(tokens)
        self._reader = ReadDocument(docstore, Cutter(tokens), packer)
        search = COMBINED_SEARCH if beside_site else SEARCH_DOCS
        self._tools = {
            search.name: (search, SearchDocs(core, catalog, packer, most_characters).run),
            LIST_TOPICS.name: (LIST_TOPICS, ListTopics(docstore, catalog, packer).run),
            READ_DOCUMENT.name: (READ_DOCUMENT, self._reader.run),
        }
        self._definitions = {
            structured: [tool.definition(structured=structured) for tool, _ in self._tools.values()]
            for structured in (False, True)
        }

    def definitions(self, *, structured: bool) -> list[dict[str, Any]]:
        """The three tools, always in this order."""
        return self._definitions[structured]

    async def call(
        self, project: docstore_api.Project, tool: str, arguments: Mapping[str, Any] | None, caller: Caller
    ) -> ToolAnswer:
        """Runs one tool.

        Raises: UnknownTool; NotFound for a path or heading that does not exist; InvalidArgument; Unavailable and the like.
        """
        if tool not in self._tools:
            raise unknown_tool(tool, self._tools)
        definition, run = self._tools[tool]
        return await run(project, definition.read(arguments))

    async def instructions(self, project: docstore_api.Project | None) -> str:
        """At most 2,048 characters, from the live index."""
        if project is None:
            return instructions.USAGE
        return instructions.compose(project, await self._catalog.stats(project))

    async def list_resources(self, project: docstore_api.Project, cursor: str) -> Page:
        """A page of 200 documents.

        Raises: InvalidArgument for a cursor of another listing; Unavailable.
        """
        page = await list_page(self._docstore, project, cursor)
        return Page([resources.describe(project.slug, document) for document in page.documents], page.next_page_token)

    async def read_resource(self, project: docstore_api.Project, uri: str) -> str:
        """The Markdown of one document, with the same reach as read_document.

        Raises: NotFound; Unavailable.
        """
        check_text("uri", uri)
        return await self._reader.read_text(project, resources.resource_path(project.slug, uri), MOST_TOKENS)

    def resource_templates(self, project: docstore_api.Project) -> list[dict[str, Any]]:
        """The one template of the project's documents."""
        return [resources.template(project.slug)]
