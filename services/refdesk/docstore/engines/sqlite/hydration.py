"""Reads chunks with their text, place and neighbours; knows nothing of why they were found."""

from __future__ import annotations

import sqlite3
import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.sqlite import rows

PARSED_BYTES = 4
"""Memory that a parsed message takes for each byte of its encoding, about."""


@dataclass(frozen=True)
class _Cut:
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


_Stamp = tuple[int, int]
"""Revision of the record and notes on the head: together they change whenever either does."""


class CutCache:
    """Documents that were hydrated lately, the oldest dropped above a size; each is used only while its stamp holds."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._size_bytes = 0
        self._kept: OrderedDict[tuple[int, str], tuple[_Stamp, _Cut]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: tuple[int, str], stamp: _Stamp) -> _Cut | None:
        """The document, if it is kept as it is now."""
        with self._lock:
            found = self._kept.get(key)
            if found is None or found[0] != stamp:
                return None
            self._kept.move_to_end(key)
            return found[1]

    def put(self, key: tuple[int, str], stamp: _Stamp, cut: _Cut) -> None:
        """Keeps it, and drops the oldest until all fit."""
        with self._lock:
            replaced = self._kept.pop(key, None)
            self._size_bytes += cut.size_bytes - (replaced[1].size_bytes if replaced else 0)
            self._kept[key] = (stamp, cut)
            while self._size_bytes > self._max_bytes:
                self._size_bytes -= self._kept.popitem(last=False)[1][1].size_bytes


def hydrate_chunks(
    connection: sqlite3.Connection,
    cache: CutCache,
    project: str,
    generation: str,
    chunk_ids: Sequence[str],
    *,
    with_neighbors: bool,
) -> list[pb.HydratedChunk]:
    """The chunks that a head of the generation lists, in the order that was asked."""
    names = {rows.pack_id(chunk_id): chunk_id for chunk_id in chunk_ids}
    cuts: dict[int, _Cut] = {}
    found: dict[str, _Cut] = {}
    for packed, document, revision, notes in _find(connection, project, generation, list(names)):
        if document not in cuts:
            cuts[document] = _cut(connection, cache, document, generation, (revision, notes))
        # The row may stand for another generation's head.
        if names[packed] in cuts[document].ordinals:
            found[names[packed]] = cuts[document]
    return [
        found[chunk_id].hydrate(chunk_id, with_neighbors=with_neighbors) for chunk_id in chunk_ids if chunk_id in found
    ]


def _find(
    connection: sqlite3.Connection, project: str, generation: str, chunk_ids: Sequence[bytes]
) -> list[tuple[bytes, int, int, int]]:
    marks = ", ".join("?" * len(chunk_ids))
    return connection.execute(
        "SELECT c.chunk_id, c.document, d.revision, h.notes FROM chunks c "
        "CROSS JOIN documents d ON d.document = c.document "
        "CROSS JOIN heads h ON h.document = c.document AND h.generation = ? "
        f"WHERE c.chunk_id IN ({marks}) AND d.project = ? AND d.deleted = 0",
        (generation, *chunk_ids, project),
    ).fetchall()


def _cut(connection: sqlite3.Connection, cache: CutCache, document: int, generation: str, stamp: _Stamp) -> _Cut:
    kept = cache.get((document, generation), stamp)
    if kept is not None:
        return kept
    record, head, text = connection.execute(
        "SELECT d.record, h.head, coalesce(t.text, '') FROM documents d "
        "JOIN heads h ON h.document = d.document AND h.generation = ? "
        "LEFT JOIN texts t ON t.document = d.document WHERE d.document = ?",
        (generation, document),
    ).fetchone()
    cut = _parse(record, head, text)
    cache.put((document, generation), stamp, cut)
    return cut


def _parse(packed_record: bytes, packed_head: bytes, text: str) -> _Cut:
    head = pb.Head.FromString(packed_head)
    spans = list(head.chunks)
    return _Cut(
        record=pb.Document.FromString(packed_record),
        text=text,
        spans=spans,
        ordinals={span.chunk_id: ordinal for ordinal, span in enumerate(spans)},
        without_vector=frozenset(head.missing_vectors if head.embeddable else (span.chunk_id for span in spans)),
        size_bytes=sys.getsizeof(text) + PARSED_BYTES * (len(packed_record) + len(packed_head)),
    )
