"""get_toc: the map of a project's documents, condensed until it fits its budget; knows nothing of pins."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.errors import InvalidArgument
from refdesk.gateway.budgets import count_fitting
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.surfaces.docs.wording import call_text, count, one_line, source_label
from refdesk.gateway.surfaces.interface import ToolAnswer
from refdesk.gateway.surfaces.procedures import wording
from refdesk.gateway.surfaces.procedures.library import Library
from refdesk.gateway.surfaces.procedures.outline import Outline, estimate_tokens
from refdesk.gateway.surfaces.procedures.relevance import Relevance
from refdesk.gateway.surfaces.procedures.room import Room
from refdesk.gateway.surfaces.procedures.tools import GET_TOC, MAP_TOKENS, MOST_RELEVANT
from refdesk.ids import short_id

LEAST_ENTRY_TOKENS, LEAST_LINE_TOKENS = 20, 10
"""What an entry with a summary, and a title with its id, need at least: with more documents than so fit none is tried."""
DESCRIPTION_CHARACTERS = 300
ONE_DOCUMENT_TOKENS = 12_000


class Toc:
    """Answers get_toc."""

    def __init__(self, library: Library, catalog: Catalog, relevance: Relevance) -> None:
        self._library = library
        self._catalog = catalog
        self._relevance = relevance

    async def run(
        self, project: docstore_api.Project, document_id: str | None, query: str | None, room: Room, first: int = 0
    ) -> ToolAnswer:
        """One document, those that fit a query, or all. Raises: NotFound, InvalidArgument, Unavailable."""
        if document_id and query:
            raise InvalidArgument("get_toc takes document_id or query, not both")
        if first and not document_id:
            raise InvalidArgument("from goes with document_id: give the document whose sections go on")
        if document_id:
            return await self._one(project, await self._library.find_document(project, document_id), room, first)
        titles = await self._library.titles(project)
        if not titles:
            return ToolAnswer(wording.EMPTY, {})
        if query:
            return await self._relevant(project, query, len(titles), room)

        async def compose(budget: int) -> ToolAnswer:
            return ToolAnswer(await self._map(project, titles, budget), {}, record_count=len(titles))

        return await room.fit(project, MAP_TOKENS, compose)

    @staticmethod
    async def _one(project: docstore_api.Project, outline: Outline, room: Room, first: int) -> ToolAnswer:
        async def compose(budget: int) -> ToolAnswer:
            return _write_one(outline, first, budget)

        return await room.fit(project, ONE_DOCUMENT_TOKENS, compose)

    async def _relevant(self, project: docstore_api.Project, query: str, total: int, room: Room) -> ToolAnswer:
        found = await self._relevance.search(project, query)
        outlines = await self._library.read(project, ids=found.document_ids[:MOST_RELEVANT])
        entries = [wording.write_entry(outline) for outline in outlines]
        notes = [found.note] if found.note else []

        async def compose(budget: int) -> ToolAnswer:
            shown = _fitting(entries, budget)
            if not shown:
                text = "\n\n".join([wording.NO_MATCH, *notes])
                return ToolAnswer(text, {}, found.mode, found.degraded)
            head = f'Documents most relevant to "{one_line(query, 200)}" ({shown} of {total:,}, best first):'
            text = "\n\n".join([head, *entries[:shown], *notes])
            return ToolAnswer(text, {}, found.mode, found.degraded, shown)

        return await room.fit(project, MAP_TOKENS, compose)

    async def _map(
        self, project: docstore_api.Project, titles: Sequence[docstore_api.DocumentSummary], budget: int
    ) -> str:
        """Everything; else a line a document; else titles; else an overview."""
        head = one_line(project.description, DESCRIPTION_CHARACTERS)
        room = budget - estimate_tokens(head) - 60
        if len(titles) * LEAST_ENTRY_TOKENS <= room:
            outlines = await self._library.read(project, ids=[document.document_id for document in titles])
            forms: list[tuple[str, Callable[[Outline], str]]] = [
                ("", wording.write_entry),
                ("condensed to a line a document", _line),
            ]
            for note, write in forms:
                parts = [write(outline) for outline in outlines]
                if estimate_tokens("\n\n".join(parts)) <= room:
                    return _joined(head, parts, note, "\n\n" if not note else "\n")
        if len(titles) * LEAST_LINE_TOKENS <= room:
            parts = [wording.write_document_line(document.title, document.document_id) for document in titles]
            if estimate_tokens("\n".join(parts)) <= room:
                return _joined(head, parts, "condensed to titles", "\n")
        return await self._overview(project, head, budget)

    async def _overview(self, project: docstore_api.Project, head: str, budget: int) -> str:
        stats = await self._catalog.stats(project)
        counts = {one.source: one.document_count for one in stats.sources}
        lines = [
            f"- {one_line(source_label(source), DESCRIPTION_CHARACTERS)}: {count(counts.get(source.name, 0), 'document')}"
            for source in project.sources
        ]
        shown = lines[: _fitting(lines, budget - min(200, budget // 2))]
        total = f"{count(stats.document_count, 'instruction document')} in {count(len(lines), 'source')}"
        return _joined(head, [total, *shown], "condensed to an overview", "\n")


def _write_one(outline: Outline, first: int, budget: int) -> ToolAnswer:
    """The document with its sections from `first` on (0: the first), as many as fit, one at the least."""
    total = len(outline.sections)
    if first and first >= total:
        raise InvalidArgument(f"from {first} is past the end: the document has sections 0 to {total - 1}")
    head = wording.write_head(outline)
    lines = [wording.write_section_line(section) for section in outline.sections[first:]]
    shown = max(1, _fitting(lines, budget - min(estimate_tokens(head) + 40, budget // 2)))
    parts = [head, *lines[:shown]]
    if shown < len(lines):
        call = call_text(GET_TOC.name, [("document_id", short_id(outline.document_id)), ("from", first + shown)])
        parts.append(f"({len(lines) - shown:,} more sections: {call})")
    return ToolAnswer("\n".join(parts), {}, record_count=1)


def _line(outline: Outline) -> str:
    return wording.write_document_line(outline.title, outline.document_id, outline.summary)


def _fitting(parts: Sequence[str], most_tokens: int) -> int:
    """How many of the first parts fit."""
    return count_fitting((estimate_tokens(part) + 1 for part in parts), most_tokens)


def _joined(head: str, parts: Sequence[str], note: str, gap: str) -> str:
    said = f'(This map is {note}: there are many documents. Call get_toc(query="what you are about to do") for the ones you need.)'
    return "\n\n".join(part for part in (head, said if note else "", gap.join(parts)) if part)
