"""Reads chunks with their text, place and neighbours; knows nothing of why they were found."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.cuts import Cut, CutCache, Stamp, parse_cut
from refdesk.docstore.engines.sqlite import rows


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
    cuts: dict[int, Cut] = {}
    found: dict[str, Cut] = {}
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


def _cut(connection: sqlite3.Connection, cache: CutCache, document: int, generation: str, stamp: Stamp) -> Cut:
    kept = cache.get((document, generation), stamp)
    if kept is not None:
        return kept
    record, head, text = connection.execute(
        "SELECT d.record, h.head, coalesce(t.text, '') FROM documents d "
        "JOIN heads h ON h.document = d.document AND h.generation = ? "
        "LEFT JOIN texts t ON t.document = d.document WHERE d.document = ?",
        (generation, document),
    ).fetchone()
    cut = parse_cut(record, head, text)
    cache.put((document, generation), stamp, cut)
    return cut
