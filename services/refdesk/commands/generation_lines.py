"""Writes for people what generations a project has; knows nothing of where that was asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any


def generation_lines(generations: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A line each, and one below where something is to be said of it."""
    width = max(len(str(one["generation"])) for one in generations)
    for one in generations:
        yield f"{one['generation']:<{width}}  {_describe(one)}"
        if one["message"]:
            yield f"  {one['message']}"


def moment(milliseconds: object) -> str:
    """A time as people write it, to the minute, of this machine's zone."""
    return datetime.fromtimestamp(int(str(milliseconds)) / 1000).strftime("%Y-%m-%d %H:%M")


def _describe(generation: Mapping[str, Any]) -> str:
    role = str(generation["role"]).removeprefix("GENERATION_ROLE_").lower()
    if role == "dropped":
        return "is being dropped"
    documents, behind = int(generation["document_count"]), int(generation["behind_count"])
    embedded, embeddable = int(generation["embedded_count"]), int(generation["embeddable_count"])
    words = f"words {documents - behind:,} of {documents:,} documents, vectors {embedded:,} of {embeddable:,}"
    if role == "live":
        return f"answers: {words}"
    if role == "building":
        return f"is being built{', its switch is held' if generation['hold_switch'] else ''}: {words}"
    return f"is followed until {moment(generation['until_milliseconds'])} for rollback: {words}"
