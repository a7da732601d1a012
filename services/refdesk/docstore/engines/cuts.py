"""Documents as a generation cut them, and a cache of them; pure, knows nothing of how an engine finds a chunk."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from refdesk.api.docstore.v1 import docstore_pb2 as pb

PARSED_BYTES = 4
"""Memory that a parsed message takes for each byte of its encoding, about."""


@dataclass(frozen=True)
class Cut:
    """A document as one generation cut it, ready to hydrate from."""

    record: pb.Document
    text: str
    spans: Sequence[pb.ChunkSpan]
    ordinals: dict[str, int]
    """Place by chunk id."""
    without_vector: frozenset[str]
    size_bytes: int

    def text_of(self, ordinal: int) -> str:
        """The chunk's text; "" before the first and after the last."""
        if not 0 <= ordinal < len(self.spans):
            return ""
        span = self.spans[ordinal]
        return f"{span.lead}{self.text[span.start : span.end]}{span.tail}"

    def hydrate(self, chunk_id: str, *, with_neighbors: bool) -> pb.HydratedChunk:
        """The chunk as the caller gets it."""
        ordinal, record = self.ordinals[chunk_id], self.record
        span = self.spans[ordinal]
        return pb.HydratedChunk(
            chunk_id=chunk_id,
            document_id=record.document_id,
            path=record.path,
            title=record.title,
            breadcrumb=span.breadcrumb,
            ordinal=ordinal,
            chunk_count=len(self.spans),
            text=self.text_of(ordinal),
            before=self.text_of(ordinal - 1) if with_neighbors else "",
            after=self.text_of(ordinal + 1) if with_neighbors else "",
            has_vector=chunk_id not in self.without_vector,
            first_line=span.first_line,
            last_line=span.last_line,
            revision=record.revision,
            source=record.source,
            version=record.version,
            url=record.url,
            kind=record.kind,
        )


Key = tuple[int | str, str]
"""What an engine knows the document by, and the generation."""
Stamp = tuple[int, int]
"""Two numbers of the engine's that together change whenever the record or its head does."""


class CutCache:
    """Documents that were hydrated lately, the oldest dropped above a size; each is used only while its stamp holds."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._size_bytes = 0
        self._kept: OrderedDict[Key, tuple[Stamp, Cut]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key, stamp: Stamp) -> Cut | None:
        """The document, if it is kept as it is now."""
        with self._lock:
            found = self._kept.get(key)
            if found is None or found[0] != stamp:
                return None
            self._kept.move_to_end(key)
            return found[1]

    def put(self, key: Key, stamp: Stamp, cut: Cut) -> None:
        """Keeps it, and drops the oldest until all fit."""
        with self._lock:
            replaced = self._kept.pop(key, None)
            self._size_bytes += cut.size_bytes - (replaced[1].size_bytes if replaced else 0)
            self._kept[key] = (stamp, cut)
            while self._size_bytes > self._max_bytes:
                self._size_bytes -= self._kept.popitem(last=False)[1][1].size_bytes


def parse_cut(packed_record: bytes, packed_head: bytes, text: str) -> Cut:
    """The document as the head cut it."""
    head = pb.Head.FromString(packed_head)
    spans = list(head.chunks)
    return Cut(
        record=pb.Document.FromString(packed_record),
        text=text,
        spans=spans,
        ordinals={span.chunk_id: ordinal for ordinal, span in enumerate(spans)},
        without_vector=frozenset(head.missing_vectors if head.embeddable else (span.chunk_id for span in spans)),
        size_bytes=sys.getsizeof(text) + PARSED_BYTES * (len(packed_record) + len(packed_head)),
    )
