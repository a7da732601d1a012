"""Combines the two grains of a leg, chunks and whole documents, into one ranked list; pure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

from refdesk.search.engines.interface import Candidates, Found, ScoredChunk

LEXICAL_DOCUMENT_WEIGHT = 0.3
SEMANTIC_DOCUMENT_WEIGHT = 0.4


def combine_lexical(found: Found) -> list[ScoredChunk]:
    """BM25 of the chunk plus 0.3 of its document's; a document that was not found counts 0."""
    return combine(found.chunks, found.documents, LEXICAL_DOCUMENT_WEIGHT, 0.0)


def combine_semantic(found: Found) -> list[ScoredChunk]:
    """Cosine of the chunk plus 0.4 of its document's; a document that was not found counts as the last that was."""
    return combine(found.chunks, found.documents, SEMANTIC_DOCUMENT_WEIGHT, min(found.documents.values(), default=0.0))


def combine(
    chunks: Iterable[ScoredChunk], documents: Mapping[str, float], weight: float, outside: float
) -> list[ScoredChunk]:
    """Chunks by their own score plus `weight` times their document's; `outside` is the score of a document that is not among `documents`.

    Equal scores stand in the order of their ids, so that the same index always answers the same list.
    """
    combined = [
        (-score - weight * documents.get(document_id, outside), chunk_id, document_id)
        for chunk_id, document_id, score in chunks
    ]
    combined.sort()
    return [ScoredChunk(chunk_id, document_id, -negative) for negative, chunk_id, document_id in combined]


def cap_documents(documents: Sequence[Hashable], candidates: Candidates) -> list[int]:
    """Positions of the hits to keep, from the document of each: the first ones, as many as are wanted, at most so many of one document."""
    counts: dict[Hashable, int] = {}
    kept: list[int] = []
    for position, document in enumerate(documents):
        if len(kept) == candidates.chunks:
            break
        count = counts.get(document, 0)
        if count < candidates.chunks_per_document:
            counts[document] = count + 1
            kept.append(position)
    return kept
