"""Rows of calls, written in batches and read for reports; knows nothing of what was called."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb

SELECTIONS = {
    pb.CALL_SELECTION_UNSPECIFIED: "",
    pb.CALL_SELECTION_FOUND_NOTHING: "AND found_nothing = 1",
    pb.CALL_SELECTION_DENIED: "AND denied = 1",
}


def put_calls(connection: sqlite3.Connection, calls: Sequence[pb.CallRecord]) -> None:
    """Notes each once."""
    connection.executemany(
        "INSERT OR IGNORE INTO calls (call_id, project, at, found_nothing, denied, call) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (
                call.call_id,
                call.project,
                call.at_milliseconds,
                int(call.found_nothing),
                int(bool(call.denied)),
                call.SerializeToString(),
            )
            for call in calls
        ],
    )


def list_calls(
    connection: sqlite3.Connection, project: str, selection: pb.CallSelection, since_milliseconds: int, limit: int
) -> list[pb.CallRecord]:
    """The newest first."""
    rows = connection.execute(
        f"SELECT call FROM calls WHERE project = ? AND at >= ? {SELECTIONS[selection]} ORDER BY at DESC, call_id LIMIT ?",
        (project, since_milliseconds, limit),
    )
    return [pb.CallRecord.FromString(call) for (call,) in rows]


def purge_calls(connection: sqlite3.Connection, project: str, before_milliseconds: int) -> int:
    """How many were dropped."""
    return connection.execute("DELETE FROM calls WHERE project = ? AND at < ?", (project, before_milliseconds)).rowcount
