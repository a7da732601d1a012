"""What a retrieval says when engines or the embedder are slow, gone or switched off; over own fakes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from engines.entries import id_of, vector_of
from refdesk.api.embedder.v1 import embedder_pb2 as embedder_pb
from refdesk.api.search.v1 import search_pb2 as pb
from refdesk.errors import (
    Internal,
    PermissionDenied,
    RefdeskError,
    ResourceExhausted,
    Unauthenticated,
    Unavailable,
)
from refdesk.rpc import deadline
from refdesk.search.analysis import QueryAnalysis
from refdesk.search.engines.interface import (
    Candidates,
    Entry,
    Evidence,
    Filter,
    Found,
    IndexName,
    ScoredChunk,
    SweepItem,
    Swept,
    VectorItem,
    WordDocument,
    Written,
)
from refdesk.search.service import SearchService
from refdesk.search.settings import SearchSettings
from refdesk.search.words import Wanted

pytestmark = pytest.mark.anyio
FOUND = Found((ScoredChunk(id_of("a1"), id_of("a"), 0.5),), {})
BY_WORDS = Found((ScoredChunk(id_of("b1"), id_of("b"), 2.0),), {})


class Mood:
    """What a fake does when it is asked: answer, raise, or hang until it is let go."""

    def __init__(self) -> None:
        self.error: RefdeskError | None = None
        self.hangs = False
        self.asked_count = 0
        self.asked = asyncio.Event()
        self.release = asyncio.Event()

    async def act(self) -> None:
        self.asked_count += 1
        self.asked.set()
        if self.hangs:
            await self.release.wait()
        if self.error is not None:
            raise self.error


class FakeWords:
    """A keyword index that finds one chunk."""

    def __init__(self, mood: Mood) -> None:
        self._mood = mood
        self.weighing = Mood()

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def write(self, index: IndexName, documents: Sequence[WordDocument]) -> Written:
        return Written(len(documents), ())

    async def sweep(self, index: IndexName, items: Sequence[SweepItem]) -> list[Swept]:
        return []

    async def list_entries(self, index: IndexName, after: tuple[str, str], limit: int) -> list[Entry]:
        return []

    async def drop(self, index: IndexName) -> bool:
        return False

    async def list_languages(self, index: IndexName) -> frozenset[str]:
        return frozenset({"en"})

    async def search(
        self,
        index: IndexName,
        query: QueryAnalysis,
        narrowed: Filter,
        candidates: Candidates,
        wanted: Wanted | None = None,
    ) -> Found:
        await self._mood.act()
        return BY_WORDS

    async def weigh(
        self, index: IndexName, query: QueryAnalysis, covered: Sequence[str], named: Sequence[str]
    ) -> dict[str, Evidence]:
        await self.weighing.act()
        return {id: Evidence(1.0, False) for id in covered}


class FakeVectors:
    """A vector index that finds one chunk."""

    def __init__(self, mood: Mood) -> None:
        self._mood = mood
        self.reason = ""
        self.measured: list[list[str]] = []

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    def not_ready_reason(self, index: IndexName) -> str:
        return self.reason

    async def write(self, index: IndexName, model_id: str, items: Sequence[VectorItem]) -> Written:
        return Written(len(items), ())

    async def find_vectors(self, index: IndexName, text_hashes: Sequence[str]) -> dict[str, bytes]:
        return {}

    async def sweep(self, index: IndexName, items: Sequence[SweepItem]) -> list[Swept]:
        return []

    async def list_entries(self, index: IndexName, after: tuple[str, str], limit: int) -> list[Entry]:
        return []

    async def drop(self, index: IndexName) -> bool:
        return False

    async def search(self, index: IndexName, vector: bytes, narrowed: Filter, candidates: Candidates) -> Found:
        await self._mood.act()
        return FOUND

    async def measure(self, index: IndexName, vector: bytes, chunk_ids: Sequence[str]) -> dict[str, float]:
        self.measured.append(list(chunk_ids))
        return dict.fromkeys(chunk_ids, 0.25)


class FakeEmbedder:
    """An embedder with one direction."""

    def __init__(self, mood: Mood) -> None:
        self._mood = mood

    async def list_models(self, request: embedder_pb.ListModelsRequest) -> embedder_pb.ListModelsResponse:
        await self._mood.act()
        return embedder_pb.ListModelsResponse(models=[embedder_pb.Model(model_id="made", dimension=2)])

    async def embed_texts(self, request: embedder_pb.EmbedTextsRequest) -> embedder_pb.EmbedTextsResponse:
        await self._mood.act()
        return embedder_pb.EmbedTextsResponse(items=[embedder_pb.EmbedTextsItem(vector=vector_of(1, 0))])

    async def count_tokens(self, request: embedder_pb.CountTokensRequest) -> embedder_pb.CountTokensResponse:
        return embedder_pb.CountTokensResponse()


class Desk:
    """A search service over fakes in whatever mood."""

    def __init__(self, settings: SearchSettings) -> None:
        self.words, self.vectors, self.embedder = Mood(), Mood(), Mood()
        self.word_index = FakeWords(self.words)
        self.vector_index = FakeVectors(self.vectors)
        self.service = SearchService(settings, self.word_index, self.vector_index, FakeEmbedder(self.embedder))

    async def ask(self, text: str = "keys") -> list[tuple[int, str]]:
        """Status and reason of the lexical and the semantic leg."""
        return [(leg.status, leg.reason) for leg in await self.retrieve(text)]

    async def retrieve(self, text: str = "keys", **rest: float) -> Sequence[pb.LegResult]:
        """The lexical and the semantic leg."""
        legs = [pb.Leg(kind=pb.LEG_KIND_LEXICAL, text=text), pb.Leg(kind=pb.LEG_KIND_SEMANTIC, text=text)]
        request = pb.RetrieveRequest(project="p", generation="g", model_id="made", legs=legs, **rest)
        response = await self.service.retrieve(request)
        assert all(bool(leg.hits) == (leg.status == pb.LEG_STATUS_RAN) for leg in response.legs)
        return response.legs


RAN = (pb.LEG_STATUS_RAN, "")
QUICK = SearchSettings(
    lexical_timeout_seconds=0.02, vector_timeout_seconds=0.02, embed_timeout_seconds=0.02, probe_seconds=60
)


def failed(reason: str) -> tuple[int, str]:
    return pb.LEG_STATUS_FAILED, reason


def skipped(reason: str) -> tuple[int, str]:
    return pb.LEG_STATUS_SKIPPED, reason


@pytest.mark.parametrize(
    "error",
    [
        Unavailable("gone"),
        ResourceExhausted("full"),
        Internal("a defect"),
        Unauthenticated("no"),
        PermissionDenied("no"),
    ],
)
@pytest.mark.parametrize(
    ("place", "statuses"),
    [
        ("words", [failed("lexical_unavailable"), RAN]),
        ("vectors", [RAN, failed("vector_unavailable")]),
        ("embedder", [RAN, failed("embedder_unavailable")]),
    ],
)
async def test_a_leg_that_fails_is_a_status_and_the_other_goes_on(
    place: str, statuses: list[tuple[int, str]], error: RefdeskError
) -> None:
    desk = Desk(SearchSettings())
    getattr(desk, place).error = error
    assert await desk.ask() == statuses


@pytest.mark.parametrize(
    ("place", "statuses"),
    [
        ("words", [failed("lexical_timeout"), RAN]),
        ("vectors", [RAN, failed("vector_timeout")]),
        ("embedder", [RAN, failed("embedder_timeout")]),
    ],
)
async def test_a_leg_that_hangs_ends_at_its_own_time_and_is_skipped_after_five(
    place: str, statuses: list[tuple[int, str]]
) -> None:
    desk = Desk(QUICK)
    mood: Mood = getattr(desk, place)
    mood.hangs = True
    for _ in range(7):
        assert await desk.ask() == statuses
    assert mood.asked_count == 5


async def test_a_probe_that_succeeds_brings_the_leg_back() -> None:
    desk = Desk(QUICK.model_copy(update={"probe_seconds": 0.01}))
    desk.words.hangs = True
    for _ in range(5):
        await desk.ask()
    desk.words.hangs = False
    with deadline.limit(5):
        while (await desk.ask())[0] != RAN:
            assert deadline.remaining_seconds(5) > 0
    assert await desk.ask() == [RAN, RAN]


async def test_a_caller_in_a_hurry_does_not_count_against_a_leg() -> None:
    desk = Desk(SearchSettings())
    desk.words.hangs = True
    for _ in range(6):
        with deadline.limit(0.03):
            await desk.ask()
    assert desk.words.asked_count == 6
    desk.words.hangs = False
    assert await desk.ask() == [RAN, RAN]


async def test_legs_run_side_by_side() -> None:
    desk = Desk(SearchSettings())
    desk.words.hangs = desk.vectors.hangs = True
    asked = asyncio.create_task(desk.ask())
    async with asyncio.timeout(5):
        await desk.words.asked.wait()
        await desk.vectors.asked.wait()
    desk.words.release.set()
    desk.vectors.release.set()
    assert await asked == [RAN, RAN]


async def test_a_cancelled_retrieval_stops_its_legs() -> None:
    desk = Desk(SearchSettings())
    desk.words.hangs = True
    others = asyncio.all_tasks()
    asked = asyncio.create_task(desk.ask())
    async with asyncio.timeout(5):
        await desk.words.asked.wait()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert asyncio.all_tasks() == others


async def test_a_leg_that_is_switched_off_is_skipped_and_asks_nobody() -> None:
    desk = Desk(SearchSettings(legs=("lexical",)))
    assert await desk.ask() == [RAN, skipped("switched_off")]
    assert (desk.embedder.asked_count, desk.vectors.asked_count) == (0, 0)
    desk = Desk(SearchSettings(legs=("semantic",)))
    assert await desk.ask() == [skipped("switched_off"), RAN]


async def test_an_index_that_is_being_optimised_says_so() -> None:
    desk = Desk(SearchSettings())
    desk.vector_index.reason = "vector_optimizing"
    assert await desk.ask() == [RAN, failed("vector_optimizing")]


async def test_searches_above_the_limit_wait_and_above_that_are_refused() -> None:
    desk = Desk(SearchSettings(max_running=1, max_waiting=1))
    desk.words.hangs = True
    first = asyncio.create_task(desk.ask())
    second = asyncio.create_task(desk.ask())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    with pytest.raises(ResourceExhausted) as refused:
        await desk.ask()
    assert refused.value.retry_after_seconds == 1
    desk.words.release.set()
    assert [await first, await second] == [[RAN, RAN], [RAN, RAN]]


async def test_what_words_found_is_measured_in_the_same_turn_as_the_search() -> None:
    desk = Desk(SearchSettings())
    desk.vectors.hangs = True
    asked = asyncio.create_task(desk.retrieve())
    async with asyncio.timeout(5):
        await desk.vectors.asked.wait()
        await asyncio.sleep(0)
    assert desk.vector_index.measured == [[id_of("b1")]], "while the search is still under way"
    desk.vectors.release.set()
    words, meaning = await asked
    assert [hit.cosine for hit in words.hits] == [0.25]
    assert [hit.chunk_id for hit in meaning.hits] == [id_of("a1")]
    assert len(desk.vector_index.measured) == 1


async def test_what_words_find_too_late_for_that_is_measured_when_it_is_there() -> None:
    desk = Desk(SearchSettings())
    desk.words.hangs = True
    asked = asyncio.create_task(desk.retrieve())
    async with asyncio.timeout(5):
        await desk.vectors.asked.wait()
    desk.words.release.set()
    words, _ = await asked
    assert [hit.cosine for hit in words.hits] == [0.25]
    assert desk.vector_index.measured == [[id_of("b1")]]


async def test_words_are_not_weighed_where_nobody_looks() -> None:
    desk = Desk(SearchSettings())
    await desk.retrieve(floor_cosine=0.5)
    assert desk.word_index.weighing.asked_count == 0
    await desk.retrieve(floor_cosine=0.6)
    assert desk.word_index.weighing.asked_count == 1


async def test_words_that_should_be_weighed_and_cannot_be_have_failed() -> None:
    desk = Desk(SearchSettings())
    desk.word_index.weighing.error = Unavailable("gone")
    assert await desk.ask() == [failed("lexical_unavailable"), RAN]
