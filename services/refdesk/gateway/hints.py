"""Tells ingest behind an answer what was just pushed, once for many; a hint that is lost costs seconds, for ingest asks by itself too."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import structlog

from refdesk import errors
from refdesk.api.ingest.v1 import ingest_pb2 as ingest_api
from refdesk.api.ingest.v1.ingest_protocol import Ingest
from refdesk.gateway.metrics import LOST_HINTS
from refdesk.rpc import deadline

log = structlog.get_logger()

PATHS = 1024
"""Of one call."""
MOST_PENDING = 10_000
"""More paths of one source become one hint at everything."""
CALL_SECONDS = 30.0
CLOSE_SECONDS = 1.0


class Hints:
    """Hints by project and source; for each of these at most one call is under way."""

    def __init__(self, ingest: Ingest | None) -> None:
        self._ingest = ingest
        self._pending: dict[tuple[str, str], set[str] | None] = {}
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}

    def give(self, project: str, source: str, paths: Iterable[str] | None) -> None:
        """Documents that may have changed; None: anything may have. Returns at once."""
        if self._ingest is None:
            return
        key = project, source
        pending = self._pending.get(key, set())
        merged = None if paths is None or pending is None else pending | set(paths)
        self._pending[key] = merged if merged is None or len(merged) <= MOST_PENDING else None
        if key not in self._tasks:
            self._tasks[key] = asyncio.create_task(self._send(key), name="hints")

    async def close(self) -> None:
        """Gives up what was not told yet."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_SECONDS)

    async def _send(self, key: tuple[str, str]) -> None:
        try:
            while key in self._pending:
                paths = self._pending.pop(key)
                ordered = sorted(paths) if paths is not None else []
                for start in range(0, max(1, len(ordered)), PATHS):
                    await self._tell(*key, ordered[start : start + PATHS])
        finally:
            del self._tasks[key]

    async def _tell(self, project: str, source: str, paths: list[str]) -> None:
        assert self._ingest is not None
        try:
            with deadline.limit(CALL_SECONDS):
                await self._ingest.hint_documents(
                    ingest_api.HintDocumentsRequest(project=project, source=source, paths=paths)
                )
        except errors.RefdeskError as error:
            LOST_HINTS.inc()
            log.info("ingest was not told of pushed documents, and will find them", reason=error.message)
