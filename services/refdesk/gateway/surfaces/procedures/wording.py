"""How the procedures surface writes documents, sections and pins; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from refdesk.gateway.surfaces.docs.wording import TITLE_CHARACTERS, call_text, one_line
from refdesk.gateway.surfaces.procedures.outline import Outline, OutlineSection
from refdesk.gateway.surfaces.procedures.tools import INLINE_SECTIONS
from refdesk.ids import short_id

EMPTY = "No instruction documents are available yet."
NO_SECTION = "No such section."
NO_MATCH = "No instructions match this plan. Call get_toc to see which documents exist, or search with other words."
PINS_HEADER = (
    "# Core procedures (always apply)\n\n"
    "These procedures apply to every conversation. For anything else, use search_instructions and get_toc."
)
RULE = "\n\n---\n\n"


def document_mark(document_id: str) -> str:
    """How a document's id is shown."""
    return f"[doc {short_id(document_id)}]"


def write_section(outline: Outline, section: OutlineSection, *, whole: bool = True) -> str:
    """A section as a search gives it, with its subsections or (`whole` False) up to the next heading."""
    return under_head(outline, section, section.text if whole else section.own)


def under_head(outline: Outline, section: OutlineSection, text: str) -> str:
    """Some of a section's text under what says which it is of."""
    head = f"# {_line(section.title)}  [id: {short_id(section.section_id)}]"
    origin = f"From: {_line(outline.title)}  {document_mark(outline.document_id)}"
    return f"{head}\n{origin}\n\n{text}".rstrip()


def write_part(outline: Outline, section: OutlineSection, first: int, most_characters: int) -> str:
    """A section's text from a character on, whole lines where they are not long; it ends with the call for the rest."""
    rest = section.text[first:]
    if len(rest) <= most_characters:
        return under_head(outline, section, rest)
    kept = max(1, most_characters)
    kept = rest.rfind("\n", kept // 2, kept) + 1 or kept
    call = call_text("get_section", [("section_id", short_id(section.section_id)), ("from", first + kept)])
    return f"{under_head(outline, section, rest[:kept])}\n\n(cut here; for the rest: {call})"


def write_document(outline: Outline) -> list[str]:
    """Every section in order, each with its own text; a heading with nothing right under it is left out, unless there is nothing else."""
    with_text = [section for section in outline.sections if section.own.strip()]
    return [write_section(outline, section, whole=False) for section in with_text or outline.sections]


def write_head(outline: Outline) -> str:
    """A document's title, id and summary."""
    head = f"## {_line(outline.title)}  {document_mark(outline.document_id)}"
    return f"{head}\n{outline.summary}" if outline.summary else head


def write_entry(outline: Outline) -> str:
    """A document in a map: title, id, summary, and its sections where they are few."""
    lines = [write_head(outline)]
    if len(outline.sections) > INLINE_SECTIONS:
        lines.append(
            f'— {len(outline.sections)} sections; get_toc(document_id="{short_id(outline.document_id)}") lists them'
        )
    else:
        lines += [write_section_line(section) for section in outline.sections]
    return "\n".join(lines)


def write_section_line(section: OutlineSection) -> str:
    """A section in a map."""
    summary = f" — {section.summary}" if section.summary else ""
    return f"- {_line(section.title)}  [id: {short_id(section.section_id)}]{summary}"


def write_document_line(title: str, document_id: str, summary: str = "") -> str:
    """A document on one line."""
    return f"- {_line(title)} {document_mark(document_id)}{' — ' + summary if summary else ''}"


def write_pins(shown: Sequence[Outline], named: Iterable[tuple[str, str]]) -> str:
    """The block of pinned documents: whole ones, and (title, id) of those that it has no room for."""
    parts = [section for outline in shown for section in write_document(outline)]
    lines = [write_document_line(title, document_id) for title, document_id in named]
    more = ["Pinned as well, read them with get_toc and get_section:\n" + "\n".join(lines)] if lines else []
    return PINS_HEADER + RULE + "\n\n".join((*parts, *more))


def _line(text: str) -> str:
    return one_line(text, TITLE_CHARACTERS)
