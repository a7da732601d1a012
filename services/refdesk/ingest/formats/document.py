"""What a parsed document is, whatever format it came in; knows nothing of how it was parsed or will be cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]


class BlockKind(IntEnum):
    """What a run of lines is."""

    PARAGRAPH = 1
    HEADING = 2
    ITEM = 3  # a list item's own lines, or a further paragraph inside a list
    FENCE = 4
    TABLE = 5
    CODE = 6  # indented
    QUOTE = 7
    BREAK = 8


class Block(NamedTuple):
    """Lines `start` up to but not including `end` that belong together; blank lines belong to no block.

    A tuple, since a large page has thousands.
    """

    kind: BlockKind
    start: int
    end: int


class Section(NamedTuple):
    """A heading with what stands under it; level 0, without heading, is the text before the first heading.

    Lines are 0-based and offsets count characters of the document's text; ends are exclusive. `end_line` and `end`
    take in the subsections, `body_end_line` and `body_end` stop at the first of them. `ordinal` counts the earlier
    sections of the document with an equal breadcrumb.
    """

    level: int
    heading: str
    breadcrumb: tuple[str, ...]
    ordinal: int
    start_line: int
    body_end_line: int
    end_line: int
    start: int
    body_end: int
    end: int


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document as it is stored, searched and served; every span refers to `text`.

    `line_starts` has the offset of each line, and of the line that would come after the last.
    `version`, `kind`, `language` and `url` are empty where the front matter says nothing.
    """

    title: str
    text: str
    sections: tuple[Section, ...]
    blocks: tuple[Block, ...]
    line_starts: Sequence[int]
    summary: str = ""
    front_matter: dict[str, JsonValue] = field(default_factory=dict)
    version: str = ""
    kind: str = ""
    language: str = ""
    url: str = ""
    draft: bool = False
    published: bool = True
    warnings: tuple[str, ...] = ()
