"""Takes heads of a generation off records, some at a time; knows nothing of who follows what."""

from __future__ import annotations

import sqlite3

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.sqlite import rows
from refdesk.docstore.engines.sqlite.tallies import Counted, Tally, count_head


def drop_heads(connection: sqlite3.Connection, project: str, generation: str, limit: int) -> int:
    """Drops at most `limit` heads with what is found by them; returns how many there were."""
    found = connection.execute(
        "SELECT h.rowid, h.document, h.head FROM heads h JOIN documents d ON d.document = h.document "
        "WHERE d.project = ? AND h.generation = ? LIMIT ?",
        (project, generation, limit),
    ).fetchall()
    tally = Tally()
    for head_row, document, packed in found:
        before = _count(connection, project, document)
        connection.execute("DELETE FROM heads WHERE rowid = ?", (head_row,))
        _drop_chunks(connection, document, pb.Head.FromString(packed))
        if before and (after := _count(connection, project, document)):
            tally.add(before, -1)
            tally.add(after)
    tally.write(connection)
    return len(found)


def _drop_chunks(connection: sqlite3.Connection, document: int, head: pb.Head) -> None:
    """Deletes the rows by which the head's chunks are found, unless another head lists one too."""
    kept = {
        rows.pack_id(span.chunk_id)
        for (packed,) in connection.execute("SELECT head FROM heads WHERE document = ?", (document,))
        for span in pb.Head.FromString(packed).chunks
    }
    doomed = {rows.pack_id(span.chunk_id) for span in head.chunks} - kept
    connection.executemany(
        "DELETE FROM chunks WHERE chunk_id = ? AND document = ?", [(chunk_id, document) for chunk_id in doomed]
    )


def _count(connection: sqlite3.Connection, project: str, document: int) -> Counted | None:
    """The document as the tallies see it now; None where they do not, since it is deleted."""
    source, version, language, deleted = connection.execute(
        "SELECT source, version, language, deleted FROM documents WHERE document = ?", (document,)
    ).fetchone()
    heads = connection.execute(
        "SELECT generation, chunk_count, missing_count, embeddable FROM heads WHERE document = ?", (document,)
    )
    counts = tuple((name, count_head(chunks, missing, embeddable)) for name, chunks, missing, embeddable in heads)
    return None if deleted else Counted(project, source, version, language, counts)
