"""The procedures surface: get_toc, search_instructions, get_section over one project; knows nothing of MCP's wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import InvalidArgument, RefdeskError
from refdesk.gateway.answers import SearchCore
from refdesk.gateway.budgets import MOST_TOKENS, Packer
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.sessions import Sessions
from refdesk.gateway.surfaces.docs.wording import unknown_tool
from refdesk.gateway.surfaces.interface import Caller, ToolAnswer, WithoutResources
from refdesk.gateway.surfaces.procedures import wording
from refdesk.gateway.surfaces.procedures.library import Library
from refdesk.gateway.surfaces.procedures.outline import CHARACTERS_PER_TOKEN
from refdesk.gateway.surfaces.procedures.pins import PinBlock, Pins
from refdesk.gateway.surfaces.procedures.relevance import Relevance
from refdesk.gateway.surfaces.procedures.room import Room
from refdesk.gateway.surfaces.procedures.search import SearchInstructions
from refdesk.gateway.surfaces.procedures.toc import Toc
from refdesk.gateway.surfaces.procedures.tools import GET_SECTION, GET_TOC, SEARCH_INSTRUCTIONS, TOOLS
from refdesk.gateway.tokens import TokenCounter

RULE_TOKENS = 10
"""Between the block of pins and the answer."""


class ProceduresSurface(WithoutResources):
    """Three read-only tools that answer text; pinned documents come without a call."""

    name = "procedures"
    server_name = "refdesk"
    always_structured = False

    def __init__(
        self, docstore: Docstore, core: SearchCore, catalog: Catalog, sessions: Sessions, tokens: TokenCounter
    ) -> None:
        self._packer = Packer(tokens)
        library, relevance = Library(docstore), Relevance(core, catalog)
        self._library = library
        self._toc = Toc(library, catalog, relevance)
        self._search = SearchInstructions(library, relevance)
        self._pins = Pins(library, sessions)
        self._tools = {tool.name: tool for tool in TOOLS}
        self._definitions = [tool.definition(structured=False) for tool in TOOLS]

    def definitions(self, *, structured: bool) -> list[dict[str, Any]]:
        """The three tools, always in this order; they answer text whatever is set."""
        return self._definitions

    async def call(
        self, project: docstore_api.Project, tool: str, arguments: Mapping[str, Any] | None, caller: Caller
    ) -> ToolAnswer:
        """Runs one tool.

        Raises: UnknownTool; NotFound for a document that does not exist; InvalidArgument; Unavailable and the like.
        """
        if tool not in self._tools:
            raise unknown_tool(tool, self._tools)
        read = self._tools[tool].read(arguments)
        if tool == GET_SECTION.name:
            return await self._get_section(project, read)
        bare = tool == GET_TOC.name and not read["document_id"] and not read["query"]
        # Noted before the answer is made: of two answers side by side one has the block.
        due = await self._pins.take(project, caller, bare_toc=bare)
        try:
            taken = await self._packer.cost(project.model_id, due.text) + RULE_TOKENS if due else 0
            room = Room(self._packer, read["max_tokens"], taken)
            if tool == SEARCH_INSTRUCTIONS.name:
                answer = await self._search.run(project, read["plan"], room, due.document_ids if due else ())
            else:
                answer = await self._toc.run(project, read["document_id"], read["query"], room, read["from"] or 0)
        except BaseException:
            if due:
                await self._pins.take_back(project, caller)
            raise
        return _under(due, answer)

    async def instructions(self, project: docstore_api.Project | None) -> str:
        """The block of pins, or its titles where it is too long; nothing without pins."""
        if project is None or not project.pins:
            return ""
        try:
            block = await self._pins.block(project)
        except RefdeskError:
            return ""
        return block.instructions if block else ""

    async def _get_section(self, project: docstore_api.Project, read: Mapping[str, Any]) -> ToolAnswer:
        found = await self._library.find_section(project, read["section_id"])
        if found is None:
            return ToolAnswer(wording.NO_SECTION, {})
        outline, section = found
        first = read["from"] or 0
        if first and first >= len(section.text):
            raise InvalidArgument(f"from {first} is past the end: the section has {len(section.text):,} characters")

        async def compose(budget: int) -> ToolAnswer:
            return ToolAnswer(
                wording.write_part(outline, section, first, budget * CHARACTERS_PER_TOKEN), {}, record_count=1
            )

        return await Room(self._packer, read["max_tokens"]).fit(project, MOST_TOKENS, compose)


def _under(block: PinBlock | None, answer: ToolAnswer) -> ToolAnswer:
    if block is None:
        return answer
    text = f"{block.text}{wording.RULE}{answer.text}"
    return ToolAnswer(text, answer.structured, answer.mode, answer.degraded, answer.record_count)
