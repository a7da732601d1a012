"""Access keys, put conditionally; knows nothing of what they open."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.sqlite.revisions import put_on_revision


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
    return put_on_revision(connection, "access_keys", key, expected_revision, name="key_id", what="key")
