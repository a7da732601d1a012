"""Puts what counts its puts, on the revision that was read only; knows nothing of what it is."""

from __future__ import annotations

import sqlite3
from typing import TypeVar

from refdesk.api.docstore.v1 import docstore_pb2 as pb

Counted = TypeVar("Counted", pb.Project, pb.AccessKey)


def put_on_revision(
    connection: sqlite3.Connection, table: str, message: Counted, expected_revision: int, *, name: str, what: str
) -> Counted | None:
    """The message as it is now, or None where it has another revision. `name` is the column that names it, `what` that of its blob."""
    key = getattr(message, name)
    found = connection.execute(f"SELECT revision FROM {table} WHERE {name} = ?", (key,)).fetchone()
    if (found[0] if found else 0) != expected_revision:
        return None
    written = type(message)()
    written.CopyFrom(message)
    written.revision = expected_revision + 1
    connection.execute(
        f"INSERT OR REPLACE INTO {table} ({name}, revision, {what}) VALUES (?, ?, ?)",
        (key, written.revision, written.SerializeToString()),
    )
    return written
