"""The search service: chunks in two indices, written by stamp and looked through by legs; knows no engine, no MCP, no fusion."""

from __future__ import annotations

import asyncio

from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.api.search.v1 import search_pb2 as pb
from refdesk.engines.late import waiting_reason
from refdesk.errors import InvalidArgument
from refdesk.search import messages
from refdesk.search.engines.interface import KeywordIndex, VectorIndex, Written
from refdesk.search.metrics import ENTRIES
from refdesk.search.places import Places
from refdesk.search.retrieval import Retrieval
from refdesk.search.settings import SearchSettings


class SearchService:
    """Answers the contract of search.proto over two engines and an embedder."""

    def __init__(self, settings: SearchSettings, words: KeywordIndex, vectors: VectorIndex, embedder: Embedder) -> None:
        self._words = words
        self._vectors = vectors
        self._retrieval = Retrieval(settings, words, vectors, embedder)
        self._places = Places(settings.max_running, settings.max_waiting)
        self._is_started = False

    async def start(self) -> None:
        """Opens both indices. Raises: Unavailable naming the index that cannot be opened."""
        await asyncio.gather(self._words.start(), self._vectors.start())
        self._is_started = True

    async def close(self) -> None:
        """Finishes writes under way and lets go of both indices."""
        self._is_started = False
        await asyncio.gather(self._words.close(), self._vectors.close())

    def not_ready_reason(self) -> str:
        """Empty when searches can be answered, by one of the two at least."""
        if not self._is_started:
            return "indices are being opened"
        reasons = [waiting_reason(engine) for engine in (self._words, self._vectors)]
        return "; ".join(reasons) if all(reasons) else ""

    async def write_words(self, request: pb.WriteWordsRequest) -> pb.WriteWordsResponse:
        """Writes chunks and whole documents to the keyword index."""
        index = messages.read_index(request.project, request.generation)
        written = await self._words.write(index, messages.read_word_documents(request.documents))
        _count("words", written)
        return pb.WriteWordsResponse(written_count=written.written_count, superseded_ids=written.superseded_ids)

    async def write_vectors(self, request: pb.WriteVectorsRequest) -> pb.WriteVectorsResponse:
        """Writes points of the vector index."""
        index = messages.read_index(request.project, request.generation)
        if not request.model_id:
            raise InvalidArgument("model_id is empty; name the model that made the vectors")
        written = await self._vectors.write(index, request.model_id, messages.read_vector_items(request.entries))
        _count("vectors", written)
        return pb.WriteVectorsResponse(written_count=written.written_count, superseded_ids=written.superseded_ids)

    async def get_vectors(self, request: pb.GetVectorsRequest) -> pb.GetVectorsResponse:
        """Finds vectors by the hash of their text."""
        index = messages.read_index(request.project, request.generation)
        found = await self._vectors.find_vectors(index, messages.read_hashes(request))
        return pb.GetVectorsResponse(
            vectors=[pb.FoundVector(text_hash=key, vector=vector) for key, vector in found.items()]
        )

    async def sweep_documents(self, request: pb.SweepDocumentsRequest) -> pb.SweepDocumentsResponse:
        """Sweeps documents from both indices."""
        index = messages.read_index(request.project, request.generation)
        items = messages.read_sweep_items(request.items)
        words, vectors = await asyncio.gather(self._words.sweep(index, items), self._vectors.sweep(index, items))
        response = pb.SweepDocumentsResponse()
        for of_words, of_vectors in zip(words, vectors, strict=True):
            response.outcomes.add(
                deleted_words=of_words.deleted_count,
                deleted_vectors=of_vectors.deleted_count,
                later_stamp=of_words.later_stamp or of_vectors.later_stamp,
            )
        ENTRIES.labels("words", "swept").inc(sum(one.deleted_count for one in words))
        ENTRIES.labels("vectors", "swept").inc(sum(one.deleted_count for one in vectors))
        return response

    async def list_entries(self, request: pb.ListEntriesRequest) -> pb.ListEntriesResponse:
        """A page of what one engine holds."""
        index = messages.read_index(request.project, request.generation)
        after, size = messages.read_page_token(request), messages.read_page_size(request)
        if request.engine == pb.ENGINE_WORDS:
            entries = await self._words.list_entries(index, after, size + 1)
        elif request.engine == pb.ENGINE_VECTORS:
            entries = await self._vectors.list_entries(index, after, size + 1)
        else:
            raise InvalidArgument("engine is neither words nor vectors")
        response = pb.ListEntriesResponse()
        for entry in entries[:size]:
            response.entries.add(
                id=entry.id, document_id=entry.document_id, grain=pb.Grain.ValueType(entry.grain), stamp=entry.stamp
            )
        if len(entries) > size:
            response.next_page_token = messages.write_page_token(request, *entries[size - 1][:2])
        return response

    async def drop_generation(self, request: pb.DropGenerationRequest) -> pb.DropGenerationResponse:
        """Drops an index from both engines."""
        index = messages.read_index(request.project, request.generation)
        words, vectors = await asyncio.gather(self._words.drop(index), self._vectors.drop(index))
        return pb.DropGenerationResponse(dropped_words=words, dropped_vectors=vectors)

    async def retrieve(self, request: pb.RetrieveRequest) -> pb.RetrieveResponse:
        """Runs the legs and answers a ranked list for each."""
        look = messages.read_look(request)
        async with self._places.take():
            return await self._retrieval.run(look, request.legs)


def _count(engine: str, written: Written) -> None:
    ENTRIES.labels(engine, "written").inc(written.written_count)
    ENTRIES.labels(engine, "superseded").inc(len(written.superseded_ids))
