"""What sets one surface's searches apart from another's; everything else is one core."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Grouping(Enum):
    """What `most_per_group` counts by."""

    DOCUMENT = "document"
    SECTION = "section"


@dataclass(frozen=True, slots=True)
class Profile:
    """Weights, candidates, grouping, floor and packing of a surface."""

    name: str
    lexical_weight: float = 1.0
    semantic_weight: float = 1.0
    chunk_candidates: int = 100
    """Chunks that a leg lists."""
    chunks_per_document: int = 8
    """Most chunks of one document in a leg's list."""
    document_candidates: int = 50
    """Whole documents that a leg weighs."""
    chunks_only: bool = False
    """Whether whole documents are left out of the ranking: for measuring what they add."""
    kept: int = 50
    """Chunks that go on after hydration."""
    spare: int = 10
    """Hydrated on top of `kept`, in the place of those that are no longer current."""
    grouping: Grouping = Grouping.DOCUMENT
    most_per_group: int = 2
    """Chunks of one document, or section, that are results."""
    has_floor: bool = True
    has_neighbours: bool = True
    snippet_characters: int = 0
    """Most characters of a result's text; 0: the whole chunk."""


DOCS = Profile("docs")
SITE = Profile("site", most_per_group=1, has_floor=False, has_neighbours=False, snippet_characters=300)
PROCEDURES = Profile("procedures", grouping=Grouping.SECTION, most_per_group=1, has_neighbours=False)
NOTES = Profile(
    "notes",
    chunks_per_document=3,  # what counts is the document: candidates are to be of many
    most_per_group=1,
    has_floor=False,
    has_neighbours=False,
    snippet_characters=300,
)
CONNECTOR = Profile("connector", most_per_group=1, has_neighbours=False, snippet_characters=300)
