"""Reads current paths to compare with one that is not known; knows nothing of likeness."""

from __future__ import annotations

import sqlite3

from refdesk.docstore.engines.likeness import rank_paths

MAX_PATHS = 100_000
"""Read at most, in the order of the index."""


def suggest_paths(connection: sqlite3.Connection, project: str, path: str, limit: int) -> list[str]:
    """Current paths of the project, nearest first."""
    found = connection.execute(
        "SELECT path FROM documents INDEXED BY documents_listed WHERE project = ? AND deleted = 0 LIMIT ?",
        (project, MAX_PATHS),
    )
    return rank_paths(path, (row[0] for row in found), limit)
