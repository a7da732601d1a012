"""Tells indented code from the content of a list, line by line; knows nothing of what the lines say."""

from __future__ import annotations

import re

MARKER = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_MARKER_SIGNS = frozenset("-*+0123456789")
MARGIN_SIGNS = _MARKER_SIGNS | {" ", "\t"}
_TAB = 4


def indent_of(line: str) -> int:
    """How many columns a line is indented."""
    space = line[: len(line) - len(line.lstrip(" \t"))]
    return len(space.expandtabs(_TAB)) if "\t" in space else len(space)


class Margin:
    """Where the lines outside fences stand; shown every one of them, in order."""

    def __init__(self) -> None:
        self.content = 0  # the column of the outermost open list item's text, 0 outside lists
        self.is_after_blank = True  # set by whoever passes a blank line, or a block that ends what stood before
        self._is_in_code = False

    def pass_text(self) -> None:
        """Note a line that starts with none of MARGIN_SIGNS."""
        if self.is_after_blank:
            self.is_after_blank = self._is_in_code = False
            self.content = 0

    def pass_line(self, line: str) -> bool:
        """Note a line that is not blank; true where it is indented code."""
        first = line[0]
        indent = indent_of(line) if first in " \t" else 0
        after_blank, self.is_after_blank = self.is_after_blank, False
        if indent >= _TAB and not self.content:
            self._is_in_code = self._is_in_code or after_blank
            return self._is_in_code
        self._is_in_code = False
        if after_blank and indent < self.content:
            self.content = 0
        if (first in _MARKER_SIGNS or indent) and (match := MARKER.match(line)):
            column = len(match[0].expandtabs(_TAB))
            self.content = min(self.content, column) if self.content else column
        return False

    def leave_list(self, indent: int) -> None:
        """Note a block that ends a list unless it stands inside it: a heading, a fence, a break."""
        if indent < self.content:
            self.content = 0
