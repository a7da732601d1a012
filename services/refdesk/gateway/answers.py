"""The one search core of every surface: retrieve, fuse, hydrate, judge, group; knows nothing of MCP or of wording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.api.search.v1.search_protocol import Search
from refdesk.gateway import metrics
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.floor import Evidence, Floor, clears
from refdesk.gateway.fusion import Fused, RankedLeg, best_possible, cap_groups, discount_sections, fuse
from refdesk.gateway.legs import HYBRID, LEXICAL, AbsentLeg, Legs, read_legs
from refdesk.gateway.profiles import Grouping, Profile

LEG_KINDS = {
    LEXICAL: (search_api.LEG_KIND_LEXICAL,),
    "semantic": (search_api.LEG_KIND_SEMANTIC,),
    HYBRID: (search_api.LEG_KIND_LEXICAL, search_api.LEG_KIND_SEMANTIC),
}

ABOVE_ANY_COSINE = 2.0
"""Given as the floor's cosine where that is not known: evidence of words is told wherever meaning was searched."""
FIRST_HYDRATED = 3
"""Chunks that are hydrated at first for each result that is wanted: of 140 questions all but two found five results among 15."""


@dataclass(frozen=True, slots=True)
class AskedLeg:
    """One way to look; `weight` counts beside the profile's."""

    kind: search_api.LegKind
    text: str
    weight: float = 1.0
    syntax: search_api.LegSyntax = search_api.LEG_SYNTAX_UNSPECIFIED
    """How the text of a leg by words is read."""


@dataclass(frozen=True, slots=True)
class Question:
    """What to search for, where, and for which surface: `text` in the legs of a `mode`, or `legs` each for itself."""

    project: docstore_api.Project
    text: str
    limit: int
    filter: search_api.Filter
    profile: Profile
    mode: str = HYBRID
    embedded_share: float = 1.0
    """Of the documents that are to have vectors, those that have them: while most have none, meaning weighs little."""
    legs: tuple[AskedLeg, ...] = ()

    @property
    def asked(self) -> Sequence[AskedLeg]:
        """The legs that are asked."""
        return self.legs or [AskedLeg(kind, self.text) for kind in LEG_KINDS[self.mode]]


def embedded_share(stats: docstore_api.GetStatsResponse) -> float:
    """Of the documents that are to have vectors, those that have them; 1 where none is to have any."""
    return stats.embedded_count / stats.embeddable_count if stats.embeddable_count else 1.0


@dataclass(frozen=True, slots=True)
class Result:
    """One chunk of an answer; `score` is its fused score, `cosine` None where it has no vector or meaning was not searched."""

    chunk: docstore_api.HydratedChunk
    score: float
    cosine: float | None
    share: float = 0.0
    """Its fused score over the best possible one, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Results, the best first; `mode` is what ran, `absent` what did not and why; `is_good` False: below the floor."""

    results: tuple[Result, ...]
    mode: str
    absent: tuple[AbsentLeg, ...]
    is_good: bool

    @property
    def semantic_ran(self) -> bool:
        """Whether meaning was searched."""
        return self.mode != LEXICAL

    @property
    def degraded(self) -> str:
        """Why less was searched than should have been; empty where all of it was."""
        return ", ".join(dict.fromkeys(leg.reason for leg in self.absent if leg.failed))

    @property
    def has_failed_leg(self) -> bool:
        """Whether a leg did not answer, so that nothing found proves nothing."""
        return any(leg.failed for leg in self.absent)


@dataclass(frozen=True, slots=True)
class Trace:
    """All that an answer came from: what the legs gave, fused to the end, what of it is current, what is kept, and what the floor says."""

    legs: Legs
    fused: Sequence[Fused]
    chunks: Mapping[str, docstore_api.HydratedChunk]
    kept: Sequence[Fused]
    floor: Floor | None
    """None where the surface has none, or the model is not known."""
    evidence: Evidence

    @property
    def is_good(self) -> bool:
        """Whether the floor lets it through."""
        return self.floor is None or clears(self.floor, self.evidence)


@dataclass(frozen=True, slots=True)
class _Found:
    legs: Legs
    untold: bool
    """Whether evidence of words was left out, as none was needed."""
    chunks: dict[str, docstore_api.HydratedChunk]
    stale: set[str]
    kept: Sequence[Fused]
    ran_short: bool
    ranked: Sequence[RankedLeg] = ()
    """What was fused."""


class SearchCore:
    """Answers questions with one call to search, and as a rule one to docstore."""

    def __init__(self, docstore: Docstore, search: Search, catalog: Catalog) -> None:
        self._docstore = docstore
        self._search = search
        self._catalog = catalog

    async def answer(self, question: Question) -> Answer:
        """The best current chunks.

        Raises: Unavailable when no leg answered, or docstore did not; InvalidArgument when nothing can be searched for.
        """
        found = await self._find(question)
        if found.ran_short:
            # Documents changed while it was searched: what replaced the dropped hits is searchable by now.
            metrics.REPEATED_SEARCHES.inc()
            found = await self._find(question)
        metrics.SEARCHES.labels(found.legs.mode).inc()
        for name in {leg.name for leg in found.legs.absent if leg.failed}:
            metrics.DEGRADED_SEARCHES.labels(name).inc()
        best = best_possible(found.ranked)
        results = tuple(
            Result(
                found.chunks[hit.chunk_id],
                hit.score,
                found.legs.cosines.get(hit.chunk_id),
                min(1.0, hit.score / best) if best else 0.0,
            )
            for hit in found.kept
        )
        return Answer(results, found.legs.mode, found.legs.absent, await self._is_good(question, found))

    async def trace(self, question: Question) -> Trace:
        """What the answer to a question comes from; it costs more than the answer, for everything is looked up.

        Raises: as `answer`.
        """
        profile = question.profile
        legs = await self._retrieve(question, ABOVE_ANY_COSINE)
        fused = fuse(legs.ranked(profile, question.embedded_share), profile.kept + profile.spare)
        found = _Found(legs, False, {}, set(), (), False)
        await self._look_up(question, found, list(dict.fromkeys((*(hit.chunk_id for hit in fused), *legs.coverages))))
        current = [hit for hit in fused if hit.chunk_id in found.chunks][: profile.kept]
        kept = _group(question, found.chunks, current)
        floor = await self._catalog.floor(question.project) if profile.has_floor else None
        return Trace(legs, fused, found.chunks, kept, floor, _evidence(found))

    async def _find(self, question: Question) -> _Found:
        """Hydrates no further down than the results can come from: a score only falls by grouping."""
        profile = question.profile
        floor = self._catalog.newest_floor(question.project)
        floor_cosine = ABOVE_ANY_COSINE if floor is None else floor.cosine
        legs = await self._retrieve(question, floor_cosine)
        ranked = legs.ranked(profile, question.embedded_share)
        asked = fuse(ranked, profile.kept + profile.spare)
        untold = max(legs.cosines.values(), default=-1.0) >= floor_cosine
        found = _Found(legs, untold, {}, set(), (), False, ranked)
        position, step = 0, FIRST_HYDRATED * question.limit
        while position < len(asked):
            batch = asked[position : position + step]
            await self._look_up(question, found, [hit.chunk_id for hit in batch])
            position += len(batch)
            current = [hit for hit in asked[:position] if hit.chunk_id in found.chunks][: profile.kept]
            kept = _group(question, found.chunks, current)
            rest = asked[position].score if position < len(asked) else 0.0
            if len(kept) == question.limit and kept[-1].score > rest:
                return replace(found, kept=kept)
            step = len(asked)
        short = bool(found.stale) and len(found.chunks) < min(profile.kept, len(asked))
        return replace(found, kept=kept if asked else (), ran_short=short)

    async def _retrieve(self, question: Question, floor_cosine: float) -> Legs:
        response = await self._search.retrieve(_retrieve_request(question, floor_cosine))
        return read_legs(response.legs, [leg.weight for leg in question.asked])

    async def _look_up(self, question: Question, found: _Found, chunk_ids: Sequence[str]) -> None:
        """Adds to what was found which of these chunks are current, and which are not."""
        chunks = await self._hydrate(question, chunk_ids)
        stale = set(chunk_ids) - chunks.keys()
        metrics.STALE_HITS.inc(len(stale))
        found.chunks.update(chunks)
        found.stale.update(stale)

    async def _hydrate(self, question: Question, chunk_ids: Sequence[str]) -> Mapping[str, docstore_api.HydratedChunk]:
        if not chunk_ids:
            return {}
        request = docstore_api.HydrateChunksRequest(
            project=question.project.slug,
            generation=question.project.live_generation,
            chunk_ids=chunk_ids,
            include_neighbors=question.profile.has_neighbours,
        )
        response = await self._docstore.hydrate_chunks(request)
        return {chunk.chunk_id: chunk for chunk in response.chunks}

    async def _is_good(self, question: Question, found: _Found) -> bool:
        # Asked of the embedder's catalog only where meaning was searched: when the embedder is down, nothing waits for it.
        if not question.profile.has_floor or not found.legs.semantic_ran:
            return True
        floor = await self._catalog.floor(question.project)
        if floor is None or clears(floor, _evidence(found)):
            return True
        if found.untold:
            # Meaning decided by a hit that is no longer current, or the floor was raised meanwhile.
            metrics.REPEATED_SEARCHES.inc()
            found = replace(found, legs=await self._retrieve(question, ABOVE_ANY_COSINE))
            if clears(floor, _evidence(found)):
                return True
        # Unless one of the best by words has no vector yet: only now does it matter, so only now are they looked up.
        unknown = found.legs.coverages.keys() - found.chunks.keys() - found.stale
        await self._look_up(question, found, sorted(unknown))
        good = clears(floor, _evidence(found))
        if not good:
            metrics.NO_GOOD_MATCH.inc()
        return good


def _group(
    question: Question, chunks: Mapping[str, docstore_api.HydratedChunk], current: Sequence[Fused]
) -> Sequence[Fused]:
    places = {}
    for hit in current:
        chunk = chunks[hit.chunk_id]
        places[hit.chunk_id] = (chunk.document_id, tuple(chunk.breadcrumb))
    by_section = question.profile.grouping is Grouping.SECTION
    return cap_groups(
        discount_sections(current, places),
        lambda chunk_id: places[chunk_id] if by_section else places[chunk_id][0],
        question.profile.most_per_group,
        question.limit,
    )


def _retrieve_request(question: Question, floor_cosine: float) -> search_api.RetrieveRequest:
    profile = question.profile
    return search_api.RetrieveRequest(
        project=question.project.slug,
        generation=question.project.live_generation,
        model_id=question.project.model_id,
        filter=question.filter,
        legs=[search_api.Leg(kind=leg.kind, text=leg.text, syntax=leg.syntax) for leg in question.asked],
        chunk_candidates=profile.chunk_candidates,
        chunks_per_document=profile.chunks_per_document,
        document_candidates=profile.document_candidates,
        chunks_only=profile.chunks_only,
        floor_cosine=floor_cosine,
    )


def _evidence(found: _Found) -> Evidence:
    legs, stale = found.legs, found.stale
    coverages = _leave_out(stale, legs.coverages)
    return Evidence(
        semantic_ran=legs.semantic_ran,
        lexical_failed=legs.lexical_failed,
        best_cosine=max(_leave_out(stale, legs.cosines).values(), default=None),
        best_coverage=max(coverages.values(), default=0.0),
        identifier_stands_whole=bool(legs.identifier_matches - stale),
        lexical_hit_lacks_vector=any(
            chunk in found.chunks and not found.chunks[chunk].has_vector for chunk in coverages
        ),
    )


def _leave_out(stale: Set[str], values: Mapping[str, float]) -> Mapping[str, float]:
    return {chunk: value for chunk, value in values.items() if chunk not in stale} if stale else values
