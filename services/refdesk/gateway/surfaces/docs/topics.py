"""list_topics: what a project holds, a page at a time, grouped by directory; knows nothing of texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import InvalidArgument
from refdesk.gateway.asking import other_model
from refdesk.gateway.budgets import Packer, longest
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.surfaces.docs import wording
from refdesk.gateway.surfaces.docs.by_source import list_by_source
from refdesk.gateway.surfaces.docs.wording import TITLE_CHARACTERS, count, one_line
from refdesk.gateway.surfaces.interface import ToolAnswer

SOURCES_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class Directory:
    """Documents of one directory on one page; `is_whole` False: it may go on on another page."""

    path: str
    documents: Sequence[docstore_api.DocumentSummary]
    is_whole: bool

    @property
    def chunk_count(self) -> int:
        """Chunks of these documents."""
        return sum(document.chunk_count for document in self.documents)


class ListTopics:
    """Answers list_topics."""

    def __init__(self, docstore: Docstore, catalog: Catalog, packer: Packer) -> None:
        self._docstore = docstore
        self._catalog = catalog
        self._packer = packer

    async def run(self, project: docstore_api.Project, arguments: Mapping[str, Any]) -> ToolAnswer:
        """One page.

        Raises: InvalidArgument for a cursor of another listing; Unavailable.
        """
        stats = await self._catalog.stats(project)
        cursor = arguments["cursor"] or ""
        message = await self._message(project, stats)
        most_tokens = arguments["max_tokens"]
        sources_characters = min(SOURCES_CHARACTERS, most_tokens // 4)

        async def compose(most: int) -> ToolAnswer:
            page = await self._page(project, cursor, most)
            text = _text(project, stats, page, cursor, message, sources_characters)
            structured = _structured(project, stats, page, cursor, message, sources_characters)
            return ToolAnswer(text, structured, record_count=len(page.documents))

        return await self._packer.fit(
            project.model_id, most_tokens, arguments["limit"], compose, lambda one: longest(one.text, one.structured)
        )

    async def _message(self, project: docstore_api.Project, stats: docstore_api.GetStatsResponse) -> str:
        if stats.document_count:
            return other_model(project, stats)
        return wording.nothing_indexed(project.slug, is_indexing=await self._catalog.is_indexing(project))

    async def _page(self, project: docstore_api.Project, cursor: str, limit: int) -> docstore_api.ListDocumentsResponse:
        indexed = (one.source for one in (await self._catalog.stats(project)).sources)
        sources = list(dict.fromkeys((*(source.name for source in project.sources), *indexed)))
        try:
            return await list_by_source(self._docstore, project, sources, cursor, limit)
        except InvalidArgument:
            if not cursor:
                raise
            raise InvalidArgument(
                f'cursor is not one that list_topics gave for project "{project.slug}": '
                "call it without cursor to start again"
            ) from None


def _text(
    project: docstore_api.Project,
    stats: docstore_api.GetStatsResponse,
    page: docstore_api.ListDocumentsResponse,
    cursor: str,
    message: str,
    sources_characters: int,
) -> str:
    lines = _head_lines(project, stats, sources_characters)
    for directory in _directories(page, cursor):
        holds = f"{count(len(directory.documents), 'document')}, {count(directory.chunk_count, 'chunk')}"
        lines.append(f"{directory.path} — {holds}{'' if directory.is_whole else ' on this page'}")
        lines.extend(_document_line(document) for document in directory.documents)
    if message:
        lines.append(message)
    if page.next_page_token:
        lines.append(f"next_cursor: {page.next_page_token}")
        lines.append("More documents remain: call list_topics again with this value as cursor.")
    return "\n".join(lines)


def _head_lines(
    project: docstore_api.Project, stats: docstore_api.GetStatsResponse, sources_characters: int
) -> list[str]:
    holds = f"{count(stats.document_count, 'document')}, {count(stats.chunk_count, 'chunk')}"
    sources = wording.listed(map(wording.source_label, project.sources), sources_characters)
    head = f'Project "{project.slug}": {holds}'
    return [head, f"Sources (the first path segment): {sources}"] if sources else [head]


def _directories(page: docstore_api.ListDocumentsResponse, cursor: str) -> Iterator[Directory]:
    groups = [(path, list(documents)) for path, documents in groupby(page.documents, _directory_of)]
    for place, (path, documents) in enumerate(groups):
        goes_on = place == len(groups) - 1 and bool(page.next_page_token)
        went_on = place == 0 and bool(cursor)
        yield Directory(path, documents, not (goes_on or went_on))


def _directory_of(document: docstore_api.DocumentSummary) -> str:
    return document.path[: document.path.rfind("/") + 1]


def _document_line(document: docstore_api.DocumentSummary) -> str:
    title = one_line(document.title, TITLE_CHARACTERS)
    return f"• {document.path}{' — ' + title if title else ''} ({count(document.chunk_count, 'chunk')})"


def _structured(
    project: docstore_api.Project,
    stats: docstore_api.GetStatsResponse,
    page: docstore_api.ListDocumentsResponse,
    cursor: str,
    message: str,
    sources_characters: int,
) -> Mapping[str, Any]:
    sources = _structured_sources(project, sources_characters)
    if left_out := len(project.sources) - len(sources):
        message = "\n".join(part for part in (message, f"{left_out:,} more sources are not named here.") if part)
    return {
        "project": project.slug,
        "document_count": stats.document_count,
        "chunk_count": stats.chunk_count,
        "sources": sources,
        "directories": [
            {
                "path": directory.path,
                "document_count": len(directory.documents),
                "chunk_count": directory.chunk_count,
                "documents": [
                    {"path": document.path, "title": document.title, "chunk_count": document.chunk_count}
                    for document in directory.documents
                ],
            }
            for directory in _directories(page, cursor)
        ],
        "next_cursor": page.next_page_token,
        "message": message,
    }


def _structured_sources(project: docstore_api.Project, most_characters: int) -> list[dict[str, str]]:
    """As many as fit, one at the least."""
    shown: list[dict[str, str]] = []
    for source in project.sources:
        kind = wording.SHOWN_KINDS.get(source.kind, source.kind)
        described = one_line(source.description, wording.DESCRIPTION_CHARACTERS)
        shown.append({"name": source.name, "kind": kind, "description": described})
        most_characters -= len(json.dumps(shown[-1], ensure_ascii=False))
        if most_characters < 0 and len(shown) > 1:
            return shown[:-1]
    return shown
