"""The line above a chunk in what is embedded: title and breadcrumb, kept short; knows nothing of how chunks are cut."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache

from refdesk.ingest.tokens import UNITS_PER_TOKEN, count_short_units, count_units, running_units

SEPARATOR = " > "
ELLIPSIS = "…"
HEAD_TOKENS = 48  # the most a head may cost, whatever an author's headings look like
PART_TOKENS = 20  # the most one heading of a head that has to be shortened may cost

_HEAD_UNITS = HEAD_TOKENS * UNITS_PER_TOKEN
_PART_UNITS = PART_TOKENS * UNITS_PER_TOKEN
_SEPARATOR_UNITS = count_units(SEPARATOR)
_NEWLINE_UNITS = count_units("\n")


def head_path(title: str, breadcrumb: Sequence[str]) -> tuple[str, ...]:
    """Title and breadcrumb as one path; the title once where the breadcrumb starts with it."""
    if not title or (breadcrumb and breadcrumb[0] == title):
        return tuple(breadcrumb)
    return (title, *breadcrumb)


@lru_cache(maxsize=4096)
def head_line(path: tuple[str, ...]) -> str:
    """The path on one line of at most HEAD_TOKENS: long headings are clipped, then middle ones left out."""
    costs = [count_short_units(part) for part in path]
    if sum(costs) + _SEPARATOR_UNITS * max(0, len(path) - 1) <= _HEAD_UNITS:
        return SEPARATOR.join(path)
    parts = [_clip(part) for part in path]
    line = SEPARATOR.join(parts)
    while len(parts) > 2 and count_units(line) > _HEAD_UNITS:
        parts.pop(len(parts) // 2 if len(parts) > 3 else 1)
        line = SEPARATOR.join([parts[0], ELLIPSIS, *parts[1:]])
    return line


def _clip(part: str) -> str:
    """A heading of at most PART_TOKENS, with … where it was cut."""
    sums = running_units(part)
    if sums[-1] <= _PART_UNITS:
        return part
    end = bisect_right(sums, _PART_UNITS - 2 * UNITS_PER_TOKEN) - 1
    cut = part[:end]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip() + ELLIPSIS


class HeadCosts:
    """What the heads of one document cost; its headings are counted in one go.

    `sums` are `running_units` of the distinct parts, a line each, where they were counted along with something else.
    """

    def __init__(self, parts: Iterable[str], sums: Sequence[int] | None = None) -> None:
        distinct = list(dict.fromkeys(parts))
        if sums is None:
            sums = running_units("\n".join(distinct)).data
        self._costs: dict[str, int] = {}
        start = 0
        for part in distinct:
            self._costs[part] = sums[start + len(part)] - sums[start]
            start += len(part) + 1
        self._units: dict[tuple[str, ...], int] = {}

    def count(self, path: tuple[str, ...]) -> int:
        """Units of a head with its line end, 0 for an empty path."""
        if not path:
            return 0
        units = self._units.get(path)
        if units is None:
            units = sum(map(self._costs.__getitem__, path)) + _SEPARATOR_UNITS * (len(path) - 1)
            if units > _HEAD_UNITS:
                units = count_units(head_line(path))
            self._units[path] = units = units + _NEWLINE_UNITS
        return units
