"""Decides whether an answer is good enough to be shown; knows nothing of how its evidence was found."""

from __future__ import annotations

from dataclasses import dataclass

JUDGED_LEXICAL_HITS = 20
"""The best lexical chunks whose coverage is evidence."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The least cosine (-1 to 1) of the best chunk and the least share (0 to 1) of the query's idf mass in one hit."""

    cosine: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a search found, as far as the floor looks at it."""

    semantic_ran: bool
    lexical_failed: bool
    best_cosine: float | None
    """Of all chunks found; None: not one of them has a vector."""
    best_coverage: float
    """Of the 20 best lexical chunks; 0 where there are none."""
    identifier_stands_whole: bool
    """An identifier of the query stands whole in a hit."""
    lexical_hit_lacks_vector: bool
    """One of the 20 best lexical chunks has no vector yet, so that its cosine is not known."""


def clears(floor: Floor, evidence: Evidence) -> bool:
    """False: "no good match". It is a judgement on the whole answer, and needs both kinds of evidence against it."""
    if not evidence.semantic_ran or evidence.lexical_failed:
        return True
    if evidence.identifier_stands_whole or evidence.lexical_hit_lacks_vector:
        return True
    cosine = -1.0 if evidence.best_cosine is None else evidence.best_cosine
    return cosine >= floor.cosine or evidence.best_coverage >= floor.coverage
