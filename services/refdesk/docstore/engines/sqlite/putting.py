"""Conditional puts of whole records; knows nothing of how they are read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.names import Name, names_of
from refdesk.docstore.engines.packing import folder_key, pack_record, pack_sections
from refdesk.docstore.engines.sqlite import naming, rows
from refdesk.docstore.engines.sqlite.tallies import Counted, Tally, count_head


@dataclass(frozen=True)
class _Standing:
    """What stands in the place of a record that is about to be put."""

    document: int
    """Row id."""
    revision: int
    counted: Counted | None
    """None while it is deleted."""
    chunk_ids: frozenset[bytes]
    previous_paths: frozenset[str]
    names: frozenset[Name]


def put_documents(
    connection: sqlite3.Connection, items: Iterable[pb.PutDocumentsItem], put_at_milliseconds: int
) -> list[pb.PutDocumentsOutcome]:
    """Puts what does not conflict, in order; an outcome for each."""
    tally = Tally()
    outcomes = [_put(connection, item, put_at_milliseconds, tally) for item in items]
    tally.write(connection)
    return outcomes


def _put(
    connection: sqlite3.Connection, item: pb.PutDocumentsItem, put_at_milliseconds: int, tally: Tally
) -> pb.PutDocumentsOutcome:
    document = item.document
    standing = _read_standing(connection, document.project, rows.pack_id(document.document_id))
    revision = standing.revision if standing else 0
    if revision != item.expected_revision:
        return pb.PutDocumentsOutcome(committed=False, revision=revision)
    row = _write_document(connection, document, put_at_milliseconds, standing.document if standing else None)
    _write_text(connection, document, row)
    _write_heads(connection, document, put_at_milliseconds, row)
    _write_chunks(connection, document, row, standing.chunk_ids if standing else frozenset())
    _write_previous_paths(connection, document, row, standing.previous_paths if standing else frozenset())
    naming.write_names(connection, row, names_of(document), standing.names if standing else frozenset())
    if standing and standing.counted:
        tally.add(standing.counted, -1)
    if not document.deleted:
        tally.add(_count(document))
    return pb.PutDocumentsOutcome(committed=True, revision=document.revision)


def _read_standing(connection: sqlite3.Connection, project: str, document_id: bytes) -> _Standing | None:
    found = connection.execute(
        "SELECT d.document, revision, source, version, language, deleted, record, sections FROM documents d "
        "LEFT JOIN texts t ON t.document = d.document WHERE project = ? AND document_id = ?",
        (project, document_id),
    ).fetchone()
    if found is None:
        return None
    document, revision, source, version, language, deleted, packed, sections = found
    counts, chunk_ids = [], set[bytes]()
    for generation, chunk_count, missing_count, embeddable, head in connection.execute(
        "SELECT generation, chunk_count, missing_count, embeddable, head FROM heads WHERE document = ?", (document,)
    ):
        counts.append((generation, count_head(chunk_count, missing_count, embeddable)))
        chunk_ids.update(rows.pack_id(span.chunk_id) for span in pb.Head.FromString(head).chunks)
    counted = None if deleted else Counted(project, source, version, language, tuple(counts))
    record = naming.unpack(packed, sections)
    return _Standing(
        document, revision, counted, frozenset(chunk_ids), frozenset(record.previous_paths), names_of(record)
    )


def _count(document: pb.Document) -> Counted:
    heads = tuple(
        (head.generation, count_head(len(head.chunks), len(head.missing_vectors), head.embeddable))
        for head in document.heads
    )
    return Counted(document.project, document.source, document.version, document.language, heads)


def _write_document(
    connection: sqlite3.Connection, document: pb.Document, put_at_milliseconds: int, row: int | None
) -> int:
    values = (
        document.revision,
        document.source,
        folder_key(document.path),
        document.path,
        document.title,
        document.version,
        document.language,
        len(document.text),
        put_at_milliseconds,
        document.deleted,
        pack_record(document, put_at_milliseconds),
    )
    if row is not None:
        connection.execute(
            "UPDATE documents SET revision = ?, source = ?, folder = ?, path = ?, title = ?, version = ?, language = ?, "
            "text_length = ?, put_at = ?, deleted = ?, record = ?, purged = 0 WHERE document = ?",
            (*values, row),
        )
        return row
    cursor = connection.execute(
        "INSERT INTO documents (revision, source, folder, path, title, version, language, text_length, put_at, deleted, record, "
        "project, document_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*values, document.project, rows.pack_id(document.document_id)),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def _write_text(connection: sqlite3.Connection, document: pb.Document, row: int) -> None:
    if not document.text and not document.sections:
        connection.execute("DELETE FROM texts WHERE document = ?", (row,))
        return
    connection.execute(
        "INSERT OR REPLACE INTO texts (document, text, sections) VALUES (?, ?, ?)",
        (row, document.text, pack_sections(document)),
    )


def _write_heads(connection: sqlite3.Connection, document: pb.Document, put_at_milliseconds: int, row: int) -> None:
    if document.revision > 1:
        connection.execute("DELETE FROM heads WHERE document = ?", (row,))
    document_id = rows.pack_id(document.document_id)
    connection.executemany(
        "INSERT INTO heads (document, generation, project, bulk, put_at, document_id, chunk_count, missing_count, swept, embeddable, "
        "head) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                row,
                head.generation,
                document.project,
                document.bulk,
                put_at_milliseconds,
                document_id,
                len(head.chunks),
                len(head.missing_vectors),
                head.swept,
                head.embeddable,
                head.SerializeToString(),
            )
            for head in document.heads
        ],
    )


def _write_chunks(connection: sqlite3.Connection, document: pb.Document, row: int, standing: frozenset[bytes]) -> None:
    # Ids are named by content, so an edit leaves most rows alone.
    current = {rows.pack_id(span.chunk_id) for head in document.heads for span in head.chunks}
    connection.executemany(
        "DELETE FROM chunks WHERE chunk_id = ? AND document = ?", [(chunk_id, row) for chunk_id in standing - current]
    )
    connection.executemany(
        "INSERT INTO chunks (chunk_id, document) VALUES (?, ?)",
        [(chunk_id, row) for chunk_id in sorted(current - standing)],
    )


def _write_previous_paths(
    connection: sqlite3.Connection, document: pb.Document, row: int, standing: frozenset[str]
) -> None:
    current = set(document.previous_paths)
    connection.executemany(
        "DELETE FROM previous_paths WHERE project = ? AND path = ? AND document = ?",
        [(document.project, path, row) for path in standing - current],
    )
    connection.executemany(
        "INSERT INTO previous_paths (project, path, document) VALUES (?, ?, ?)",
        [(document.project, path, row) for path in current - standing],
    )
