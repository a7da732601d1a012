"""Access keys, put conditionally; knows nothing of what they open."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb


def get_keys(connection: sqlite3.Connection, key_ids: Sequence[str]) -> list[pb.AccessKey | None]:
    """One item an id, in the order of the ids."""
    found = (
        connection.execute("SELECT key FROM access_keys WHERE key_id = ?", (key_id,)).fetchone() for key_id in key_ids
    )
    return [pb.AccessKey.FromString(row[0]) if row else None for row in found]


def list_keys(connection: sqlite3.Connection) -> list[pb.AccessKey]:
    """All of them, by id."""
    rows = connection.execute("SELECT key FROM access_keys ORDER BY key_id")
    return [pb.AccessKey.FromString(key) for (key,) in rows]


def put_key(connection: sqlite3.Connection, key: pb.AccessKey, expected_revision: int) -> pb.AccessKey | None:
    """The key as it is now, or None where it has another revision."""
    found = connection.execute("SELECT revision FROM access_keys WHERE key_id = ?", (key.key_id,)).fetchone()
    if (found[0] if found else 0) != expected_revision:
        return None
    written = pb.AccessKey()
    written.CopyFrom(key)
    written.revision = expected_revision + 1
    connection.execute(
        "INSERT OR REPLACE INTO access_keys (key_id, revision, key) VALUES (?, ?, ?)",
        (key.key_id, written.revision, written.SerializeToString()),
    )
    return written
