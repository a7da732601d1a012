"""Reads points of one project: the nearest ones, those of a name, a text or a document; knows no writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qdrant_client import models
from qdrant_client.conversions import common_types as types

from refdesk.search.engines.interface import Candidates, Entry, Filter, Found, Grain, ScoredChunk
from refdesk.search.engines.qdrant_calls import Calls
from refdesk.search.engines.qdrant_collections import MOST_HITS, Collection
from refdesk.search.engines.qdrant_points import ENTRY_FIELDS, read_entry, read_numbers, write_numbers
from refdesk.search.engines.qdrant_scope import ORDERS, Scope, order_of
from refdesk.search.grains import cap_documents

NARROWEST_LOOK = 2
"""Times as many chunks as are wanted are read first; where a few documents fill the list, as many as strict mode allows."""
VECTORS_PAGE = 256
"""Points whose vectors come in one answer: more would hold up the event loop."""
HASHES_AT_ONCE = 256
DOCUMENTS_AT_ONCE = 100


@dataclass(frozen=True)
class Reader:
    """Reads in one collection what belongs to one project."""

    calls: Calls
    collection: Collection
    scope: Scope

    async def search(self, vector: bytes, narrowed: Filter, candidates: Candidates) -> Found:
        """The nearest chunks and documents; both are asked at once."""
        near = read_numbers(vector)
        whole = _ask(near, self.scope.narrow(Grain.DOCUMENT, narrowed), candidates.documents)
        limit = min(NARROWEST_LOOK * candidates.chunks, MOST_HITS)
        chunk = _ask(near, self.scope.narrow(Grain.CHUNK, narrowed), limit, with_document=True)
        chunks, documents = await self._query(chunk, whole)
        kept = _cap(chunks, candidates)
        if len(kept) < candidates.chunks and limit <= len(chunks) < MOST_HITS:
            (chunks,) = await self._query(chunk.model_copy(update={"limit": MOST_HITS}))
            kept = _cap(chunks, candidates)
        return Found(tuple(kept), {str(point.id): point.score for point in documents})

    async def measure(self, vector: bytes, chunk_ids: Sequence[str]) -> dict[str, float]:
        """Cosines of these chunks."""
        near = read_numbers(vector)
        cosines: dict[str, float] = {}
        for start in range(0, len(chunk_ids), MOST_HITS):
            ids = chunk_ids[start : start + MOST_HITS]
            (points,) = await self._query(_ask(near, self.scope.chunks(ids), len(ids)))
            cosines.update((str(point.id), point.score) for point in points)
        return cosines

    async def find_vectors(self, text_hashes: Sequence[str]) -> dict[str, bytes]:
        """Vectors by the hash of the embedded text; of texts that many chunks share, all but one are passed over."""
        found: dict[str, bytes] = {}
        for start in range(0, len(text_hashes), HASHES_AT_ONCE):
            wanted = set(text_hashes[start : start + HASHES_AT_ONCE])
            while wanted:
                records, offset = await self._scroll(
                    self.scope.embedded(sorted(wanted)), ["text_hash"], VECTORS_PAGE, with_vectors=True
                )
                page = {(record.payload or {})["text_hash"]: write_numbers(record.vector) for record in records}
                found |= page
                wanted = wanted - page.keys() if offset is not None else set()
        return found

    async def is_empty(self) -> bool:
        """Whether there is no entry at all."""
        records, _ = await self._scroll(self.scope.whole(), ["stamp"], 1)
        return not records

    async def read_stamps(self, ids: Sequence[str]) -> dict[str, int]:
        """Stamps of entries by id, of those that are there; at most MOST_HITS."""
        records, _ = await self._scroll(self.scope.named(ids), ["stamp"], len(ids))
        return {str(record.id): (record.payload or {})["stamp"] for record in records}

    async def read_documents(self, document_ids: Sequence[str]) -> list[Entry]:
        """Every entry of these documents."""
        entries: list[Entry] = []
        for start in range(0, len(document_ids), DOCUMENTS_AT_ONCE):
            entries += await self._read_all(self.scope.documents(document_ids[start : start + DOCUMENTS_AT_ONCE]))
        return entries

    async def list_entries(self, after: tuple[str, str], limit: int, width: int) -> tuple[list[Entry], int]:
        """The next entries in order, and how wide a window was right for them: a good `width` for what follows.

        Qdrant gives points in the order of their ids, not of their documents. So windows of documents are read, narrow enough for one page
        of strict mode to hold what is in them, and put in order here; nothing needs to be remembered between calls.
        """
        entries: list[Entry] = []
        start = order_of(after[0]) if after[0] else 0
        while start < ORDERS and len(entries) < limit:
            window = self.scope.window(start, min(start + width, ORDERS))
            records, offset = await self._scroll(window, ENTRY_FIELDS, MOST_HITS)
            if offset is not None and width > 1:
                width = max(1, width // 4)
                continue
            page = await self._read_all(window) if offset is not None else [read_entry(record) for record in records]
            entries += sorted(entry for entry in page if entry[:2] > after)
            start += width
            if len(page) < MOST_HITS // 4:
                width = min(2 * width, ORDERS)
        return entries[:limit], width

    async def _read_all(self, wanted: models.Filter) -> list[Entry]:
        entries: list[Entry] = []
        offset: types.PointId | None = None
        while True:
            records, offset = await self._scroll(wanted, ENTRY_FIELDS, MOST_HITS, offset)
            entries += [read_entry(record) for record in records]
            if offset is None:
                return entries

    async def _scroll(
        self,
        wanted: models.Filter,
        payload: list[str],
        limit: int,
        offset: types.PointId | None = None,
        with_vectors: bool = False,
    ) -> tuple[list[models.Record], types.PointId | None]:
        """A page of points in the order of their ids, and where the next one begins; None at the end."""
        return await self.calls.read(
            lambda client: client.scroll(
                self.collection.name,
                scroll_filter=wanted,
                limit=limit,
                offset=offset,
                with_payload=payload,
                with_vectors=with_vectors,
            )
        )

    async def _query(self, *requests: models.QueryRequest) -> list[list[models.ScoredPoint]]:
        answers = await self.calls.read(
            lambda client: client.query_batch_points(self.collection.name, requests=requests)
        )
        return [answer.points for answer in answers]


def _ask(near: list[float], wanted: models.Filter, limit: int, with_document: bool = False) -> models.QueryRequest:
    payload: list[str] | bool = ["document"] if with_document else False
    return models.QueryRequest.model_construct(
        query=near, filter=wanted, limit=limit, with_payload=payload, with_vector=False
    )


def _cap(points: Sequence[models.ScoredPoint], candidates: Candidates) -> list[ScoredChunk]:
    documents = [(point.payload or {})["document"] for point in points]
    return [
        ScoredChunk(str(points[at].id), documents[at], points[at].score) for at in cap_documents(documents, candidates)
    ]
