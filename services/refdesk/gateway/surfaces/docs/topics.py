"""list_topics: what a project holds, a page at a time, grouped by directory; knows nothing of texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import InvalidArgument
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.surfaces.docs import wording
from refdesk.gateway.surfaces.docs.by_source import list_by_source
from refdesk.gateway.surfaces.docs.tools import MOST_TOKENS
from refdesk.gateway.surfaces.docs.wording import TITLE_CHARACTERS, count, one_line
from refdesk.gateway.surfaces.interface import ToolAnswer
from refdesk.gateway.tokens import TokenCounter

SOURCES_CHARACTERS = 4_000
WIDEST_COUNTS = " — 1,000 documents, 10,000 chunks on this page"
TOKENS_KEPT_BACK = 500
"""For the last lines, and for what a sum over lines counts less than the whole."""


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

    def __init__(self, docstore: Docstore, catalog: Catalog, tokens: TokenCounter) -> None:
        self._docstore = docstore
        self._catalog = catalog
        self._tokens = tokens

    async def run(self, project: docstore_api.Project, arguments: Mapping[str, Any]) -> ToolAnswer:
        """One page.

        Raises: InvalidArgument for a cursor of another listing; Unavailable.
        """
        stats = await self._catalog.stats(project)
        cursor = arguments["cursor"] or ""
        message = await self._message(project, stats)
        page = await self._page(project, cursor, arguments["limit"])
        text = _text(project, stats, page, cursor, message)
        if len(text) > MOST_TOKENS:  # a token has a character at least
            fitting = await self._fitting(project, stats, page)
            if fitting < len(page.documents):
                page = await self._page(project, cursor, fitting)
                text = _text(project, stats, page, cursor, message)
        return ToolAnswer(text, _structured(project, stats, page, cursor, message), record_count=len(page.documents))

    async def _message(self, project: docstore_api.Project, stats: docstore_api.GetStatsResponse) -> str:
        if stats.document_count:
            return wording.other_model(project, stats)
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

    async def _fitting(
        self,
        project: docstore_api.Project,
        stats: docstore_api.GetStatsResponse,
        page: docstore_api.ListDocumentsResponse,
    ) -> int:
        """How many documents fit in 20,000 tokens, one at least; each is counted with its directory's line."""
        head = "\n".join(_head_lines(project, stats))
        lines = [f"{_directory_of(document)}{WIDEST_COUNTS}\n{_document_line(document)}" for document in page.documents]
        counted = await self._tokens.count(project.model_id, [head, *lines])
        room = MOST_TOKENS - TOKENS_KEPT_BACK - counted.counts[0]
        fitting = 0
        for tokens in counted.counts[1:]:
            room -= tokens
            if room < 0:
                break
            fitting += 1
        return max(1, fitting)


def _text(
    project: docstore_api.Project,
    stats: docstore_api.GetStatsResponse,
    page: docstore_api.ListDocumentsResponse,
    cursor: str,
    message: str,
) -> str:
    lines = _head_lines(project, stats)
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


def _head_lines(project: docstore_api.Project, stats: docstore_api.GetStatsResponse) -> list[str]:
    holds = f"{count(stats.document_count, 'document')}, {count(stats.chunk_count, 'chunk')}"
    sources = wording.listed(map(wording.source_label, project.sources), SOURCES_CHARACTERS)
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
) -> Mapping[str, Any]:
    return {
        "project": project.slug,
        "document_count": stats.document_count,
        "chunk_count": stats.chunk_count,
        "sources": [
            {
                "name": source.name,
                "kind": wording.SHOWN_KINDS.get(source.kind, source.kind),
                "description": source.description,
            }
            for source in project.sources
        ],
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
