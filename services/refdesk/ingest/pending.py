"""One document's chunks that wait for a vector in one round, and what is written when they have it; pure, and knows no engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_pb
from refdesk.api.search.v1 import search_pb2 as search_pb
from refdesk.ingest import entries
from refdesk.ingest.records import Generation

LEAST_CORRECTION = 1.05
"""Of the scale of token counts, so that it always grows; and so much room is left beside what was counted."""


@dataclass(frozen=True)
class Pending:
    """A record with the chunks to embed in this round, in order, each with its embedded text and that text's hash."""

    record: docstore_pb.Document
    head: docstore_pb.Head
    spans: Sequence[docstore_pb.ChunkSpan]
    texts: Sequence[str]
    hashes: Sequence[str]

    @property
    def takes_all(self) -> bool:
        """Whether nothing is missing after this round."""
        return len(self.spans) == len(self.head.missing_vectors)

    def points(self, vectors: Mapping[str, bytes]) -> list[search_pb.VectorEntry]:
        """Points of the chunks that have a vector, by the hash of their text."""
        facets = entries.facets(self.record)
        return [
            search_pb.VectorEntry(
                id=span.chunk_id,
                document_id=self.record.document_id,
                grain=search_pb.GRAIN_CHUNK,
                stamp=self.record.revision,
                facets=facets,
                text_hash=key,
                vector=vectors[key],
            )
            for span, key in zip(self.spans, self.hashes, strict=True)
            if key in vectors
        ]

    def document_point(self, hashes: Sequence[str], vectors: Mapping[str, bytes]) -> search_pb.VectorEntry | None:
        """The whole-document point of the texts with these hashes; None while one has no vector."""
        found = [vectors[key] for key in hashes if key in vectors]
        if len(found) < len(hashes):
            return None
        return search_pb.VectorEntry(
            id=self.record.document_id,
            document_id=self.record.document_id,
            grain=search_pb.GRAIN_DOCUMENT,
            stamp=self.record.revision,
            facets=entries.facets(self.record),
            vector=entries.mean_vector(found),
        )

    def all_hashes(self, generation: Generation) -> list[str]:
        """Hashes of the texts of all chunks that the head lists, in order."""
        known = {span.chunk_id: key for span, key in zip(self.spans, self.hashes, strict=True)}
        return [
            known.get(span.chunk_id) or entries.text_hash(entries.text_to_embed(self.record, span), generation.model_id)
            for span in self.head.chunks
        ]

    def corrected_scale(self, over_window: Mapping[str, int]) -> float:
        """The scale of token counts with which no chunk is over the window, by exact counts by hash; 0 where none is."""
        pairs = zip(self.spans, self.hashes, strict=True)
        factors = [over_window[key] / max(span.token_count, 1) for span, key in pairs if key in over_window]
        if not factors:
            return 0.0
        return max(1.0, self.record.token_scale) * max(max(factors) * LEAST_CORRECTION, LEAST_CORRECTION)


def plan(
    pairs: Iterable[tuple[docstore_pb.Document, docstore_pb.Head]], generation: Generation, most_chunks: int
) -> list[Pending]:
    """What of these records to embed now: of all together about `most_chunks`, of each at least one chunk that is missing."""
    planned, room = [], most_chunks
    for record, head in pairs:
        missing = set(head.missing_vectors)
        spans = [span for span in head.chunks if span.chunk_id in missing][: max(room, 1)]
        if spans:
            room -= len(spans)
            planned.append(prepare(record, head, spans, generation))
    return planned


def prepare(
    record: docstore_pb.Document,
    head: docstore_pb.Head,
    spans: Sequence[docstore_pb.ChunkSpan],
    generation: Generation,
) -> Pending:
    """These chunks of a record, with what is embedded of them."""
    texts = [entries.text_to_embed(record, span) for span in spans]
    return Pending(record, head, spans, texts, [entries.text_hash(text, generation.model_id) for text in texts])
