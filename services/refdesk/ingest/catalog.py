"""Brings declared projects into the catalog, and answers with the generations that publishing follows; knows nothing of documents."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.embedder.v1 import embedder_pb2
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.errors import AlreadyExists, InvalidArgument, NotFound
from refdesk.generation import generation_name
from refdesk.ingest.chunks import CHUNKER_VERSION
from refdesk.ingest.records import Generation
from refdesk.projects import ProjectSettings, SourceSettings
from refdesk.rpc import deadline

CALL_SECONDS = 10.0
PUTS = 5
"""How often a put that lost against another writer is tried again."""
CHUNKER_NUMBER = int(re.search(r"\d+$", CHUNKER_VERSION).group())  # type: ignore[union-attr]


class Catalog:
    """The catalog as ingest needs it. What a model is comes from the embedder, once."""

    def __init__(self, docstore: Docstore, embedder: Embedder) -> None:
        self._docstore = docstore
        self._embedder = embedder
        self._models: dict[str, embedder_pb2.Model] = {}

    async def declare(self, slug: str, settings: ProjectSettings) -> pb.Project:
        """Puts a declared project into the catalog where it differs, and returns it as it stands there.

        Raises: InvalidArgument where it was built with another model, or a source of a known name has another root; Unavailable.
        """
        for _ in range(PUTS):
            existing = await self._find(slug)
            project = await self._wanted(slug, settings, existing)
            if existing is not None:
                project.revision = existing.revision
                if project == existing:
                    return existing
            try:
                return await self._put(project)
            except AlreadyExists:
                await asyncio.sleep(0.05)
        raise AlreadyExists(f"project {slug} is being changed by somebody else; try again")

    async def generations(self, slug: str) -> list[Generation]:
        """The generations that a project's publishing follows now. Raises: NotFound, Unavailable."""
        with deadline.limit(CALL_SECONDS):
            project = (await self._docstore.get_project(pb.GetProjectRequest(project=slug))).project
        followed = []
        for name in project.followed_generations:
            model_id, _, number = name.rpartition(".c")
            model = await self._model(model_id)
            followed.append(Generation(model_id, int(number), model.window_tokens, frozenset(model.languages)))
        return followed

    async def _wanted(self, slug: str, settings: ProjectSettings, existing: pb.Project | None) -> pb.Project:
        model_id = settings.model or (await self._load_models())[0].model_id
        await self._model(model_id)
        if existing is not None:
            refuse_another_model(existing, model_id)
            refuse_another_root(existing, settings.sources)
        return wanted_project(slug, settings, model_id, existing)

    async def _find(self, slug: str) -> pb.Project | None:
        try:
            with deadline.limit(CALL_SECONDS):
                return (await self._docstore.get_project(pb.GetProjectRequest(project=slug))).project
        except NotFound:
            return None

    async def _put(self, project: pb.Project) -> pb.Project:
        request = pb.PutProjectRequest(project=project, expected_revision=project.revision)
        with deadline.limit(CALL_SECONDS):
            return (await self._docstore.put_project(request)).project

    async def _model(self, model_id: str) -> embedder_pb2.Model:
        if model_id not in self._models:
            await self._load_models()
        if model_id not in self._models:
            hosted = ", ".join(sorted(self._models))
            raise InvalidArgument(f"model {model_id} is not hosted by the embedder; it hosts {hosted}")
        return self._models[model_id]

    async def _load_models(self) -> Sequence[embedder_pb2.Model]:
        with deadline.limit(CALL_SECONDS):
            response = await self._embedder.list_models(embedder_pb2.ListModelsRequest())
        self._models = {model.model_id: model for model in response.models}
        return response.models


def refuse_another_model(existing: pb.Project, model_id: str) -> None:
    """Raises: InvalidArgument where the index was built with another model."""
    if existing.model_id != model_id:
        raise InvalidArgument(
            f"project {existing.slug} was indexed with model {existing.model_id} and is declared with {model_id}: "
            f"declare {existing.model_id}, or build the index anew with --reindex"
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
    name = generation_name(model_id, CHUNKER_NUMBER)
    project = pb.Project(
        slug=slug,
        description=settings.description,
        surfaces=settings.surfaces,
        model_id=model_id,
        live_generation=existing.live_generation if existing else name,
        followed_generations=existing.followed_generations if existing else [name],
        structured_output=settings.structured_output,
        sources=[
            pb.Source(
                name=source.name,
                kind=source.kind,
                location=location(source),
                type=source.type,
                description=source.description,
                base_url=source.base_url,
            )
            for source in settings.sources
        ],
    )
    if settings.floor.cosine is not None:
        project.floor_cosine = settings.floor.cosine
    if settings.floor.coverage is not None:
        project.floor_coverage = settings.floor.coverage
    return project


def location(source: SourceSettings) -> str:
    """Where a source lies: a folder's absolute path, symlinks resolved, so that two spellings of one folder are one root."""
    return os.path.realpath(source.path) if source.kind == "folder" else ""
