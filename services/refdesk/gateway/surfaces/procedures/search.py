"""search_instructions: whole sections for a plan, grouped by document, within a budget; knows nothing of pins but their sections."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway.surfaces.interface import ToolAnswer
from refdesk.gateway.surfaces.procedures import wording
from refdesk.gateway.surfaces.procedures.library import Library
from refdesk.gateway.surfaces.procedures.outline import Outline, OutlineSection, estimate_tokens, top_sections
from refdesk.gateway.surfaces.procedures.relevance import Relevance, Relevant
from refdesk.gateway.surfaces.procedures.tools import LEFTOVERS, MOST_DOCUMENTS, SEARCH_TOKENS, WHOLE_TOKENS

SECTIONS_OF_A_LARGE_DOCUMENT = 2


@dataclass
class _Budget:
    left: int
    parts: list[str] = field(default_factory=list)

    def take(self, parts: Sequence[str]) -> bool:
        """Adds all of the parts or none."""
        tokens = sum(estimate_tokens(part) + 1 for part in parts)
        if tokens > self.left:
            return False
        self.left -= tokens
        self.parts += parts
        return True


class SearchInstructions:
    """Answers search_instructions."""

    def __init__(self, library: Library, relevance: Relevance) -> None:
        self._library = library
        self._relevance = relevance

    async def run(self, project: docstore_api.Project, plan: str, left_out: Collection[str] = ()) -> ToolAnswer:
        """Sections for a plan, without those of the documents `left_out` (ids). Raises: InvalidArgument, Unavailable."""
        found = await self._relevance.search(project, plan)
        wanted = [document_id for document_id in found.document_ids if document_id not in left_out]
        outlines = await self._library.read(project, ids=wanted[: MOST_DOCUMENTS + LEFTOVERS]) if wanted else []
        if not outlines:
            text = "\n\n".join([wording.NO_MATCH, *([found.note] if found.note else [])])
            return ToolAnswer(text, {}, found.mode, found.degraded)
        chosen, left = choose(outlines, found)
        lines = [wording.write_document_line(one.title, one.document_id) for one in left[:LEFTOVERS]]
        more = ["\n".join(["Also matched:", *lines])] if lines else []
        text = "\n\n".join([*chosen, *more, *([found.note] if found.note else [])])
        return ToolAnswer(text, {}, found.mode, found.degraded, len(outlines) - len(left))


def choose(outlines: Sequence[Outline], found: Relevant) -> tuple[list[str], list[Outline]]:
    """The sections to show, as text, and the documents that are not among them, both the best first.

    A small document comes whole; of a large one the best two sections that matched, and more of them where few documents matched and there
    is room. The first section comes in any case.
    """
    budget, left = _Budget(SEARCH_TOKENS), []
    extra: list[tuple[Outline, list[OutlineSection], int]] = []
    groups: list[list[str]] = []
    for outline in outlines:
        parts = wording.write_document(outline)
        matched = _matched(outline, found)
        if len(groups) == MOST_DOCUMENTS:
            left.append(outline)
        elif sum(map(estimate_tokens, parts)) <= WHOLE_TOKENS and budget.take(parts):
            groups.append(parts)
        elif taken := _take_best(outline, matched, budget, is_first=not groups):
            extra.append((outline, [one for one in matched if one not in taken], len(groups)))
            groups.append([wording.write_section(outline, one) for one in taken])
        else:
            left.append(outline)
    for outline, rest, place in extra:
        for section in rest:
            part = wording.write_section(outline, section)
            if not budget.take([part]):
                break
            groups[place].append(part)
    return [part for group in groups for part in group], left


def _matched(outline: Outline, found: Relevant) -> list[OutlineSection]:
    """The sections of the document's hits, the best first; none stands in another."""
    hits = [chunk for chunk in found.chunks if chunk.document_id == outline.document_id]
    sections = [section for chunk in hits if (section := _section_of(outline, chunk))]
    tops = top_sections(list(dict.fromkeys(sections)))
    return [section for section in dict.fromkeys(sections) if section in tops]


def _section_of(outline: Outline, chunk: docstore_api.HydratedChunk) -> OutlineSection | None:
    """By its breadcrumb's last heading, and of equal ones the one that holds its text."""
    title = chunk.breadcrumb[-1] if chunk.breadcrumb else ""
    alike = [section for section in outline.sections if section.title == title]
    first_line = chunk.text.strip().split("\n", 1)[0]
    return next((one for one in alike if first_line in one.text), alike[0] if alike else outline.sections[0])


def _take_best(
    outline: Outline, matched: Sequence[OutlineSection], budget: _Budget, *, is_first: bool
) -> list[OutlineSection]:
    taken: list[OutlineSection] = []
    for section in matched:
        if len(taken) == SECTIONS_OF_A_LARGE_DOCUMENT:
            break
        if budget.take([wording.write_section(outline, section)]):
            taken.append(section)
    if not taken and is_first and matched:
        budget.left = 0
        taken.append(matched[0])
    return taken
