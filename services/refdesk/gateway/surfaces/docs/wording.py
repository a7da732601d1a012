"""The words that the docs surface shares among its tools; knows nothing of where numbers and names come from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway.surfaces.interface import UnknownTool

SHOWN_KINDS = {"folder": "local"}
SEPARATOR = " > "
QUERY_CHARACTERS = 200
TITLE_CHARACTERS = 200
DESCRIPTION_CHARACTERS = 120


def count(number: int, noun: str) -> str:
    """`1 document`, `1,783 documents`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def one_line(text: str, most_characters: int) -> str:
    """The text without line ends, shortened with a … where it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= most_characters else line[: most_characters - 1].rstrip() + "…"


def breadcrumb_text(breadcrumb: Sequence[str], title: str) -> str:
    """The headings from the outermost down; the title where there are none."""
    return SEPARATOR.join(breadcrumb) or title


def source_label(source: docstore_api.Source) -> str:
    """`policies (local)`, `api (git: API reference)`."""
    kind = SHOWN_KINDS.get(source.kind, source.kind)
    description = one_line(source.description, DESCRIPTION_CHARACTERS)
    return f"{source.name} ({kind}: {description})" if description else f"{source.name} ({kind})"


def listed(parts: Iterable[str], most_characters: int) -> str:
    """The parts, split by commas; those that do not fit are counted: `a, b and 3 more`."""
    parts = list(parts)
    text = ", ".join(parts)
    shown = len(parts)
    while len(text) > most_characters and shown > 0:
        shown -= 1
        text = ", ".join(parts[:shown]) + f"{' and ' if shown else ''}{len(parts) - shown:,} more"
    return text


def quoted(value: str) -> str:
    """The value as a JSON string, as it would stand in a call."""
    return json.dumps(value, ensure_ascii=False)


def unknown_tool(tool: str, valid: Iterable[str]) -> UnknownTool:
    """The error for a tool that a surface does not have."""
    return UnknownTool(f"no tool {quoted(one_line(tool, 60))}; valid: {', '.join(valid)}")


def call_text(tool: str, arguments: Iterable[tuple[str, str | int]]) -> str:
    """A call as one would write it: `read_document(path="a.md", from=7)`."""
    shown = (f"{name}={quoted(value) if isinstance(value, str) else value}" for name, value in arguments)
    return f"{tool}({', '.join(shown)})"


def vectors_line(stats: docstore_api.GetStatsResponse) -> str:
    """How far the vectors are, while some are missing; else empty."""
    if stats.embedded_count >= stats.embeddable_count:
        return ""
    return (
        f"Vectors: {stats.embedded_count:,} of {count(stats.embeddable_count, 'document')}; "
        "until theirs are there, the others are found by their words only."
    )


def nothing_indexed(project: str, *, is_indexing: bool) -> str:
    """The answer of a project without documents."""
    if is_indexing:
        return f'Nothing is indexed yet in project "{project}", but indexing is under way: ask again in a few seconds.'
    return (
        f'Nothing is indexed yet in project "{project}". Its operator has to index it first '
        "(refdesk up, with a folder of documents); then ask again."
    )
