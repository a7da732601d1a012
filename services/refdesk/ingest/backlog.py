"""Measures what waits: in the queue, without a vector, set aside, not scanned; knows nothing of how any of it gets done."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import structlog

from refdesk.errors import RefdeskError
from refdesk.ingest import metrics
from refdesk.ingest.events.interface import Events

log = structlog.get_logger()

LOOK_SECONDS = 5.0
COUNT_SECONDS = 30.0
MOST_LABELS = 500
"""Sources with a label of their own; of all beyond them the one that is the furthest behind stands as `other`."""
OTHER = "other"
STATES = ("waiting", "scanning", "followed", "held", "failed")
KINDS = ("parked", "skipped", "remark")


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a project holds; `reported` counts documents by kind."""

    document_count: int
    chunk_count: int
    vectors_pending_count: int
    reported: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Sync:
    """When a source was last scanned whole (seconds since 1970), how often it is to be, and what it does."""

    label: str
    scanned_at_seconds: float
    interval_seconds: float
    state: str

    @property
    def due_at_seconds(self) -> float:
        """When it should be scanned again."""
        return self.scanned_at_seconds + self.interval_seconds


class Watcher:
    """Looks again and again. `holdings` counts what the projects hold that this process works for.

    Ages are told as of each scrape, so that they grow also while nothing can be looked at.
    """

    def __init__(
        self,
        events: Events,
        sources: Callable[[], Iterable[Sync]],
        holdings: Callable[[], Awaitable[Sequence[Holdings]]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._events = events
        self._sources = sources
        self._holdings = holdings
        self._clock = clock
        self._labels: set[str] = set()

    async def watch_queue(self) -> None:
        """Until it is cancelled: the queue and the sources, which cost little."""
        while True:
            self.tell_sources()
            await _try(self.tell_queue)
            await asyncio.sleep(LOOK_SECONDS)

    async def watch_holdings(self) -> None:
        """Until it is cancelled: what projects hold, which docstore has to count; many projects take their time and hold up nothing."""
        while True:
            await _try(self.tell_holdings)
            await asyncio.sleep(COUNT_SECONDS)

    async def tell_queue(self) -> None:
        """Raises: Unavailable."""
        backlog = await self._events.backlog()
        for name, lane in backlog.lanes.items():
            metrics.PENDING.labels(name).set(lane.pending_count)
            metrics.OLDEST_AGE.labels(name).set_function(self._age(lane.oldest_at_seconds))
        for name, room in backlog.streams.items():
            metrics.STREAM_SIZE.labels(name).set(room.size_bytes)
            metrics.STREAM_LIMIT.labels(name).set(room.limit_bytes)
        metrics.QUEUE_SEEN.set(self._clock())

    async def tell_holdings(self) -> None:
        """Raises: Unavailable."""
        holdings = await self._holdings()
        metrics.DOCUMENTS.set(sum(one.document_count for one in holdings))
        metrics.CHUNKS.set(sum(one.chunk_count for one in holdings))
        metrics.VECTORS_PENDING.set(sum(one.vectors_pending_count for one in holdings))
        for kind in KINDS:
            metrics.REPORTED.labels(kind).set(sum(one.reported.get(kind, 0) for one in holdings))

    def tell_sources(self) -> None:
        """How far behind each source is; one that is followed no more is told of no more."""
        sources = list(self._sources())
        told = labelled(sources)
        for label in self._labels - told.keys():
            metrics.SYNC_AGE.remove(label)
            metrics.SYNC_INTERVAL.remove(label)
        for label, sync in told.items():
            metrics.SYNC_AGE.labels(label).set_function(self._age(sync.scanned_at_seconds))
            metrics.SYNC_INTERVAL.labels(label).set(sync.interval_seconds)
        self._labels = set(told)
        states = Counter(sync.state for sync in sources)
        for state in STATES:
            metrics.SOURCES.labels(state).set(states[state])

    def _age(self, since_seconds: float) -> Callable[[], float]:
        return lambda: max(0.0, self._clock() - since_seconds) if since_seconds else 0.0


async def _try(tell: Callable[[], Awaitable[None]]) -> None:
    """What cannot be reached is asked again next time."""
    try:
        await tell()
    except RefdeskError as error:
        log.debug("what waits is not known now", reason=error.message)


def labelled(sources: Iterable[Sync]) -> dict[str, Sync]:
    """Sources by label, in the order of their labels; those beyond the most that there may be as one."""
    ordered = sorted(sources, key=lambda sync: sync.label)
    if len(ordered) <= MOST_LABELS:
        return {sync.label: sync for sync in ordered}
    own, rest = ordered[: MOST_LABELS - 1], ordered[MOST_LABELS - 1 :]
    return {sync.label: sync for sync in own} | {OTHER: min(rest, key=lambda sync: sync.due_at_seconds)}
