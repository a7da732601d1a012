"""Pages by key, so that what is put between two pages moves nothing else; knows nothing of page tokens."""

from __future__ import annotations

import sqlite3

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import Unfinished, UnfinishedKey, View
from refdesk.docstore.engines.packing import folder_key, unpack_document
from refdesk.docstore.engines.sqlite import records, rows


def list_documents(
    connection: sqlite3.Connection, project: str, generation: str, source: str, after_path: str, limit: int
) -> list[pb.DocumentSummary]:
    """Current documents after a path, by folder, then path."""
    first, last = rows.source_range(source)
    found = connection.execute(
        "SELECT d.document_id, d.source, d.path, d.title, coalesce(h.chunk_count, 0), d.text_length "
        "FROM documents d INDEXED BY documents_listed "
        "LEFT JOIN heads h ON h.document = d.document AND h.generation = ? "
        "WHERE d.project = ? AND d.deleted = 0 AND (d.folder, d.path) > (?, ?) AND d.folder >= ? AND d.folder < ? "
        "ORDER BY d.folder, d.path LIMIT ?",
        (generation, project, folder_key(after_path) if after_path else first, after_path, first, last, limit),
    )
    return [
        pb.DocumentSummary(
            document_id=rows.unpack_id(document_id),
            source=name,
            path=path,
            title=title,
            chunk_count=chunk_count,
            text_length=text_length,
        )
        for document_id, name, path, title, chunk_count, text_length in found
    ]


def list_records(
    connection: sqlite3.Connection, project: str, source: str, after_id: str, limit: int, *, with_heads: bool
) -> list[pb.Document]:
    """All records after an id, by id."""
    view = View()
    found = connection.execute(
        "SELECT document, record FROM documents WHERE project = ? AND document_id > ? AND (? = '' OR source = ?) "
        "ORDER BY document_id LIMIT ?",
        (project, rows.pack_id(after_id), source, source, limit),
    ).fetchall()
    return [
        unpack_document(record, records.read_heads(connection, row) if with_heads else (), None, view)
        for row, record in found
    ]


def list_unfinished(
    connection: sqlite3.Connection, project: str, generation: str, after: UnfinishedKey | None, limit: int
) -> list[Unfinished]:
    """Heads with work left after a place: changed before bulk, by put time, by id."""
    start = (int(after.bulk), after.put_at_milliseconds, rows.pack_id(after.document_id)) if after else (-1, 0, b"")
    found = connection.execute(
        "SELECT h.bulk, h.put_at, h.document_id, d.revision, h.missing_count, h.swept "
        "FROM heads h INDEXED BY heads_unfinished JOIN documents d ON d.document = h.document "
        "WHERE h.project = ? AND h.generation = ? AND (h.missing_count > 0 OR h.swept = 0) "
        "AND (h.bulk, h.put_at, h.document_id) > (?, ?, ?) "
        "ORDER BY h.bulk, h.put_at, h.document_id LIMIT ?",
        (project, generation, *start, limit),
    )
    return [_unfinished(*row) for row in found]


def _unfinished(bulk: int, put_at: int, packed: bytes, revision: int, missing_count: int, swept: int) -> Unfinished:
    document_id = rows.unpack_id(packed)
    document = pb.UnfinishedDocument(
        bulk=bool(bulk), document_id=document_id, revision=revision, missing_count=missing_count, swept=bool(swept)
    )
    return Unfinished(UnfinishedKey(bool(bulk), put_at, document_id), document)
