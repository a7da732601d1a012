"""A search service in memory that keeps entries as the contract says; `monotone=False` is a broken one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from fakes.weather import Weather
from refdesk.api.search.v1 import search_pb2 as pb
from refdesk.errors import InvalidArgument

WORDS, VECTORS = pb.ENGINE_WORDS, pb.ENGINE_VECTORS


class FakeSearch:
    """Entries by engine, project and generation; each sweep reads and deletes entry by entry, others between."""

    def __init__(self, weather: Weather | None = None, *, monotone: bool = True) -> None:
        self.weather = weather or Weather()
        self.monotone = monotone
        self.indices: dict[tuple[int, str, str], dict[str, Any]] = defaultdict(dict)
        self.refused_texts: set[str] = set()
        self.calls: dict[str, int] = defaultdict(int)
        self.watch: Callable[[str], None] = lambda document_id: None
        """Told of the document of each entry that is deleted, in that very moment."""

    def index(self, engine: int, project: str, generation: str) -> dict[str, Any]:
        """The entries of one index, by id."""
        return self.indices[engine, project, generation]

    async def write_words(self, request: pb.WriteWordsRequest) -> pb.WriteWordsResponse:
        self.calls["write_words"] += 1
        await self.weather.before("words")
        if any(refused in document.text for document in request.documents for refused in self.refused_texts):
            raise InvalidArgument("an entry is refused")
        entries = [entry for document in request.documents for entry in _name_entries(document)]
        superseded = await self._write(WORDS, request, entries)
        await self.weather.after("words")
        return pb.WriteWordsResponse(written_count=len(entries) - len(superseded), superseded_ids=superseded)

    async def write_vectors(self, request: pb.WriteVectorsRequest) -> pb.WriteVectorsResponse:
        self.calls["write_vectors"] += 1
        await self.weather.before("vectors")
        superseded = await self._write(VECTORS, request, request.entries)
        await self.weather.after("vectors")
        return pb.WriteVectorsResponse(written_count=len(request.entries) - len(superseded), superseded_ids=superseded)

    async def _write(self, engine: int, request: Any, entries: Iterable[Any]) -> list[str]:
        index = self.index(engine, request.project, request.generation)
        superseded = []
        for entry in entries:
            if not (entry.id and entry.document_id and entry.stamp > 0 and entry.grain):
                raise InvalidArgument("entry without id, document, grain or stamp")
            if self.monotone and entry.id in index and index[entry.id].stamp > entry.stamp:
                superseded.append(entry.id)
            else:
                index[entry.id] = entry
            await self.weather.pause()
        return superseded

    async def get_vectors(self, request: pb.GetVectorsRequest) -> pb.GetVectorsResponse:
        await self.weather.before("vectors")
        if not 1 <= len(request.text_hashes) <= 1024:
            raise InvalidArgument("1 to 1024 hashes")
        index = self.index(VECTORS, request.project, request.generation)
        known = {entry.text_hash: entry.vector for entry in index.values() if entry.grain == pb.GRAIN_CHUNK}
        found = [pb.FoundVector(text_hash=one, vector=known[one]) for one in request.text_hashes if one in known]
        return pb.GetVectorsResponse(vectors=found)

    async def sweep_documents(self, request: pb.SweepDocumentsRequest) -> pb.SweepDocumentsResponse:
        await self.weather.before("words")
        response = pb.SweepDocumentsResponse()
        for item in request.items:
            outcome = response.outcomes.add()
            for engine in (WORDS, VECTORS):
                index = self.index(engine, request.project, request.generation)
                deleted = await self._sweep(index, item, outcome)
                if engine == WORDS:
                    outcome.deleted_words = deleted
                else:
                    outcome.deleted_vectors = deleted
        await self.weather.after("words")
        return response

    async def _sweep(
        self, index: dict[str, Any], item: pb.SweepDocumentsItem, outcome: pb.SweepDocumentsOutcome
    ) -> int:
        kept, deleted = set(item.keep_chunk_ids), 0
        unlisted = [
            entry
            for entry in index.values()
            if entry.document_id == item.document_id
            and entry.id not in kept
            and (entry.grain == pb.GRAIN_CHUNK or item.remove_document)
        ]
        outcome.later_stamp |= any(entry.stamp > item.up_to_stamp for entry in unlisted)
        doomed = [(entry.id, entry.stamp) for entry in unlisted if entry.stamp <= item.up_to_stamp]
        for entry_id, stamp in doomed:
            await self.weather.pause()
            if entry_id in index and index[entry_id].stamp == stamp:
                del index[entry_id]
                self.watch(item.document_id)
                deleted += 1
        return deleted

    async def drop_generation(self, request: pb.DropGenerationRequest) -> pb.DropGenerationResponse:
        await self.weather.before("words")
        dropped = []
        for engine in (WORDS, VECTORS):
            dropped.append(bool(self.indices.pop((engine, request.project, request.generation), None)))
            await self.weather.pause()
        await self.weather.after("words")
        return pb.DropGenerationResponse(dropped_words=dropped[0], dropped_vectors=dropped[1])

    async def list_entries(self, request: pb.ListEntriesRequest) -> pb.ListEntriesResponse:
        await self.weather.before("words")
        index = self.index(request.engine, request.project, request.generation)
        entries = sorted(index.values(), key=lambda entry: (entry.document_id, entry.id))
        rest = [entry for entry in entries if f"{entry.document_id} {entry.id}" > request.page_token]
        size = request.page_size or 1000
        page = rest[:size]
        response = pb.ListEntriesResponse(entries=map(_name, page))
        if len(rest) > size:
            response.next_page_token = f"{page[-1].document_id} {page[-1].id}"
        return response


def _name_entries(document: pb.WordDocument) -> list[pb.Entry]:
    shared = {"document_id": document.document_id, "stamp": document.stamp}
    named = [pb.Entry(id=chunk.id, grain=pb.GRAIN_CHUNK, **shared) for chunk in document.chunks]  # type: ignore[arg-type]
    if document.text:
        named.append(pb.Entry(id=document.document_id, grain=pb.GRAIN_DOCUMENT, **shared))  # type: ignore[arg-type]
    return named


def _name(entry: Any) -> pb.Entry:
    return pb.Entry(id=entry.id, document_id=entry.document_id, grain=entry.grain, stamp=entry.stamp)


def of_document(entries: Iterable[Any], document_id: str) -> list[Any]:
    """Those of one document."""
    return [entry for entry in entries if entry.document_id == document_id]
