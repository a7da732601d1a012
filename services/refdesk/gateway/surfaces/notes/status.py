"""status and the instructions: what is indexed, by collection; knows nothing of searching."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway.budgets import count_fitting
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.surfaces.docs.wording import DESCRIPTION_CHARACTERS, count, one_line
from refdesk.gateway.surfaces.interface import ToolAnswer
from refdesk.gateway.surfaces.notes.contexts import Contexts

MOST_CHARACTERS = 2_048
"""Clients cut instructions there, without saying so."""
COLLECTIONS_CHARACTERS = 16_000
"""Of all that are shown: a token has a character at least."""

USAGE = (
    'Search: query with searches of type lex (keywords; all must be there, "exact phrase", -term excludes), vec (a question, '
    "by meaning) and hyde (a passage as the answer would be written). The first sub-query weighs double; combining types "
    "finds more. Say with intent what you are after when a word has several meanings, and narrow with collections.\n"
    'Example: query(searches=[{"type": "lex", "query": "\\"connection pool\\" timeout -redis"}, '
    '{"type": "vec", "query": "why do connections run out under load"}]).\n'
    "Read: get with the file or the docid (#abc123) of a result; file:120 starts at that line, fromLine and maxLines take a "
    "part. multi_get takes a glob (journals/2025-05*.md) or a list with commas. status shows the collections.\n"
    "Cite the file of every document that you use."
)


class Collection(NamedTuple):
    """A source as the surface calls it."""

    name: str
    documents: int
    description: str


class Status:
    """Answers status."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def run(self, project: docstore_api.Project, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Counts of the index, and the collections. Raises: Unavailable."""
        stats = await self._catalog.stats(project)
        collections = list_collections(project, stats)
        lengths = (len(json.dumps(one._asdict(), ensure_ascii=False)) + 8 for one in collections)
        shown = collections[: count_fitting(lengths, COLLECTIONS_CHARACTERS)]
        more = [f"    - and {len(collections) - len(shown):,} more"] if len(shown) < len(collections) else []
        missing = stats.embeddable_count - stats.embedded_count
        has_vectors = stats.embedded_count > 0
        lines = [
            "Index status:",
            f"  Total documents: {stats.document_count:,}",
            f"  Needs embedding: {missing:,}",
            f"  Vector index: {'yes' if has_vectors else 'no'}",
            f"  Collections: {len(collections):,}",
            *(f"    - {_described(one)}" for one in shown),
            *more,
        ]
        structured = {
            "totalDocuments": stats.document_count,
            "needsEmbedding": missing,
            "hasVectorIndex": has_vectors,
            "collections": [one._asdict() for one in shown],
        }
        return ToolAnswer("\n".join(lines), structured, record_count=len(collections))


def list_collections(project: docstore_api.Project, stats: docstore_api.GetStatsResponse) -> list[Collection]:
    """The declared sources in their order, then what else is indexed."""
    counts = {one.source: one.document_count for one in stats.sources}
    names = dict.fromkeys((*(one.name for one in project.sources), *counts))
    contexts = Contexts(project)
    return [
        Collection(name, counts.get(name, 0), one_line(contexts.of_source(name), DESCRIPTION_CHARACTERS))
        for name in names
    ]


def compose_instructions(project: docstore_api.Project, stats: docstore_api.GetStatsResponse) -> str:
    """Total, embedding status and collections first, then how to use the tools; at most 2,048 characters."""
    description = one_line(project.description, 200)
    first = f"{count(stats.document_count, 'Markdown document')} to search{': ' + description if description else ''}."
    rest = f"{_embedding(stats)}\n{USAGE}"
    label = "Collections (for collections, and the first part of every file):"
    room = MOST_CHARACTERS - len(first) - len(rest) - len(label) - 3
    collections = _fitting([f"- {_described(one)}" for one in list_collections(project, stats)], room)
    return "\n".join((first, *((label, *collections) if collections else ()), rest))


def _embedding(stats: docstore_api.GetStatsResponse) -> str:
    if not stats.embeddable_count:
        return "Embeddings: none, so vec and hyde find nothing."
    if stats.embedded_count >= stats.embeddable_count:
        return "Embeddings: complete, so vec and hyde search all documents."
    part = f"Embeddings: {stats.embedded_count:,} of {count(stats.embeddable_count, 'document')}"
    return f"{part}; until theirs are there, lex finds the others, vec and hyde do not."


def _described(one: Collection) -> str:
    held = f"{one.name} ({count(one.documents, 'document')})"
    return f"{held}: {one.description}" if one.description else held


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    """The lines that fit, and how many do not."""
    shown = len(lines)
    while shown and sum(len(line) + 1 for line in lines[:shown]) + (30 if shown < len(lines) else 0) > room:
        shown -= 1
    more = [f"- and {len(lines) - shown:,} more: status"] if shown < len(lines) else []
    return [*lines[:shown], *more]
