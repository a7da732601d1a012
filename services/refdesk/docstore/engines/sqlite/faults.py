"""Turns SQLite's exceptions into ours, naming the file and what to do; knows nothing of what was being done."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import structlog

from refdesk.errors import Internal, InvalidArgument, RefdeskError, Unavailable

_log = structlog.get_logger()

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DENIED = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH})


def damaged(path: Path) -> str:
    """What to say of a file that cannot be read any more."""
    return (
        f"docstore file {path} is damaged; nothing was changed: put back a copy, or move it away together with "
        f"{path.name}-wal and {path.name}-shm and start again to index anew"
    )


@contextlib.contextmanager
def translated(path: Path, *, starting: bool = False) -> Iterator[None]:
    """Lets none of SQLite's own exceptions out.

    Raises: InvalidArgument where starting again cannot help; Unavailable; Internal for a defect of ours.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(error, path, starting=starting) from error


def _translate(error: sqlite3.Error, path: Path, *, starting: bool) -> RefdeskError:
    # The low byte is the primary code; the rest says in which way it failed.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    lasting = InvalidArgument if starting else Unavailable
    if code in _DAMAGED:
        return lasting(damaged(path))
    if code in _BUSY:
        return Unavailable(f"docstore file {path} is held by another process; stop that one, or try again")
    if code == sqlite3.SQLITE_FULL:
        return Unavailable(f"no space is left for docstore file {path}; free some and try again")
    if code in _DENIED:
        return lasting(f"docstore file {path} cannot be opened for writing; check its permissions or name another file")
    if code == sqlite3.SQLITE_IOERR:
        return Unavailable(f"docstore file {path} cannot be read or written; check its disk")
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return Unavailable("docstore is closed")
    _log.error("docstore_statement_failed", code=code, error=str(error))
    return Internal(f"docstore failed on file {path}; the log has the details")
