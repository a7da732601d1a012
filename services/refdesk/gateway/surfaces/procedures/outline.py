"""A document as its sections, with ids and summaries; pure: knows nothing of docstore or of budgets."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api

SUMMARY_CHARACTERS = 160
CHARACTERS_PER_TOKEN = 4
_HEADING = re.compile(r"\s*(?:#{1,6}[ \t]+[^\n]*|[^\n]+\n(?:=+|-+)[ \t]*)(?:\n|$)")
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？]|$)", re.DOTALL)
_LINE_MARK = re.compile(r"^\s*(?:>\s*)*(?:(?:#{1,6}|[-*+]|\d{1,9}[.)])(?=\s|$))?")
"""Of a quotation, heading or item."""
_MARKS = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)|!?\[([^\]]*)\]\([^)]*\)")
"""Of emphasis, code and links; an underscore within a name stays."""


@dataclass(frozen=True, slots=True)
class OutlineSection:
    """A heading with what stands under it: `own` up to the next heading, `text` with its subsections; both without the heading."""

    section_id: str
    title: str
    summary: str
    own: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Outline:
    """A document and its sections, in order of the text. What stands above the first heading is one too, under the document's title."""

    document_id: str
    path: str
    title: str
    summary: str
    sections: tuple[OutlineSection, ...]


def outline(document: docstore_api.Document) -> Outline:
    """The document's sections. `document` comes with its text."""
    sections = (*_opening(document), *_sections(document))
    summary = document.summary or first_sentence(_HEADING.sub("", document.text, count=1))
    return Outline(document.document_id, document.path, document.title, " ".join(summary.split()), sections)


def first_sentence(text: str) -> str:
    """The first sentence of a text in Markdown, without marks, on one line; cut at a word where it is long."""
    for block in text.split("\n\n"):
        lines = [line for line in block.strip().splitlines() if not line.lstrip().startswith(("#", "|", "```", "~~~"))]
        plain = " ".join(_MARKS.sub(r"\1", " ".join(_LINE_MARK.sub("", line) for line in lines)).split())
        if not plain:
            continue
        found = _SENTENCE.match(plain)
        sentence = (found[0] if found else plain).strip()
        if len(sentence) <= SUMMARY_CHARACTERS:
            return sentence
        return sentence[:SUMMARY_CHARACTERS].rsplit(" ", 1)[0] + " …"
    return ""


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: four Latin characters to one, or one of another script."""
    latin = sum(character < "\u0250" for character in text)
    return math.ceil(latin / CHARACTERS_PER_TOKEN) + len(text) - latin


def _sections(document: docstore_api.Document) -> list[OutlineSection]:
    text, found = document.text, list(document.sections)
    starts = [section.start for section in found]
    return [
        _section(
            document.document_id,
            section,
            text,
            min((start for start in starts if start > section.start), default=section.end),
        )
        for section in found
    ]


def _section(document_id: str, section: docstore_api.Section, text: str, next_start: int) -> OutlineSection:
    own = _HEADING.sub("", text[section.start : min(next_start, section.end)], count=1).strip("\n")
    whole = _HEADING.sub("", text[section.start : section.end], count=1).strip("\n")
    return OutlineSection(
        ids.section_id(document_id, section.breadcrumb, section.ordinal),
        section.breadcrumb[-1] if section.breadcrumb else "",
        first_sentence(own),
        own,
        whole,
        section.start,
        section.end,
    )


def _opening(document: docstore_api.Document) -> list[OutlineSection]:
    """What stands above the first heading; all of it where there is none."""
    end = min((section.start for section in document.sections), default=len(document.text) + 1)
    text = document.text[:end].strip("\n")
    if document.sections and not text.strip():
        return []
    name = ids.section_id(document.document_id, (), 0)
    return [OutlineSection(name, document.title, first_sentence(text), text, text, 0, end)]


def find_section(outline: Outline, section_id: str) -> OutlineSection | None:
    """The section of a whole id."""
    return next((section for section in outline.sections if section.section_id == section_id), None)
