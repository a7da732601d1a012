"""Cuts as `chunks` does, then packs small sections of one parent into one chunk; knows no model and no index.

A page of many short sections gives many chunks of a few words each, which say little on their own. Here a parent's own beginning and its
sections, as they follow each other, become one chunk as long as all of it, head included, stays within the size aimed at. Its breadcrumb is
the parent's; the sections' own headings stand in its text. A section that was cut into pieces is never packed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from refdesk.ingest import chunks
from refdesk.ingest.chunks import Chunk, ChunkSettings
from refdesk.ingest.formats.document import ParsedDocument
from refdesk.ingest.heads import HeadCosts, head_path
from refdesk.ingest.tokens import UNITS_PER_TOKEN, count_units


def cut(document: ParsedDocument, settings: ChunkSettings) -> tuple[Chunk, ...]:
    """The document's chunks in order; none for a document without text."""
    packer = _Packer(document, settings)
    packed = (packer.join(group) for group in packer.group(chunks.cut(document, settings)))
    return tuple(chunk._replace(ordinal=ordinal) for ordinal, chunk in enumerate(packed))


class _Packer:
    """Groups and joins the chunks of one document."""

    def __init__(self, document: ParsedDocument, settings: ChunkSettings) -> None:
        self._document = document
        self._settings = settings
        headings = [section.heading for section in document.sections if section.level]
        self._heads = HeadCosts([document.title, *headings])

    def group(self, cut_by_headings: Sequence[Chunk]) -> Iterator[list[Chunk]]:
        """The chunks in order, those together that are to be one."""
        group: list[Chunk] = []
        for chunk, is_whole in zip(cut_by_headings, _find_whole(cut_by_headings), strict=True):
            if group and is_whole and self._takes(group, chunk):
                group.append(chunk)
                continue
            if group:
                yield group
            group = [chunk] if is_whole else []
            if not is_whole:
                yield [chunk]
        if group:
            yield group

    def join(self, group: Sequence[Chunk]) -> Chunk:
        """One chunk of chunks that follow each other."""
        first, last = group[0], group[-1]
        if first is last:
            return first
        return first._replace(
            breadcrumb=last.breadcrumb[:-1],
            text=self._document.text[first.start : last.end],
            end=last.end,
            last_line=last.last_line,
            token_estimate=self._count_tokens(first, last),
        )

    def _takes(self, group: Sequence[Chunk], chunk: Chunk) -> bool:
        """Whether a chunk is a further section of the group's parent, and small enough."""
        last, here = group[-1].breadcrumb, chunk.breadcrumb
        is_sibling = len(last) == len(here) > 0 and last[:-1] == here[:-1]
        is_first = len(group) == 1 and bool(here) and last == here[:-1]
        return (is_sibling or is_first) and self._count_tokens(group[0], chunk) <= self._settings.chunk_tokens

    def _count_tokens(self, first: Chunk, last: Chunk) -> int:
        """Estimated tokens of everything from one chunk to another, under the parent's head."""
        units = self._heads.count(head_path(self._document.title, last.breadcrumb[:-1]))
        units += count_units(self._document.text[first.start : last.end])
        return math.ceil(units * self._settings.token_scale / UNITS_PER_TOKEN)


def _find_whole(cut_by_headings: Sequence[Chunk]) -> list[bool]:
    """Of each chunk, whether it is no piece of a section that was cut: no neighbour bears the same breadcrumb."""
    names: list[tuple[str, ...] | None] = [None, *(chunk.breadcrumb for chunk in cut_by_headings), None]
    return [
        not (chunk.lead or chunk.tail) and before != chunk.breadcrumb != after
        for before, chunk, after in zip(names, cut_by_headings, names[2:], strict=False)
    ]
