"""Words that go through the real writer for OpenSearch to a bulk request in memory, whose items fail one by one; knows no worker."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from fakes.search import WORDS, FakeSearch
from refdesk.api.search.v1 import search_pb2 as pb
from refdesk.engines.opensearch.address import Names, read_address
from refdesk.engines.opensearch.faults import Faults
from refdesk.engines.opensearch.settings import OpenSearchSettings
from refdesk.search.engines.interface import Grain, WordDocument
from refdesk.search.engines.opensearch_entries import Encoded, encode_documents
from refdesk.search.engines.opensearch_writer import Writer
from refdesk.search.messages import read_word_documents
from simulations.weather import SimulatedWeather

NAMES = Names("search.words_url", "search.opensearch")
ADDRESS = read_address("opensearch://127.0.0.1:9200", NAMES)
ALIASES = {Grain.CHUNK: "chunks", Grain.DOCUMENT: "documents"}
BUSY = {"status": 429, "error": {"type": "rejected_execution_exception"}}
REFUSED = {"status": 400, "error": {"type": "mapper_parsing_exception"}}
CONFLICT = {"status": 409, "error": {"type": "version_conflict_engine_exception"}}


class BulkSearch(FakeSearch):
    """As FakeSearch, but each entry of words is an item of a bulk request that may be busy, refused or outdone."""

    weather: SimulatedWeather

    def __init__(self, weather: SimulatedWeather) -> None:
        super().__init__(weather)
        self.settings = OpenSearchSettings()
        self.faults = Faults(ADDRESS, NAMES, "")

    async def write_words(self, request: pb.WriteWordsRequest) -> pb.WriteWordsResponse:
        await self.weather.before("words")
        reader = SimpleNamespace(client=_Client(self, request), names=SimpleNamespace(aliases=ALIASES))
        written = await Writer(reader, _Child()).write(read_word_documents(request.documents))  # type: ignore[arg-type]
        await self.weather.after("words")
        return pb.WriteWordsResponse(written_count=written.written_count, superseded_ids=written.superseded_ids)


class _Child:
    """Encodes in this process."""

    async def call(
        self, _: str, aliases: Mapping[Grain, str], documents: Sequence[WordDocument], *, timeout_seconds: float
    ) -> list[Encoded]:
        return encode_documents(aliases, documents)


class _Client:
    """Answers `POST /_bulk` of one call."""

    def __init__(self, search: BulkSearch, request: pb.WriteWordsRequest) -> None:
        self.settings, self.faults = search.settings, search.faults
        self._search = search
        self._index = search.index(WORDS, request.project, request.generation)

    async def write(self, method: str, path: str, body: bytes, params: Mapping[str, str]) -> dict[str, Any]:
        assert (method, path) == ("POST", "/_bulk")
        lines = [json.loads(line) for line in body.splitlines()]
        items = []
        for head, entry in zip(lines[::2], lines[1::2], strict=True):
            items.append({"index": self._put(head["index"], entry)})
            await self._search.weather.pause()
        return {"items": items}

    def _put(self, head: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
        dice, weather = self._search.weather.random.random(), self._search.weather
        if weather.failing and dice < 0.1:
            answer = BUSY if dice < 0.08 else REFUSED
            weather.counts[f"item answered {answer['status']}"] += 1
            return answer
        standing = self._index.get(head["_id"])
        if standing and standing.stamp > head["version"]:
            return CONFLICT
        grain = pb.GRAIN_CHUNK if head["_index"] == ALIASES[Grain.CHUNK] else pb.GRAIN_DOCUMENT
        self._index[head["_id"]] = pb.Entry(
            id=head["_id"], document_id=entry["document_id"], stamp=head["version"], grain=grain
        )
        return {"status": 200}
