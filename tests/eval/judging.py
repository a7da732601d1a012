"""Judges ranked results against what a question's author found on the pages; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Found:
    """One result: path relative to the corpus, and where on the page it stands."""

    path: str
    breadcrumb: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Judged:
    """What became of one question."""

    rank: int
    """Of the first right page among distinct pages, from 1; 0: not among ten."""
    in_five: bool
    section_in_five: bool
    refused: bool


def judge(question: dict[str, Any], results: Sequence[Found], *, is_good: bool) -> Judged:
    """Compares the results, the best first, with the question's answers."""
    paths = {answer["path"] for answer in question["answers"]}
    pages = list(dict.fromkeys(result.path for result in results))[:10]
    rank = next((place for place, path in enumerate(pages, 1) if path in paths), 0)
    five = results[:5]
    section = any(stands_in(result, answer) for result in five for answer in question["answers"])
    return Judged(rank, any(result.path in paths for result in five), section, not is_good)


def stands_in(result: Found, answer: dict[str, str]) -> bool:
    """Whether a result shows the section that the author named: it is in its breadcrumb, or the heading stands in the excerpt."""
    if result.path != answer["path"]:
        return False
    heading = plain(answer["heading"])
    if not heading:
        return len(result.breadcrumb) <= 1
    if any(plain(part) == heading for part in result.breadcrumb):
        return True
    return any(plain(line.lstrip("# ")) == heading for line in result.text.splitlines() if line.startswith("#"))


def plain(heading: str) -> str:
    """A heading without marks, for comparing."""
    heading = re.sub(r"\{#[^}]*\}", "", heading)
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return " ".join(re.sub(r"[`*_\\#]", "", heading).split()).lower()


@dataclass(frozen=True)
class Score:
    """Shares over many questions, 0 to 1."""

    recall_at_5: float
    mrr_at_10: float
    section_in_5: float
    refused: float


def score(judged: Iterable[Judged]) -> Score:
    """The shares."""
    rows = list(judged)
    return Score(
        sum(row.in_five for row in rows) / len(rows),
        sum(1 / row.rank for row in rows if row.rank) / len(rows),
        sum(row.section_in_five for row in rows) / len(rows),
        sum(row.refused for row in rows) / len(rows),
    )
