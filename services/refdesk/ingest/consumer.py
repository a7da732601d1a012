"""Takes change events from the queue, has them published and settles them; knows nothing of how publishing works.

Three batches are under way: while two are written, the next is read and parsed. An event is settled when its document is committed.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from refdesk.errors import Internal, RefdeskError
from refdesk.ingest import metrics
from refdesk.ingest.changes import Change, Ending, Outcome
from refdesk.ingest.events.event import ChangeEvent
from refdesk.ingest.events.interface import Delivery, Events
from refdesk.ingest.intake import Intake
from refdesk.ingest.jobs import Job, change_of, deliveries_of, group
from refdesk.ingest.pace import Pace
from refdesk.ingest.publish import Publisher
from refdesk.ingest.settings import IngestSettings
from refdesk.ingest.supervision import OUTAGE, Backoff
from refdesk.ingest.work import Batch
from refdesk.telemetry import tracing

log = structlog.get_logger()

FETCH_SECONDS = 5.0
"""How long one fetch waits for the first event."""
PROGRESS_SECONDS = 20.0
"""How often the queue is told that events are still being worked on; after 60 s without it delivers them again."""
LONGEST_RETRY_SECONDS = 300.0
WRITERS = 2
"""While one batch is put, swept and settled, the keyword index has the next to write."""
SETTLED = (Ending.PUBLISHED, Ending.UNCHANGED, Ending.SKIPPED)


@dataclass(frozen=True)
class Prepared:
    """A batch of one project between its two stages."""

    project: str
    publisher: Publisher
    jobs: Sequence[Job]
    batch: Batch
    started_at: float
    steps: tracing.Steps


class Consumer:
    """The loop between the queue and the publishers, one a project."""

    def __init__(
        self,
        events: Events,
        publishers: Mapping[str, Publisher],
        settings: IngestSettings,
        *,
        intake: Intake | None = None,
        published: Callable[[str, int], None] = lambda project, count: None,
        settled: Callable[[str], None] = lambda project: None,
    ) -> None:
        self._events = events
        self._publishers = publishers
        self._settings = settings
        self._intake = intake
        self._published = published
        self._settled = settled
        self._failures: dict[tuple[str, str, str], int] = {}
        self._in_flight: set[Delivery] = set()
        self._pace = Pace(settings.batch_documents)
        self._backoff = Backoff(settings.outage_seconds)
        self._draining = asyncio.Event()

    @property
    def drained(self) -> bool:
        """Whether it was asked to end."""
        return self._draining.is_set()

    @property
    def loads(self) -> bool:
        """Whether a first or large load is under way: its words go before its vectors."""
        return any(delivery.event.bulk for delivery in self._in_flight)

    def drain(self) -> None:
        """Asks `run` to fetch nothing more and to end when what it has is settled."""
        self._draining.set()

    async def run(self) -> None:
        """Publishes what the queue holds until `drain`, or until it is cancelled."""
        self._in_flight.clear()  # what a run that failed had in hand comes again
        prepared: asyncio.Queue[Prepared | None] = asyncio.Queue(maxsize=1)
        async with asyncio.TaskGroup() as tasks:
            telling = tasks.create_task(self._tell_progress())
            writing = [tasks.create_task(self._write_all(prepared)) for _ in range(WRITERS)]
            while not self._draining.is_set():
                await self.take(prepared)
            for _ in writing:
                await prepared.put(None)
            await asyncio.wait(writing)
            telling.cancel()

    async def take(self, prepared: asyncio.Queue[Prepared | None]) -> None:
        """Fetches one batch and prepares it."""
        try:
            deliveries = await self._fetch()
        except OUTAGE as error:
            await self._hold((), error)
            return
        self._in_flight.update(deliveries)
        own = [
            (one, one.event.project, change_of(one.event)) for one in deliveries if isinstance(one.event, ChangeEvent)
        ]
        taken = await self._take_in([one for one in deliveries if not isinstance(one.event, ChangeEvent)])
        size_bytes = 0
        for project, jobs in group([*own, *taken]).items():
            publisher = self._publishers.get(project)
            if publisher is None:
                log.warning("an event of a project that is not declared is dropped", project=project)
                await self._acknowledge(jobs)
                continue
            started = time.perf_counter()
            steps = tracing.begin_steps("publish documents", [one.trace for one in deliveries_of(jobs)], "consumer")
            try:
                with steps.within():
                    batch = await publisher.prepare([job.change for job in jobs])
            except OUTAGE as error:
                steps.end("held")
                await self._hold(deliveries_of(jobs), error)
            else:
                size_bytes += batch.size_bytes
                await prepared.put(Prepared(project, publisher, jobs, batch, started, steps))
        self._pace.observe(len(deliveries), size_bytes)

    async def _fetch(self) -> list[Delivery]:
        fetching = asyncio.ensure_future(self._events.fetch(self._pace.size, FETCH_SECONDS))
        draining = asyncio.ensure_future(self._draining.wait())
        try:
            await asyncio.wait({fetching, draining}, return_when=asyncio.FIRST_COMPLETED)
            if fetching.done():
                return fetching.result()
            return []
        finally:
            draining.cancel()
            if not fetching.done():
                fetching.cancel()

    async def _take_in(self, deliveries: Sequence[Delivery]) -> list[tuple[Delivery, str, Change]]:
        """What source systems sent: what of it is to be published; the rest is settled here."""
        if not deliveries:
            return []
        if self._intake is None:
            raise Internal("events of source systems are not taken in here")
        try:
            taken = await self._intake.take(deliveries)
        except OUTAGE as error:
            await self._hold(deliveries, error)
            return []
        for delivery in taken.done:
            await self._say(delivery, delivery.ack())
        for delivery, reason in taken.parked:
            await self._say(delivery, delivery.park(reason))
        return taken.changes

    async def _write_all(self, prepared: asyncio.Queue[Prepared | None]) -> None:
        while (one := await prepared.get()) is not None:
            try:
                with one.steps.within():
                    outcomes = await one.publisher.write(one.batch)
            except OUTAGE as error:
                one.steps.end("held")
                await self._hold(deliveries_of(one.jobs), error)
                continue
            self._backoff.reset()
            one.steps.end(", ".join(sorted({outcome.ending.value for outcome in outcomes})))
            for outcome in outcomes:
                metrics.PUBLISHED.labels(outcome.ending.value).inc()
            self._time(one.jobs, outcomes)
            self._published(one.project, sum(outcome.ending is Ending.PUBLISHED for outcome in outcomes))
            settling = zip(one.jobs, outcomes, strict=True)
            await asyncio.gather(*(self._settle(one.publisher, job, outcome) for job, outcome in settling))
            self._settled(one.project)
            metrics.BATCH_SECONDS.observe(time.perf_counter() - one.started_at)

    def _time(self, jobs: Sequence[Job], outcomes: Sequence[Outcome]) -> None:
        """How long it took from the announcement by us until words are searchable; what source systems send has another clock."""
        for job, outcome in zip(jobs, outcomes, strict=True):
            for event in (delivery.event for delivery in job.deliveries):
                if outcome.ending is not Ending.PUBLISHED or not isinstance(event, ChangeEvent):
                    continue
                with contextlib.suppress(ValueError):  # a time that nobody of ours has written
                    seconds = time.time() - datetime.fromisoformat(event.time).timestamp()
                    metrics.SEARCHABLE_SECONDS.labels("bulk" if event.bulk else "changed").observe(max(0.0, seconds))

    async def _settle(self, publisher: Publisher, job: Job, outcome: Outcome) -> None:
        if outcome.ending in SETTLED:
            self._failures.pop(job.key, None)
            await self._acknowledge([job])
        elif outcome.ending is Ending.FAILED:
            await self._retry_or_park(publisher, job, outcome)
        else:
            await self._retry(job.deliveries, self._settings.retry_seconds)

    async def _retry_or_park(self, publisher: Publisher, job: Job, outcome: Outcome) -> None:
        reason = outcome.reason
        failures = self._failures[job.key] = self._failures.get(job.key, 0) + 1
        log.warning("a document failed", project=job.project, path=job.change.path, failures=failures, reason=reason)
        if failures < self._settings.deliveries:
            await self._retry(job.deliveries, self._settings.retry_seconds * 2 ** (failures - 1))
            return
        try:
            await publisher.park(replace(job.change, set_aside=reason))
        except OUTAGE as error:
            await self._hold(job.deliveries, error)
            return
        del self._failures[job.key]
        metrics.PARKED.labels(metrics.UNPARSED if outcome.unparsed else metrics.REFUSED).inc()
        await self._acknowledge([job])

    async def _hold(self, deliveries: Iterable[Delivery], error: RefdeskError) -> None:
        """An outage is nobody's failure: everything comes again, and nothing new is fetched for a while."""
        seconds = self._backoff.next(error.retry_after_seconds)
        metrics.OUTAGES.labels("consumer").inc()
        log.warning("publishing waits", reason=error.message, seconds=seconds)
        await self._retry(deliveries, seconds)
        await asyncio.sleep(seconds)

    async def _retry(self, deliveries: Iterable[Delivery], seconds: float) -> None:
        for delivery in deliveries:
            await self._say(delivery, delivery.retry(min(seconds, LONGEST_RETRY_SECONDS)))

    async def _acknowledge(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            for delivery in job.deliveries:
                await self._say(delivery, delivery.ack())

    async def _say(self, delivery: Delivery, saying: Awaitable[None]) -> None:
        self._in_flight.discard(delivery)
        try:
            await saying
        except OUTAGE as error:
            log.warning("an event could not be settled and comes again", reason=error.message)

    async def _tell_progress(self) -> None:
        while True:
            await asyncio.sleep(PROGRESS_SECONDS)
            for delivery in tuple(self._in_flight):
                try:
                    await delivery.in_progress()
                except OUTAGE:
                    break
