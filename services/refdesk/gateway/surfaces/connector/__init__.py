"""The connector surface: search and fetch in the shape that ChatGPT's connectors and deep research require; knows nothing of MCP's wire."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.errors import NotFound
from refdesk.gateway.answers import Question, SearchCore, embedded_share
from refdesk.gateway.asking import Asking
from refdesk.gateway.budgets import MOST_TOKENS, Packer
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.pages import page_url
from refdesk.gateway.profiles import CONNECTOR
from refdesk.gateway.surfaces.connector.tools import FETCH, RESULTS, SEARCH, TOOLS
from refdesk.gateway.surfaces.docs.cutting import Cut, Cutter
from refdesk.gateway.surfaces.docs.reading import head_chunks, pieces_of, range_span, whole_span
from refdesk.gateway.surfaces.docs.wording import TITLE_CHARACTERS, one_line, quoted, unknown_tool
from refdesk.gateway.surfaces.interface import Caller, ToolAnswer, WithoutResources
from refdesk.gateway.tokens import TokenCounter

INSTRUCTIONS = (
    "search finds pages of this project's documentation by meaning and by words: ask a full question, or an exact "
    "identifier. fetch reads one of them by its id. Cite the url of every page that you use."
)
_ID = re.compile(r"(?P<document>[^#]*)(?:#(?P<chunk>\d{1,6}))?", re.DOTALL)
ENVELOPE_TOKENS = 600


class ConnectorSurface(WithoutResources):
    """Two read-only tools, whose answers always have an address to cite."""

    name = "connector"
    server_name = "refdesk"
    always_structured = True

    def __init__(
        self, docstore: Docstore, core: SearchCore, catalog: Catalog, tokens: TokenCounter, public_url: str
    ) -> None:
        self._docstore = docstore
        self._asking = Asking(core, catalog)
        self._packer = Packer(tokens)
        self._cutter = Cutter(tokens)
        self._public_url = public_url
        self._definitions = [tool.definition(structured=True) for tool in TOOLS]

    def definitions(self, *, structured: bool) -> list[dict[str, Any]]:
        """Both tools, always in this order."""
        return self._definitions

    async def call(
        self, project: docstore_api.Project, tool: str, arguments: Mapping[str, Any] | None, caller: Caller
    ) -> ToolAnswer:
        """Runs one tool. Raises: UnknownTool; NotFound for an id that is no page's; InvalidArgument; Unavailable."""
        base_url = self._public_url or caller.base_url
        if tool == SEARCH.name:
            return await self._search(project, SEARCH.read(arguments)["query"], base_url)
        if tool == FETCH.name:
            return await self._fetch(project, FETCH.read(arguments)["id"], base_url)
        raise unknown_tool(tool, (one.name for one in TOOLS))

    async def instructions(self, project: docstore_api.Project | None) -> str:
        """How the two go together."""
        description = one_line(project.description, 300) if project is not None else ""
        return f"{description}\n{INSTRUCTIONS}" if description else INSTRUCTIONS

    async def _search(self, project: docstore_api.Project, query: str, base_url: str) -> ToolAnswer:
        stats = await self._asking.stats(project)
        if not stats.document_count:
            return _answer({"results": []}, 0)
        share = embedded_share(stats)
        question = Question(project, query, RESULTS, search_api.Filter(), CONNECTOR, embedded_share=share)
        answer = await self._asking.ask(question)
        chunks = [result.chunk for result in answer.results] if answer.is_good else []
        results = [
            {
                "id": chunk.document_id,
                "title": one_line(chunk.title, TITLE_CHARACTERS) or chunk.path,
                "url": chunk.url or page_url(base_url, project.slug, chunk.path),
            }
            for chunk in chunks
        ]

        async def compose(most: int) -> ToolAnswer:
            told = _answer({"results": results[:most]}, len(results[:most]))
            return ToolAnswer(told.text, told.structured, answer.mode, answer.degraded, told.record_count)

        return await self._packer.fit(project.model_id, MOST_TOKENS, RESULTS, compose, lambda one: one.text)

    async def _fetch(self, project: docstore_api.Project, given: str, base_url: str) -> ToolAnswer:
        match = _ID.fullmatch(given)
        document = await self._find(project, match["document"]) if match else None
        if match is None or document is None:
            raise NotFound(f"no page has the id {quoted(one_line(given, 60))}; search gives ids")
        chunks = head_chunks(document, project.live_generation)
        first = int(match["chunk"]) if match["chunk"] else None
        span = whole_span(document) if first is None else range_span(document, chunks, first, None)
        record: dict[str, Any] = {
            "id": given,
            "title": one_line(document.title, TITLE_CHARACTERS) or document.path,
            "text": "",
            "url": document.url or page_url(base_url, project.slug, document.path),
            "metadata": {"source": document.source, "path": document.path},
        }
        if document.version:
            record["metadata"]["version"] = document.version
        await self._add_text(project, document, pieces_of(document.text, chunks, span), record)
        return _answer(record, 1)

    async def _find(self, project: docstore_api.Project, document_id: str) -> docstore_api.Document | None:
        request = docstore_api.GetDocumentsRequest(
            project=project.slug,
            document_ids=[document_id],
            include_text=True,
            generations=[project.live_generation],
        )
        item = (await self._docstore.get_documents(request)).items[0]
        return item.document if item.HasField("document") and not item.document.deleted else None

    async def _add_text(
        self, project: docstore_api.Project, document: docstore_api.Document, pieces: Any, record: dict[str, Any]
    ) -> None:
        """As much as fits; where it is cut, metadata names the id under which it goes on."""
        room = MOST_TOKENS - ENVELOPE_TOKENS

        async def compose(allowed: int) -> Cut:
            return await self._cutter.cut(project.model_id, "", [pieces], allowed, document.path)

        cut = await self._packer.fit(
            project.model_id, room, room, compose, lambda one: json.dumps(one.text, ensure_ascii=False)
        )
        record["text"] = cut.text
        if cut.is_cut:
            following = cut.next_chunk if cut.next_chunk is not None else cut.first_chunk + 1
            record["metadata"]["next_id"] = f"{document.document_id}#{following}"


def _answer(record: Mapping[str, Any], count: int) -> ToolAnswer:
    return ToolAnswer(json.dumps(record, ensure_ascii=False), record, record_count=count)
