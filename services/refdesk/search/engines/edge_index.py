"""The vector index on Qdrant Edge, as this process sees it: calls to the child that owns it; knows nothing of shards."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import structlog

from refdesk.children import Child
from refdesk.errors import RefdeskError, Unavailable
from refdesk.search.engines.edge_found import PackedFound, unpack_found
from refdesk.search.engines.interface import (
    Candidates,
    Entry,
    Filter,
    Found,
    IndexName,
    SweepItem,
    Swept,
    VectorItem,
    Written,
)

CALL_TIMEOUT_SECONDS = 20.0
"""Of one call in the child; beyond it something hangs, and the child is started anew. A search's own deadline is its caller's."""
OPTIMIZE_TIMEOUT_SECONDS = 3600.0
PART = 64
"""Points, hashes or documents of one call: 7 ms of writing, and a search has its turn after each, not after a whole batch."""
FLUSH_AFTER_SECONDS = 20.0
"""Writes outlive a kill at once, and the loss of power after this time. A flush syncs 90 files and holds up searches for 30 ms and more."""
SCANNED_POINTS = 50_000
"""Up to so many points a plain scan is fast enough (8.6 ms at 100,000); above, a graph is built at start and never while serving."""

T = TypeVar("T")
_log = structlog.get_logger()


class EdgeIndex:
    """A VectorIndex in one folder."""

    def __init__(self, root: Path, scanned_points: int = SCANNED_POINTS) -> None:
        self._child = Child("refdesk.search.engines.edge_process", [str(root)], name="the vector process")
        self._scanned_points = scanned_points
        self._optimizing: asyncio.Task[None] | None = None
        self._flush_timer: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """Process id of the child."""
        return self._child.pid

    async def start(self) -> None:
        """Starts the child; a big index is optimised from here on, behind. Raises: Unavailable."""
        await self._child.start()
        unoptimized: list[IndexName] = await self._call("list_unoptimized", self._scanned_points)
        if unoptimized:
            self._optimizing = asyncio.create_task(self._optimize(unoptimized))

    async def close(self) -> None:
        """Ends the child; what was written is on the disk then."""
        if self._flush_timer is not None:
            self._flush_timer.cancel()
        for task in (self._optimizing, self._flushing):
            if task is not None:
                task.cancel()
        await asyncio.gather(*filter(None, (self._optimizing, self._flushing)), return_exceptions=True)
        await self._child.close()

    def not_ready_reason(self, index: IndexName) -> str:
        """`vector_optimizing` while the child is at it and answers nothing else."""
        return "vector_optimizing" if self._optimizing is not None else ""

    async def settled(self) -> None:
        """Returns when nothing is being optimised."""
        if self._optimizing is not None:
            await asyncio.shield(self._optimizing)

    async def write(self, index: IndexName, model_id: str, items: Sequence[VectorItem]) -> Written:
        """Writes points. Raises: InvalidArgument for a vector of another dimension or model; Unavailable."""
        written_count, superseded = 0, list[str]()
        for part in _parts(items):
            written: Written = await self._call("write", index, model_id, part)
            self._flush_soon()
            written_count += written.written_count
            superseded += written.superseded_ids
        return Written(written_count, tuple(superseded))

    async def find_vectors(self, index: IndexName, text_hashes: Sequence[str]) -> dict[str, bytes]:
        """Vectors by the hash of the embedded text. Raises: Unavailable."""
        found: dict[str, bytes] = {}
        for part in _parts(text_hashes):
            found |= await self._call("find_vectors", index, part)
        return found

    async def sweep(self, index: IndexName, items: Sequence[SweepItem]) -> list[Swept]:
        """Deletes what is not kept. Raises: Unavailable."""
        outcomes: list[Swept] = []
        for part in _parts(items):
            outcomes += await self._call("sweep", index, part)
            self._flush_soon()
        return outcomes

    async def drop(self, index: IndexName) -> bool:
        """Deletes the index's folder. Raises: Unavailable."""
        dropped: bool = await self._call("drop", index)
        return dropped

    async def list_entries(self, index: IndexName, after: tuple[str, str], limit: int) -> list[Entry]:
        """The next entries in order. Raises: Unavailable."""
        page: list[Entry] | None = await self._call("list_entries", index, after, limit, after == ("", ""))
        while page is None:
            page = await self._call("list_entries", index, after, limit, False)
        return page

    async def search(self, index: IndexName, vector: bytes, narrowed: Filter, candidates: Candidates) -> Found:
        """The nearest chunks and documents. Raises: InvalidArgument for a vector of another dimension; Unavailable."""
        found: PackedFound = await self._call("search", index, vector, narrowed, candidates)
        return unpack_found(found)

    async def measure(self, index: IndexName, vector: bytes, chunk_ids: Sequence[str]) -> dict[str, float]:
        """Cosines of these chunks. Raises: as search."""
        cosines: dict[str, float] = await self._call("measure", index, vector, list(chunk_ids)) if chunk_ids else {}
        return cosines

    async def _call(self, method: str, *arguments: Any) -> Any:
        if self._optimizing is not None:
            raise Unavailable("the vector index is being optimised; try again in a minute", retry_after_seconds=60)
        return await self._child.call(method, *arguments, timeout_seconds=CALL_TIMEOUT_SECONDS)

    async def _optimize(self, indices: Sequence[IndexName]) -> None:
        try:
            for index in indices:
                _log.info("vector index is being optimised", project=index.project, generation=index.generation)
                await self._child.call("optimize", index, timeout_seconds=OPTIMIZE_TIMEOUT_SECONDS)
        except RefdeskError as error:
            _log.warning("vector index was not optimised and is scanned", error=error.message)
        finally:
            self._optimizing = None

    def _flush_soon(self) -> None:
        if self._flush_timer is None:
            self._flush_timer = asyncio.get_running_loop().call_later(FLUSH_AFTER_SECONDS, self._start_flush)

    def _start_flush(self) -> None:
        self._flush_timer = None
        self._flushing = asyncio.create_task(self._flush())

    async def _flush(self) -> None:
        try:
            await self._call("flush")
        except RefdeskError as error:
            _log.warning("vector index was not flushed", error=error.message)


def _parts(items: Sequence[T]) -> Iterator[list[T]]:
    for start in range(0, len(items), PART):
        yield list(items[start : start + PART])
