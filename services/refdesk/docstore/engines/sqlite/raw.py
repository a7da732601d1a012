"""Pushed documents as rows of a table of their own, content beside the record; knows nothing of what decides between statements."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.raw_interface import RawPut
from refdesk.docstore.engines.sqlite.connections import Connections


class SqliteRawStore:
    """The part of the store that keeps pushed documents; what each method promises stands in `RawStore`."""

    _connections: Connections

    async def get_raw(
        self, project: str, source: str, paths: Sequence[str], *, with_content: bool
    ) -> list[pb.RawDocument | None]:
        """One record a path."""
        return await self._connections.read(
            lambda connection: [_get(connection, project, source, path, with_content=with_content) for path in paths]
        )

    async def put_raw(self, puts: Sequence[RawPut], put_at_milliseconds: int) -> list[bool]:
        """Which were put, all in one commit."""
        return await self._connections.write(
            lambda connection: [_put(connection, put, put_at_milliseconds) for put in puts]
        )

    async def list_raw(
        self, project: str, source: str, after_path: str, limit: int, *, put_since_milliseconds: int = 0
    ) -> list[pb.RawDocument]:
        """Records by path, without content."""
        key = (project, source, after_path, put_since_milliseconds, limit)
        return await self._connections.read(lambda connection: list(_list(connection, *key)))


def _get(
    connection: sqlite3.Connection, project: str, source: str, path: str, *, with_content: bool
) -> pb.RawDocument | None:
    found = connection.execute(
        f"SELECT record{', content' if with_content else ''} FROM raw_documents "
        "WHERE project = ? AND source = ? AND path = ?",
        (project, source, path),
    ).fetchone()
    if found is None:
        return None
    record = pb.RawDocument.FromString(found[0])
    if with_content:
        record.content = found[1]
    return record


def _put(connection: sqlite3.Connection, put: RawPut, put_at_milliseconds: int) -> bool:
    key = (put.record.project, put.record.source, put.record.path)
    record = pb.RawDocument()
    record.CopyFrom(put.record)
    record.content = b""
    record.put_at_milliseconds = put_at_milliseconds
    values = (put.record.change_count, put_at_milliseconds, record.SerializeToString(), put.record.content)
    if put.expected_change_count == 0:
        done = connection.execute(
            "INSERT INTO raw_documents (change_count, put_at, record, content, project, source, path) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project, source, path) DO NOTHING",
            (*values, *key),
        )
    else:
        done = connection.execute(
            "UPDATE raw_documents SET change_count = ?, put_at = ?, record = ?, content = ? "
            "WHERE project = ? AND source = ? AND path = ? AND change_count = ?",
            (*values, *key, put.expected_change_count),
        )
    return done.rowcount == 1


def _list(
    connection: sqlite3.Connection, project: str, source: str, after_path: str, since: int, limit: int
) -> Iterable[pb.RawDocument]:
    # With a time few rows match, and they are found by it; without one the order of the paths is the way.
    index = "raw_documents_by_time" if since else "sqlite_autoindex_raw_documents_1"
    found = connection.execute(
        f"SELECT record FROM raw_documents INDEXED BY {index} "
        "WHERE project = ? AND source = ? AND path > ? AND put_at >= ? ORDER BY path LIMIT ?",
        (project, source, after_path, since, limit),
    )
    return (pb.RawDocument.FromString(record) for (record,) in found)
