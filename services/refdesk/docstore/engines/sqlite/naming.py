"""Writes by which short names sections and contents are found, and finds them; knows nothing of what a name stands for."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

import structlog

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines import names

FILLED_TOGETHER = 500
"""Records whose names are written in one transaction."""
_log = structlog.get_logger()


def write_names(
    connection: sqlite3.Connection, row: int, current: frozenset[names.Name], standing: frozenset[names.Name]
) -> None:
    """Makes the document findable by its current names and no longer by the others."""
    for statement, changed in (
        ("DELETE FROM names WHERE kind = ? AND name = ? AND document = ?", standing - current),
        ("INSERT OR IGNORE INTO names (kind, name, document) VALUES (?, ?, ?)", current - standing),
    ):
        connection.executemany(statement, [(kind, int(digits, 16), row) for kind, digits in changed])
    connection.execute("DELETE FROM unnamed_documents WHERE document = ?", (row,))


def fill_names(connection: sqlite3.Connection) -> None:
    """Writes the names of records that a release before this one has put; what is done is kept where this is interrupted."""
    filled = 0
    while found := connection.execute(
        "SELECT u.document, d.record, t.sections FROM unnamed_documents u JOIN documents d ON d.document = u.document "
        "LEFT JOIN texts t ON t.document = u.document LIMIT ?",
        (FILLED_TOGETHER,),
    ).fetchall():
        connection.execute("BEGIN IMMEDIATE")
        try:
            for row, record, sections in found:
                write_names(connection, row, names.names_of(unpack(record, sections)), frozenset())
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        filled += len(found)
    if filled:
        _log.info("records of an earlier release can be found by short names now", records=filled)


def resolve_ids(connection: sqlite3.Connection, project: str, queries: Iterable[pb.IdQuery]) -> list[pb.ResolvedId]:
    """What each prefix fits, in order of the queries."""
    return [_resolve(connection, project, query.kind, names.read_digits(query.prefix)) for query in queries]


def unpack(record: bytes, sections: bytes | None) -> pb.Document:
    """The record with its sections alone."""
    document = pb.Document.FromString(record)
    document.MergeFromString(sections or b"")
    return document


def _resolve(connection: sqlite3.Connection, project: str, kind: pb.IdKind, digits: str) -> pb.ResolvedId:
    if not digits:
        return pb.ResolvedId()
    return names.choose_candidates(
        candidate
        for record, sections in _find(connection, project, kind, digits)
        for candidate in names.find_candidates(unpack(record, sections), kind, digits)
    )


def _find(
    connection: sqlite3.Connection, project: str, kind: pb.IdKind, digits: str
) -> Sequence[tuple[bytes, bytes | None]]:
    """Records that may fit, with their sections where those decide."""
    if kind == pb.ID_KIND_DOCUMENT:
        return _find_ids(connection, project, digits)
    return _find_names(connection, project, kind, digits)


def _find_ids(connection: sqlite3.Connection, project: str, digits: str) -> Sequence[tuple[bytes, bytes | None]]:
    first, last = bytes.fromhex(digits.ljust(32, "0")[:32]), bytes.fromhex(digits.ljust(32, "f")[:32])
    return connection.execute(
        "SELECT record, NULL FROM documents WHERE project = ? AND document_id BETWEEN ? AND ? AND deleted = 0 "
        "ORDER BY path LIMIT ?",
        (project, first, last, names.MAX_COMPARED),
    ).fetchall()


def _find_names(
    connection: sqlite3.Connection, project: str, kind: int, digits: str
) -> Sequence[tuple[bytes, bytes | None]]:
    known = digits[: names.INDEXED_DIGITS]
    first, last = (int(known.ljust(names.INDEXED_DIGITS, digit), 16) for digit in "0f")
    return connection.execute(
        "SELECT d.record, t.sections FROM names n CROSS JOIN documents d ON d.document = n.document "
        "LEFT JOIN texts t ON t.document = n.document "
        "WHERE n.kind = ? AND n.name BETWEEN ? AND ? AND d.project = ? AND d.deleted = 0 "
        "GROUP BY n.document ORDER BY d.path LIMIT ?",
        (kind, first, last, project, names.MAX_COMPARED),
    ).fetchall()
