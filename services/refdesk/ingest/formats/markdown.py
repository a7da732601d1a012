"""Markdown pages as they lie in a repository, to parsed documents; knows nothing of files, chunks or models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, repeat
from operator import add
from pathlib import PurePosixPath

from refdesk.errors import InvalidArgument
from refdesk.ingest.formats.blocks import Heading, scan_blocks
from refdesk.ingest.formats.document import Block, BlockKind, JsonValue, ParsedDocument, Section
from refdesk.ingest.formats.front_matter import flag_value, read_front_matter, text_value
from refdesk.ingest.formats.inline import first_sentence, plain_text
from refdesk.ingest.formats.noise import clean_lines

_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_FOLDER_PAGES = frozenset({"index", "readme", "_index"})
_ONLY_IMAGES = re.compile(r"(?:\s*\[?!\[[^\[\]]*\]\([^()]*\)(?:\]\([^()]*\))?)+\s*")
_LONGEST_IMAGES = 2000
_SUMMARY_BLOCKS = 12  # how many blocks are looked through for a first sentence


def parse(raw: bytes | str, fallback_title: str) -> ParsedDocument:
    """A page as it lies in its source; `fallback_title` is its path or file name.

    Raises: InvalidArgument where the bytes are neither UTF-8 nor UTF-16 with a byte order mark.
    """
    matter = read_front_matter(normalise_characters(decode(raw) if isinstance(raw, bytes) else raw))
    lines, warnings = clean_lines(matter.body.split("\n"))
    if matter.warning:
        warnings = [matter.warning, *warnings]
    values = matter.values
    document = _structure(
        _trim(lines),
        title=text_value(values, "title"),
        fallback_title=fallback_title,
        summary=text_value(values, "description", "summary"),
    )
    return replace(
        document,
        front_matter=values,
        version=text_value(values, "version"),
        kind=text_value(values, "kind", "type"),
        language=text_value(values, "language", "lang", "locale"),
        url=text_value(values, "url", "canonical_url"),
        draft=flag_value(values, "draft", False),
        published=flag_value(values, "published", True),
        warnings=tuple(warnings),
    )


def structure(text: str, *, title: str = "", fallback_title: str = "", summary: str = "") -> ParsedDocument:
    """A document from its stored text: the same sections and blocks that `parse` found when it made the text."""
    return _structure(text.split("\n"), title=title, fallback_title=fallback_title, summary=summary)


def _structure(lines: Sequence[str], *, title: str, fallback_title: str, summary: str) -> ParsedDocument:
    """A document from the lines of its stored text."""
    blocks, headings = scan_blocks(lines)
    starts = _line_starts(lines)
    sections = _build_sections(headings, lines, starts)
    return ParsedDocument(
        title=title or _first_title(sections) or readable_name(fallback_title),
        text="\n".join(lines),
        sections=sections,
        blocks=tuple(blocks),
        line_starts=starts,
        summary=summary or _summarise(lines, blocks),
    )


def decode(raw: bytes) -> str:
    """Bytes to text without byte order mark.

    Raises: InvalidArgument, naming the first byte that cannot be read.
    """
    mark, encoding = next((known for known in _BYTE_ORDER_MARKS if raw.startswith(known[0])), (b"", "utf-8"))
    try:
        return raw[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        offset = error.start + len(mark)
        name = encoding.upper().removesuffix("-LE").removesuffix("-BE")
        raise InvalidArgument(f"byte {offset} is not {name}: save the file as UTF-8") from None


def normalise_characters(text: str) -> str:
    """LF line ends, no byte order mark, no NUL, no halves of surrogate pairs."""
    if text[:1] == "\ufeff":
        text = text[1:]
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x00" in text:
        text = text.replace("\x00", "")
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text


def _line_starts(lines: Sequence[str]) -> list[int]:
    """The offset of each line in the text, and of the line after the last."""
    return list(accumulate(map(add, map(len, lines), repeat(1)), initial=0))


def readable_name(path: str) -> str:
    """A title made from a path: `guide/getting-started.md` reads Getting started; an index page bears its folder's."""
    pure = PurePosixPath(path.replace("\\", "/"))
    stem = pure.stem if pure.suffix in (".md", ".mdx", ".markdown", ".txt", ".html") else pure.name
    if stem.lower() in _FOLDER_PAGES and pure.parent.name:
        stem = pure.parent.name
    words = " ".join(re.split(r"[-_\s]+", stem)).strip()
    return words[:1].upper() + words[1:]


def summarise_section(document: ParsedDocument, section: Section) -> str:
    """The first sentence of prose in a section's own body; empty where it has none."""
    lines = document.text.split("\n")
    blocks = [block for block in document.blocks if section.start_line <= block.start < section.body_end_line]
    return _summarise(lines, blocks)


def _trim(lines: Sequence[str]) -> list[str]:
    """The lines without blank ones at the start and blanks at the end; one empty line where all are blank."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    start = next((number for number, line in enumerate(lines) if line.strip()), 0)
    return [*lines[start : end - 1], lines[end - 1].rstrip()] if end else [""]


def _first_title(sections: Sequence[Section]) -> str:
    """The first heading of level 1."""
    return next((section.heading for section in sections if section.level == 1), "")


def _summarise(lines: Sequence[str], blocks: Sequence[Block]) -> str:
    """The first sentence of the first paragraph that has words."""
    for block in blocks[:_SUMMARY_BLOCKS]:
        if block.kind is not BlockKind.PARAGRAPH:
            continue
        paragraph = " ".join(lines[block.start : block.end])
        if "![" in paragraph and _ONLY_IMAGES.fullmatch(paragraph[:_LONGEST_IMAGES]):
            continue
        sentence = first_sentence(plain_text(paragraph))
        if any(character.isalpha() for character in sentence):
            return sentence
    return ""


def _build_sections(headings: Sequence[Heading], lines: Sequence[str], starts: Sequence[int]) -> tuple[Section, ...]:
    """Sections in order, each with the path of headings above it."""
    count = len(lines)
    length = starts[-1] - 1
    first = headings[0].start if headings else count
    plain = [plain_text(heading.text) for heading in headings]
    named = [(heading, text) for heading, text in zip(headings, plain, strict=True) if text]
    ends = _find_ends([heading for heading, _ in named], count)
    sections: list[Section] = []
    if any(line.strip() for line in lines[:first]):
        first = named[0][0].start if named else count
        sections.append(
            Section(0, "", (), 0, 0, first, first, 0, min(starts[first], length), min(starts[first], length))
        )
    levels: list[int] = []
    path: list[str] = []
    seen: dict[tuple[str, ...], int] = {}
    for number, (heading, text) in enumerate(named):
        while levels and levels[-1] >= heading.level:
            levels.pop()
            path.pop()
        levels.append(heading.level)
        path.append(text)
        breadcrumb = tuple(path)
        ordinal = seen.get(breadcrumb, 0)
        seen[breadcrumb] = ordinal + 1
        body_end = named[number + 1][0].start if number + 1 < len(named) else count
        spans = (starts[heading.start], min(starts[body_end], length), min(starts[ends[number]], length))
        lines_of = (heading.start, body_end, ends[number])
        sections.append(Section(heading.level, text, breadcrumb, ordinal, *lines_of, *spans))
    return tuple(sections)


def _find_ends(headings: Sequence[Heading], count: int) -> list[int]:
    """For each heading the line where the next one of its level or above stands."""
    ends = [count] * len(headings)
    open_numbers: list[int] = []
    for number, heading in enumerate(headings):
        while open_numbers and headings[open_numbers[-1]].level >= heading.level:
            ends[open_numbers.pop()] = heading.start
        open_numbers.append(number)
    return ends


__all__ = [
    "JsonValue",
    "decode",
    "normalise_characters",
    "parse",
    "readable_name",
    "structure",
    "summarise_section",
]
