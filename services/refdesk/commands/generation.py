"""Runs the generation verbs on a running desk: list, build, switch, roll back, drop, compare; knows nothing of how any of it is done."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from refdesk.commands.generation_lines import generation_lines, moment
from refdesk.commands.status import operate
from refdesk.errors import InvalidArgument

QUESTIONS_A_CALL = 25
SHOWN = 10
"""Questions that are named at the end, the most different first."""

Row = Mapping[str, Any]


def list_generations(project: str) -> Iterator[str]:
    """What a project has. Raises: NotFound, Unavailable."""
    return generation_lines(operate(_path(project))["generations"])


def build(project: str, model: str, chunker: int, *, hold: bool) -> str:
    """Begins to build a generation; what to say. Raises: InvalidArgument, NotFound, Unavailable."""
    if not model and not chunker:
        raise InvalidArgument("build what? name --model or --chunker, or both")
    asked = {"model": model, "chunker": chunker, "hold": str(hold).lower()}
    name = operate(_path(project, "build", asked), post=True)["generation"]
    then = "`refdesk generation switch` has it answer" if hold else "it answers by itself"
    return f"{name} is being built beside the one that answers; when it is complete, {then}"


def switch(project: str, generation: str) -> str:
    """Has another generation answer; what to say. Raises: InvalidArgument, NotFound, Unavailable."""
    return _moved(operate(_path(project, "switch", {"generation": generation}), post=True))


def roll_back(project: str) -> str:
    """Has the generation answer that answered last; what to say. Raises: InvalidArgument, NotFound, Unavailable."""
    return _moved(operate(_path(project, "rollback"), post=True))


def drop(project: str, generation: str) -> str:
    """Follows a generation no more; what to say. Raises: InvalidArgument, NotFound, Unavailable."""
    name = operate(_path(project, "drop", {"generation": generation}), post=True)["generation"]
    return f"{name} is followed no more, and is dropped in some seconds"


def compare(project: str, generation: str, questions: Sequence[str]) -> Iterator[str]:
    """Asks both generations; how their answers differ. Raises: InvalidArgument, NotFound, Unavailable."""
    rows: list[Row] = []
    answer: Row = {}
    for start in range(0, len(questions), QUESTIONS_A_CALL):
        body = {"questions": questions[start : start + QUESTIONS_A_CALL]}
        answer = operate(_path(project, "compare", {"generation": generation}), post=True, body=body)
        rows += answer["questions"]
    yield from comparison_lines(answer["live"], answer["other"], rows)


def read_questions(file: Path) -> list[str]:
    """One question a line; blank lines are left out.

    Raises: InvalidArgument where the file cannot be read or holds none.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(f"questions {file} cannot be read: name a text file with one question a line") from None
    questions = [line.strip() for line in lines if line.strip()]
    if not questions:
        raise InvalidArgument(f"questions {file} holds none: write one a line")
    return questions


def read_logged(project: str) -> list[str]:
    """The questions that agents have asked of a project. Raises: InvalidArgument: nothing logs them yet."""
    raise InvalidArgument(
        f"questions asked of project {project} are not logged yet: name a file of them with --questions"
    )


def comparison_lines(live: str, other: str, rows: Sequence[Row]) -> Iterator[str]:
    """The table, then the questions that differ most."""
    width = max(len(live), len(other))
    mean = sum(float(row["overlap"]) for row in rows) / len(rows)
    yield f"{len(rows):,} questions, documents that both have among their best ten excerpts: {mean:.2f}"
    first = sum(row["live"]["paths"][:1] == row["other"]["paths"][:1] for row in rows)
    yield f"the same document first: {first:,} of {len(rows):,}"
    for name, side in ((live, "live"), (other, "other")):
        refused = sum(bool(row[side]["refused"]) for row in rows)
        times = sorted(float(row[side]["milliseconds"]) for row in rows)
        yield f"{name:<{width}}  refused {refused:,}, p50 {_quantile(times, 0.5):.0f} ms, p95 {_quantile(times, 0.95):.0f} ms"
    different = sorted((row for row in rows if _differs(row)), key=lambda row: float(row["overlap"]))
    for row in different[:SHOWN]:
        refusing = [name for name, side in ((live, "live"), (other, "other")) if row[side]["refused"]]
        refusal = f", refused by {' and '.join(refusing)}" if refusing else ""
        yield f"{float(row['overlap']):.2f}  {row['question']}{refusal}"


def _differs(row: Row) -> bool:
    return float(row["overlap"]) < 1 or row["live"]["refused"] != row["other"]["refused"]


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that this share of all is not above."""
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


def _moved(answer: Row) -> str:
    if not answer["previous_generation"]:
        return f"{answer['generation']} answers already"
    until = moment(answer["until_milliseconds"])
    return f"{answer['generation']} answers; {answer['previous_generation']} is followed until {until} for rollback"


def _path(project: str, verb: str = "", asked: Mapping[str, object] | None = None) -> str:
    path = f"projects/{project}/generations" + (f"/{verb}" if verb else "")
    return f"{path}?{urlencode(asked)}" if asked else path
