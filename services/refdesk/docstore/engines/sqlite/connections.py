"""One writing connection and a few reading ones, each call in a thread; knows nothing of what is read or written."""

from __future__ import annotations

import asyncio
import queue
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from refdesk import failpoints
from refdesk.docstore.engines.sqlite import schema
from refdesk.docstore.engines.sqlite.faults import translated
from refdesk.errors import InvalidArgument, Unavailable

T = TypeVar("T")

CHECKPOINT_PAGES = 4_000
"""16 MB of write-ahead log before its pages move into the file: fewer rewrites while loading than SQLite's own 1,000."""


class Connections:
    """Runs functions on connections: writes one after another, reads side by side, never on the event loop's thread."""

    def __init__(self, path: Path, *, readers: int, busy_timeout_seconds: float, check_max_bytes: int) -> None:
        self._path = path
        self._busy_timeout_seconds = busy_timeout_seconds
        self._check_max_bytes = check_max_bytes
        self._reader_count = readers
        self._writing: ThreadPoolExecutor | None = None
        self._reading: ThreadPoolExecutor | None = None
        self._writer: sqlite3.Connection | None = None
        self._readers: queue.SimpleQueue[sqlite3.Connection] = queue.SimpleQueue()

    async def open(self) -> None:
        """Opens the file, made where it does not exist, and checks that this release can read it.

        Raises: InvalidArgument for a file that is damaged, strange or too new; Unavailable.
        """
        self._writing = ThreadPoolExecutor(1, "docstore-write")
        self._reading = ThreadPoolExecutor(self._reader_count, "docstore-read")
        try:
            await asyncio.get_running_loop().run_in_executor(self._writing, self._open)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Lets what runs finish, then closes."""
        writing, reading = self._writing, self._reading
        self._writing = self._reading = None
        if writing is None or reading is None:
            return
        await asyncio.to_thread(reading.shutdown)
        await asyncio.get_running_loop().run_in_executor(writing, self._close)
        writing.shutdown()

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` reads of one committed state.

        Raises: Unavailable.
        """
        if self._reading is None:
            raise Unavailable("docstore is not open")
        return await asyncio.get_running_loop().run_in_executor(self._reading, self._read, work)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Does `work` in one transaction; when this returns, it survives a kill and a power loss.

        Raises: Unavailable; then it is done whole or not at all.
        """
        if self._writing is None:
            raise Unavailable("docstore is not open")
        return await asyncio.get_running_loop().run_in_executor(self._writing, self._write, work)

    def _open(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidArgument(
                f"folder {self._path.parent} for docstore cannot be made; name another one"
            ) from error
        with translated(self._path, starting=True):
            self._writer = self._connect()
            schema.prepare(self._writer, self._path, self._check_max_bytes)
            for _ in range(self._reader_count):
                reader = self._connect()
                reader.execute("PRAGMA query_only = ON")
                self._readers.put(reader)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path,
            timeout=self._busy_timeout_seconds,
            isolation_level=None,  # transactions are begun and ended here and nowhere else
            check_same_thread=False,  # a connection is used by one thread at a time, not always by the same
        )
        # FULL: the log reaches the disk before a commit returns. Secure delete: a purged text leaves no bytes behind.
        for pragma in (
            "synchronous = FULL",
            "fullfsync = ON",
            "checkpoint_fullfsync = ON",
            "secure_delete = ON",
            f"wal_autocheckpoint = {CHECKPOINT_PAGES}",
            "journal_size_limit = 67108864",
            "trusted_schema = OFF",
        ):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _close(self) -> None:
        while not self._readers.empty():
            self._readers.get().close()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._readers.get()
        try:
            with translated(self._path):
                connection.execute("BEGIN")
                try:
                    return work(connection)
                finally:
                    if connection.in_transaction:
                        connection.execute("COMMIT")
        finally:
            self._readers.put(connection)

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._writer
        if connection is None:
            raise Unavailable("docstore is not open")
        with translated(self._path):
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
                failpoints.reach("docstore.before_commit")
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        failpoints.reach("docstore.after_commit")
        return result
