"""Makes of documents the lines that write their entries to OpenSearch; pure, and slow: done in a child process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from refdesk.engines.opensearch.action import Action
from refdesk.search.analysis import Analysis
from refdesk.search.engines.interface import Grain, WordDocument
from refdesk.search.engines.paths import list_folders
from refdesk.search.entries import analyze_document

SLICE_CHARACTERS = 200_000
"""Of the documents that are encoded in one go: pickling more of them would hold up the event loop."""


class Encoded(NamedTuple):
    """An entry as it is written."""

    grain: Grain
    id: str
    document_id: str
    stamp: int
    lines: bytes
    """Of a bulk request; they never replace an entry with a later stamp."""


def encode_documents(aliases: Mapping[Grain, str], documents: Sequence[WordDocument]) -> list[Encoded]:
    """The entries of documents, for the indices of these aliases."""
    return [entry for document in documents for entry in _encode(aliases, document)]


def slice_documents(documents: Iterable[WordDocument]) -> Iterator[list[WordDocument]]:
    """The documents in order, some at a time; a longer one goes alone."""
    some: list[WordDocument] = []
    characters = 0
    for document in documents:
        if some and characters + len(document.text) > SLICE_CHARACTERS:
            yield some
            some, characters = [], 0
        some.append(document)
        characters += len(document.text)
    if some:
        yield some


def part_newest(entries: Iterable[Encoded]) -> tuple[list[Encoded], list[str]]:
    """The latest of each entry, and the ids of those that one with a later stamp outdoes."""
    newest: dict[tuple[Grain, str], Encoded] = {}
    outdone: list[str] = []
    for entry in entries:
        known = newest.get(entry[:2])
        if known and known.stamp > entry.stamp:
            outdone.append(entry.id)
            continue
        newest[entry[:2]] = entry
    return list(newest.values()), outdone


def _encode(aliases: Mapping[Grain, str], document: WordDocument) -> Iterator[Encoded]:
    analyzed, facets = analyze_document(document), document.facets
    shared = {
        "document_id": document.document_id,
        "stamp": document.stamp,
        "source": facets.source,
        "version": facets.version,
        "kind": facets.kind,
        "language": facets.language,
        "folders": list_folders(facets.path),
    }
    entries = [(Grain.CHUNK, chunk.id, chunk.analysis, shared) for chunk in analyzed.chunks]
    if analyzed.whole:
        entries.append((Grain.DOCUMENT, document.document_id, analyzed.whole, {**shared, "words": analyzed.words}))
    for grain, id, analysis, fields in entries:
        lines = _encode_lines(aliases[grain], id, document.stamp, analysis, fields)
        yield Encoded(grain, id, document.document_id, document.stamp, lines)


def _encode_lines(alias: str, id: str, stamp: int, analysis: Analysis, fields: Mapping[str, Any]) -> bytes:
    body = {"id": id, **fields, "terms": analysis.terms, "identifiers": analysis.identifiers}
    return Action("index", alias, id, body, {"version": stamp, "version_type": "external_gte"}).encode()
