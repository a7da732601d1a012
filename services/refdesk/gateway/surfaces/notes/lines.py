"""Lines of a text: slices, numbers, and the one that answers best; pure, knows no documents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence, Set
from dataclasses import dataclass

MARK = "…"
_WORD = re.compile(r"\w+")
_INTENT_SHARE = 0.5
"""Of a word of the question, what one of the intent counts."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Lines of a text from `first` on, counted from 1; `total` of the whole text."""

    first: int
    lines: tuple[str, ...]
    total: int

    @property
    def last(self) -> int:
        """The last line shown; one before `first` where there is none."""
        return self.first + len(self.lines) - 1

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return len(self.lines) == self.total

    def text(self, *, numbered: bool) -> str:
        """The lines, each behind its number where asked."""
        return number_lines(self.lines, self.first) if numbered else "\n".join(self.lines)

    def cut_to(self, count: int) -> Slice:
        """The first `count` lines of it."""
        return Slice(self.first, self.lines[:count], self.total)


def slice_lines(text: str, first: int, most: int | None) -> Slice:
    """At most so many lines from `first` on; empty where the text has fewer."""
    lines = text.rstrip("\n").split("\n") if text.strip("\n") else []
    end = None if most is None else first - 1 + most
    return Slice(first, tuple(lines[first - 1 : end]), len(lines))


def number_lines(lines: Sequence[str], first: int) -> str:
    """`12: text`, a line each."""
    return "\n".join(f"{number}: {line}" for number, line in enumerate(lines, start=first))


def words_of(text: str) -> frozenset[str]:
    """The words of a text for comparing: lower case, without accents."""
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return frozenset(_WORD.findall("".join(one for one in decomposed if not unicodedata.combining(one))))


def best_line(lines: Sequence[str], asked: Set[str], intended: Set[str] = frozenset()) -> int:
    """Position of the line that holds most of what was asked; the first of equal ones, 0 where none holds any."""
    best, best_score = 0, 0.0
    for position, line in enumerate(lines):
        held = words_of(line)
        score = _held(held, asked) + _INTENT_SHARE * _held(held, intended - asked)
        if score > best_score:
            best, best_score = position, score
    return best


def snippet(lines: Sequence[str], first: int, best: int, most_characters: int) -> str:
    """Numbered lines around the best one, as many as fit: one before it, then those behind it; a line that is cut bears a …."""
    start = (
        best - 1 if best and len(lines[best - 1]) + len(lines[best]) <= most_characters and lines[best - 1] else best
    )
    shown: list[str] = []
    room = most_characters
    for line in lines[start:]:
        if len(line) > room:
            if not shown:
                shown.append(line[: room - 1].rstrip() + MARK)
            break
        shown.append(line)
        room -= len(line) + 1
    while len(shown) > 1 and not shown[-1].strip():
        shown.pop()
    return number_lines(shown, first + start)


def _held(words: Set[str], wanted: Set[str]) -> int:
    """How many of the wanted stand among the words, or begin one of them."""
    return sum(one in words or any(word.startswith(one) for word in words if len(one) > 2) for one in wanted)
