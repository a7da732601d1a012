"""Where a fenced code block starts and ends; knows nothing of any other block."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from refdesk.ingest.formats.margins import indent_of

# A fence may stand behind quote signs and list markers. Group 1: what stands before it, 2: the fence, 3: the info.
_OPENER = re.compile(r"([ \t]*(?:>[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(`{3,}(?=[^`]*$)|~{3,})(.*)")
_CONTAINER = re.compile(r"[-*+]|\d{1,9}[.)]")


class Fence(NamedTuple):
    """An opening line taken apart: `prefix` is what stands before the marker, containers included."""

    prefix: str
    marker: str
    info: str

    @property
    def is_quoted(self) -> bool:
        """Whether every line of the block bears a quote sign."""
        return ">" in self.prefix

    @property
    def margin(self) -> str:
        """What stands before a further line of the same block: list markers have become spaces."""
        return _CONTAINER.sub(lambda match: " " * len(match[0]), self.prefix)

    @property
    def opening(self) -> str:
        """The opening line as it can be repeated elsewhere."""
        return f"{self.margin}{self.marker}{self.info}".rstrip()

    @property
    def closing(self) -> str:
        """A line that closes the block."""
        return f"{self.margin}{self.marker}"


def match_fence(line: str) -> Fence | None:
    """The fence that a line opens, if it does."""
    if "```" not in line and "~~~" not in line:
        return None
    match = _OPENER.match(line)
    return Fence(match[1], match[2], match[3]) if match else None


def find_fence_end(lines: Sequence[str], start: int, fence: Fence) -> int:
    """The line after the block that `lines[start]` opens; without a closing line the block goes to the end.

    A closing line has the same sign at least as often and nothing else, and is at most three columns further in than
    its opener. One that is further out counts too: authors often outdent code that stands in a list.
    """
    if fence.is_quoted:
        return _find_quoted_end(lines, start, fence)
    probe = fence.marker[0] * 3
    for index in range(start + 1, len(lines)):
        line = lines[index]
        if probe in line and (line == fence.marker or _closes(line, fence)):
            return index + 1
    return len(lines)


def _find_quoted_end(lines: Sequence[str], start: int, fence: Fence) -> int:
    """The line after a fence behind quote signs: at the latest the first one without such a sign."""
    for index in range(start + 1, len(lines)):
        bare = lines[index].lstrip()
        if not bare.startswith(">"):
            return index
        if _closes(bare.lstrip("> \t"), fence):
            return index + 1
    return len(lines)


def _closes(line: str, fence: Fence) -> bool:
    """Whether a line closes the fence."""
    closing = line.strip()
    if closing.strip(fence.marker[0]) or len(closing) < len(fence.marker):
        return False
    return indent_of(line) <= len(fence.prefix.expandtabs(4)) + 3
