"""Hydrating only as far as needed answers what hydrating everything does."""

from __future__ import annotations

import random
from typing import Any

import pytest

from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.api.search.v1 import search_pb2
from refdesk.gateway import answers
from refdesk.gateway.answers import Question, SearchCore
from refdesk.gateway.explaining import explain, why_not
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


async def test_a_trace_keeps_what_the_answer_shows_and_says_where_the_rest_went() -> None:
    for seed in range(100):
        engines, limit = Engines(seed), random.Random(seed).choice((1, 5, 20))
        core = SearchCore(engines, engines, engines)  # type: ignore[arg-type]
        question = Question(docstore_pb2.Project(slug="p", live_generation="g"), "q", limit, search_pb2.Filter(), DOCS)
        trace = await core.trace(question)
        assert [(hit.chunk_id, hit.score) for hit in trace.kept] == await ask(engines, limit), seed
        explained = explain(question, trace)
        shown = [one for one in explained["candidates"] if one["result"]]
        assert sorted(one["result"] for one in shown) == list(range(1, len(trace.kept) + 1))
        assert all(one["current"] for one in shown)


def record(path: str, chunk_ids: list[str], **fields: Any) -> docstore_pb2.GetDocumentsItem:
    head = docstore_pb2.Head(
        generation="g", embeddable=True, chunks=[docstore_pb2.ChunkSpan(chunk_id=one) for one in chunk_ids]
    )
    document = docstore_pb2.Document(path=path, source=path.split("/")[0], heads=[head], **fields)
    return docstore_pb2.GetDocumentsItem(document=document)


async def test_why_a_document_is_not_a_result_is_the_first_thing_that_keeps_it_out() -> None:
    engines = Engines(1)
    core = SearchCore(engines, engines, engines)  # type: ignore[arg-type]
    project = docstore_pb2.Project(slug="p", live_generation="g")
    question = Question(project, "q", 5, search_pb2.Filter(), DOCS)
    trace = await core.trace(question)
    narrowed = Question(project, "q", 5, search_pb2.Filter(path_prefix="b", versions=["v2"]), DOCS)
    best, last = trace.kept[0].chunk_id, trace.fused[-1].chunk_id
    unknown = docstore_pb2.GetDocumentsItem(unknown=docstore_pb2.Unknown())
    said = {
        "unknown": why_not(question, trace, "a/x.md", unknown),
        "deleted": why_not(question, trace, "a/x.md", record("a/x.md", [], deleted=True)),
        "filtered": why_not(narrowed, trace, "a/x.md", record("a/x.md", [best])),
        "prefix alike": why_not(narrowed, trace, "bc/x.md", record("bc/x.md", [best])),
        "version": why_not(narrowed, trace, "b/x.md", record("b/x.md", [best])),
        "empty": why_not(question, trace, "a/x.md", record("a/x.md", [])),
        "shown": why_not(question, trace, "a/x.md", record("a/x.md", [best])),
        "low": why_not(question, trace, "a/x.md", record("a/x.md", [last])),
        "not found": why_not(question, trace, "a/x.md", record("a/x.md", ["other"])),
    }
    wanted = {
        "unknown": "no document of that path is known",
        "deleted": "does not exist any more",
        "filtered": "only paths below b were",
        "prefix alike": "only paths below b were",
        "version": "only versions v2 were",
        "empty": "no text that can be searched",
        "shown": "is result 1",
        "low": f"number {len(trace.fused)} of {len(trace.fused)} when fused",
        "not found": "not among the",
    }
    for case, words in wanted.items():
        assert words in said[case], (case, said[case])
    other = Question(docstore_pb2.Project(slug="p", live_generation="h"), "q", 5, search_pb2.Filter(), DOCS)
    assert "has no head in generation h" in why_not(other, trace, "a/x.md", record("a/x.md", [best]))
