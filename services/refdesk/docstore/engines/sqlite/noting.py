"""Notes on heads and purges of deleted documents: changes that leave a record's revision alone; knows nothing of puts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.notes import apply_note
from refdesk.docstore.engines.packing import purge_record
from refdesk.docstore.engines.sqlite import rows
from refdesk.docstore.engines.sqlite.tallies import Tally, count_head


def note_documents(connection: sqlite3.Connection, notes: Iterable[pb.NoteDocumentsItem]) -> list[bool]:
    """Notes what does not conflict, in order; whether each was noted."""
    tally = Tally()
    noted = [_note(connection, note, tally) for note in notes]
    tally.write(connection)
    return noted


def _note(connection: sqlite3.Connection, note: pb.NoteDocumentsItem, tally: Tally) -> bool:
    found = connection.execute(
        "SELECT h.rowid, d.source, d.deleted, h.head FROM documents d JOIN heads h ON h.document = d.document "
        "AND h.generation = ? WHERE d.project = ? AND d.document_id = ? AND d.revision = ?",
        (note.generation, note.project, rows.pack_id(note.document_id), note.revision),
    ).fetchone()
    if found is None:
        return False
    row, source, deleted, packed = found
    head = pb.Head.FromString(packed)
    before = count_head(len(head.chunks), len(head.missing_vectors), head.embeddable)
    apply_note(head, note)
    changed = head.SerializeToString()
    if changed == packed:
        return True
    connection.execute(
        "UPDATE heads SET head = ?, missing_count = ?, swept = ?, notes = notes + 1 WHERE rowid = ?",
        (changed, len(head.missing_vectors), head.swept, row),
    )
    if not deleted:
        key = (note.project, note.generation, source)
        tally.add_head(key, before, -1)
        tally.add_head(key, count_head(len(head.chunks), len(head.missing_vectors), head.embeddable))
    return True


def purge_documents(connection: sqlite3.Connection, project: str, deleted_before_milliseconds: int) -> int:
    """Drops texts, sections and titles of documents deleted before a time; returns how many texts that were."""
    found = connection.execute(
        "SELECT document, text_length, record FROM documents WHERE project = ? AND put_at < ? AND deleted = 1 AND purged = 0",
        (project, deleted_before_milliseconds),
    ).fetchall()
    connection.executemany("DELETE FROM texts WHERE document = ?", [(row,) for row, _, _ in found])
    connection.executemany(
        "UPDATE documents SET title = '', text_length = 0, purged = 1, record = ? WHERE document = ?",
        [(purge_record(record), row) for row, _, record in found],
    )
    return sum(length > 0 for _, length, _ in found)
