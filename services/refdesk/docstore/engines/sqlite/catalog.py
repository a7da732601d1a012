"""The catalog of projects, put conditionally; knows nothing of documents."""

from __future__ import annotations

import sqlite3

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.sqlite.revisions import put_on_revision


def get_project(connection: sqlite3.Connection, slug: str) -> pb.Project | None:
    """One project, or None."""
    found = connection.execute("SELECT project FROM projects WHERE slug = ?", (slug,)).fetchone()
    return pb.Project.FromString(found[0]) if found else None


def list_projects(connection: sqlite3.Connection) -> list[pb.Project]:
    """All of them, by slug."""
    return [
        pb.Project.FromString(project)
        for (project,) in connection.execute("SELECT project FROM projects ORDER BY slug")
    ]


def put_project(connection: sqlite3.Connection, project: pb.Project, expected_revision: int) -> pb.Project | None:
    """The project as it is now, or None where it has another revision."""
    return put_on_revision(connection, "projects", project, expected_revision, name="slug", what="project")
