"""Runs the legs of a retrieval side by side and puts together what they found; knows no engine and no fusion."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from refdesk.api.embedder.v1 import embedder_pb2 as embedder_pb
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.api.search.v1 import search_pb2 as pb
from refdesk.lex import parse
from refdesk.search.engines.interface import KeywordIndex, VectorIndex
from refdesk.search.legs import LegOutcome, LexicalLeg, Look, SemanticLeg
from refdesk.search.metrics import LEG_SECONDS
from refdesk.search.settings import SearchSettings
from refdesk.telemetry import tracing

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
        if _words_decide(look, ran, cosines):
            ran = [await self._weigh(look, one) for one in ran]
        matches = {id for one in ran for id, evidence in one.outcome.evidence.items() if evidence.identifier_match}
        return pb.RetrieveResponse(legs=[_build_result(one, cosines, matches) for one in ran])

    async def _run_all(self, look: Look, legs: Sequence[pb.Leg]) -> list[_Ran]:
        found_by_words: list[str] = []
        measuring = _choose_measuring(legs)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._run_timed(look, leg, found_by_words, is_measuring=leg is measuring))
                    for leg in legs
                ]
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _run_timed(self, look: Look, leg: pb.Leg, found_by_words: list[str], *, is_measuring: bool) -> _Ran:
        started = time.perf_counter()
        with tracing.span(f"leg {_NAMES[leg.kind]}", gen_ai_operation_name="retrieval"):
            outcome = await self._run_leg(look, leg, found_by_words, is_measuring=is_measuring)
        elapsed_seconds = time.perf_counter() - started
        LEG_SECONDS.labels(_NAMES[leg.kind], outcome.reason or "ran").observe(elapsed_seconds)
        return _Ran(leg.kind, outcome, elapsed_seconds)

    async def _run_leg(self, look: Look, leg: pb.Leg, found_by_words: list[str], *, is_measuring: bool) -> LegOutcome:
        if leg.kind == pb.LEG_KIND_LEXICAL:
            lex = parse(leg.text) if leg.syntax == pb.LEG_SYNTAX_LEX else None
            outcome = await self._lexical.run(look, leg.text, lex)
            found_by_words += [hit.chunk_id for hit in outcome.hits[:MEASURED_HITS]]
            return outcome
        purpose = embedder_pb.PURPOSE_QUERY if leg.kind == pb.LEG_KIND_SEMANTIC else embedder_pb.PURPOSE_PASSAGE
        return await self._semantic.run(look, leg.text, purpose, found_by_words if is_measuring else ())

    async def _measure(self, look: Look, ran: Sequence[_Ran]) -> dict[str, float]:
        """Cosines with the query of what only words found; the query is the first semantic leg's, else the first made-up answer.

        As a rule that leg was asked in time; what words found later than it looked is asked now.
        """
        by_meaning = sorted((one for one in ran if one.outcome.vector), key=lambda one: _is_made_up(one.kind))
        if not by_meaning:
            return {}
        first = by_meaning[0].outcome
        found = {hit.chunk_id for one in ran if not one.outcome.vector for hit in one.outcome.hits[:MEASURED_HITS]}
        missing = sorted(found - first.cosines.keys() - first.asked)
        return first.measured | await self._semantic.measure(look, first.vector, missing) | first.cosines

    async def _weigh(self, look: Look, ran: _Ran) -> _Ran:
        return replace(ran, outcome=await self._lexical.weigh(look, ran.outcome))


def _choose_measuring(legs: Sequence[pb.Leg]) -> pb.Leg | None:
    """The leg that measures what words find, where it runs: the first semantic one, else the first made-up answer."""
    by_meaning = (leg for leg in legs if leg.kind != pb.LEG_KIND_LEXICAL)
    return min(by_meaning, key=lambda leg: _is_made_up(leg.kind), default=None)


def _is_made_up(kind: pb.LegKind) -> bool:
    return kind != pb.LEG_KIND_SEMANTIC


def _words_decide(look: Look, ran: Sequence[_Ran], cosines: Mapping[str, float]) -> bool:
    """Whether somebody looks at evidence of words: it takes a third as long as finding by them."""
    if look.floor_cosine is None:
        return True
    by_meaning = [one.outcome.cosines for one in ran if one.outcome.vector]
    best = max(max(known.values(), default=-1.0) for known in (cosines, *by_meaning))
    return bool(by_meaning) and best < look.floor_cosine


def _build_result(ran: _Ran, cosines: Mapping[str, float], matches: set[str]) -> pb.LegResult:
    outcome = ran.outcome
    status = pb.LEG_STATUS_FAILED if outcome.failed else pb.LEG_STATUS_SKIPPED if outcome.reason else pb.LEG_STATUS_RAN
    result = pb.LegResult(
        kind=ran.kind, status=status, reason=outcome.reason, elapsed_microseconds=int(ran.elapsed_seconds * 1e6)
    )
    known, evidence = outcome.cosines or cosines, outcome.evidence
    add = result.hits.add
    for chunk_id, document_id, score in outcome.hits:
        hit = add(chunk_id=chunk_id, document_id=document_id, score=score, cosine=known.get(chunk_id))
        if chunk_id in evidence and (coverage := evidence[chunk_id].coverage) is not None:
            hit.coverage = coverage
        if chunk_id in matches:
            hit.identifier_match = True
    return result
