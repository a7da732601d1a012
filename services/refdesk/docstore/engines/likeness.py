"""Which paths are like one that is not known, with bounded work; pure, knows nothing of where they stand."""

from __future__ import annotations

import difflib
import heapq
import re
from collections.abc import Iterable

MAX_CANDIDATES = 100
"""Compared letter by letter; difflib takes about 0.15 ms for each."""
MIN_LIKENESS = 0.5
"""Of 1: below it a suggestion would mislead."""

_WORD = re.compile(r"[^\W_]+")


def rank_paths(wanted: str, paths: Iterable[str], limit: int) -> list[str]:
    """Those like `wanted`: the same file name first, then by likeness of path or file name, then by path.

    Among files of the same name the path alone tells: their names are all alike.
    """
    key = wanted.casefold()
    name = key.rpartition("/")[2]
    words = set(_WORD.findall(key))

    def closeness(path: str) -> tuple[bool, int, bool, int]:
        other = path.casefold()
        other_name = other.rpartition("/")[2]
        shared = sum(map(other.__contains__, words))
        return other_name == name, shared, other_name[:1] == name[:1], -abs(len(other) - len(key))

    candidates = heapq.nlargest(MAX_CANDIDATES, (path for path in paths if path != wanted), key=closeness)
    ranked = sorted((_rank(key, name, path), path) for path in candidates)
    return [path for (other_name, unlikeness), path in ranked if not other_name or -unlikeness >= MIN_LIKENESS][:limit]


def _rank(key: str, name: str, path: str) -> tuple[bool, float]:
    other = path.casefold()
    other_name = other.rpartition("/")[2]
    likeness = difflib.SequenceMatcher(None, other, key, autojunk=False).ratio()
    if other_name != name:
        likeness = max(likeness, difflib.SequenceMatcher(None, other_name, name, autojunk=False).ratio())
    return other_name != name, -likeness
