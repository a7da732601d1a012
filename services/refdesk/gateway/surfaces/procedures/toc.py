"""get_toc: the map of a project's documents, condensed until it fits its budget; knows nothing of pins."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.errors import InvalidArgument
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.surfaces.docs.wording import count, one_line, source_label
from refdesk.gateway.surfaces.interface import ToolAnswer
from refdesk.gateway.surfaces.procedures import wording
from refdesk.gateway.surfaces.procedures.library import Library
from refdesk.gateway.surfaces.procedures.outline import Outline, estimate_tokens
from refdesk.gateway.surfaces.procedures.relevance import Relevance
from refdesk.gateway.surfaces.procedures.tools import MAP_TOKENS, MOST_RELEVANT

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

    async def run(self, project: docstore_api.Project, document_id: str | None, query: str | None) -> ToolAnswer:
        """One document, those that fit a query, or all. Raises: NotFound, InvalidArgument, Unavailable."""
        if document_id and query:
            raise InvalidArgument("get_toc takes document_id or query, not both")
        if document_id:
            return _one(await self._library.find_document(project, document_id))
        titles = await self._library.titles(project)
        if not titles:
            return ToolAnswer(wording.EMPTY, {})
        if query:
            return await self._relevant(project, query, len(titles))
        return ToolAnswer(await self._map(project, titles), {}, record_count=len(titles))

    async def _relevant(self, project: docstore_api.Project, query: str, total: int) -> ToolAnswer:
        found = await self._relevance.search(project, query)
        outlines = await self._library.read(project, ids=found.document_ids[:MOST_RELEVANT])
        entries = [wording.write_entry(outline) for outline in outlines]
        shown = _fitting(entries, MAP_TOKENS)
        notes = [found.note] if found.note else []
        if not shown:
            text = "\n\n".join([wording.NO_MATCH, *notes])
            return ToolAnswer(text, {}, found.mode, found.degraded)
        head = f'Documents most relevant to "{one_line(query, 200)}" ({shown} of {total:,}, best first):'
        text = "\n\n".join([head, *entries[:shown], *notes])
        return ToolAnswer(text, {}, found.mode, found.degraded, shown)

    async def _map(self, project: docstore_api.Project, titles: Sequence[docstore_api.DocumentSummary]) -> str:
        """Everything; else a line a document; else titles; else an overview."""
        head = one_line(project.description, DESCRIPTION_CHARACTERS)
        room = MAP_TOKENS - estimate_tokens(head) - 60
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
        return await self._overview(project, head)

    async def _overview(self, project: docstore_api.Project, head: str) -> str:
        stats = await self._catalog.stats(project)
        counts = {one.source: one.document_count for one in stats.sources}
        lines = [
            f"- {one_line(source_label(source), DESCRIPTION_CHARACTERS)}: {count(counts.get(source.name, 0), 'document')}"
            for source in project.sources
        ]
        shown = lines[: _fitting(lines, MAP_TOKENS - 200)]
        total = f"{count(stats.document_count, 'instruction document')} in {count(len(lines), 'source')}"
        return _joined(head, [total, *shown], "condensed to an overview", "\n")


def _one(outline: Outline) -> ToolAnswer:
    head, *rest = wording.write_entry(outline, every_section=True).split("\n- ")
    lines = [head, *(f"- {line}" for line in rest)]
    shown = _fitting(lines, ONE_DOCUMENT_TOKENS)
    if shown < len(lines):
        more = f"({len(lines) - shown} more sections; search_instructions finds them by what they say)"
        return ToolAnswer("\n".join([*lines[:shown], more]), {}, record_count=1)
    return ToolAnswer("\n".join(lines), {}, record_count=1)


def _line(outline: Outline) -> str:
    return wording.write_document_line(outline.title, outline.document_id, outline.summary)


def _fitting(parts: Sequence[str], most_tokens: int) -> int:
    """How many of the first parts fit."""
    tokens = 0
    for number, part in enumerate(parts):
        tokens += estimate_tokens(part) + 1
        if tokens > most_tokens:
            return number
    return len(parts)


def _joined(head: str, parts: Sequence[str], note: str, gap: str) -> str:
    said = f'(This map is {note}: there are many documents. Call get_toc(query="what you are about to do") for the ones you need.)'
    return "\n\n".join(part for part in (head, said if note else "", gap.join(parts)) if part)
