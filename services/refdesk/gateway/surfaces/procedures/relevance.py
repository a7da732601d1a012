"""Ranks sections and documents for a plan by the one search core; knows nothing of texts or budgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.gateway.answers import Question, SearchCore, embedded_share
from refdesk.gateway.asking import Asking
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.legs import mode_line
from refdesk.gateway.profiles import PROCEDURES

SECTIONS = 50
"""Sections that are looked at."""


@dataclass(frozen=True, slots=True)
class Relevant:
    """Chunks, one a section, the best first; documents in the order of their best section. Empty: no good match."""

    chunks: tuple[docstore_api.HydratedChunk, ...]
    mode: str
    degraded: str
    note: str
    """What was not searched and why; empty where all of it was."""

    @property
    def document_ids(self) -> Sequence[str]:
        """Each once, the best first."""
        return list(dict.fromkeys(chunk.document_id for chunk in self.chunks))


class Relevance:
    """Asks the core."""

    def __init__(self, core: SearchCore, catalog: Catalog) -> None:
        self._asking = Asking(core, catalog)

    async def search(self, project: docstore_api.Project, plan: str) -> Relevant:
        """What fits a plan. Raises: InvalidArgument where nothing in it can be searched for; Unavailable."""
        stats = await self._asking.stats(project)
        share = embedded_share(stats)
        question = Question(project, plan, SECTIONS, search_api.Filter(), PROCEDURES, embedded_share=share)
        answer = await self._asking.ask(question)
        chunks = tuple(result.chunk for result in answer.results) if answer.is_good else ()
        return Relevant(chunks, answer.mode, answer.degraded, mode_line(answer.mode, answer.absent))
