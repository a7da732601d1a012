"""The chunkers that this release ships, by number; knows nothing of generations, which name one each.

A number stands for one way of cutting, for ever: a chunker that may cut anything otherwise gets the next one. A release ships what new
projects are cut with and what the release before cut new projects with, so that an upgrade cuts nothing anew by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from refdesk.errors import InvalidArgument
from refdesk.ingest import chunks, siblings
from refdesk.ingest.chunks import Chunk, ChunkSettings
from refdesk.ingest.formats.document import ParsedDocument


@dataclass(frozen=True)
class Chunker:
    """One way of cutting; `what` says for people how it cuts."""

    number: int
    what: str
    cut: Callable[[ParsedDocument, ChunkSettings], tuple[Chunk, ...]]


CHUNKERS: Mapping[int, Chunker] = {
    one.number: one
    for one in (
        Chunker(1, "at headings", chunks.cut),
        Chunker(2, "at headings, small sections of one parent together", siblings.cut),
    )
}
DEFAULT_CHUNKER = 1
"""What new projects are cut with."""


def find_chunker(number: int) -> Chunker:
    """The chunker of this number.

    Raises: InvalidArgument where this release does not ship it.
    """
    if number not in CHUNKERS:
        shipped = "; ".join(f"{one.number}: {one.what}" for one in CHUNKERS.values())
        raise InvalidArgument(f"this release has no chunker {number}; it has {shipped}")
    return CHUNKERS[number]
