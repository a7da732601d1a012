"""What kept documents from being indexed, one row a path; knows nothing of the documents themselves."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb


def report_documents(
    connection: sqlite3.Connection,
    project: str,
    source: str,
    reports: Sequence[pb.Report],
    cleared_paths: Sequence[str],
    now_milliseconds: int,
) -> int:
    """Clears, then notes; how many reports the source has now."""
    connection.executemany(
        "DELETE FROM reports WHERE project = ? AND path = ? AND source = ?",
        [(project, path, source) for path in cleared_paths],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO reports (project, path, source, kind, reason, reported_at) VALUES (?, ?, ?, ?, ?, ?)",
        [(project, report.path, source, report.kind, report.reason, now_milliseconds) for report in reports],
    )
    return _count(connection, project, source)


def list_reports(connection: sqlite3.Connection, project: str, source: str, limit: int) -> tuple[list[pb.Report], int]:
    """The first reports by path, and how many there are."""
    found = connection.execute(
        "SELECT path, kind, reason, reported_at FROM reports WHERE project = ? AND (? = '' OR source = ?) "
        "ORDER BY path, source LIMIT ?",
        (project, source, source, limit),
    )
    reports = [
        pb.Report(path=path, kind=kind, reason=reason, reported_at_milliseconds=reported_at)
        for path, kind, reason, reported_at in found
    ]
    return reports, _count(connection, project, source)


def _count(connection: sqlite3.Connection, project: str, source: str) -> int:
    found = connection.execute(
        "SELECT count(*) FROM reports WHERE project = ? AND (? = '' OR source = ?)", (project, source, source)
    ).fetchone()
    return int(found[0])
