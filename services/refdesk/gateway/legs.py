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
class Legs:
    """The legs of one search."""

    ran: tuple[search_api.LegResult, ...]
    absent: tuple[AbsentLeg, ...]

    @property
    def mode(self) -> str:
        """hybrid, lexical or semantic: what ran."""
        names = {NAMES[leg.kind] for leg in self.ran}
        return HYBRID if len(names) > 1 else next(iter(names))

    @property
    def semantic_ran(self) -> bool:
        """Whether meaning was searched."""
        return any(NAMES[leg.kind] == SEMANTIC for leg in self.ran)

    @property
    def lexical_failed(self) -> bool:
        """Whether words should have been searched and were not."""
        return any(leg.name == LEXICAL and leg.failed for leg in self.absent)

    def ranked(self, profile: Profile) -> list[RankedLeg]:
        """The lists to fuse, weighted as the profile says."""
        return [
            RankedLeg(
                profile.semantic_weight if NAMES[leg.kind] == SEMANTIC else profile.lexical_weight,
                [hit.chunk_id for hit in leg.hits],
                NAMES[leg.kind] == SEMANTIC,
            )
            for leg in self.ran
        ]

    def cosines(self) -> dict[str, float]:
        """Chunk id to cosine, of all hits that have one."""
        return {hit.chunk_id: hit.cosine for leg in self.ran for hit in leg.hits if hit.HasField("cosine")}

    def coverages(self) -> dict[str, float]:
        """Chunk id to coverage, of the best lexical hits, whether or not they have one (then 0)."""
        lexical = (leg for leg in self.ran if NAMES[leg.kind] == LEXICAL)
        return {hit.chunk_id: hit.coverage for leg in lexical for hit in leg.hits[:JUDGED_LEXICAL_HITS]}

    def identifier_matches(self) -> set[str]:
        """Chunks in which an identifier of the query stands whole."""
        return {hit.chunk_id for leg in self.ran for hit in leg.hits if hit.identifier_match}


def read_legs(results: Sequence[search_api.LegResult]) -> Legs:
    """Sorts the legs by how they ended.

    Raises: Unavailable when none ran and one failed; InvalidArgument when none had anything to do.
    """
    ran = tuple(leg for leg in results if leg.status == search_api.LEG_STATUS_RAN)
    absent = tuple(
        AbsentLeg(NAMES[leg.kind], leg.reason, leg.status == search_api.LEG_STATUS_FAILED)
        for leg in results
        if leg.status != search_api.LEG_STATUS_RAN
    )
    for leg in absent:
        ABSENT_LEGS.labels(leg.name, leg.reason).inc()
    if ran:
        return Legs(ran, absent)
    reasons = ", ".join(dict.fromkeys(leg.reason for leg in absent))
    if any(leg.failed for leg in absent):
        raise Unavailable(f"nothing was searched ({reasons}), so nothing is known about this question")
    raise InvalidArgument(f"nothing in this query can be searched ({reasons}): ask with other words")


WHY: Mapping[str, str] = {LEXICAL: "words", SEMANTIC: "meaning"}


def mode_line(legs_mode: str, absent: Sequence[AbsentLeg]) -> str:
    """What ran and what did not, as one line; empty when all of it ran."""
    if not absent:
        return ""
    parts = ", ".join(f"{WHY[leg.name]} not searched: {leg.reason}" for leg in absent)
    return f"Mode: {legs_mode} ({parts})."
