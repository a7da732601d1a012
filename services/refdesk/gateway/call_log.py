"""Notes each call of a tool and each denied attempt in docstore, behind the answers; knows nothing of what tools do.

Nothing waits for it and nothing fails by it: rows stand in a bounded queue, go out in batches once a second, and are sent again under the
same ids until docstore has them. A gateway that is killed loses the last second; one that ends in order loses nothing that docstore takes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import uuid
from collections import deque
from collections.abc import Mapping
from typing import Any

import structlog

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.gateway.metrics import LOST_CALLS, ZERO_RESULT_SEARCHES
from refdesk.gateway.surfaces.interface import Caller, ToolAnswer
from refdesk.rpc import deadline

MOST_ROWS = 10_000
"""That wait; the oldest go when docstore is away for so long that there are more."""
BATCH_ROWS = 500
FLUSH_SECONDS = 1.0
CALL_SECONDS = 5.0
CLOSE_SECONDS = 5.0
PURGE_SECONDS = 3600.0
KEPT_DAYS = 30
DAY_MILLISECONDS = 86_400_000
INPUT_CHARACTERS = 4_000
NAME_CHARACTERS = 100
SEARCHES = frozenset({"search_docs", "search_api", "search_instructions", "query", "search"})
log = structlog.get_logger()


class CallLog:
    """The queue and the one task that empties it."""

    def __init__(self, docstore: Docstore) -> None:
        self._docstore = docstore
        self._rows: deque[pb.CallRecord] = deque()
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._purged_at = 0.0

    def start(self) -> None:
        """Begins to write."""
        self._stop.clear()
        self._task = asyncio.create_task(self._run(), name="call log")

    async def close(self) -> None:
        """Writes what is left, within bounds, and ends."""
        self._stop.set()
        if self._task is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._task, CLOSE_SECONDS)
            self._task = None
        LOST_CALLS.inc(len(self._rows))
        self._rows.clear()

    def note_call(
        self,
        project: str,
        surface: str,
        tool: str,
        arguments: Mapping[str, Any] | None,
        caller: Caller,
        elapsed_seconds: float,
        answer: ToolAnswer | None,
        error: str,
    ) -> None:
        """A call that ran: its answer, or (`answer` None) the class of the error that it was answered with."""
        found_nothing = answer is not None and tool in SEARCHES and not answer.record_count
        ZERO_RESULT_SEARCHES.inc(found_nothing)
        self._add(
            pb.CallRecord(
                call_id=str(uuid.uuid4()),
                at_milliseconds=round((time.time() - elapsed_seconds) * 1000),
                project=project,
                surface=surface,
                tool=tool[:NAME_CHARACTERS],
                inputs=json.dumps(arguments or {}, ensure_ascii=False, default=str)[:INPUT_CHARACTERS],
                record_count=answer.record_count if answer else 0,
                mode=answer.mode if answer else "",
                degraded=answer.degraded if answer else "",
                elapsed_milliseconds=round(elapsed_seconds * 1000, 3),
                key_id=caller.key_id,
                client_name=caller.client_name[:NAME_CHARACTERS],
                client_version=caller.client_version[:NAME_CHARACTERS],
                error=error,
                found_nothing=found_nothing,
            )
        )

    def note_denied(self, reason: str, project: str, key_id: str) -> None:
        """An attempt that was denied; `key_id` is what the attempted key calls itself, which proves nothing."""
        self._add(
            pb.CallRecord(
                call_id=str(uuid.uuid4()),
                at_milliseconds=time.time_ns() // 1_000_000,
                project=project,
                denied=reason,
                key_id=key_id,
            )
        )

    def _add(self, row: pb.CallRecord) -> None:
        if len(self._rows) >= MOST_ROWS:
            self._rows.popleft()
            LOST_CALLS.inc()
        self._rows.append(row)

    async def _run(self) -> None:
        while not self._stop.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), FLUSH_SECONDS)
            await self._write()
        await self._write()

    async def _write(self) -> None:
        try:
            await self._flush()
            await self._purge()
        except errors.RefdeskError as error:
            log.debug("rows of calls wait", rows=len(self._rows), reason=error.message)
        except Exception:  # a boundary: a defect here must not end the log
            log.exception("rows of calls could not be written")

    async def _flush(self) -> None:
        while self._rows:
            batch = [self._rows.popleft() for _ in range(min(BATCH_ROWS, len(self._rows)))]
            try:
                with deadline.limit(CALL_SECONDS):
                    await self._docstore.put_calls(pb.PutCallsRequest(calls=batch))
            except BaseException:
                self._rows.extendleft(
                    reversed(batch)
                )  # under the same ids: what was written after all is not written twice
                raise

    async def _purge(self) -> None:
        if time.monotonic() - self._purged_at < PURGE_SECONDS and self._purged_at:
            return
        with deadline.limit(CALL_SECONDS):
            projects = (await self._docstore.list_projects(pb.ListProjectsRequest())).projects
        kept_days = {"": KEPT_DAYS, **{project.slug: project.log_days or KEPT_DAYS for project in projects}}
        for slug, days in kept_days.items():
            before = time.time_ns() // 1_000_000 - days * DAY_MILLISECONDS
            with deadline.limit(CALL_SECONDS):
                await self._docstore.purge_calls(pb.PurgeCallsRequest(project=slug, before_milliseconds=before))
        self._purged_at = time.monotonic()
