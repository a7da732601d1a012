"""The vector index on a Qdrant server: one collection a generation for all projects; knows no point and no setting of a collection.

What is proved and what is not: docs/decisions/0012-vectors-on-a-qdrant-server.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from refdesk.errors import NotFound
from refdesk.search.engines.interface import (
    NOTHING,
    Candidates,
    Entry,
    Filter,
    Found,
    IndexName,
    SweepItem,
    Swept,
    VectorItem,
    Written,
)
from refdesk.search.engines.qdrant_calls import Calls, OpenClient, open_remote
from refdesk.search.engines.qdrant_collections import Collection, Collections
from refdesk.search.engines.qdrant_reads import Reader
from refdesk.search.engines.qdrant_scope import ORDERS, Scope
from refdesk.search.engines.qdrant_writes import Writer
from refdesk.search.settings import SearchSettings

_Answer = TypeVar("_Answer")


class QdrantIndex:
    """A VectorIndex on the server that `search.vector_url` names. Every method raises Unavailable, and Unauthenticated for a wrong key.

    `open_client` opens another client than the URL's, as the one that keeps everything in memory.
    """

    def __init__(self, settings: SearchSettings, open_client: OpenClient | None = None) -> None:
        self._calls = Calls(settings, open_client or open_remote(settings))
        self._collections = Collections(settings, self._calls)
        self._widths: dict[IndexName, int] = {}

    async def start(self) -> None:
        """Looks at the server and its collections. Raises: InvalidArgument naming the setting where one cannot be used."""
        await self._collections.check()

    async def close(self) -> None:
        """Lets go of the connections."""
        await self._calls.close()

    def not_ready_reason(self, index: IndexName) -> str:
        """Always empty: the server answers while it optimises."""
        return ""

    async def write(self, index: IndexName, model_id: str, items: Sequence[VectorItem]) -> Written:
        """Writes points. Raises: InvalidArgument for a vector of another dimension or model."""
        if not items:
            return Written(0, ())
        try:
            return await self._write(index, model_id, items)
        except NotFound:  # the collection was deleted under us, so what we remember of it is wrong
            self._collections.forget(index.generation)
            return await self._write(index, model_id, items)

    async def find_vectors(self, index: IndexName, text_hashes: Sequence[str]) -> dict[str, bytes]:
        """Vectors by the hash of the embedded text."""
        return await self._read(index, {}, lambda reader: reader.find_vectors(text_hashes))

    async def sweep(self, index: IndexName, items: Sequence[SweepItem]) -> list[Swept]:
        """Deletes what is not kept."""
        nothing = [Swept(0, False) for _ in items]
        return await self._read(index, nothing, lambda reader: self._writer(index, reader).sweep(items))

    async def list_entries(self, index: IndexName, after: tuple[str, str], limit: int) -> list[Entry]:
        """The next entries in order."""
        width = self._widths.get(index, ORDERS)
        nothing: tuple[list[Entry], int] = ([], width)
        entries, self._widths[index] = await self._read(
            index, nothing, lambda reader: reader.list_entries(after, limit, width)
        )
        return entries

    async def drop(self, index: IndexName) -> bool:
        """Deletes the project's points of this generation; False where there were none. A collection that is empty then stays, empty."""
        return await self._read(index, False, lambda reader: self._writer(index, reader).drop())

    async def search(self, index: IndexName, vector: bytes, narrowed: Filter, candidates: Candidates) -> Found:
        """The nearest chunks and documents. Raises: InvalidArgument for a vector of another dimension."""

        async def find(reader: Reader) -> Found:
            reader.collection.check("", [vector])
            return await reader.search(vector, narrowed, candidates)

        return await self._read(index, NOTHING, find)

    async def measure(self, index: IndexName, vector: bytes, chunk_ids: Sequence[str]) -> dict[str, float]:
        """Cosines of these chunks. Raises: as search."""

        async def find(reader: Reader) -> dict[str, float]:
            reader.collection.check("", [vector])
            return await reader.measure(vector, chunk_ids)

        return await self._read(index, {}, find)

    async def _write(self, index: IndexName, model_id: str, items: Sequence[VectorItem]) -> Written:
        dimension = len(items[0].vector) // 4
        collection = await self._collections.obtain(index.generation, model_id, dimension)
        collection.check(model_id, [item.vector for item in items])
        reader = Reader(self._calls, collection, Scope(index.project))
        return await self._writer(index, reader).write(items)

    async def _read(self, index: IndexName, nothing: _Answer, work: Callable[[Reader], Awaitable[_Answer]]) -> _Answer:
        """What `work` reads; `nothing` where there is no collection."""
        scope = Scope(index.project)
        collection: Collection | None = await self._collections.find(index.generation)
        if collection is None:
            return nothing
        try:
            return await work(Reader(self._calls, collection, scope))
        except NotFound:  # it was deleted under us
            self._collections.forget(index.generation)
            return nothing

    def _writer(self, index: IndexName, reader: Reader) -> Writer:
        return Writer(self._calls, reader.collection, index.project, reader)
