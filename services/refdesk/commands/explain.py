"""Asks a running desk why it answers as it does, and writes that for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from refdesk.commands.status import operate

SHOWN = 20
"""Candidates that are named, the best first."""


def explain(project: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """The explanation. Raises: InvalidArgument, NotFound, Unavailable."""
    return operate(f"projects/{project}/explain", post=True, body=dict(asked))


def explanation_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    """For people, the verdict first."""
    if answer.get("why_not"):
        yield answer["why_not"]
        yield ""
    weights = ", ".join(f"{leg['leg']} x{leg['weight']:g}" for leg in answer["asked"])
    yield f"mode {answer['mode']}, generation {answer['generation']}; asked: {weights}"
    for leg in answer["absent"]:
        yield f"  {leg['leg']} gave nothing: {leg['reason']}"
    yield _floor(answer["floor"])
    yield ""
    yield "result  fused  score   " + "  ".join(f"{leg['leg']:>8}" for leg in answer["ran"]) + "  cosine  where"
    for candidate in answer["candidates"][:SHOWN]:
        yield _line(candidate)
    if len(answer["candidates"]) > SHOWN:
        yield f"and {len(answer['candidates']) - SHOWN} more: --json has them"


def _floor(floor: Mapping[str, Any]) -> str:
    limits, evidence = floor["limits"], floor["evidence"]
    if not limits:
        return "floor: none applies"
    cosine = "none" if evidence["best_cosine"] is None else f"{evidence['best_cosine']:.3f}"
    verdict = "good" if floor["is_good"] else "no good match"
    return (
        f"floor: best cosine {cosine} of {limits['cosine']:g} needed, best coverage {evidence['best_coverage']:.3f} of "
        f"{limits['coverage']:g} needed: {verdict}"
    )


def _line(candidate: Mapping[str, Any]) -> str:
    ranks = "  ".join(f"{one['rank'] or '-':>8}" for one in candidate["ranks"])
    cosine = "-" if candidate["cosine"] is None else f"{candidate['cosine']:.3f}"
    where = f"{candidate['path']}  {candidate['heading']}" if candidate["current"] else "(replaced meanwhile)"
    result = candidate["result"] or ""
    return f"{result:>6}  {candidate['fused_rank']:>5}  {candidate['fused_score']:.4f}  {ranks}  {cosine:>6}  {where}"
