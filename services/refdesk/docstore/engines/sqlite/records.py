"""Reads whole records by id or by path; knows nothing of pages or of chunks."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import View
from refdesk.docstore.engines.packing import unpack_document
from refdesk.docstore.engines.sqlite import rows


def get_by_id(
    connection: sqlite3.Connection, project: str, document_ids: Sequence[str], view: View
) -> list[pb.GetDocumentsItem]:
    """One item an id, in order."""
    return [_item(connection, _find_id(connection, project, identifier), view) for identifier in document_ids]


def get_by_path(
    connection: sqlite3.Connection, project: str, paths: Sequence[str], view: View
) -> list[pb.GetDocumentsItem]:
    """One item a path, in order, with where a document moved to when none stands there now."""
    items = []
    for path in paths:
        item = _item(connection, _find_path(connection, project, path), view)
        if not item.HasField("document") or item.document.deleted:
            item.moved_to = _find_moved(connection, project, path)
        items.append(item)
    return items


def read_heads(connection: sqlite3.Connection, document: int) -> list[tuple[str, bytes]]:
    """Generation and head, as they were put."""
    return connection.execute(
        "SELECT generation, head FROM heads WHERE document = ? ORDER BY rowid", (document,)
    ).fetchall()


def _item(connection: sqlite3.Connection, found: tuple[int, bytes] | None, view: View) -> pb.GetDocumentsItem:
    if found is None:
        return pb.GetDocumentsItem(unknown=pb.Unknown())
    row, record = found
    texts = None
    if view.include_text:
        texts = connection.execute("SELECT text, sections FROM texts WHERE document = ?", (row,)).fetchone()
    return pb.GetDocumentsItem(document=unpack_document(record, read_heads(connection, row), texts, view))


def _find_id(connection: sqlite3.Connection, project: str, document_id: str) -> tuple[int, bytes] | None:
    found: tuple[int, bytes] | None = connection.execute(
        "SELECT document, record FROM documents WHERE project = ? AND document_id = ?",
        (project, rows.pack_id(document_id)),
    ).fetchone()
    return found


def _find_path(connection: sqlite3.Connection, project: str, path: str) -> tuple[int, bytes] | None:
    found: tuple[int, bytes] | None = connection.execute(
        "SELECT document, record FROM documents WHERE project = ? AND path = ? ORDER BY deleted, put_at DESC LIMIT 1",
        (project, path),
    ).fetchone()
    return found


def _find_moved(connection: sqlite3.Connection, project: str, path: str) -> str:
    found = connection.execute(
        "SELECT d.path FROM previous_paths p JOIN documents d ON d.document = p.document "
        "WHERE p.project = ? AND p.path = ? AND d.deleted = 0 ORDER BY d.put_at DESC, d.path LIMIT 1",
        (project, path),
    ).fetchone()
    return str(found[0]) if found else ""
