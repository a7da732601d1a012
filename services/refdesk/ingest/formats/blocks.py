"""Finds the blocks and headings of Markdown lines in one pass; knows nothing of inline markup or of sections."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from refdesk.ingest.formats.document import Block, BlockKind
from refdesk.ingest.formats.fences import find_fence_end, match_fence
from refdesk.ingest.formats.margins import MARKER, Margin, indent_of

_ATX = re.compile(r"[ \t]*(#{1,6})(?:[ \t]+(.*))?$")
_BREAK = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_DELIMITERS = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
# Signs that a line must start with, indentation aside, to be more than another line of its paragraph.
_STRUCTURAL = frozenset("#`~|-*+>=_ \t0123456789")


class Heading(NamedTuple):
    """A heading's level, its first line, the line after it, and its text with inline markup."""

    level: int
    start: int
    end: int
    text: str


def scan_blocks(lines: Sequence[str]) -> tuple[list[Block], list[Heading]]:
    """All blocks and all headings with text, in order."""
    scanner = _Scanner(lines)
    scanner.run()
    return scanner.blocks, scanner.headings


class _Scanner:
    """Walks the lines once. A run of text lines stays open until something ends it."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._margin = Margin()
        self._open_kind = BlockKind.PARAGRAPH
        self._open_start = -1
        self.blocks: list[Block] = []
        self.headings: list[Heading] = []

    def run(self) -> None:
        """Fill `blocks` and `headings`."""
        lines, margin, count = self._lines, self._margin, len(self._lines)
        index = 0
        while index < count:
            line = lines[index]
            if not line or line.isspace():
                if self._open_start >= 0:
                    self._close(index)
                margin.is_after_blank = True
                index += 1
            elif line[0] not in _STRUCTURAL and "|" not in line:
                margin.pass_text()
                if self._open_start < 0:
                    self._open(BlockKind.PARAGRAPH, index)
                index += 1
            else:
                index = self._read(index, line)
        self._close(count)

    def _open(self, kind: BlockKind, index: int) -> None:
        """Start a run of text lines."""
        self._close(index)
        self._open_kind, self._open_start = kind, index

    def _close(self, index: int) -> None:
        """End the open run before a line."""
        if self._open_start >= 0:
            self.blocks.append(Block(self._open_kind, self._open_start, index))
            self._open_start = -1

    def _add(self, kind: BlockKind, start: int, end: int) -> int:
        """Note a block that ends the open run; the line after it."""
        self._close(start)
        self.blocks.append(Block(kind, start, end))
        return end

    def _read(self, index: int, line: str) -> int:
        """Read what may be more than text; the next line to look at."""
        content = self._margin.content
        if self._margin.pass_line(line):
            return self._read_code(index)
        start = line.lstrip(" \t")
        sign = start[0]
        indent = len(line) - len(start)
        if sign in "`~" and (end := self._read_fence(index, line, indent)):
            return end
        if sign == "#" and indent <= 3 and (match := _ATX.match(line)):
            return self._read_heading(index, match, indent)
        if sign in "=-" and (end := self._read_setext(index, line)):
            return end
        if sign in "-*_" and _BREAK.match(line):
            self._margin.leave_list(indent)
            self._margin.is_after_blank = True
            return self._add(BlockKind.BREAK, index, index + 1)
        if sign == ">":
            return self._read_quote(index, line, indent)
        if "|" in line and self._is_table(index):
            return self._read_table(index)
        return self._read_text(index, line, sign, content)

    def _read_code(self, index: int) -> int:
        """Indented code, up to the next line that is neither blank nor indented."""
        end = last = index + 1
        while end < len(self._lines):
            line = self._lines[end]
            if line.strip():
                if indent_of(line) < 4:
                    break
                last = end + 1
            end += 1
        self._margin.is_after_blank = True  # what follows starts anew, with or without a blank line
        return self._add(BlockKind.CODE, index, last)

    def _read_fence(self, index: int, line: str, indent: int) -> int:
        """A fence, 0 where the line opens none."""
        fence = match_fence(line)
        if fence is None:
            return 0
        self._margin.leave_list(indent)
        self._margin.is_after_blank = True
        return self._add(BlockKind.FENCE, index, find_fence_end(self._lines, index, fence))

    def _read_heading(self, index: int, match: re.Match[str], indent: int) -> int:
        """A heading behind number signs; one without text is a block but heads nothing."""
        self._margin.leave_list(indent)
        text = strip_closing_signs(match[2] or "")
        if text:
            self.headings.append(Heading(len(match[1]), index, index + 1, text))
        self._margin.is_after_blank = True
        return self._add(BlockKind.HEADING, index, index + 1)

    def _read_setext(self, index: int, line: str) -> int:
        """A heading above a line of signs, 0 where it is none or the open run is no paragraph of its own."""
        if self._open_start < 0 or self._open_kind is not BlockKind.PARAGRAPH or not _SETEXT.match(line):
            return 0
        start, self._open_start = self._open_start, -1
        text = " ".join(line.strip() for line in self._lines[start:index])
        self.headings.append(Heading(1 if "=" in line else 2, start, index + 1, text))
        self._margin.is_after_blank = True
        return self._add(BlockKind.HEADING, start, index + 1)

    def _read_quote(self, index: int, line: str, indent: int) -> int:
        """Lines behind quote signs, and a fence among them whole; what follows without a sign still belongs."""
        if fence := match_fence(line):
            return self._add(BlockKind.FENCE, index, find_fence_end(self._lines, index, fence))
        if self._open_start < 0 or self._open_kind is not BlockKind.QUOTE:
            self._margin.leave_list(indent)
            self._open(BlockKind.QUOTE, index)
        return index + 1

    def _is_table(self, index: int) -> bool:
        """Whether a line with a bar is a table's head: the next line is a row of dashes."""
        if index + 1 >= len(self._lines):
            return False
        delimiters = self._lines[index + 1]
        return "-" in delimiters and "|" in delimiters and _DELIMITERS.match(delimiters) is not None

    def _read_table(self, index: int) -> int:
        """A table, up to a blank line or the start of a fence, heading or quote."""
        end = index + 2
        while end < len(self._lines):
            line = self._lines[end]
            start = line.lstrip(" \t")
            if not start or (start[0] in "#>`~" and "|" not in start and indent_of(line) < 4):
                break
            end += 1
        return self._add(BlockKind.TABLE, index, end)

    def _read_text(self, index: int, line: str, sign: str, content: int) -> int:
        """A line of text: a list item's first, or one that goes on or starts a paragraph.

        A number that is not 1 starts no list in the middle of a paragraph: the margin goes back to `content`.
        """
        if match := MARKER.match(line):
            is_item = self._open_start < 0 or self._open_kind is BlockKind.ITEM or not sign.isdigit()
            if is_item or match[0].strip() in ("1.", "1)"):
                self._open(BlockKind.ITEM, index)
                if fence := match_fence(line):
                    self._open_start = -1
                    return self._add(BlockKind.FENCE, index, find_fence_end(self._lines, index, fence))
            else:
                self._margin.content = content
        if self._open_start < 0:
            self._open(BlockKind.ITEM if self._margin.content else BlockKind.PARAGRAPH, index)
        return index + 1


def strip_closing_signs(text: str) -> str:
    """A heading's text without the number signs that may close it."""
    text = text.rstrip(" \t")
    if not text.endswith("#"):
        return text.strip()
    bare = text.rstrip("#")
    return bare.strip() if not bare or bare[-1] in " \t" else text.strip()
