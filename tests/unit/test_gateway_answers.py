"""Hydrating only as far as needed answers what hydrating everything does."""

from __future__ import annotations

import random
from typing import Any

import pytest

from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.api.search.v1 import search_pb2
from refdesk.gateway import answers
from refdesk.gateway.answers import Question, SearchCore
from refdesk.gateway.profiles import DOCS

pytestmark = pytest.mark.anyio


class Engines:
    """Both services: made-up ranked lists, chunks of few documents and sections, some of them gone."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        ids = [f"c{number:03}" for number in range(rng.randrange(5, 140))]
        self.places = {one: (f"d{rng.randrange(1 + len(ids) // 4)}", f"s{rng.randrange(3)}") for one in ids}
        self.gone = {one for one in ids if rng.random() < rng.choice((0.0, 0.1))}
        kinds = (search_pb2.LEG_KIND_LEXICAL, search_pb2.LEG_KIND_SEMANTIC)
        lists = [rng.sample(ids, min(len(ids), 100)) for _ in kinds]
        self.legs = [
            search_pb2.LegResult(
                kind=kind,
                status=search_pb2.LEG_STATUS_RAN,
                hits=[search_pb2.Hit(chunk_id=one, cosine=0.9) for one in some],
            )
            for kind, some in zip(kinds, lists, strict=True)
        ]
        self.hydrated_count = 0

    async def retrieve(self, _: Any) -> Any:
        return search_pb2.RetrieveResponse(legs=self.legs)

    async def hydrate_chunks(self, request: Any) -> Any:
        self.hydrated_count += len(request.chunk_ids)
        chunks = [
            docstore_pb2.HydratedChunk(chunk_id=one, document_id=self.places[one][0], breadcrumb=[self.places[one][1]])
            for one in request.chunk_ids
            if one not in self.gone
        ]
        return docstore_pb2.HydrateChunksResponse(chunks=chunks)

    async def floor(self, _: Any) -> None:
        return None

    def newest_floor(self, _: Any) -> None:
        return None


async def ask(engines: Engines, limit: int) -> list[tuple[str, float]]:
    core = SearchCore(engines, engines, engines)  # type: ignore[arg-type]
    project = docstore_pb2.Project(slug="p", live_generation="g", model_id="m")
    answer = await core.answer(Question(project, "q", limit, search_pb2.Filter(), DOCS))
    return [(result.chunk.chunk_id, result.score) for result in answer.results]


async def test_hydrating_as_far_as_needed_answers_what_hydrating_all_does(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up = {1: 0, 1000: 0}
    for seed in range(150):
        limit = random.Random(seed).choice((1, 5, 20))
        found = {}
        for first in looked_up:
            monkeypatch.setattr(answers, "FIRST_HYDRATED", first)
            engines = Engines(seed)
            found[first] = await ask(engines, limit)
            looked_up[first] += engines.hydrated_count
        assert found[1] == found[1000], seed
    assert looked_up[1] < looked_up[1000], "or there is no point in it"
