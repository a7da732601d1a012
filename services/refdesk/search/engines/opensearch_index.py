"""The keyword index on an OpenSearch cluster: two indices a project and generation; knows no query and no mapping."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from refdesk.children import Child
from refdesk.engines.opensearch.address import Names
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.faults import IndexMissing
from refdesk.search.analysis import QueryAnalysis
from refdesk.search.engines.interface import (
    NOTHING,
    Candidates,
    Entry,
    Evidence,
    Filter,
    Found,
    Grain,
    IndexName,
    SweepItem,
    Swept,
    WordDocument,
    Written,
)
from refdesk.search.engines.opensearch_evidence import weigh
from refdesk.search.engines.opensearch_places import Places
from refdesk.search.engines.opensearch_reader import Reader
from refdesk.search.engines.opensearch_schema import name_indices, score_factor
from refdesk.search.engines.opensearch_writer import Writer
from refdesk.search.settings import SearchSettings
from refdesk.search.words import Wanted

NAMES = Names("search.keyword_url", "search.opensearch")
LANGUAGES_SECONDS = 10.0
"""How long the languages of an index are remembered: another process may have written to it."""

_Answer = TypeVar("_Answer")


class OpenSearchIndex:
    """A KeywordIndex on the cluster that `search.keyword_url` names."""

    def __init__(self, settings: SearchSettings) -> None:
        self._client = OpenSearchClient(settings.keyword_url, settings.opensearch, NAMES)
        self._child = Child("refdesk.search.engines.opensearch_encoder", name="the encoder of keyword entries")
        self._places = Places(self._client)
        self._languages: dict[IndexName, tuple[float, frozenset[str]]] = {}
        self._changes: Counter[IndexName] = Counter()
        self._score_factor = 1.0

    @property
    def pid(self) -> int | None:
        """Process id of the encoding child."""
        return self._child.pid

    async def start(self) -> None:
        """Connects, and looks at the indices that are there.

        Raises: InvalidArgument naming the setting where one cannot be used, or the cluster refuses us; Unavailable.
        """
        await self._client.start()
        try:
            answer = await self._client.read("GET", "/", starting=True)
            self._score_factor = score_factor(answer["version"]["number"])
            await self._places.check()
            await self._child.start()
        except BaseException:
            await self._client.close()
            raise

    async def close(self) -> None:
        """Finishes what is being encoded and lets go of the connections."""
        await self._child.close()
        await self._client.close()

    async def write(self, index: IndexName, documents: Sequence[WordDocument]) -> Written:
        """Writes entries; durable and searchable when it returns.

        Raises: Unavailable; InvalidArgument naming a document that cannot be taken.
        """
        if not documents:
            return Written(0, ())
        writer = Writer(self._reader(index), self._child)
        try:
            await self._places.obtain(index)
            return await writer.write(documents)
        except IndexMissing:  # dropped under us: a write that comes later makes it anew
            self._places.forget(index)
            await self._places.obtain(index)
            return await writer.write(documents)
        finally:
            self._forget_languages(index)

    async def sweep(self, index: IndexName, items: Sequence[SweepItem]) -> list[Swept]:
        """Deletes what is not kept. Raises: Unavailable."""
        nothing = [Swept(0, False) for _ in items]
        if not items:
            return nothing
        try:
            return await self._read(index, nothing, lambda reader: Writer(reader, self._child).sweep(items))
        finally:
            self._forget_languages(index)

    async def list_entries(self, index: IndexName, after: tuple[str, str], limit: int) -> list[Entry]:
        """The next entries in order. Raises: Unavailable."""
        return await self._read(index, [], lambda reader: reader.list_entries(after, limit))

    async def drop(self, index: IndexName) -> bool:
        """Deletes both indices. Raises: Unavailable."""
        try:
            return await self._places.drop(index)
        finally:
            self._forget_languages(index)

    async def list_languages(self, index: IndexName) -> frozenset[str]:
        """Languages that entries are in. Raises: Unavailable."""
        asked_at, changes = time.monotonic(), self._changes[index]
        known = self._languages.get(index)
        if known and asked_at < known[0] + LANGUAGES_SECONDS:
            return known[1]
        languages: frozenset[str] = await self._read(index, frozenset(), lambda reader: reader.list_languages())
        if self._changes[index] == changes:
            self._languages[index] = asked_at, languages
        return languages

    async def search(
        self,
        index: IndexName,
        query: QueryAnalysis,
        narrowed: Filter,
        candidates: Candidates,
        wanted: Wanted | None = None,
    ) -> Found:
        """The best chunks and documents, each with its own grain's scores. Raises: Unavailable."""
        return await self._read(index, NOTHING, lambda reader: reader.search(query, narrowed, candidates, wanted))

    async def weigh(
        self, index: IndexName, query: QueryAnalysis, covered: Sequence[str], named: Sequence[str]
    ) -> dict[str, Evidence]:
        """Evidence for chunks by id. Raises: Unavailable."""

        def work(reader: Reader) -> Awaitable[dict[str, Evidence]]:
            return weigh(reader.client, reader.names.aliases[Grain.CHUNK], query, covered, named)

        return await self._read(index, {}, work)

    async def _read(self, index: IndexName, nothing: _Answer, work: Callable[[Reader], Awaitable[_Answer]]) -> _Answer:
        """What `work` reads; `nothing` where there is no index."""
        if not await self._places.find(index):
            return nothing
        try:
            return await work(self._reader(index))
        except IndexMissing:
            self._places.forget(index)
            if await self._places.find(index):  # it is closed
                raise
            return nothing

    def _forget_languages(self, index: IndexName) -> None:
        """Also of what is being asked just now."""
        self._changes[index] += 1
        self._languages.pop(index, None)

    def _reader(self, index: IndexName) -> Reader:
        return Reader(self._client, name_indices(self._client, index), self._score_factor)
