"""Brings declared projects into the catalog, and answers with the generations that publishing follows; knows nothing of documents."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import structlog

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.embedder.v1 import embedder_pb2
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.errors import AlreadyExists, InvalidArgument, NotFound, Unavailable
from refdesk.generation import generation_name, read_name
from refdesk.ingest.chunkers import DEFAULT_CHUNKER, find_chunker
from refdesk.ingest.records import Generation
from refdesk.projects import ProjectSettings, SourceSettings
from refdesk.rpc import deadline

log = structlog.get_logger()

CALL_SECONDS = 10.0
LOAD_SECONDS = 60.0
"""Of asking for a model that may have to be loaded first."""
PUTS = 5
"""How often a put that lost against another writer is tried again."""

Holds = Callable[[str], Awaitable[bool]]
"""Whether any document of a source is on record."""


async def _nothing(_: str) -> bool:
    return False


class Catalog:
    """The catalog as ingest needs it. What a model is comes from the embedder, once."""

    def __init__(self, docstore: Docstore, embedder: Embedder) -> None:
        self._docstore = docstore
        self._embedder = embedder
        self._models: dict[str, embedder_pb2.Model] = {}
        self._absent: dict[str, str] = {}

    async def declare(self, slug: str, settings: ProjectSettings, holds: Holds = _nothing) -> pb.Project:
        """Puts a declared project into the catalog where it differs, and returns it as it stands there.

        A source that is declared no more stays, withdrawn, as long as it `holds` documents.
        Raises: InvalidArgument where it was built with another model or a chunker that is not shipped, or a source of a known name has
        another root; Unavailable.
        """
        for _ in range(PUTS):
            existing = await self._find(slug)
            project = await self._wanted(slug, settings, existing)
            if existing is not None:
                project.sources.extend([one async for one in _withdrawn(existing, settings, holds)])
            if existing is not None:
                project.revision = existing.revision
                if project == existing:
                    return existing
            try:
                return await self.put(project, project.revision)
            except Conflict:
                await asyncio.sleep(0.05)
        raise _being_changed(slug)

    async def generations(self, slug: str) -> list[Generation]:
        """The generations that a project's publishing follows now, the live one first. Raises: NotFound, Unavailable.

        One that cannot be followed, since its model is not hosted, falls behind and is completed when it can; not so the live one.
        """
        project = await self.read(slug)
        followed = []
        for name in project.followed_generations:
            try:
                followed.append(await self.generation(name))
            except InvalidArgument as error:
                if name == project.live_generation:
                    raise Unavailable(f"generation {name} answers project {slug}, but {error.message}") from None
                self._note_absent(name, error.message)
            else:
                self._absent.pop(name, None)
        return followed

    async def generation(self, name: str) -> Generation:
        """What cutting and embedding need to know of a generation.

        Raises: InvalidArgument where its model is not hosted, or its chunker not shipped; Unavailable.
        """
        model_id, number = read_name(name)
        chunker = find_chunker(number)
        model = await self._model(model_id)
        return Generation(model_id, chunker.number, model.window_tokens, frozenset(model.languages))

    def absent_reason(self, name: str) -> str:
        """Why a generation could not be followed when that was tried last; empty when it could."""
        return self._absent.get(name, "")

    async def declared_model(self, settings: ProjectSettings) -> str:
        """The model that a project is declared with. Raises: InvalidArgument where it is not hosted; Unavailable."""
        return (await self._model(settings.model or (await self._load_models())[0].model_id)).model_id

    async def read(self, slug: str) -> pb.Project:
        """A project as it stands in the catalog. Raises: NotFound, Unavailable."""
        with deadline.limit(CALL_SECONDS):
            return (await self._docstore.get_project(pb.GetProjectRequest(project=slug))).project

    async def change(self, slug: str, change: Callable[[pb.Project], pb.Project]) -> pb.Project:
        """Puts what `change` makes of a project, read anew where somebody else was faster.

        Raises: what `change` raises; AlreadyExists, NotFound, Unavailable.
        """
        for _ in range(PUTS):
            project = await self.read(slug)
            try:
                return await self.put(change(project), project.revision)
            except Conflict:
                await asyncio.sleep(0.05)
        raise _being_changed(slug)

    async def let_go(self, slug: str, source: str) -> None:
        """Lets the documents of a withdrawn source go. Raises: AlreadyExists, NotFound, Unavailable."""

        def change(project: pb.Project) -> pb.Project:
            for one in project.sources:
                if one.name == source and one.standing == pb.SOURCE_STANDING_WITHDRAWN:
                    one.standing = pb.SOURCE_STANDING_LET_GO
            return project

        await self.change(slug, change)

    async def is_let_go(self, slug: str, source: str) -> bool:
        """Whether a withdrawn source's documents may go. Raises: NotFound, Unavailable."""
        sources = (await self.read(slug)).sources
        return any(one.name == source and one.standing == pb.SOURCE_STANDING_LET_GO for one in sources)

    async def put(self, project: pb.Project, revision: int) -> pb.Project:
        """Puts a project on condition that it still has this revision. Raises: AlreadyExists where it has not; Unavailable."""
        request = pb.PutProjectRequest(project=project, expected_revision=revision)
        try:
            with deadline.limit(CALL_SECONDS):
                return (await self._docstore.put_project(request)).project
        except AlreadyExists as error:
            raise Conflict(error.message) from None

    async def _wanted(self, slug: str, settings: ProjectSettings, existing: pb.Project | None) -> pb.Project:
        model_id = await self.declared_model(settings)
        if existing is not None:
            refuse_another_model(existing, model_id)
            refuse_another_root(existing, settings.sources)
            await self._check_live(existing)
        return wanted_project(slug, settings, model_id, existing)

    async def _check_live(self, project: pb.Project) -> None:
        try:
            await self.generation(project.live_generation)
        except InvalidArgument as error:
            raise InvalidArgument(
                f"project {project.slug} answers from generation {project.live_generation}, but {error.message}"
            ) from None

    def _note_absent(self, name: str, reason: str) -> None:
        if self._absent.get(name) != reason:
            log.error("a generation falls behind", generation=name, reason=reason)
        self._absent[name] = reason

    async def _find(self, slug: str) -> pb.Project | None:
        try:
            return await self.read(slug)
        except NotFound:
            return None

    async def _model(self, model_id: str) -> embedder_pb2.Model:
        if model_id not in self._models:
            await self._load_models(model_id)
        if model_id not in self._models:
            hosted = ", ".join(sorted(self._models))
            raise InvalidArgument(
                f"model {model_id} is not hosted by the embedder, which hosts {hosted}: add it to embedder.also_host"
            )
        return self._models[model_id]

    async def _load_models(self, *needed: str) -> Sequence[embedder_pb2.Model]:
        with deadline.limit(LOAD_SECONDS if needed else CALL_SECONDS):
            response = await self._embedder.list_models(embedder_pb2.ListModelsRequest(model_ids=needed))
        self._models = {model.model_id: model for model in response.models}
        return response.models


async def _withdrawn(existing: pb.Project, settings: ProjectSettings, holds: Holds) -> AsyncIterator[pb.Source]:
    """The sources of a project that are declared no more and hold documents still."""
    declared = {source.name for source in settings.sources}
    for source in existing.sources:
        if source.name in declared or not await holds(source.name):
            continue
        kept = pb.Source()
        kept.CopyFrom(source)
        kept.standing = source.standing or pb.SOURCE_STANDING_WITHDRAWN
        yield kept


class Conflict(AlreadyExists):
    """Somebody else has put the project meanwhile."""


def _being_changed(slug: str) -> AlreadyExists:
    return AlreadyExists(f"project {slug} is being changed by somebody else; try again")


def refuse_another_model(existing: pb.Project, model_id: str) -> None:
    """Raises: InvalidArgument where neither the live nor another followed generation is of this model."""
    followed = [read_name(name)[0] for name in existing.followed_generations]
    if model_id not in followed:
        raise InvalidArgument(
            f"project {existing.slug} was indexed with model {existing.model_id} and is declared with {model_id}: declare "
            f"{existing.model_id} (and move over while it answers, with `refdesk generation build --model {model_id}`), "
            "or build the index anew with --reindex"
        )


def refuse_another_root(existing: pb.Project, sources: Sequence[SourceSettings]) -> None:
    """Raises: InvalidArgument where a source's name is known with another root."""
    known = {source.name: source.location for source in existing.sources}
    for source in sources:
        root = location(source)
        if known.get(source.name, root) != root:
            raise InvalidArgument(
                f"source {source.name} of project {existing.slug} has the root {known[source.name]} and is declared with "
                f"{root}: declare the old root, or give the new one a name of its own"
            )


def wanted_project(slug: str, settings: ProjectSettings, model_id: str, existing: pb.Project | None) -> pb.Project:
    """The catalog's entry as declared; which generation lives and which are followed stays as it is."""
    name = generation_name(model_id, DEFAULT_CHUNKER)
    project = pb.Project(
        slug=slug,
        title=settings.title,
        description=settings.description,
        surfaces=settings.surfaces,
        model_id=existing.model_id if existing else model_id,
        live_generation=existing.live_generation if existing else name,
        followed_generations=existing.followed_generations if existing else [name],
        structured_output=settings.structured_output,
        log_days=settings.log_days,
        public_pages=settings.public_pages,
        pins=settings.pins,
        sources=[
            pb.Source(
                name=source.name,
                kind=source.kind,
                location=location(source),
                type=source.type,
                description=source.description,
                base_url=source.base_url,
                title=source.title,
                contexts=[pb.PathContext(prefix=prefix, text=text) for prefix, text in source.contexts.items()],
            )
            for source in settings.sources
        ],
    )
    if settings.public_search is not None:
        project.public_search.SetInParent()
        project.public_search.origins.extend(settings.public_search.origins)
    if existing:
        project.building_generation, project.hold_switch = existing.building_generation, existing.hold_switch
        project.rollback_generations.extend(existing.rollback_generations)
        project.dropped_generations.extend(existing.dropped_generations)
    if settings.floor.cosine is not None:
        project.floor_cosine = settings.floor.cosine
    if settings.floor.coverage is not None:
        project.floor_coverage = settings.floor.coverage
    return project


def location(source: SourceSettings) -> str:
    """Where a source lies: a folder's absolute path, symlinks resolved, so that two spellings of one folder are one root."""
    return os.path.realpath(source.path) if source.kind == "folder" else ""
