"""Runs the legs of a retrieval side by side and puts together what they found; knows no engine and no fusion."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refdesk.api.embedder.v1 import embedder_pb2 as embedder_pb
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.api.search.v1 import search_pb2 as pb
from refdesk.search.engines.interface import KeywordIndex, VectorIndex
from refdesk.search.legs import LegOutcome, LexicalLeg, Look, SemanticLeg
from refdesk.search.metrics import LEG_SECONDS
from refdesk.search.settings import SearchSettings

MEASURED_HITS = 60
"""Best hits of a leg by words that are given their cosine: no answer looks further down."""

_NAMES = {pb.LEG_KIND_LEXICAL: "lexical", pb.LEG_KIND_SEMANTIC: "semantic", pb.LEG_KIND_HYDE: "hyde"}


@dataclass(frozen=True)
class _Ran:
    kind: pb.LegKind
    outcome: LegOutcome
    elapsed_seconds: float


class Retrieval:
    """One ranked list a leg, with that leg's status."""

    def __init__(self, settings: SearchSettings, words: KeywordIndex, vectors: VectorIndex, embedder: Embedder) -> None:
        self._lexical = LexicalLeg(settings, words)
        self._semantic = SemanticLeg(settings, words, vectors, embedder)

    async def run(self, look: Look, legs: Sequence[pb.Leg]) -> pb.RetrieveResponse:
        """Results in the order of the legs. Raises: NotFound, InvalidArgument where model and index do not fit."""
        ran = await self._run_all(look, legs)
        cosines = await self._measure(look, ran)
        matches = {id for one in ran for id, evidence in one.outcome.evidence.items() if evidence.identifier_match}
        return pb.RetrieveResponse(legs=[_build_result(one, cosines, matches) for one in ran])

    async def _run_all(self, look: Look, legs: Sequence[pb.Leg]) -> list[_Ran]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._run_timed(look, leg)) for leg in legs]
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _run_timed(self, look: Look, leg: pb.Leg) -> _Ran:
        started = time.perf_counter()
        outcome = await self._run(look, leg)
        elapsed_seconds = time.perf_counter() - started
        LEG_SECONDS.labels(_NAMES[leg.kind], outcome.reason or "ran").observe(elapsed_seconds)
        return _Ran(leg.kind, outcome, elapsed_seconds)

    async def _run(self, look: Look, leg: pb.Leg) -> LegOutcome:
        if leg.kind == pb.LEG_KIND_LEXICAL:
            return await self._lexical.run(look, leg.text)
        purpose = embedder_pb.PURPOSE_QUERY if leg.kind == pb.LEG_KIND_SEMANTIC else embedder_pb.PURPOSE_PASSAGE
        return await self._semantic.run(look, leg.text, purpose)

    async def _measure(self, look: Look, ran: Sequence[_Ran]) -> dict[str, float]:
        """Cosines with the query of what only words found; the query is the first semantic leg's, else the first made-up answer."""
        by_meaning = sorted(
            (one for one in ran if one.outcome.vector), key=lambda one: one.kind != pb.LEG_KIND_SEMANTIC
        )
        if not by_meaning:
            return {}
        first = by_meaning[0].outcome
        found = {hit.chunk_id for one in ran if not one.outcome.vector for hit in one.outcome.hits[:MEASURED_HITS]}
        missing = sorted(found - first.cosines.keys())
        return first.cosines | (await self._semantic.measure(look, first.vector, missing) if missing else {})


def _build_result(ran: _Ran, cosines: Mapping[str, float], matches: set[str]) -> pb.LegResult:
    outcome = ran.outcome
    status = pb.LEG_STATUS_FAILED if outcome.failed else pb.LEG_STATUS_SKIPPED if outcome.reason else pb.LEG_STATUS_RAN
    result = pb.LegResult(
        kind=ran.kind, status=status, reason=outcome.reason, elapsed_microseconds=int(ran.elapsed_seconds * 1e6)
    )
    known = outcome.cosines or cosines
    for chunk_id, document_id, score in outcome.hits:
        hit = result.hits.add(chunk_id=chunk_id, document_id=document_id, score=score)
        if (cosine := known.get(chunk_id)) is not None:
            hit.cosine = cosine
        if (evidence := outcome.evidence.get(chunk_id)) is not None and evidence.coverage is not None:
            hit.coverage = evidence.coverage
        if chunk_id in matches:
            hit.identifier_match = True
    return result
