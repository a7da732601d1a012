"""search_instructions: whole sections for a plan, grouped by document, within a budget; knows nothing of pins but their sections."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway.surfaces.interface import ToolAnswer
from refdesk.gateway.surfaces.procedures import wording
from refdesk.gateway.surfaces.procedures.library import Library
from refdesk.gateway.surfaces.procedures.outline import Outline, OutlineSection, estimate_tokens
from refdesk.gateway.surfaces.procedures.relevance import Relevance, Relevant
from refdesk.gateway.surfaces.procedures.room import Room
from refdesk.gateway.surfaces.procedures.tools import LEFTOVERS, MOST_DOCUMENTS, SEARCH_TOKENS, WHOLE_TOKENS

SECTIONS_OF_A_LARGE_DOCUMENT = 2
CUT = "(cut here: the section is longer; get_section with its id reads on)"


@dataclass
class _Budget:
    left: int

    def take(self, parts: Sequence[str]) -> bool:
        """Adds all of the parts or none."""
        tokens = sum(estimate_tokens(part) + 1 for part in parts)
        if tokens > self.left:
            return False
        self.left -= tokens
        return True

    def take_beginning(self, part: str) -> str:
        """As much of a section as there is room for, whole lines where they are not long; it ends with what to do for the rest."""
        share = self.left / estimate_tokens(part)
        self.left = 0
        kept = part[: max(1, int(len(part) * share) - len(CUT))]
        return f"{kept.rsplit(chr(10), 1)[0]}\n\n{CUT}"


class SearchInstructions:
    """Answers search_instructions."""

    def __init__(self, library: Library, relevance: Relevance) -> None:
        self._library = library
        self._relevance = relevance

    async def run(
        self, project: docstore_api.Project, plan: str, room: Room, left_out: Collection[str] = ()
    ) -> ToolAnswer:
        """Sections for a plan, without those of the documents `left_out` (ids). Raises: InvalidArgument, Unavailable."""
        found = await self._relevance.search(project, plan)
        wanted = [document_id for document_id in found.document_ids if document_id not in left_out]
        outlines = await self._library.read(project, ids=wanted[: MOST_DOCUMENTS + LEFTOVERS]) if wanted else []
        if not outlines:
            text = "\n\n".join([wording.NO_MATCH, *([found.note] if found.note else [])])
            return ToolAnswer(text, {}, found.mode, found.degraded)

        async def compose(budget: int) -> ToolAnswer:
            chosen, left = choose(outlines, found, budget)
            lines = [wording.write_document_line(one.title, one.document_id) for one in left[:LEFTOVERS]]
            more = ["\n".join(["Also matched:", *lines])] if lines else []
            text = "\n\n".join([*chosen, *more, *([found.note] if found.note else [])])
            return ToolAnswer(text, {}, found.mode, found.degraded, len(outlines) - len(left))

        return await room.fit(project, SEARCH_TOKENS, compose)


def choose(
    outlines: Sequence[Outline], found: Relevant, budget_tokens: int = SEARCH_TOKENS
) -> tuple[list[str], list[Outline]]:
    """The sections to show, as text, and the documents that are not among them, both the best first.

    A small document comes whole; of a large one the best two sections that matched, and more of them where few documents matched and there
    is room. The first section comes in any case, cut where it must be.
    """
    budget, left = _Budget(budget_tokens), []
    extra: list[tuple[list[str], list[str]]] = []
    groups: list[list[str]] = []
    for outline in outlines:
        parts = wording.write_document(outline)
        if len(groups) == MOST_DOCUMENTS:
            left.append(outline)
        elif sum(map(estimate_tokens, parts)) <= WHOLE_TOKENS and budget.take(parts):
            groups.append(parts)
        elif matched := _write_matched(outline, found):
            taken = [part for part in matched[:SECTIONS_OF_A_LARGE_DOCUMENT] if budget.take([part])]
            if taken or not groups:
                groups.append(taken or [budget.take_beginning(matched[0])])
                extra.append((groups[-1], matched[SECTIONS_OF_A_LARGE_DOCUMENT:]))
            else:
                left.append(outline)
        else:
            left.append(outline)
    for group, rest in extra:
        group += [part for part in rest if budget.take([part])]
    return [part for group in groups for part in group], left


def _write_matched(outline: Outline, found: Relevant) -> list[str]:
    """The sections of the document's hits, the best first; none stands in what another one shows."""
    hits = [chunk for chunk in found.chunks if chunk.document_id == outline.document_id]
    sections = list(dict.fromkeys(_section_of(outline, chunk) for chunk in hits))
    whole = [section for section in sections if estimate_tokens(section.text) <= WHOLE_TOKENS]
    shown = [one for one in sections if not any(_holds(other, one) for other in whole)]
    return [wording.write_section(outline, one, whole=one in whole or not one.own.strip()) for one in shown]


def _holds(outer: OutlineSection, inner: OutlineSection) -> bool:
    return outer is not inner and outer.start <= inner.start and inner.end <= outer.end


def _section_of(outline: Outline, chunk: docstore_api.HydratedChunk) -> OutlineSection:
    """By its breadcrumb's last heading, and of equal ones the one that holds its text."""
    title = chunk.breadcrumb[-1] if chunk.breadcrumb else ""
    alike = [section for section in outline.sections if section.title == title]
    first_line = chunk.text.strip().split("\n", 1)[0]
    return next((one for one in alike if first_line in one.text), alike[0] if alike else outline.sections[0])
