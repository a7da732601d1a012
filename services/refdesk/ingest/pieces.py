"""Cuts a block that is too long for one chunk where it hurts least; knows nothing of sections or of chunks."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from refdesk.ingest.formats.document import Block, BlockKind
from refdesk.ingest.formats.fences import match_fence
from refdesk.ingest.tokens import WORD_RESTART_UNITS, count_short_units, count_units

_SENTENCE_END = re.compile(r"[.!?][\"'”’)\]]*(?=\s)|[。！？][」』）”]*|\n")
_WORD_ENDS = (" ", "\n", "\t", "、", "，", "；")
_LINED = frozenset({BlockKind.FENCE, BlockKind.TABLE, BlockKind.CODE, BlockKind.QUOTE})
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")


class Frame(NamedTuple):
    """What every piece of a cut block is given back: text before it, text after it, and their units."""

    lead: str
    tail: str
    lead_units: int
    tail_units: int


NO_FRAME = Frame("", "", 0, 0)


class Piece(NamedTuple):
    """A span that goes into one chunk; `opens` and `closes` are false where the rest of its block is elsewhere."""

    start: int
    end: int
    units: int
    frame: Frame = NO_FRAME
    opens: bool = True
    closes: bool = True


class Layout:
    """A text with its lines and running costs: the ruler that all cutting is done with.

    `sums` are `running_units` of the text, and of whatever comes after it, as plain numbers.
    """

    def __init__(self, text: str, starts: Sequence[int], sums: Sequence[int]) -> None:
        self.text = text
        self.starts = starts
        self.sums = sums

    def measure(self, start: int, end: int) -> int:
        """Units of a span, at least what it costs on its own unless it starts inside a word."""
        return self.sums[end] - self.sums[start]

    def measure_alone(self, start: int, end: int) -> int:
        """Units of a span's text on its own, counted anew where it starts or ends inside a word."""
        text = self.text
        for edge in (start, end):
            if 0 < edge < len(text) and text[edge].isalnum() and text[edge - 1].isalnum():
                return count_units(text[start:end])
        return self.measure(start, end)

    def trim(self, start: int, end: int) -> tuple[int, int] | None:
        """A span without blank lines at its start and blanks at its end, its first line's indentation kept."""
        text = self.text
        filled_end = start + len(text[start:end].rstrip())
        if filled_end == start:
            return None
        if not text[start].isspace():
            return start, filled_end
        first = filled_end - len(text[start:filled_end].lstrip())
        line_start = text.rfind("\n", start, first) + 1
        if line_start == 0:
            line_start = start if start == 0 or text[start - 1] == "\n" else first
        return line_start, filled_end

    def line(self, number: int) -> str:
        """One line, without its end."""
        return self.text[self.starts[number] : self.starts[number + 1] - 1]

    def line_end(self, number: int) -> int:
        """The offset where the line before line `number` ends."""
        return self.starts[number] - 1


class BlockSplitter:
    """Takes a block apart from the front, as much at a time as there is room for."""

    def __init__(self, layout: Layout, block: Block, limit: int) -> None:
        self._layout = layout
        self._block = block
        self._start = layout.starts[block.start]
        self._end = layout.line_end(block.end)
        self._has_lines = block.kind in _LINED
        self._is_first = True
        self.frame = _find_frame(layout, block, limit)

    @property
    def is_done(self) -> bool:
        """Whether all of the block has been taken."""
        return self._start >= self._end

    def take(self, room: int, must_take: bool) -> Piece | None:
        """The longest beginning that costs at most `room` units with its frame and ends well.

        None where nothing ends well within the room, unless something must be taken: then it ends after a word or
        between characters. The room for something must be above WORD_RESTART_UNITS and two tokens.
        """
        start, restart = self._start, _restart_units(self._layout, self._start)
        whole = room - restart - (0 if self._is_first else self.frame.lead_units)
        part = whole - self.frame.tail_units
        end = self._end
        if self._layout.measure(start, end) > whole:
            reach = bisect_right(self._layout.sums, self._layout.sums[start] + part, start, end + 1) - 1
            end = self._find_line_end(reach) if self._has_lines else self._find_sentence_end(reach)
            if end <= start and not must_take:
                return None
            if end <= start:
                end = _find_word_end(self._layout.text, start, max(reach, start + 1))
        units = self._layout.measure(start, end) + restart
        piece = Piece(start, end, units, self.frame, self._is_first, end >= self._end)
        self._start, self._is_first = end, False
        return piece

    def _find_line_end(self, reach: int) -> int:
        """Where the last line ends that lies whole before `reach`; 0 where that would leave a head or a tail alone."""
        starts, block = self._layout.starts, self._block
        number = bisect_right(starts, reach) - 1
        least = bisect_right(starts, self._start)
        if self._is_first:
            least += {BlockKind.TABLE: 2, BlockKind.FENCE: 1}.get(block.kind, 0)
        if block.kind is BlockKind.FENCE:
            number = min(number, block.end - 2)
        return starts[number] if number >= least else 0

    def _find_sentence_end(self, reach: int) -> int:
        """Where the last sentence ends before `reach`, 0 without one."""
        end = 0
        for match in _SENTENCE_END.finditer(self._layout.text, self._start, reach):
            end = match.end()
        return end


def _find_frame(layout: Layout, block: Block, limit: int) -> Frame:
    """A table's head, or a fence's opening and closing line; nothing where they would eat a third of the piece."""
    if block.kind is BlockKind.TABLE:
        lead, tail = f"{layout.line(block.start)}\n{layout.line(block.start + 1)}\n", ""
    elif block.kind is BlockKind.FENCE and (fence := match_fence(layout.line(block.start))):
        lead, tail = f"{fence.opening}\n", f"\n{fence.closing}"
    else:
        return NO_FRAME
    if len(lead) + len(tail) > limit:  # a character costs at least one unit
        return NO_FRAME
    frame = Frame(lead, tail, count_short_units(lead), count_short_units(tail))
    return frame if frame.lead_units + frame.tail_units <= limit // 3 else NO_FRAME


def _find_word_end(text: str, start: int, stop: int) -> int:
    """The best place in the second half of a span to cut it: after a word, else before a whole character."""
    middle = start + (stop - start) // 2
    after_word = max(text.rfind(sign, middle, stop) for sign in _WORD_ENDS)
    if after_word > start:
        return after_word + 1
    for cut in range(stop, max(middle, stop - 8), -1):
        if text[cut] not in _JOINERS and text[cut - 1] != "\u200d" and not unicodedata.combining(text[cut]):
            return cut
    return stop


def _restart_units(layout: Layout, start: int) -> int:
    """What a span that starts inside a word costs on top, on its own."""
    text = layout.text
    is_inside = 0 < start < len(text) and text[start].isalnum() and text[start - 1].isalnum()
    return WORD_RESTART_UNITS if is_inside else 0
