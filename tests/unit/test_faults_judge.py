"""The judge of answers during faults finds what is wrong: each of these must be told, or a fault suite that passes proves nothing."""

from __future__ import annotations

import pytest

from faults.judge import Fault, judge
from faults.traffic import Asked

EMBEDDER_DOWN = Fault("embedder was killed", 100.0, 110.0, frozenset({"lexical"}))
FOUND = "Found 3 results"


def asked(at: float, mode: str, text: str = FOUND, *reasons: str, mixed: bool = False) -> Asked:
    return Asked(at, at + 0.1, mode, reasons, text, mixed)


@pytest.mark.parametrize(
    ("one", "wrong"),
    [
        (asked(50, "hybrid", 'No good match for "x"'), "says that nothing is there"),
        (asked(50, "hybrid", mixed=True), "two revisions"),
        (asked(50, "lexical", FOUND, "semantic: embedder_unavailable"), "not whole though nothing was broken"),
        (asked(50, "", "temporarily unavailable, retry in 1 s"), "not whole though nothing was broken"),
        (asked(105, "lexical", FOUND), "does not say why"),
        (asked(105, "hybrid", FOUND), "mode 'hybrid' while embedder was killed"),
        (asked(105, "", "temporarily unavailable, retry in 1 s"), "mode 'error' while embedder was killed"),
        (asked(105, "", "something broke"), "does not say to retry"),
        (asked(121, "lexical", FOUND, "semantic: embedder_unavailable"), "not whole though nothing was broken"),
    ],
)
def test_an_answer_that_is_wrong_is_told(one: Asked, wrong: str) -> None:
    (problem,) = judge([one], [EMBEDDER_DOWN])
    assert wrong in problem


@pytest.mark.parametrize(
    "one",
    [
        asked(50, "hybrid"),
        asked(100.5, "hybrid"),
        asked(105, "lexical", FOUND, "semantic: embedder_unavailable"),
        asked(112, "lexical", FOUND, "semantic: embedder_unavailable"),
        asked(115, "hybrid"),
    ],
)
def test_an_answer_that_is_right_is_let_be(one: Asked) -> None:
    assert judge([one], [EMBEDDER_DOWN]) == []


def test_what_breaks_nothing_may_fall_into_the_recovery_of_what_did() -> None:
    harmless = Fault("ingest was killed", 111.0, 118.0, frozenset({"hybrid"}))
    degraded = asked(115, "lexical", FOUND, "semantic: embedder_timeout")
    assert judge([degraded], [EMBEDDER_DOWN, harmless]) == []
    assert judge([degraded], [harmless])
