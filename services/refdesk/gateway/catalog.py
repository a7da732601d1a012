"""What exists: projects, counts and models, remembered for a second so that no search waits for them; knows nothing of surfaces."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.embedder.v1 import embedder_pb2 as embedder_api
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.api.ingest.v1 import ingest_pb2 as ingest_api
from refdesk.api.ingest.v1.ingest_protocol import Ingest
from refdesk.gateway.floor import Floor
from refdesk.rpc import deadline

Value = TypeVar("Value")
MODEL_SECONDS = 60.0
"""What a model is does not change under its name; this only bounds how long a new model is not known."""
MOST_REMEMBERED = 1024
ABSENT_SECONDS = 0.1
"""How long a project that was not there is taken as absent: one that was declared just now must not be denied."""


@dataclass(frozen=True, slots=True)
class _Remembered(Generic[Value]):
    value: Value
    read_at: float


class Memory(Generic[Value]):
    """Values that are read again when they are too old; side by side callers share one reading."""

    def __init__(self, most_seconds: float) -> None:
        self._most_seconds = most_seconds
        self._kept: dict[str, _Remembered[Value]] = {}
        self._reading: dict[str, asyncio.Task[Value]] = {}

    async def get(self, key: str, read: Callable[[], Awaitable[Value]], most_seconds: float | None = None) -> Value:
        """The value of `key`, read anew when it is older than allowed, here or in general.

        Raises: what `read` raises; nothing is remembered of a failure.
        """
        kept = self._kept.get(key)
        allowed_seconds = self._most_seconds if most_seconds is None else most_seconds
        if kept is not None and time.monotonic() - kept.read_at < allowed_seconds:
            return kept.value
        task = self._reading.get(key)
        if task is None:
            task = asyncio.ensure_future(self._read(key, read))
            self._reading[key] = task
            task.add_done_callback(lambda done: self._forget(key, done))
        # Shielded: one caller that gives up must not take the value from the others.
        return await asyncio.shield(task)

    def newest(self, key: str) -> Value | None:
        """What was read last, however old."""
        kept = self._kept.get(key)
        return None if kept is None else kept.value

    def _forget(self, key: str, done: asyncio.Task[Value]) -> None:
        self._reading.pop(key, None)
        if not done.cancelled():
            done.exception()  # looked at here: every caller may have given up by now

    async def _read(self, key: str, read: Callable[[], Awaitable[Value]]) -> Value:
        value = await read()
        if len(self._kept) >= MOST_REMEMBERED:
            self._kept.clear()
        self._kept[key] = _Remembered(value, time.monotonic())
        return value


class Catalog:
    """Reads the catalog from docstore, the models from the embedder, and from ingest (if there is one) what is under way."""

    def __init__(
        self,
        docstore: Docstore,
        embedder: Embedder,
        ingest: Ingest | None,
        *,
        most_seconds: float,
        read_seconds: float,
    ) -> None:
        self._docstore = docstore
        self._embedder = embedder
        self._ingest = ingest
        self._read_seconds = read_seconds
        self._projects: Memory[Mapping[str, docstore_api.Project]] = Memory(most_seconds)
        self._stats: Memory[docstore_api.GetStatsResponse] = Memory(most_seconds)
        self._models: Memory[Mapping[str, embedder_api.Model]] = Memory(MODEL_SECONDS)

    async def projects(self, *, missing: bool = False) -> Mapping[str, docstore_api.Project]:
        """Every project by its slug; `missing`: as of now, for who missed one.

        Raises: Unavailable, DeadlineExceeded.
        """

        async def read() -> Mapping[str, docstore_api.Project]:
            with deadline.limit(self._read_seconds):
                response = await self._docstore.list_projects(docstore_api.ListProjectsRequest())
            return {project.slug: project for project in response.projects}

        return await self._projects.get("", read, ABSENT_SECONDS if missing else None)

    async def stats(self, project: docstore_api.Project) -> docstore_api.GetStatsResponse:
        """Counts of a project's live generation.

        Raises: Unavailable, DeadlineExceeded.
        """
        request = docstore_api.GetStatsRequest(project=project.slug, generation=project.live_generation)

        async def read() -> docstore_api.GetStatsResponse:
            with deadline.limit(self._read_seconds):
                return await self._docstore.get_stats(request)

        return await self._stats.get(f"{project.slug} {project.live_generation}", read)

    async def floor(self, project: docstore_api.Project) -> Floor | None:
        """The relevance floor of a project: its own, else its model's; None while the model is not known."""
        return _choose_floor(project, {}) or _choose_floor(project, await self._known_models(project.model_id))

    def newest_floor(self, project: docstore_api.Project) -> Floor | None:
        """The floor by what was read last, however long ago; waits for nobody."""
        return _choose_floor(project, self._models.newest(project.model_id) or {})

    async def is_indexing(self, project: docstore_api.Project) -> bool:
        """Whether documents of a project are known, or looked for, that cannot be found by their words yet."""
        if self._ingest is None:
            return False
        try:
            status = await self._ingest.get_status(ingest_api.GetStatusRequest(project=project.slug))
        except errors.RefdeskError:
            return False
        failed = any(source.state == ingest_api.SOURCE_STATE_FAILED for source in status.sources)
        return not status.words_current and (status.pending_events > 0 or not failed)

    async def _known_models(self, needed: str) -> Mapping[str, embedder_api.Model]:
        """The models as of when this one was needed: one that has begun to answer just now is asked for at once."""

        async def read() -> Mapping[str, embedder_api.Model]:
            with deadline.limit(self._read_seconds):
                response = await self._embedder.list_models(embedder_api.ListModelsRequest(model_ids=[needed]))
            return {model.model_id: model for model in response.models}

        try:
            return await self._models.get(needed, read)
        except errors.RefdeskError:
            return self._models.newest(needed) or {}


def _choose_floor(project: docstore_api.Project, models: Mapping[str, embedder_api.Model]) -> Floor | None:
    own_cosine = project.floor_cosine if project.HasField("floor_cosine") else None
    own_coverage = project.floor_coverage if project.HasField("floor_coverage") else None
    if own_cosine is not None and own_coverage is not None:
        return Floor(own_cosine, own_coverage)
    model = models.get(project.model_id)
    if model is None:
        return None
    cosine = model.floor_cosine if own_cosine is None else own_cosine
    return Floor(cosine, model.floor_coverage if own_coverage is None else own_coverage)
