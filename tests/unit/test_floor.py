"""The relevance floor: when an answer is no good match, and everything that lets one through."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.gateway.floor import Evidence, Floor, clears

FLOOR = Floor(cosine=0.48, coverage=0.35)
POOR = Evidence(
    semantic_ran=True,
    lexical_failed=False,
    best_cosine=0.47,
    best_coverage=0.34,
    identifier_stands_whole=False,
    lexical_hit_lacks_vector=False,
)


def test_an_answer_below_both_is_no_good_match() -> None:
    assert not clears(FLOOR, POOR)


@pytest.mark.parametrize(
    "better",
    [
        {"best_cosine": 0.48},
        {"best_coverage": 0.35},
        {"identifier_stands_whole": True},
        {"lexical_hit_lacks_vector": True},
        {"semantic_ran": False},
        {"lexical_failed": True},
    ],
)
def test_any_one_of_these_lets_an_answer_through(better: dict[str, object]) -> None:
    assert clears(FLOOR, replace(POOR, **better))  # type: ignore[arg-type]


def test_hits_without_any_vector_are_below_the_cosine() -> None:
    assert not clears(FLOOR, replace(POOR, best_cosine=None))


def test_a_floor_of_minus_one_refuses_nothing() -> None:
    assert clears(Floor(cosine=-1, coverage=1), replace(POOR, best_cosine=-1.0, best_coverage=0))


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(-1, 1), st.floats(0, 1))
def test_better_evidence_never_turns_an_answer_away(cosine: float, coverage: float, more: float, most: float) -> None:
    weak = replace(POOR, best_cosine=min(cosine, more), best_coverage=min(coverage, most))
    strong = replace(POOR, best_cosine=max(cosine, more), best_coverage=max(coverage, most))
    assert clears(FLOOR, strong) >= clears(FLOOR, weak)
