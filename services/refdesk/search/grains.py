"""Combines the two grains of a leg, chunks and whole documents, into one ranked list; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from refdesk.search.engines.interface import Candidates, ScoredChunk


def combine(
    chunks: Iterable[ScoredChunk], documents: Mapping[str, float], weight: float, outside: float
) -> list[ScoredChunk]:
    """Chunks by their own score plus `weight` times their document's; `outside` is the score of a document that is not among `documents`.

    Equal scores stand in the order of their ids, so that the same index always answers the same list.
    """
    combined = [hit._replace(score=hit.score + weight * documents.get(hit.document_id, outside)) for hit in chunks]
    return sorted(combined, key=lambda hit: (-hit.score, hit.chunk_id))


def find_last_score(documents: Mapping[str, float], asked_count: int) -> float:
    """What a document outside the list counts by meaning: as its last; 0 where the list is not full, for then there is none outside."""
    return min(documents.values()) if documents and len(documents) >= asked_count else 0.0


def cap_documents(hits: Sequence[ScoredChunk], candidates: Candidates) -> list[ScoredChunk]:
    """The first chunks, as many as are wanted and at most so many of one document."""
    counts: Counter[str] = Counter()
    kept: list[ScoredChunk] = []
    for hit in hits:
        if len(kept) == candidates.chunks:
            break
        if counts[hit.document_id] < candidates.chunks_per_document:
            counts[hit.document_id] += 1
            kept.append(hit)
    return kept
