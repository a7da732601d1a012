"""Runs one leg of a retrieval, by words or by meaning, within its own time; knows nothing of the other legs."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from refdesk.api.embedder.v1 import embedder_pb2 as embedder_pb
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.errors import (
    DeadlineExceeded,
    Internal,
    PermissionDenied,
    RefdeskError,
    ResourceExhausted,
    Unauthenticated,
    Unavailable,
)
from refdesk.language import UNDETERMINED, query_language
from refdesk.lex import Lex
from refdesk.rpc import deadline
from refdesk.rpc.outages import Outage
from refdesk.search.analysis import QueryAnalysis, analyze_query, guess_language
from refdesk.search.breaker import Breaker
from refdesk.search.engines.interface import (
    Candidates,
    Evidence,
    Filter,
    Found,
    IndexName,
    KeywordIndex,
    ScoredChunk,
    VectorIndex,
)
from refdesk.search.grains import combine_lexical, combine_semantic
from refdesk.search.settings import SearchSettings
from refdesk.search.words import read_wanted

COVERED_HITS = 20
"""Best lexical hits whose coverage is told: the relevance floor looks at these."""
MODELS_SECONDS = 60.0
"""How long it is remembered what languages a model speaks."""

AWAY = (Unavailable, ResourceExhausted, Internal, Unauthenticated, PermissionDenied)
"""An engine that lets search not in is as good as away: nothing that the caller could do better."""

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class Look:
    """What all legs of a retrieval share."""

    index: IndexName
    model_id: str
    narrowed: Filter
    candidates: Candidates
    chunks_only: bool = False
    floor_cosine: float | None = None
    """Cosine at which nobody looks at evidence of words; None: somebody always does."""

    def grains(self, found: Found) -> Found:
        """What was found, without whole documents where chunks alone are asked."""
        return found._replace(documents={}) if self.chunks_only else found


@dataclass(frozen=True)
class LegOutcome:
    """What one leg found; a reason says why it did not run, and `failed` whether it should have."""

    hits: list[ScoredChunk] = field(default_factory=list)
    query: QueryAnalysis | None = None
    evidence: dict[str, Evidence] = field(default_factory=dict)
    vector: bytes = b""
    cosines: dict[str, float] = field(default_factory=dict)
    measured: dict[str, float] = field(default_factory=dict)
    """Cosines of those of `asked` that have a vector."""
    asked: frozenset[str] = frozenset()
    """Chunks that other legs had found when it looked."""
    reason: str = ""
    failed: bool = False


class _Absent(Exception):
    """The leg does not go on, for a reason of the contract."""

    def __init__(self, reason: str, *, failed: bool) -> None:
        super().__init__(reason)
        self.outcome = LegOutcome(reason=reason, failed=failed)


class _Stage:
    """One thing that a leg waits for: its time, its breaker, and what its absence is called."""

    def __init__(self, name: str, seconds: float, settings: SearchSettings) -> None:
        self._name = name
        self._seconds = seconds
        self._breaker = Breaker(settings.timeouts_until_skipped, settings.probe_seconds)
        self._outage = Outage(needed=name)

    async def run(self, work: Awaitable[_Answer]) -> _Answer:
        """What `work` answers. Raises: _Absent when it did not answer; InvalidArgument and NotFound as they came."""
        if not self._breaker.allows():
            _forget(work)
            raise _Absent(f"{self._name}_timeout", failed=True)
        allowed = deadline.remaining_seconds(self._seconds + deadline.HOP_MARGIN_SECONDS) - deadline.HOP_MARGIN_SECONDS
        try:
            with deadline.limit(allowed):
                async with asyncio.timeout(allowed):
                    answer = await work
        except (TimeoutError, DeadlineExceeded):
            if allowed >= 0.9 * self._seconds:  # a caller in a hurry says nothing about the engine
                self._breaker.time_out()
                self._outage.fail(f"{self._name}_timeout")
            raise _Absent(f"{self._name}_timeout", failed=True) from None
        except AWAY as error:
            self._outage.fail(f"{self._name}_unavailable", error.message)
            raise _Absent(f"{self._name}_unavailable", failed=True) from None
        self._breaker.succeed()
        self._outage.succeed()
        return answer


class LexicalLeg:
    """Finds by words."""

    def __init__(self, settings: SearchSettings, words: KeywordIndex) -> None:
        self._is_on = "lexical" in settings.legs
        self._words = words
        self._stage = _Stage("lexical", settings.lexical_timeout_seconds, settings)

    async def run(self, look: Look, text: str, lex: Lex | None = None) -> LegOutcome:
        """The chunks that hold the query's words; with `lex`, of the documents alone that fit it."""
        if not self._is_on:
            return LegOutcome(reason="switched_off")
        try:
            return await self._stage.run(self._find(look, text) if lex is None else self._find_wanted(look, lex))
        except _Absent as absent:
            return absent.outcome

    async def weigh(self, look: Look, outcome: LegOutcome) -> LegOutcome:
        """What this leg found, with evidence of the best hits; without evidence nothing of it can be judged, so then it failed."""
        if outcome.query is None or not outcome.hits:
            return outcome
        ids = [hit.chunk_id for hit in outcome.hits]
        named = ids if outcome.query.identifiers else []
        weighing = self._words.weigh(look.index, outcome.query, ids[:COVERED_HITS], named)
        try:
            return replace(outcome, evidence=await self._stage.run(weighing))
        except _Absent as absent:
            return absent.outcome

    async def _find(self, look: Look, text: str) -> LegOutcome:
        query = analyze_query(text, await self._words.list_languages(look.index))
        if not query.words:
            return LegOutcome(reason="no_searchable_words")
        found = await self._words.search(look.index, query, look.narrowed, look.candidates)
        return LegOutcome(combine_lexical(look.grains(found)), query)

    async def _find_wanted(self, look: Look, lex: Lex) -> LegOutcome:
        wanted = read_wanted(lex)
        if not wanted.held:
            return LegOutcome(reason="no_searchable_words")
        query = analyze_query(lex.wanted_text, await self._words.list_languages(look.index))
        found = await self._words.search(look.index, query, look.narrowed, look.candidates, wanted)
        return LegOutcome(combine_lexical(look.grains(found)), query)


class SemanticLeg:
    """Finds by meaning: of a query, or of a made-up passage."""

    def __init__(self, settings: SearchSettings, words: KeywordIndex, vectors: VectorIndex, embedder: Embedder) -> None:
        self._is_on = "semantic" in settings.legs
        self._words = words
        self._vectors = vectors
        self._embedder = embedder
        self._embedding = _Stage("embedder", settings.embed_timeout_seconds, settings)
        self._searching = _Stage("vector", settings.vector_timeout_seconds, settings)
        self._measuring = _Stage("vector", settings.vector_timeout_seconds, settings)
        self._languages: dict[str, frozenset[str]] = {}
        self._languages_until = 0.0

    async def run(self, look: Look, text: str, purpose: embedder_pb.Purpose, beside: Sequence[str] = ()) -> LegOutcome:
        """The chunks that are nearest in meaning, and cosines of those that `beside` names by the time that the text is embedded.

        Raises: NotFound, InvalidArgument where model and index do not fit: no degradation.
        """
        if not self._is_on:
            return LegOutcome(reason="switched_off")
        try:
            if reason := self._vectors.not_ready_reason(look.index):
                raise _Absent(reason, failed=True)
            await self._check_language(look, text)
            vector = await self._embed(look.model_id, text, purpose)
            return await self._find(look, vector, frozenset(beside))
        except _Absent as absent:
            return absent.outcome

    async def measure(self, look: Look, vector: bytes, chunk_ids: list[str]) -> dict[str, float]:
        """Cosines of chunks that other legs found; empty when they cannot be had in time."""
        if not chunk_ids:
            return {}
        try:
            return await self._measuring.run(self._vectors.measure(look.index, vector, chunk_ids))
        except _Absent:
            return {}

    async def _find(self, look: Look, vector: bytes, asked: frozenset[str]) -> LegOutcome:
        try:
            async with asyncio.TaskGroup() as group:
                # It begins when this task waits, so it is sent right behind the search: no second round trip.
                measuring = group.create_task(self.measure(look, vector, sorted(asked)))
                search = self._vectors.search(look.index, vector, look.narrowed, look.candidates)
                found = await self._searching.run(search)
                cosines = {hit.chunk_id: hit.score for hit in found.chunks}
                hits = combine_semantic(look.grains(found))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return LegOutcome(hits, vector=vector, cosines=cosines, measured=measuring.result(), asked=asked)

    async def _check_language(self, look: Look, text: str) -> None:
        spoken = await self._list_languages(look.model_id)
        if not spoken:
            return
        language = query_language(text)
        if language == UNDETERMINED:  # its letters do not tell; its small words may, among the languages of the index
            language = guess_language(text, await self._list_indexed(look.index))
        if language and language not in spoken:
            raise _Absent("language_unsupported", failed=False)

    async def _list_indexed(self, index: IndexName) -> frozenset[str]:
        try:
            return await self._words.list_languages(index)
        except RefdeskError:
            return frozenset()

    async def _list_languages(self, model_id: str) -> frozenset[str]:
        if model_id not in self._languages or time.monotonic() > self._languages_until:
            response = await self._embedding.run(self._embedder.list_models(embedder_pb.ListModelsRequest()))
            self._languages = {model.model_id: frozenset(model.languages) for model in response.models}
            self._languages_until = time.monotonic() + MODELS_SECONDS
        return self._languages.get(model_id, frozenset())

    async def _embed(self, model_id: str, text: str, purpose: embedder_pb.Purpose) -> bytes:
        request = embedder_pb.EmbedTextsRequest(model_id=model_id, purpose=purpose, texts=[text])
        (item,) = (await self._embedding.run(self._embedder.embed_texts(request))).items
        if item.WhichOneof("outcome") != "vector":
            raise _Absent("over_window", failed=False)
        return item.vector


def _forget(work: Awaitable[object]) -> None:
    """Work that is never awaited would be warned of."""
    if asyncio.iscoroutine(work):
        work.close()
