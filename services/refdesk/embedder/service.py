"""The embedder: vectors and token counts of texts, by the models it hosts; knows nothing of documents."""

from __future__ import annotations

import asyncio
import time
from functools import partial

import structlog

from refdesk.api.embedder.v1 import embedder_pb2 as pb
from refdesk.embedder.cores import count_cores
from refdesk.embedder.hosted import HostedModels
from refdesk.embedder.metrics import TEXTS, TOKENS
from refdesk.embedder.models import find_models
from refdesk.embedder.queue import Job, JobQueue
from refdesk.embedder.recent import RecentQueries
from refdesk.embedder.runtime import LoadedModel
from refdesk.embedder.settings import EmbedderSettings
from refdesk.embedder.workers import Workers
from refdesk.errors import DeadlineExceeded, InvalidArgument, Unavailable
from refdesk.rpc import deadline

log = structlog.get_logger()

MAX_EMBEDDED_TEXTS = 256
MAX_COUNTED_TEXTS = 4096
QUICK_CHARACTERS = 20_000
"""Counting up to this much takes a few milliseconds and stays on the event loop."""
COUNT_SECONDS = 30.0
PURPOSES = {pb.PURPOSE_QUERY: "query", pb.PURPOSE_PASSAGE: "passage"}


class EmbedderService:
    """Implements refdesk.api.embedder.v1.EmbedderService."""

    def __init__(self, settings: EmbedderSettings) -> None:
        self._settings = settings
        self._models = HostedModels(settings)
        self._reason = "the embedder has not started"
        limits = {"query": settings.max_waiting_queries, "passage": settings.max_waiting_passages}
        workers = settings.workers or count_cores()
        self._queue = JobQueue(limits, settings.kept_seconds, workers)
        self._workers = Workers(workers, self._queue)
        self._recent = RecentQueries(settings.kept_query_vectors)
        self._counting = asyncio.Semaphore(1)

    async def start(self) -> None:
        """Loads every model and checks it; a model whose canaries fail leaves the service up but not ready.

        Raises: NotFound for a model that is not built, InvalidArgument for a folder that holds none.
        """
        self._reason = f"loading {', '.join(folder.entry.model_id for folder in find_models(self._settings))}"
        fault = await self._models.load_set()
        self._workers.start()
        self._reason = fault
        if self._reason:
            log.error("embedder is not ready", reason=self._reason)

    async def close(self) -> None:
        """Ends the workers; calls that wait hear Unavailable."""
        self._reason = "the embedder is closed"
        self._queue.close()
        await self._models.close()
        await asyncio.to_thread(self._workers.join)

    def not_ready_reason(self) -> str:
        """Why it cannot serve; empty when it can."""
        return self._reason

    async def list_models(self, request: pb.ListModelsRequest) -> pb.ListModelsResponse:
        """See embedder.proto."""
        self._check_ready()
        await self._models.need(request.model_ids)
        return pb.ListModelsResponse(models=[_describe(model) for model in self._models.list()])

    async def embed_texts(self, request: pb.EmbedTextsRequest) -> pb.EmbedTextsResponse:
        """See embedder.proto."""
        model = self._find(request.model_id)
        purpose = _check_embedding(request)
        if purpose == "query":
            items = await self._embed_queries(model, list(request.texts))
        else:
            items = await self._run(model, purpose, list(request.texts), self._settings.passage_timeout_seconds)
        return pb.EmbedTextsResponse(model_id=request.model_id, items=items)

    async def count_tokens(self, request: pb.CountTokensRequest) -> pb.CountTokensResponse:
        """See embedder.proto."""
        model = self._find(request.model_id)
        texts = list(request.texts)
        if len(texts) > MAX_COUNTED_TEXTS:
            raise InvalidArgument(f"{len(texts)} texts to count: send at most {MAX_COUNTED_TEXTS} in one call")
        if sum(map(len, texts)) <= QUICK_CHARACTERS:
            return pb.CountTokensResponse(token_counts=map(model.count, texts))
        try:
            async with asyncio.timeout(deadline.remaining_seconds(COUNT_SECONDS)), self._counting:
                counts = await asyncio.to_thread(lambda: [model.count(text) for text in texts])
        except TimeoutError:
            raise DeadlineExceeded(f"{len(texts)} texts were not counted in time: send fewer") from None
        return pb.CountTokensResponse(token_counts=counts)

    async def _embed_queries(self, model: LoadedModel, texts: list[str]) -> list[pb.EmbedTextsItem]:
        model_id = model.entry.model_id
        items = {text: self._recent.get(model_id, text) for text in texts}
        missing = [text for text, item in items.items() if item is None]
        TEXTS.labels("query", "kept").inc(len(items) - len(missing))
        found = await self._run(model, "query", missing, self._settings.query_timeout_seconds)
        for text, item in zip(missing, found, strict=True):
            self._recent.put(model_id, text, item)
        known = {text: item for text, item in items.items() if item is not None} | dict(
            zip(missing, found, strict=True)
        )
        return [known[text] for text in texts]

    async def _run(
        self, model: LoadedModel, purpose: str, texts: list[str], most_seconds: float
    ) -> list[pb.EmbedTextsItem]:
        seconds = deadline.remaining_seconds(most_seconds)
        ends_at = time.monotonic() + seconds
        jobs = [Job(purpose, partial(_embed, model, purpose, text), ends_at) for text in texts]
        self._queue.put(jobs)
        try:
            async with asyncio.timeout(seconds):
                return list(await asyncio.gather(*(asyncio.wrap_future(job.future) for job in jobs)))
        except TimeoutError:
            left = sum(job.future.cancelled() or not job.future.done() for job in jobs)
            raise DeadlineExceeded(f"{left} of {len(jobs)} texts were not embedded in time") from None
        finally:
            self._queue.discard(jobs)

    def _find(self, model_id: str) -> LoadedModel:
        self._check_ready()
        return self._models.find(model_id)

    def _check_ready(self) -> None:
        if self._reason:
            raise Unavailable(self._reason)


def _check_embedding(request: pb.EmbedTextsRequest) -> str:
    purpose = PURPOSES.get(request.purpose)
    if purpose is None:
        raise InvalidArgument("purpose is not set: say whether the texts are queries or passages")
    if not 1 <= len(request.texts) <= MAX_EMBEDDED_TEXTS:
        raise InvalidArgument(f"{len(request.texts)} texts to embed: send 1 to {MAX_EMBEDDED_TEXTS} in one call")
    return purpose


def _embed(model: LoadedModel, purpose: str, text: str) -> pb.EmbedTextsItem:
    """Runs in a worker."""
    prefix = model.entry.query_prefix if purpose == "query" else model.entry.passage_prefix
    encoded = model.encode(prefix, text)
    if encoded.token_count > model.window_tokens:
        TEXTS.labels(purpose, "over_window").inc()
        over = pb.OverWindow(window_tokens=model.window_tokens)
        return pb.EmbedTextsItem(over_window=over, token_count=encoded.token_count)
    vector = model.embed(encoded.ids)
    TEXTS.labels(purpose, "embedded").inc()
    TOKENS.labels(purpose).inc(encoded.token_count)
    return pb.EmbedTextsItem(vector=vector.astype("<f4").tobytes(), token_count=encoded.token_count)


def _describe(model: LoadedModel) -> pb.Model:
    return pb.Model(
        model_id=model.entry.model_id,
        dimension=model.entry.dimension,
        window_tokens=model.window_tokens,
        floor_cosine=model.entry.floor.cosine,
        floor_coverage=model.entry.floor.coverage,
        languages=model.entry.languages,
    )
