"""The real docstore on SQLite in memory, in the loop's own thread, so that every call of it is one moment; knows no worker."""

from __future__ import annotations

import asyncio
import functools
import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

from fakes.weather import Weather
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.cuts import CutCache
from refdesk.docstore.engines.interface import View
from refdesk.docstore.engines.sqlite import catalog, rows, schema
from refdesk.docstore.engines.sqlite.store import SqliteStore
from refdesk.docstore.service import DocstoreService
from refdesk.docstore.settings import DocstoreSettings

T = TypeVar("T")
SETTINGS = DocstoreSettings()
WHOLE = View(include_text=True)


class InlineConnections:
    """One connection, each piece of work done at once."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.deserialize(_empty_file())

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return work(self.connection)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self.connection.execute("BEGIN")
        try:
            result = work(self.connection)
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")
        return result

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        self.connection.close()


@functools.cache
def _empty_file() -> bytes:
    """Making the tables takes longer than a run."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema._make(connection)
    schema._expand(connection)
    made = connection.serialize()
    connection.close()
    return made


class InlineStore(SqliteStore):
    """The SQLite store without its threads."""

    def __init__(self) -> None:
        self._cache = CutCache(SETTINGS.text_cache_bytes)
        self.inline = InlineConnections()
        self._connections = self.inline  # type: ignore[assignment]


class MemoryDocstore:
    """DocstoreService in weather. `watch` is told of each document whose record was put, noted or lost a head, in that very moment."""

    def __init__(self, weather: Weather) -> None:
        self.weather = weather
        self.store = InlineStore()
        self.service = DocstoreService(SETTINGS, self.store, clock=read_clock)
        self.watch: Callable[[str], None] = lambda document_id: None
        self.puts = self.conflicts = 0

    def close(self) -> None:
        self.store.inline.connection.close()

    def __getattr__(self, name: str) -> Any:
        """Any other call of the contract."""
        method = getattr(self.service, name)

        async def call(request: Any) -> Any:
            if not name.startswith(("get", "list")):  # an answer that is late is as old as a question that is
                await self.weather.before("docstore")
            response = await method(request)
            await self.weather.after("docstore")
            return response

        return call

    async def put_documents(self, request: pb.PutDocumentsRequest) -> pb.PutDocumentsResponse:
        await self.weather.before("docstore")
        response = await self.service.put_documents(request)
        for item, outcome in zip(request.items, response.outcomes, strict=True):
            self.puts += outcome.committed
            self.conflicts += not outcome.committed
            if outcome.committed:
                self.watch(item.document.document_id)
        await self.weather.after("docstore")
        return response

    async def note_documents(self, request: pb.NoteDocumentsRequest) -> pb.NoteDocumentsResponse:
        await self.weather.before("docstore")
        response = await self.service.note_documents(request)
        for item in request.items:
            self.watch(item.document_id)
        await self.weather.after("docstore")
        return response

    async def hydrate_chunks(
        self, request: pb.HydrateChunksRequest, judge: Callable[[pb.HydrateChunksResponse], None]
    ) -> pb.HydrateChunksResponse:
        """`judge` is given the answer in the moment that it was made."""
        await self.weather.before("docstore")
        response = await self.service.hydrate_chunks(request)
        judge(response)
        await self.weather.after("docstore")
        return response

    def read(self, document_id: str, project: str) -> pb.Document | None:
        """A record as it is in this moment, with text and heads."""
        work = self.store.get_by_id(project, [document_id], WHOLE)
        try:
            work.send(None)
        except StopIteration as done:
            (item,) = done.value
            return item.document if item.HasField("document") else None
        raise AssertionError("it waits for nothing")

    def heads(self, document_id: str) -> list[pb.Head]:
        """Of a record, as they are in this moment."""
        found = self.store.inline.connection.execute(
            "SELECT h.head FROM documents d JOIN heads h ON h.document = d.document WHERE d.document_id = ?",
            (rows.pack_id(document_id),),
        ).fetchall()
        return [pb.Head.FromString(head) for (head,) in found]

    @property
    def projects(self) -> dict[str, pb.Project]:
        """The catalog."""
        found = catalog.list_projects(self.store.inline.connection)
        return {project.slug: project for project in found}

    @property
    def records(self) -> dict[str, pb.Document]:
        """All records of all projects."""
        found = self.store.inline.connection.execute("SELECT project, record FROM documents").fetchall()
        ids = [(pb.Document.FromString(record).document_id, project) for project, record in found]
        return {one: record for one, project in ids if (record := self.read(one, project))}


def read_clock() -> int:
    """Milliseconds of the simulated clock."""
    return int(asyncio.get_running_loop().time() * 1000) + 1
