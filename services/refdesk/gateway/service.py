"""The gateway: MCP and HTTP over the other services, which it holds as Protocols, here or far away."""

from __future__ import annotations

import asyncio
import contextlib
import time

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.api.ingest.v1.ingest_protocol import Ingest
from refdesk.api.search.v1.search_protocol import Search
from refdesk.gateway.answers import SearchCore
from refdesk.gateway.budgets import Packer
from refdesk.gateway.call_log import CallLog
from refdesk.gateway.callers import Callers
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.door import Door
from refdesk.gateway.endpoint import McpEndpoint
from refdesk.gateway.events import PATH as EVENTS_PATH
from refdesk.gateway.events import EventsEndpoint
from refdesk.gateway.http import build_app
from refdesk.gateway.origins import Origins
from refdesk.gateway.public_search import PATH as PUBLIC_SEARCH_PATH
from refdesk.gateway.public_search import PublicSearch
from refdesk.gateway.rates import Rates
from refdesk.gateway.readiness import Readiness, ReadinessCheck
from refdesk.gateway.reading_pages import PATH as PAGES_PATH
from refdesk.gateway.reading_pages import ReadingPages
from refdesk.gateway.sessions import OwnMemory, Sessions
from refdesk.gateway.settings import GatewaySettings
from refdesk.gateway.surfaces.combined import SurfaceTable
from refdesk.gateway.surfaces.connector import ConnectorSurface
from refdesk.gateway.surfaces.docs import DocsSurface
from refdesk.gateway.surfaces.notes import NotesSurface
from refdesk.gateway.surfaces.procedures import ProceduresSurface
from refdesk.gateway.surfaces.site import SiteSurface
from refdesk.gateway.surfaces.site.search import PageSearch
from refdesk.gateway.targets import Targets
from refdesk.gateway.tokens import TokenCounter

CHECK_SECONDS = 2.0
"""How often it is found out whether questions would be answered."""
FRESH_SECONDS = 1.0
STARTING = Readiness("the gateway is starting")


class GatewayService:
    """Answers agents; it keeps nothing but what it may read again."""

    def __init__(
        self,
        settings: GatewaySettings,
        docstore: Docstore,
        search: Search,
        embedder: Embedder,
        ingest: Ingest | None = None,
        sessions: Sessions | None = None,
    ) -> None:
        self._sessions = sessions = sessions or OwnMemory()
        catalog = Catalog(
            docstore,
            embedder,
            ingest,
            most_seconds=settings.catalog_seconds,
            read_seconds=settings.deadline_seconds,
        )
        tokens = TokenCounter(embedder, settings.count_seconds)
        core = SearchCore(docstore, search, catalog)
        pages = PageSearch(core, catalog, Packer(tokens))
        self._site = site = SiteSurface(docstore, core, catalog, tokens, settings.public_url)
        docs, beside_site = (
            DocsSurface(docstore, core, catalog, tokens, settings.search_max_result_chars, beside_site=beside)
            for beside in (False, True)
        )
        served = (
            docs,
            site,
            ProceduresSurface(docstore, core, catalog, sessions, tokens),
            NotesSurface(docstore, core, catalog, tokens),
            ConnectorSurface(docstore, core, catalog, tokens, settings.public_url),
        )
        surfaces = SurfaceTable({surface.name: surface for surface in served}, beside_site)
        targets = Targets(catalog, surfaces, structured_output=settings.structured_output)
        self._call_log = CallLog(docstore)
        self.callers = callers = Callers(docstore, settings, denied=self._call_log.note_denied)
        self._endpoint = McpEndpoint(settings, targets, callers, self._call_log)

        async def allow(request: Request, project: str) -> None:
            await callers.allow(request.headers.get("authorization", ""), docstore_api.KEY_SCOPE_PUBLISH, project)

        self._events = EventsEndpoint(settings, docstore, ingest, allow=allow)
        self._check = ReadinessCheck(catalog, search)
        self._readiness = STARTING
        self._was_ready = False
        self._checked_at = 0.0
        self._stop = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        app = build_app(
            self._endpoint,
            self.readiness,
            serve_metrics=settings.serve_metrics,
            routes=self._routes(settings, docstore, catalog, pages),
        )
        self._app = Door(app, self._endpoint.admission.refuse_when_full)

    def _routes(
        self, settings: GatewaySettings, docstore: Docstore, catalog: Catalog, search: PageSearch
    ) -> list[Route]:
        """What is served beside MCP."""
        origins = Origins(settings.allowed_hosts, settings.allowed_origins, any_host=settings.answers_any_host)
        rates = Rates(settings.calls_per_minute)
        pages = ReadingPages(docstore, catalog, self.callers, origins, settings.deadline_seconds, rates)
        public = PublicSearch(
            catalog,
            search,
            origins,
            self._endpoint.admission,
            self._call_log,
            calls_per_minute=settings.calls_per_minute,
            deadline_seconds=settings.deadline_seconds,
            public_url=settings.public_url,
        )
        return [
            Route(EVENTS_PATH, self._events.receive, methods=["POST"]),
            Route(PAGES_PATH, pages.serve, methods=["GET"]),
            Route(PUBLIC_SEARCH_PATH, public.serve, methods=["GET", "OPTIONS"]),
        ]

    @property
    def app(self) -> ASGIApp:
        """The ASGI app; before the start it answers that it is starting."""
        return self._app

    async def start(self) -> None:
        """Begins to answer, and returns at once: what cannot be reached yet is waited for, and /readyz says so."""
        self._stop.clear()
        self._call_log.start()
        self._sessions.start()
        serving = asyncio.Event()
        # One task enters and leaves the SDK's task group, whoever calls start and close.
        self._tasks = [asyncio.create_task(self._serve(serving), name="gateway")]
        await asyncio.wait(
            {self._tasks[0], waiting := asyncio.create_task(serving.wait())}, return_when="FIRST_COMPLETED"
        )
        waiting.cancel()
        if self._tasks[0].done():
            self._tasks[0].result()
        self._tasks.append(asyncio.create_task(self._keep_checking(), name="gateway readiness"))

    async def close(self) -> None:
        """Ends; calls under way are cut off, so HTTP is drained first by whoever serves `app`."""
        self._stop.set()
        self._readiness = Readiness("the gateway is stopping")
        await self._events.hints.close()
        tasks, self._tasks = self._tasks, []
        for task in tasks[1:]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._site.close()
        await self._call_log.close()
        await self._sessions.close()

    def not_ready_reason(self) -> str:
        """Why it cannot serve yet, or any more; "" from the first check on that found questions answered.

        An outage after that is said in answers, with when to come again: nobody would hear it of a gateway that is taken out of service.
        """
        return "" if self._was_ready and not self._stop.is_set() else self._readiness.reason

    async def readiness(self) -> Readiness:
        """The newest check, made anew when it is older than a second."""
        if self._tasks and time.monotonic() - self._checked_at > FRESH_SECONDS:
            await self._check_now()
        return self._readiness

    async def _serve(self, serving: asyncio.Event) -> None:
        async with self._endpoint.running():
            serving.set()
            await self._stop.wait()

    async def _keep_checking(self) -> None:
        while not self._stop.is_set():
            await self._check_now()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), CHECK_SECONDS)

    async def _check_now(self) -> None:
        state = await self._check.run()
        if not self._stop.is_set():
            self._readiness = state
            self._was_ready = self._was_ready or not state.reason
            self._checked_at = time.monotonic()
