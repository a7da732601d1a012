"""Reads what the legs of a search came back with: which ran, which did not and why; knows nothing of texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.errors import InvalidArgument, Unavailable
from refdesk.gateway.floor import JUDGED_LEXICAL_HITS
from refdesk.gateway.fusion import RankedLeg
from refdesk.gateway.metrics import ABSENT_LEGS
from refdesk.gateway.profiles import Profile

LEXICAL, SEMANTIC, HYBRID = "lexical", "semantic", "hybrid"
NAMES = {
    search_api.LEG_KIND_LEXICAL: LEXICAL,
    search_api.LEG_KIND_SEMANTIC: SEMANTIC,
    search_api.LEG_KIND_HYDE: SEMANTIC,
}


@dataclass(frozen=True, slots=True)
class AbsentLeg:
    """A leg that gave nothing: it failed, or (`failed` False) had nothing to do."""

    name: str
    reason: str
    failed: bool


@dataclass(frozen=True, slots=True)
class RanLeg:
    """A leg that ran: its chunks, the best first; `weight` is what its question asked for, beside the profile's."""

    name: str
    chunk_ids: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Legs:
    """The legs of one search, and what their hits say, by chunk id."""

    ran: tuple[RanLeg, ...]
    absent: tuple[AbsentLeg, ...]
    cosines: Mapping[str, float]
    """Of all hits that have one."""
    coverages: Mapping[str, float]
    """Of the best lexical hits, 0 where one has none."""
    identifier_matches: frozenset[str]
    """Chunks in which an identifier of the query stands whole."""

    @property
    def mode(self) -> str:
        """hybrid, lexical or semantic: what ran."""
        names = {leg.name for leg in self.ran}
        return HYBRID if len(names) > 1 else next(iter(names))

    @property
    def semantic_ran(self) -> bool:
        """Whether meaning was searched."""
        return any(leg.name == SEMANTIC for leg in self.ran)

    @property
    def lexical_failed(self) -> bool:
        """Whether words should have been searched and were not."""
        return any(leg.name == LEXICAL and leg.failed for leg in self.absent)

    def ranked(self, profile: Profile, embedded_share: float = 1.0) -> list[RankedLeg]:
        """The lists to fuse, weighted as the profile says; a semantic one beside words only as far as documents have vectors."""
        share = embedded_share if self.mode == HYBRID else 1.0
        weights = {LEXICAL: profile.lexical_weight, SEMANTIC: profile.semantic_weight * share}
        return [RankedLeg(weights[leg.name] * leg.weight, leg.chunk_ids, leg.name == SEMANTIC) for leg in self.ran]


def read_legs(results: Sequence[search_api.LegResult], weights: Sequence[float] = ()) -> Legs:
    """Sorts the legs by how they ended; `weights` are theirs in the same order, 1 where none are given.

    Raises: Unavailable when none ran and one failed; InvalidArgument when none had anything to do.
    """
    weighted = zip(results, weights or [1.0] * len(results), strict=True)
    ran = [(leg, weight) for leg, weight in weighted if leg.status == search_api.LEG_STATUS_RAN]
    absent = tuple(
        AbsentLeg(NAMES[leg.kind], leg.reason, leg.status == search_api.LEG_STATUS_FAILED)
        for leg in results
        if leg.status != search_api.LEG_STATUS_RAN
    )
    for leg in absent:
        ABSENT_LEGS.labels(leg.name, leg.reason).inc()
    if ran:
        return _read_hits(ran, absent)
    reasons = ", ".join(dict.fromkeys(leg.reason for leg in absent))
    if any(leg.failed for leg in absent):
        raise Unavailable(f"nothing was searched ({reasons}), so nothing is known about this question")
    raise InvalidArgument(f"nothing in this query can be searched ({reasons}): ask with other words")


def _read_hits(ran: Sequence[tuple[search_api.LegResult, float]], absent: tuple[AbsentLeg, ...]) -> Legs:
    cosines: dict[str, float] = {}
    coverages: dict[str, float] = {}
    matches: set[str] = set()
    legs = []
    for leg, weight in ran:
        chunk_ids = []
        for hit in leg.hits:  # one pass: hundreds of hits stand between a question and its answer
            chunk_id = hit.chunk_id
            chunk_ids.append(chunk_id)
            if hit.HasField("cosine"):
                cosines[chunk_id] = max(hit.cosine, cosines.get(chunk_id, hit.cosine))
            if hit.identifier_match:
                matches.add(chunk_id)
        if leg.kind == search_api.LEG_KIND_LEXICAL:
            for hit in leg.hits[:JUDGED_LEXICAL_HITS]:
                coverages[hit.chunk_id] = max(hit.coverage, coverages.get(hit.chunk_id, 0.0))
        legs.append(RanLeg(NAMES[leg.kind], tuple(chunk_ids), weight))
    return Legs(tuple(legs), absent, cosines, coverages, frozenset(matches))


WHY: Mapping[str, str] = {LEXICAL: "words", SEMANTIC: "meaning"}


def mode_line(legs_mode: str, absent: Sequence[AbsentLeg]) -> str:
    """What ran and what did not, as one line; empty when all of it ran."""
    if not absent:
        return ""
    parts = ", ".join(f"{WHY[leg.name]} not searched: {leg.reason}" for leg in absent)
    return f"Mode: {legs_mode} ({parts})."
