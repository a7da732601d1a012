"""Finds out whether a question would be answered now, by words or by meaning; knows nothing of probes over HTTP."""

from __future__ import annotations

from dataclasses import dataclass

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.api.search.v1.search_protocol import Search
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.failures import explain
from refdesk.gateway.legs import NAMES
from refdesk.rpc import deadline

PROBE_SECONDS = 2.0
PROBE_TEXT = "documentation"


@dataclass(frozen=True, slots=True)
class Readiness:
    """`reason` is empty when questions are answered; `searched_by` says by what: lexical, else semantic."""

    reason: str
    searched_by: str = ""


class ReadinessCheck:
    """Asks the catalog, then the words of one project, and its meanings only where words fail."""

    def __init__(self, catalog: Catalog, search: Search) -> None:
        self._catalog = catalog
        self._search = search

    async def run(self) -> Readiness:
        """The state now; it never fails."""
        try:
            with deadline.limit(PROBE_SECONDS):
                projects = await self._catalog.projects()
                if not projects:
                    return Readiness("no project is declared yet")
                return await self._search_by_any(projects[min(projects)])
        except errors.RefdeskError as error:
            return Readiness(explain(error))

    async def _search_by_any(self, project: docstore_api.Project) -> Readiness:
        reasons = []
        for kind in (search_api.LEG_KIND_LEXICAL, search_api.LEG_KIND_SEMANTIC):
            request = search_api.RetrieveRequest(
                project=project.slug,
                generation=project.live_generation,
                model_id=project.model_id,
                legs=[search_api.Leg(kind=kind, text=PROBE_TEXT)],
                chunk_candidates=1,
                document_candidates=1,
            )
            leg = (await self._search.retrieve(request)).legs[0]
            if leg.status == search_api.LEG_STATUS_RAN:
                return Readiness("", NAMES[kind])
            reasons.append(leg.reason)
        return Readiness(f"nothing can be searched: {', '.join(reasons)}")
