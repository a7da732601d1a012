"""Reads the reports of a running desk and writes them for people; knows nothing of how rows are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from refdesk.commands.generation_lines import moment
from refdesk.commands.status import operate


def zero_results(project: str, days: int) -> list[str]:
    """A line a search, the most frequent first. Raises: NotFound, Unavailable."""
    return _lines(operate(f"projects/{project}/log/zero-results?days={days}")["counts"], "every search found something")


def denied(project: str, days: int) -> list[str]:
    """A line a kind of attempt, the most frequent first. Raises: NotFound, Unavailable."""
    place = f"projects/{project}/log/denied" if project else "log/denied"
    return _lines(operate(f"{place}?days={days}")["counts"], "nobody was denied")


def _lines(counts: Sequence[Mapping[str, Any]], none: str) -> list[str]:
    return [f"{one['count']:>6,}  last {moment(one['last_milliseconds'])}  {one['what']}" for one in counts] or [none]
