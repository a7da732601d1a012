"""IngestService: brings documents from their sources into docstore and search; knows nothing of ranking or of MCP."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Collection, Mapping

import structlog

from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.api.ingest.v1 import ingest_pb2 as pb
from refdesk.api.search.v1.search_protocol import Search
from refdesk.errors import InvalidArgument, NotFound, RefdeskError, Unavailable
from refdesk.ingest.backlog import Holdings, Sync, Watcher
from refdesk.ingest.catalog import Catalog
from refdesk.ingest.consumer import Consumer
from refdesk.ingest.embedding import Embedding
from refdesk.ingest.events.interface import Events
from refdesk.ingest.intake import Intake
from refdesk.ingest.parsers import ChildParsers
from refdesk.ingest.parsing import Parsers
from refdesk.ingest.project import ProjectWork
from refdesk.ingest.settings import IngestSettings
from refdesk.ingest.supervision import OUTAGE, keep_running
from refdesk.projects import ProjectSettings
from refdesk.tasks import end_tasks

log = structlog.get_logger()

WAIT_SECONDS = 2.0
"""How often what cannot be reached at the start is tried again."""
HINTS = 1024
SCANNED = (pb.SOURCE_STATE_FOLLOWED, pb.SOURCE_STATE_HELD)


class IngestService:
    """Follows the declared projects' sources."""

    def __init__(
        self,
        settings: IngestSettings,
        projects: Mapping[str, ProjectSettings],
        docstore: Docstore,
        search: Search,
        embedder: Embedder,
        events: Events,
        parsers: Parsers | None = None,
    ) -> None:
        self._settings = settings
        self._events = events
        self._catalog = Catalog(docstore, embedder)
        self._children = ChildParsers(
            children=settings.parser_children,
            memory_bytes=settings.parser_memory_bytes,
            document_seconds=settings.parse_seconds,
        )
        self._own_children = parsers is None
        embedding = Embedding(embedder, texts=settings.embed_texts, requests=settings.embed_requests)
        self._consumer: Consumer  # made last, of what it feeds; vectors ask it whether a load is under way
        used = parsers or self._children
        shared = (settings, docstore, search, self._catalog, embedding, used, events, lambda: self._consumer.loads)
        self._projects = {slug: ProjectWork(slug, declared, *shared) for slug, declared in projects.items()}
        publishers = {slug: project.publisher for slug, project in self._projects.items()}
        names = {slug: {source.name for source in declared.sources} for slug, declared in projects.items()}
        self._consumer = Consumer(
            events,
            publishers,
            settings,
            intake=Intake(docstore, names, self._hint, settings.call_seconds),
            published=self._count,
            settled=lambda slug: self._projects[slug].vectors.kick(),
        )
        self._reason = "it is starting"
        self._tasks: list[asyncio.Task[None]] = []
        self._consuming: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Declares the projects and begins to follow them; what cannot be reached yet is waited for behind.

        Raises: InvalidArgument where a project or a source cannot be as it is declared; Unavailable where a queue of our own cannot start.
        """
        if self._own_children:
            await self._children.start()
        try:
            await self._prepare()
        except OUTAGE as error:
            if isinstance(error, _OwnQueueUnavailable):
                raise
            self._reason = error.message
            self._spawn("start", self._prepare_later)
            return
        self._follow()

    async def close(self) -> None:
        """Settles what is under way, within bounds, and ends; everything else is found again at the next start."""
        self._reason = "it is stopping"
        self._consumer.drain()
        followers = [follower for project in self._projects.values() for follower in project.followers.values()]
        ending = {asyncio.create_task(follower.close(), name="ingest follower") for follower in followers}
        if self._consuming is not None:
            ending.add(self._consuming)
        if ending:
            await asyncio.wait(ending, timeout=self._settings.drain_seconds)
        await end_tasks([*ending, *self._tasks], self._settings.drain_seconds / 3)
        with contextlib.suppress(Unavailable):
            await self._events.close()
        await self._children.close()

    def not_ready_reason(self) -> str:
        """Empty when it follows its sources."""
        return self._reason

    async def get_status(self, request: pb.GetStatusRequest) -> pb.GetStatusResponse:
        """A project's progress. Raises: NotFound, Unavailable."""
        project = self._project(request.project)
        pending = await self._events.pending()
        sources = [follower.status() for follower in project.followers.values()]
        return pb.GetStatusResponse(
            sources=sources,
            pending_events=pending,
            words_current=pending == 0 and all(source.state in SCANNED for source in sources),
            published_count=project.published_count,
            reconciling=project.is_reconciling,
            mended_count=project.reconciler.newest.mended_count,
        )

    async def sync_source(self, request: pb.SyncSourceRequest) -> pb.SyncSourceResponse:
        """Scans a source now. Raises: NotFound, Unavailable."""
        follower = self._project(request.project).followers.get(request.source)
        if follower is None:
            raise NotFound(f"project {request.project} has no source {request.source}")
        if request.confirm_deletes:
            await self._project(request.project).let_go(request.source)
        answer = await follower.sync(request.confirm_deletes)
        await self._project(request.project).forget_parked_events(request.source)  # somebody has looked
        return answer

    async def hint_documents(self, request: pb.HintDocumentsRequest) -> pb.HintDocumentsResponse:
        """Looks at documents that may have changed. Raises: InvalidArgument, NotFound, Unavailable."""
        if len(request.paths) > HINTS:
            raise InvalidArgument(f"{len(request.paths)} paths are hinted at; send at most {HINTS} a call, or none")
        return pb.HintDocumentsResponse(
            announced_count=await self._hint(request.project, request.source, request.paths)
        )

    async def reconcile_project(self, request: pb.ReconcileProjectRequest) -> pb.ReconcileProjectResponse:
        """Compares records and engines now, and mends what differs. Raises: NotFound, Unavailable."""
        findings = await self._project(request.project).reconcile()
        return pb.ReconcileProjectResponse(
            record_count=findings.record_count,
            republished_count=findings.republished_count,
            swept_count=findings.swept_count,
            fenced_count=findings.fenced_count,
        )

    async def list_generations(self, request: pb.ListGenerationsRequest) -> pb.ListGenerationsResponse:
        """How far each generation is. Raises: NotFound, Unavailable."""
        return pb.ListGenerationsResponse(generations=await self._project(request.project).report_generations())

    async def build_generation(self, request: pb.BuildGenerationRequest) -> pb.BuildGenerationResponse:
        """Begins to build a generation. Raises: InvalidArgument, AlreadyExists, NotFound, Unavailable."""
        generations = self._project(request.project).generations
        return pb.BuildGenerationResponse(
            generation=await generations.build(
                request.model_id, request.chunker_version, hold_switch=request.hold_switch
            )
        )

    async def switch_generation(self, request: pb.SwitchGenerationRequest) -> pb.SwitchGenerationResponse:
        """Has a followed generation answer. Raises: InvalidArgument, NotFound, Unavailable."""
        moved = await self._project(request.project).generations.switch(request.generation)
        return pb.SwitchGenerationResponse(**moved._asdict())

    async def roll_back_generation(self, request: pb.RollBackGenerationRequest) -> pb.RollBackGenerationResponse:
        """Has the generation answer that answered last. Raises: InvalidArgument, NotFound, Unavailable."""
        moved = await self._project(request.project).generations.roll_back()
        return pb.RollBackGenerationResponse(**moved._asdict())

    async def drop_generation(self, request: pb.DropGenerationRequest) -> pb.DropGenerationResponse:
        """Follows a generation no more. Raises: InvalidArgument, NotFound, Unavailable."""
        name = await self._project(request.project).generations.drop(request.generation)
        return pb.DropGenerationResponse(generation=name)

    def _project(self, slug: str) -> ProjectWork:
        project = self._projects.get(slug)
        if project is None:
            raise NotFound(f"project {slug} is not followed here")
        return project

    async def _hint(self, slug: str, source: str, paths: Collection[str]) -> int:
        follower = self._project(slug).followers.get(source)
        if follower is None:
            raise NotFound(f"project {slug} has no source {source}")
        return await follower.hint(paths)

    def _count(self, slug: str, count: int) -> None:
        self._projects[slug].published_count += count

    async def _prepare(self) -> None:
        try:
            await self._events.start()
        except Unavailable as error:
            if self._settings.events.startswith("file:"):
                raise _OwnQueueUnavailable(error.message) from None
            raise
        for slug, project in self._projects.items():
            stored = await self._catalog.declare(slug, project.declared, project.holds)
            project.keep_withdrawn(stored.sources)

    async def _prepare_later(self) -> None:
        while True:
            await asyncio.sleep(WAIT_SECONDS)
            try:
                await self._prepare()
            except RefdeskError as error:
                if self._reason != error.message:
                    log.error("ingest cannot start yet", reason=error.message)
                self._reason = error.message
            else:
                self._follow()
                await asyncio.Event().wait()

    def _follow(self) -> None:
        self._reason = ""
        consuming = keep_running(
            "consumer", self._consumer.run, self._settings.outage_seconds, done=lambda: self._consumer.drained
        )
        self._consuming = asyncio.create_task(consuming, name="ingest consumer")
        watcher = Watcher(self._events, self._lags, self._count_holdings)
        self._spawn("backlog", watcher.watch_queue)
        self._spawn("holdings", watcher.watch_holdings)
        for slug, project in self._projects.items():
            for follower in project.followers.values():
                follower.start()
            self._spawn(f"vectors {slug}", project.vectors.run)
            self._spawn(f"reconcile {slug}", project.reconcile_for_ever)
            self._spawn(f"generations {slug}", project.generations.run)
            self._spawn(f"menus {slug}", project.follow_menus)

    def _lags(self) -> list[Sync]:
        return [follower.lag() for project in self._projects.values() for follower in project.followers.values()]

    async def _count_holdings(self) -> list[Holdings]:
        counted = [await project.count_holdings() for project in self._projects.values()]
        return [one for one in counted if one is not None]

    def _spawn(self, name: str, task: Callable[[], Awaitable[None]]) -> None:
        running = keep_running(name.partition(" ")[0], task, self._settings.outage_seconds)
        self._tasks.append(asyncio.create_task(running, name=f"ingest {name}"))


class _OwnQueueUnavailable(Unavailable):
    """The queue is ours to start, and waiting does not help."""
