"""Judges answers taken during faults: the mode must be right, nothing may be called absent that is there, no revisions mixed; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from faults.traffic import Asked

SETTLING_SECONDS = 1.5
"""From the moment of a fault until answers must show it: what was under way may still end well."""
RECOVERY_SECONDS = 10.0
"""From the end of a fault until answers must be whole again."""
WHOLE = frozenset({"hybrid"})
LIES = ("No good match", "nothing is indexed", "Nothing is indexed")


@dataclass(frozen=True)
class Fault:
    """What was broken, from when to when (monotonic seconds), and what answers had to be while it was."""

    what: str
    began_at: float
    ended_at: float
    modes: frozenset[str]
    """Modes that answers may have while it lasts; "" is an error."""


def judge(asked: Sequence[Asked], faults: Sequence[Fault]) -> list[str]:
    """Every answer that was not as it must be, one line each; empty when all were."""
    return [f"{wrong}: {_describe(one)}" for one in asked if (wrong := _wrong(one, faults))]


def _wrong(one: Asked, faults: Sequence[Fault]) -> str:
    if one.mixed:
        return "two revisions of a document in one excerpt"
    if any(lie in one.text for lie in LIES):
        return "it says that nothing is there"
    if one.mode and one.mode != "hybrid" and not one.reasons:
        return "a degraded answer does not say why"
    if not one.mode and not _is_honest_error(one):
        return "an error that does not say to retry"
    near = [
        fault for fault in faults if fault.began_at < one.ended_at and one.began_at < fault.ended_at + RECOVERY_SECONDS
    ]
    if not near and one.mode != "hybrid":
        return f"not whole though nothing was broken for {RECOVERY_SECONDS} s"
    for fault in near:
        throughout = fault.began_at + SETTLING_SECONDS < one.began_at and one.ended_at < fault.ended_at
        others_recover = fault.modes == WHOLE and len(near) > 1
        if throughout and not others_recover and one.mode not in fault.modes:
            return f"mode {one.mode or 'error'!r} while {fault.what}"
    return ""


def _is_honest_error(one: Asked) -> bool:
    return one.text.startswith("transport:") or "retry in" in one.text


def _describe(one: Asked) -> str:
    took = one.ended_at - one.began_at
    return f"mode {one.mode!r} {' '.join(one.reasons)} at {one.began_at:.1f}, {took:.2f} s: {one.text[:200]!r}"
