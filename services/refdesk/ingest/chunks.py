"""Cuts a parsed document into chunks, the unit that is embedded and ranked; knows no model and no index.

A chunk is one span of the text, in order, and every character that is not blank lies in exactly one. The rules:

- A heading of level 1 to CUT_LEVEL starts a chunk. Deeper ones start one only where their section does not fit into the
  chunk before it; API pages have one such heading a parameter, and a chunk of ten words ranks for nothing.
- What stands under a heading and is tiny (often the heading alone) goes with its first subsection, whose breadcrumb
  names it anyway. It never goes with a sibling: the breadcrumb would then name the wrong section.
- A chunk's breadcrumb is the longest one that holds for all of it, such a tiny beginning left aside.
- A section that is too long is cut between blocks, then rows, lines and sentences, then words, then characters. Every
  piece of a table starts with its head, every piece of a fence is a fence.
- A heading, or a short line that ends with a colon, is not left at the end of a chunk.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from refdesk.errors import InvalidArgument
from refdesk.ingest.formats.document import Block, BlockKind, ParsedDocument, Section
from refdesk.ingest.heads import HEAD_TOKENS, HeadCosts, head_line, head_path
from refdesk.ingest.pieces import BlockSplitter, Layout, Piece
from refdesk.ingest.tokens import UNITS_PER_TOKEN, running_units

CHUNKER_VERSION = (
    "headings-1"  # part of a generation's fingerprint: another one whenever a chunk may come out different
)
CUT_LEVEL = 3
TINY_TOKENS = 25
LEAST_CHUNK_TOKENS = 2 * HEAD_TOKENS

_TINY_UNITS = TINY_TOKENS * UNITS_PER_TOKEN
_SHORT_UNITS = 40 * UNITS_PER_TOKEN
_COLONS = (":", "：")


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    """Sizes in estimated tokens of the whole embedded text, head included; `token_scale` multiplies every estimate.

    Raises: InvalidArgument for sizes that leave no room for text.
    """

    chunk_tokens: int = 200
    max_tokens: int = 250
    token_scale: float = 1.0

    def __post_init__(self) -> None:
        least = LEAST_CHUNK_TOKENS * self.token_scale
        if not 0.1 <= self.token_scale <= 10:
            raise InvalidArgument(f"token_scale {self.token_scale} is out of range: use 0.1 to 10")
        if self.chunk_tokens < least:
            raise InvalidArgument(f"chunk_tokens {self.chunk_tokens} is too small: use {least:.0f} or more")
        if self.max_tokens < self.chunk_tokens:
            raise InvalidArgument(f"max_tokens {self.max_tokens} is below chunk_tokens {self.chunk_tokens}: raise it")

    @property
    def target_units(self) -> int:
        """The size aimed at, in 64ths of an unscaled token."""
        return int(self.chunk_tokens * UNITS_PER_TOKEN / self.token_scale)

    @property
    def max_units(self) -> int:
        """The size never exceeded, in 64ths of an unscaled token."""
        return int(self.max_tokens * UNITS_PER_TOKEN / self.token_scale)


class Chunk(NamedTuple):
    """`text` is `lead`, then the document's text from `start` to `end`, then `tail`. Lines are 0-based, both inclusive."""

    ordinal: int
    breadcrumb: tuple[str, ...]
    text: str
    start: int
    end: int
    first_line: int
    last_line: int
    lead: str
    tail: str
    token_estimate: int


def embedded_text(title: str, breadcrumb: Sequence[str], chunk_text: str) -> str:
    """What is embedded, hashed for reuse and measured against the window: title and breadcrumb, then the chunk."""
    head = head_line(head_path(title, breadcrumb))
    return f"{head}\n{chunk_text}" if head else chunk_text


def cut(document: ParsedDocument, settings: ChunkSettings) -> tuple[Chunk, ...]:
    """The document's chunks in order; none for a document without text."""
    if not document.sections:
        return ()
    cutter = _Cutter(document, settings)
    cutter.run()
    return tuple(cutter.chunks)


class _Part(NamedTuple):
    """A piece in a chunk, the section it belongs to, and what it is where it is one block and whole."""

    piece: Piece
    section: Section
    kind: BlockKind | None = None


class _Cutter:
    """Packs sections, blocks and pieces into the open chunk, and closes it when the next one does not fit."""

    def __init__(self, document: ParsedDocument, settings: ChunkSettings) -> None:
        self._document = document
        self._settings = settings
        self._target_units = settings.target_units
        headings = [section.heading for section in document.sections if section.level]
        parts = dict.fromkeys([document.title, *headings])
        # In one go: to count headings by themselves takes a third of a page's time. A memoryview's items are plain numbers.
        sums = running_units("\n".join([document.text, *parts])).data
        self._layout = Layout(document.text, document.line_starts, sums)
        self._heads = HeadCosts(parts, sums[len(document.text) + 1 :])
        self._block_starts = [block.start for block in document.blocks]
        self._open: list[_Part] = []
        self._last: list[_Part] = []
        self._units = 0
        self.chunks: list[Chunk] = []

    def run(self) -> None:
        """Fill `chunks`."""
        for section in self._document.sections:
            self._add_section(section)
        self._close()

    def _add_section(self, section: Section) -> None:
        """Add a section's own body: whole where it fits, else block by block."""
        fresh = self._target_units - self._head_units(section.breadcrumb)
        whole = Piece(section.start, section.body_end, self._layout.measure(section.start, section.body_end))
        is_apart = bool(self._open) and not self._leads_to(section)
        if is_apart and (section.level <= CUT_LEVEL or whole.units > self._room(section, fresh)):
            self._close()
        if whole.units <= self._room(section, fresh):
            self._append(whole, section)
            return
        first = bisect_left(self._block_starts, section.start_line)
        last = bisect_left(self._block_starts, section.body_end_line)
        for block in self._document.blocks[first:last]:
            self._add_block(block, section, fresh)
        self._return_runt(section)

    def _add_block(self, block: Block, section: Section, fresh: int) -> None:
        """Add a block: whole where it fits into this chunk or the next, else in pieces."""
        start, end = self._layout.starts[block.start], self._layout.line_end(block.end)
        piece = Piece(start, end, self._layout.measure(start, end))
        if piece.units <= self._room(section, fresh):
            self._append(piece, section, block.kind)
            return
        is_long = piece.units > fresh
        if not is_long or self._units >= fresh // 2:
            self._close(keep_orphans=True)
        slack = self._settings.max_units - self._target_units if self._open and not is_long else 0
        if piece.units <= self._room(section, fresh) + slack:
            self._append(piece, section, block.kind)
            return
        self._add_pieces(block, section, fresh)

    def _add_pieces(self, block: Block, section: Section, fresh: int) -> None:
        """Add a block piece by piece; every piece but the last fills its chunk."""
        splitter = BlockSplitter(self._layout, block, fresh)
        while not splitter.is_done:
            room = self._room(section, fresh)
            piece = splitter.take(room, must_take=room >= fresh // 2)
            if piece is None:
                self._close()
                continue
            self._append(piece, section)
            if not piece.closes:
                self._close()

    def _append(self, piece: Piece, section: Section, kind: BlockKind | None = None) -> None:
        """Put a piece into the open chunk."""
        self._units += piece.units if self._open or piece.opens else piece.units + piece.frame.lead_units
        self._open.append(_Part(piece, section, kind))

    def _close(self, keep_orphans: bool = False) -> None:
        """End the open chunk; what must not end it may go on to the next."""
        parts = self._open
        rest: list[_Part] = []
        while keep_orphans and len(parts) > 1 and self._is_orphan(parts[-1]):
            rest.insert(0, parts.pop())
        if rest and all(map(self._is_orphan, parts)):
            parts, rest = parts + rest, []
        self._emit(parts)
        self._open, self._units = [], 0
        for part in rest:
            self._append(*part)

    def _emit(self, parts: list[_Part]) -> None:
        """Make a chunk of parts that follow each other, unless all of it is blank."""
        layout = self._layout
        if not parts or not (span := layout.trim(parts[0].piece.start, parts[-1].piece.end)):
            return
        start, end = span
        first, last = parts[0].piece, parts[-1].piece
        lead = "" if first.opens else first.frame.lead
        tail = "" if last.closes else last.frame.tail
        breadcrumb = _name_parts(parts)
        units = self._heads.count(head_path(self._document.title, breadcrumb)) + layout.measure_alone(start, end)
        units += (first.frame.lead_units if lead else 0) + (last.frame.tail_units if tail else 0)
        self._last = parts
        text = f"{lead}{layout.text[start:end]}{tail}"
        first_line = bisect_right(layout.starts, start) - 1
        last_line = bisect_right(layout.starts, end - 1, first_line) - 1
        tokens = math.ceil(units * self._settings.token_scale / UNITS_PER_TOKEN)
        self.chunks.append(
            Chunk(len(self.chunks), breadcrumb, text, start, end, first_line, last_line, lead, tail, tokens)
        )

    def _return_runt(self, section: Section) -> None:
        """Give a tiny end of a long section back to the chunk before, where that one may still take it."""
        if not self._open or self._units >= _TINY_UNITS or not self.chunks:
            return
        parts = [*self._last, *self._open]
        if any(part.section is not section for part in parts):
            return
        first, last = parts[0].piece, parts[-1].piece
        units = self._layout.measure_alone(first.start, last.end) + (0 if first.opens else first.frame.lead_units)
        if units + self._head_units(section.breadcrumb) > self._settings.max_units:
            return
        self.chunks.pop()
        self._open = parts
        self._close()

    def _leads_to(self, section: Section) -> bool:
        """Whether the open chunk is no more than a tiny beginning above this section."""
        if self._units >= _TINY_UNITS:
            return False
        return all(_is_above(part.section, section) for part in self._open)

    def _room(self, section: Section, fresh: int) -> int:
        """Units left in the open chunk for a piece of this section; `fresh` is what a chunk of it alone has."""
        if not self._open or (self._open[0].section is section):
            return fresh - self._units
        breadcrumb = _name_parts([*self._open, _Part(Piece(0, 0, 0), section)])
        return self._target_units - self._head_units(breadcrumb) - self._units

    def _head_units(self, breadcrumb: tuple[str, ...]) -> int:
        """What the head above a chunk with this breadcrumb costs."""
        return self._heads.count(head_path(self._document.title, breadcrumb))

    def _is_orphan(self, part: _Part) -> bool:
        """Whether a part belongs to what follows: a heading, or a short block that ends with a colon."""
        if part.kind is None or part.kind is BlockKind.HEADING:
            return part.kind is not None
        piece = part.piece
        return piece.units < _SHORT_UNITS and self._layout.text[piece.start : piece.end].rstrip().endswith(_COLONS)


def _is_above(upper: Section, lower: Section) -> bool:
    """Whether the one's breadcrumb is a beginning of the other's."""
    depth = len(upper.breadcrumb)
    return depth < len(lower.breadcrumb) and lower.breadcrumb[:depth] == upper.breadcrumb


def _name_parts(parts: Sequence[_Part]) -> tuple[str, ...]:
    """The longest breadcrumb that holds for all parts, a tiny beginning above the rest left aside."""
    first, last = parts[0].section, parts[-1].section
    if first is last:
        return first.breadcrumb
    index, units = 0, 0
    while parts[index].section is not last:
        units += parts[index].piece.units
        if units >= _TINY_UNITS or not _is_above(parts[index].section, last):
            break
        index += 1
    if parts[index].section is last:
        return last.breadcrumb
    names = parts[index].section.breadcrumb
    for part in parts[index + 1 :]:
        other = part.section.breadcrumb
        while other[: len(names)] != names:
            names = names[:-1]
    return names
