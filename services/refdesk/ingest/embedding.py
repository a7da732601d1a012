"""Has texts embedded in bounded requests, some of them at once so that the embedder never waits; knows nothing of documents."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from refdesk.api.embedder.v1 import embedder_pb2 as pb
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.errors import Internal, ResourceExhausted
from refdesk.rpc import deadline

TRIES = 6
REQUEST_SECONDS = 120.0
"""Deadline of one request; queries go before it, and on a slow machine it holds several seconds of work."""


@dataclass
class Embedded:
    """What came of texts, by their keys; each key stands in `vectors` or in `over_window` (exact tokens of what was too long)."""

    vectors: dict[str, bytes] = field(default_factory=dict)
    token_counts: dict[str, int] = field(default_factory=dict)
    over_window: dict[str, int] = field(default_factory=dict)


class Embedding:
    """Shares out `requests` requests of `texts` texts at once among everybody who embeds."""

    def __init__(self, embedder: Embedder, *, texts: int, requests: int) -> None:
        self._embedder = embedder
        self._texts = texts
        self._free = asyncio.Semaphore(requests)

    async def embed(self, model_id: str, texts: Mapping[str, str]) -> Embedded:
        """Embeds passages by key. Raises: Unavailable and the like; NotFound for a model that is not hosted."""
        embedded = Embedded()
        keys = list(texts)
        slices = [keys[start : start + self._texts] for start in range(0, len(keys), self._texts)]
        tasks = [
            asyncio.create_task(self._embed_slice(model_id, {key: texts[key] for key in part}, embedded))
            for part in slices
        ]
        try:
            # No TaskGroup: before Python 3.13 one in which a task failed leaves its owner looking cancelled.
            await asyncio.gather(*tasks)
        finally:
            await _end(tasks)
        return embedded

    async def _embed_slice(self, model_id: str, texts: Mapping[str, str], embedded: Embedded) -> None:
        request = pb.EmbedTextsRequest(model_id=model_id, purpose=pb.PURPOSE_PASSAGE, texts=texts.values())
        async with self._free:
            response = await self._ask(request)
        if response.model_id != model_id or len(response.items) != len(texts):
            raise Internal(f"the embedder was asked for {model_id} and answered for something else")
        for key, item in zip(texts, response.items, strict=True):
            if item.HasField("over_window"):
                embedded.over_window[key] = item.token_count
            else:
                embedded.vectors[key] = item.vector
                embedded.token_counts[key] = item.token_count

    async def _ask(self, request: pb.EmbedTextsRequest) -> pb.EmbedTextsResponse:
        """A full queue is waited for, a bounded number of times."""
        for attempt in range(TRIES):
            try:
                with deadline.limit(REQUEST_SECONDS):
                    return await self._embedder.embed_texts(request)
            except ResourceExhausted as error:
                if attempt == TRIES - 1:
                    raise
                await asyncio.sleep(min(error.retry_after_seconds or 0.2 * 2**attempt, 5.0))
        raise AssertionError("unreachable")


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
