"""Tables of the SQLite file and which releases may read them; knows nothing of what is kept in them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from refdesk.docstore.engines.sqlite.faults import damaged
from refdesk.docstore.engines.sqlite.naming import fill_names
from refdesk.errors import InvalidArgument

SCHEMA = 4
"""Counts the changes to the tables."""
MIN_READER = 1
"""The oldest SCHEMA whose release can read what this one writes."""
APPLICATION_ID = 0x72666473
"""Marks the file as ours ("rfds")."""

# Ids are 16 bytes. `record` is the Document message without text, sections and heads; `head` is the Head message. What
# stands in columns besides is there to be found, ordered or counted by. `folder` has its slashes as \x01, so that a folder stands
# right before the folders in it.
TABLES = """
CREATE TABLE schema (version INTEGER NOT NULL, min_reader INTEGER NOT NULL);

CREATE TABLE documents (
  document INTEGER PRIMARY KEY,
  project TEXT NOT NULL,
  document_id BLOB NOT NULL,
  revision INTEGER NOT NULL,
  source TEXT NOT NULL,
  folder TEXT NOT NULL,
  path TEXT NOT NULL,
  title TEXT NOT NULL,
  version TEXT NOT NULL,
  language TEXT NOT NULL,
  text_length INTEGER NOT NULL,
  put_at INTEGER NOT NULL,
  deleted INTEGER NOT NULL,
  purged INTEGER NOT NULL DEFAULT 0,
  record BLOB NOT NULL,
  UNIQUE (project, document_id)
);
CREATE INDEX documents_by_path ON documents (project, path);
CREATE INDEX documents_listed ON documents (project, folder, path) WHERE deleted = 0;
CREATE INDEX documents_to_purge ON documents (project, put_at) WHERE deleted = 1 AND purged = 0;

-- Not compressed: measured on 13.6 MB of Markdown, zlib halves the file, costs half of a put's CPU again and 1 ms of 3 at hydrating.
CREATE TABLE texts (
  document INTEGER PRIMARY KEY,
  text TEXT NOT NULL,
  sections BLOB NOT NULL
);

CREATE TABLE heads (
  document INTEGER NOT NULL,
  generation TEXT NOT NULL,
  project TEXT NOT NULL,
  bulk INTEGER NOT NULL,
  put_at INTEGER NOT NULL,
  document_id BLOB NOT NULL,
  chunk_count INTEGER NOT NULL,
  missing_count INTEGER NOT NULL,
  swept INTEGER NOT NULL,
  embeddable INTEGER NOT NULL,
  notes INTEGER NOT NULL DEFAULT 0,
  head BLOB NOT NULL,
  UNIQUE (document, generation)
);
CREATE INDEX heads_unfinished ON heads (project, generation, bulk, put_at, document_id) WHERE missing_count > 0 OR swept = 0;

CREATE TABLE chunks (
  chunk_id BLOB NOT NULL,
  document INTEGER NOT NULL,
  PRIMARY KEY (chunk_id, document)
) WITHOUT ROWID;

CREATE TABLE previous_paths (
  project TEXT NOT NULL,
  path TEXT NOT NULL,
  document INTEGER NOT NULL,
  PRIMARY KEY (project, path, document)
) WITHOUT ROWID;

CREATE TABLE document_tallies (
  project TEXT NOT NULL,
  source TEXT NOT NULL,
  version TEXT NOT NULL,
  language TEXT NOT NULL,
  generations TEXT NOT NULL,
  document_count INTEGER NOT NULL,
  PRIMARY KEY (project, source, version, language, generations)
) WITHOUT ROWID;

CREATE TABLE head_tallies (
  project TEXT NOT NULL,
  generation TEXT NOT NULL,
  source TEXT NOT NULL,
  chunk_count INTEGER NOT NULL,
  embeddable_count INTEGER NOT NULL,
  embedded_count INTEGER NOT NULL,
  missing_count INTEGER NOT NULL,
  PRIMARY KEY (project, generation, source)
) WITHOUT ROWID;

CREATE TABLE reports (
  project TEXT NOT NULL,
  path TEXT NOT NULL,
  source TEXT NOT NULL,
  kind INTEGER NOT NULL,
  reason TEXT NOT NULL,
  reported_at INTEGER NOT NULL,
  PRIMARY KEY (project, path, source)
) WITHOUT ROWID;

CREATE TABLE projects (
  slug TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  project BLOB NOT NULL
) WITHOUT ROWID;
"""


# What schemas 2 to 4 have besides. Content stands last in a row: what reads the record alone then reads none of its pages.
ADDED = """
CREATE TABLE IF NOT EXISTS raw_documents (
  project TEXT NOT NULL,
  source TEXT NOT NULL,
  path TEXT NOT NULL,
  change_count INTEGER NOT NULL,
  put_at INTEGER NOT NULL,
  record BLOB NOT NULL,
  content BLOB NOT NULL,
  UNIQUE (project, source, path)
);
CREATE INDEX IF NOT EXISTS raw_documents_by_time ON raw_documents (project, source, put_at);

-- Kind as in IdKind, name: the first 8 hex digits as a number. Small, for there is a row a section.
CREATE TABLE IF NOT EXISTS names (
  kind INTEGER NOT NULL,
  name INTEGER NOT NULL,
  document INTEGER NOT NULL,
  PRIMARY KEY (kind, name, document)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS unnamed_documents (document INTEGER PRIMARY KEY);

CREATE TABLE IF NOT EXISTS menus (
  project TEXT NOT NULL,
  source TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  menu BLOB NOT NULL,
  UNIQUE (project, source)
);

CREATE TABLE IF NOT EXISTS calls (
  call_id TEXT PRIMARY KEY,
  project TEXT NOT NULL,
  at INTEGER NOT NULL,
  found_nothing INTEGER NOT NULL,
  denied INTEGER NOT NULL,
  call BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS calls_by_time ON calls (project, at);

CREATE TABLE IF NOT EXISTS access_keys (
  key_id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  key BLOB NOT NULL
) WITHOUT ROWID;
"""


# Every put leaves its record among the unnamed ones, from which a put of this release takes it off again. An earlier release that has the
# file in between knows nothing of names, and leaves it there for the next start.
TRIGGERS = (
    "CREATE TRIGGER IF NOT EXISTS documents_made AFTER INSERT ON documents "
    "BEGIN INSERT OR IGNORE INTO unnamed_documents VALUES (new.document); END",
    "CREATE TRIGGER IF NOT EXISTS documents_changed AFTER UPDATE OF revision ON documents "
    "BEGIN INSERT OR IGNORE INTO unnamed_documents VALUES (new.document); END",
)
NAMED_SINCE = 4
"""The first SCHEMA with names."""


def prepare(connection: sqlite3.Connection, path: Path, check_max_bytes: int) -> None:
    """Makes the tables in a new file; checks an old one. Nothing in a file that is refused is changed.

    Raises: InvalidArgument for a file that is damaged, not ours, or written for a newer release only; sqlite3.Error.
    """
    if _is_empty(connection):
        connection.execute("PRAGMA journal_mode = WAL")
        _make(connection)
    _check_owner(connection, path)
    _check_reader(connection, path)
    if path.stat().st_size <= check_max_bytes and connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise InvalidArgument(damaged(path))
    _expand(connection)
    fill_names(connection)
    if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
        raise InvalidArgument(f"docstore file {path} is on a disk that cannot keep a write-ahead log; name a local one")


def _is_empty(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is None


def _make(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have made them while this one waited.
        if _is_empty(connection):
            for statement in filter(str.strip, TABLES.split(";")):
                connection.execute(statement)
            connection.execute("INSERT INTO schema VALUES (?, ?)", (SCHEMA, MIN_READER))
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _expand(connection: sqlite3.Connection) -> None:
    """Adds what later schemas have and older releases leave alone."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in filter(str.strip, ADDED.split(";")):
            connection.execute(statement)
        for statement in TRIGGERS:
            connection.execute(statement)
        connection.execute(
            "INSERT OR IGNORE INTO unnamed_documents SELECT document FROM documents "
            "WHERE deleted = 0 AND (SELECT version FROM schema) < ?",
            (NAMED_SINCE,),
        )
        connection.execute("UPDATE schema SET version = ? WHERE version < ?", (SCHEMA, SCHEMA))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _check_owner(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
        raise InvalidArgument(f"file {path} was not written by docstore and is left as it is; name another file")


def _check_reader(connection: sqlite3.Connection, path: Path) -> None:
    row = connection.execute("SELECT version, min_reader FROM schema").fetchone()
    if row is None:
        raise InvalidArgument(damaged(path))
    if row[1] > SCHEMA:
        raise InvalidArgument(
            f"docstore file {path} was written by a newer release (schema {row[0]}, readable from schema {row[1]}, this release "
            f"has {SCHEMA}); start that release, or name another file"
        )
