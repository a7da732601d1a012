"""Packs excerpts into a bounded text: neighbours shrink first, then whole excerpts go from the end; knows nothing of ranking."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

NEIGHBOUR_STEPS = (400, 300, 200, 100, 0)
"""Most characters of a neighbour, tried in turn until the answer fits."""

FENCE_ROOM = 8
"""Characters kept free for a fence that a cut has to close or open again."""

MARK = "…"
GAP = "\n\n"

_SENTENCE_END = re.compile(r"[.!?…][\"')\]]?(?=\s)|[。！？]")
_BLOCK_START = re.compile(r"\s*(?:[#|>`~*+<-]|\d+[.)]\s)")
_FIRST_HEADING = re.compile(r"\s*(?:#{1,6}[ \t]+(?P<atx>[^\n]*)|(?P<setext>[^\n]+)\n(?:=+|-+)[ \t]*)(?:\n|$)")
_END_HEADINGS = re.compile(r"(?:(?:^|\n+)#{1,6} [^\n]*)+$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A chunk's text under the result's first line, with the texts of the chunks before and after it ("" at an end).

    `heading` is the heading that the text stands under in its document. The result's first line names it already, so it
    is shown only to part the text from the one before it.
    """

    head: str
    text: str
    before: str = ""
    after: str = ""
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Packed:
    """Excerpts as text, the best first; `bodies` are the same without their heading lines."""

    blocks: tuple[str, ...]
    bodies: tuple[str, ...]
    left_out: int


def pack(
    excerpts: Sequence[Excerpt], most_characters: int, overhead: int, notice: Callable[[int], str] = lambda shown: ""
) -> Packed:
    """As many excerpts as fit, the neighbours as wide as they can be, never none.

    `overhead`: characters of the answer that are not excerpts. `notice`: what the answer will say when only the first
    `shown` excerpts are in it; it counts too.
    """
    for shown in range(len(excerpts), 0, -1):
        cut = len(excerpts) - shown
        room = most_characters - overhead - (len(GAP + notice(shown)) if cut else 0)
        if _least_length(excerpts[:shown]) > room and shown > 1:
            continue
        for neighbour_characters in NEIGHBOUR_STEPS:
            bodies = [render_body(excerpt, neighbour_characters) for excerpt in excerpts[:shown]]
            if _length(excerpts[:shown], bodies) <= room:
                return _packed(excerpts[:shown], bodies, cut)
        if shown == 1:
            first = excerpts[0]
            kept, _ = cut_end(first.text, max(1, room - len(first.head) - 2 * len(MARK) - 10))
            return _packed([first], [_marked(kept, bool(first.before), True)], cut)
    return Packed((), (), 0)


def render_body(excerpt: Excerpt, neighbour_characters: int) -> str:
    """The chunk between its neighbours, each at most so many characters; a side that is cut bears a …"""
    before, start_cut = cut_start(excerpt.before, neighbour_characters)
    after, end_cut = cut_end(excerpt.after, neighbour_characters)
    heading = excerpt.heading if before else ""
    parts = (before.strip("\n"), heading, excerpt.text.strip("\n"), after.strip("\n"))
    return _marked(GAP.join(part for part in parts if part), start_cut, end_cut)


def split_heading(text: str, breadcrumb: Sequence[str]) -> tuple[str, str]:
    """The heading at the start of a chunk's text, where its breadcrumb ends in it, and the rest; else "" and all of it."""
    match = _FIRST_HEADING.match(text)
    if not match or not breadcrumb or _letters(match["atx"] or match["setext"]) != _letters(breadcrumb[-1]):
        return "", text
    rest = text[match.end() :].strip("\n")
    return (match[0].strip("\n"), rest) if rest else ("", text)


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


def cut_end(text: str, most_characters: int) -> tuple[str, bool]:
    """The start of a text, ended at a line or sentence, else at a word; and whether anything was cut."""
    if len(text) <= most_characters:
        return text, False
    if most_characters <= 0:
        return "", True
    window = text[: most_characters + 1]
    ends = [match.end() for match in _SENTENCE_END.finditer(window)]
    line = window.rfind("\n")
    place = max([end for end in (*ends, line) if 0 < end <= most_characters], default=0)
    if not place:
        place = max(window.rfind(" "), 0) or most_characters
    kept = close_fence(_END_HEADINGS.sub("", text[:place].rstrip()))
    return (kept, True) if len(kept) <= most_characters else cut_end(text, most_characters - FENCE_ROOM)


def cut_start(text: str, most_characters: int) -> tuple[str, bool]:
    """The end of a text, started at a line or sentence, else at a word; and whether anything was cut."""
    if len(text) <= most_characters:
        return text, False
    if most_characters <= 0:
        return "", True
    first = len(text) - most_characters
    starts = [match.end() for match in _SENTENCE_END.finditer(text, max(0, first - 2))]
    line = text.find("\n", first - 1) + 1
    place = min([start for start in (*starts, line) if first <= start < len(text)], default=0)
    if not place:
        place = text.find(" ", first) + 1 or first
    # At a line's start its indentation is kept; behind a sentence there is only the space between two.
    kept = _open_fence(text[place:] if place == line else text[place:].lstrip())
    return (kept, True) if len(kept) <= most_characters else cut_start(text, most_characters - FENCE_ROOM)


def close_fence(text: str) -> str:
    """The text with a code fence that it leaves open closed behind it."""
    fences = _FENCE.findall(text)
    return f"{text}\n{fences[-1]}" if len(fences) % 2 else text


def _open_fence(text: str) -> str:
    fences = _FENCE.findall(text)
    return f"{fences[0]}\n{text}" if len(fences) % 2 else text


def _marked(text: str, start_cut: bool, end_cut: bool) -> str:
    if start_cut:
        text = MARK + ("\n" if _BLOCK_START.match(text) else "") + text
    if end_cut:
        last_line = text[text.rfind("\n") + 1 :]
        text += ("\n" if re.match(r"\s*[|`~]", last_line) else "") + MARK
    return text


def _least_length(excerpts: Sequence[Excerpt]) -> int:
    return sum(len(excerpt.head) + 1 + len(excerpt.text.strip("\n")) for excerpt in excerpts)


def _length(excerpts: Sequence[Excerpt], bodies: Sequence[str]) -> int:
    lines = sum(len(excerpt.head) + 1 + len(body) for excerpt, body in zip(excerpts, bodies, strict=True))
    return lines + len(GAP) * max(0, len(bodies) - 1)


def _packed(excerpts: Sequence[Excerpt], bodies: Sequence[str], left_out: int) -> Packed:
    blocks = tuple(f"{excerpt.head}\n{body}" for excerpt, body in zip(excerpts, bodies, strict=True))
    return Packed(blocks, tuple(bodies), left_out)
