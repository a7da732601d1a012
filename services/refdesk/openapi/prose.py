"""Puts a spec's own Markdown into a page without breaking the page's headings and fences; pure."""

from __future__ import annotations

import json
import re
from typing import Any

EXAMPLE_CHARACTERS = 4_000
EXAMPLE_LINES = 80
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})([ \t].*|$)")


def nest(text: Any, level: int, most: int) -> str:
    """A description whose headings stand below one of `level`, its fences closed, at most `most` characters of it."""
    if not isinstance(text, str):
        return ""
    lines = []
    fence = ""
    cut = text if len(text) <= most else text[:most].rpartition("\n")[0] + "\n\n…"
    for line in cut.strip("\n").splitlines():
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and fence and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence and (heading := _HEADING.match(line)):
            line = "#" * min(6, level + len(heading[1])) + heading[2]
        lines.append(line.rstrip())
    return "\n".join([*lines, fence] if fence else lines).strip("\n")


def fenced(value: Any) -> str:
    """An example in a fence: text as it is, anything else as JSON; what is too long ends with a mark."""
    if isinstance(value, str):
        language, text = "", value
    else:
        language, text = "json", _dump(value)
    lines = text[:EXAMPLE_CHARACTERS].splitlines()
    if len(text) > EXAMPLE_CHARACTERS or len(lines) > EXAMPLE_LINES:
        lines = [*lines[:EXAMPLE_LINES], "…"]
    longest = max((len(found) for found in re.findall(r"`{3,}", text)), default=2)
    ticks = "`" * max(3, longest + 1)
    return "\n".join([ticks + language, *lines, ticks])


def _dump(value: Any) -> str:
    """JSON of no more than is shown: an example may share values a thousandfold."""
    pieces = []
    size = 0
    for piece in json.JSONEncoder(indent=2, ensure_ascii=False, default=str).iterencode(value):
        pieces.append(piece)
        size += len(piece)
        if size > EXAMPLE_CHARACTERS:
            break
    return "".join(pieces)
