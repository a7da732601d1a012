"""Takes in what source systems sent over the queue: content goes to docstore, hints to whoever follows the source; acknowledges nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import Internal, InvalidArgument, NotFound
from refdesk.failpoints import reach
from refdesk.ingest import metrics
from refdesk.ingest.changes import Change
from refdesk.ingest.events.incoming import Published, Unreadable
from refdesk.ingest.events.interface import Delivery
from refdesk.ingest.stores import batches
from refdesk.rpc import deadline
from refdesk.source_events import SourceEventType

log = structlog.get_logger()

OWN_FAULT = (InvalidArgument, Internal)
SETTLED = (pb.RAW_OUTCOME_STORED, pb.RAW_OUTCOME_UNCHANGED)

Hint = Callable[[str, str, Collection[str]], Awaitable[object]]
"""Looks at paths of a project's source, none meaning all. Raises: NotFound, Unavailable."""


@dataclass
class Taken:
    """What became of deliveries: those whose document is to be published, those that are done, and those that nobody can take, with why."""

    changes: list[tuple[Delivery, str, Change]] = field(default_factory=list)
    done: list[Delivery] = field(default_factory=list)
    parked: list[tuple[Delivery, str]] = field(default_factory=list)


class Intake:
    """The way in for events of source systems. `sources` are those that are declared, by project."""

    def __init__(
        self, docstore: Docstore, sources: Mapping[str, Collection[str]], hint: Hint, call_seconds: float
    ) -> None:
        self._docstore = docstore
        self._sources = sources
        self._hint = hint
        self._call_seconds = call_seconds

    async def take(self, deliveries: Sequence[Delivery]) -> Taken:
        """Takes in all of them; may be repeated. Raises: Unavailable and the like; then all of them must come again."""
        taken = Taken()
        pushed: dict[str, list[Delivery]] = {}
        hinted: dict[tuple[str, str], list[Delivery]] = {}
        for delivery in deliveries:
            event = delivery.event
            if isinstance(event, Unreadable):
                taken.parked.append((delivery, event.reason))
            elif isinstance(event, Published) and event.event.item is not None:
                pushed.setdefault(event.project, []).append(delivery)
            elif isinstance(event, Published):
                hinted.setdefault((event.project, event.event.source), []).append(delivery)
        for project, some in pushed.items():
            await self._store(project, some, taken)
        for (project, source), some in hinted.items():
            await self._look(project, source, some, taken)
        await self._report(taken.parked)
        return taken

    async def _store(self, project: str, deliveries: Sequence[Delivery], taken: Taken) -> None:
        """Where docstore refuses them, each alone, so that one holds up no other."""
        try:
            await self._store_all(project, deliveries, taken)
        except OWN_FAULT as error:
            if len(deliveries) == 1:
                taken.parked.append((deliveries[0], error.message))
                return
            for delivery in deliveries:
                await self._store(project, [delivery], taken)

    async def _store_all(self, project: str, deliveries: Sequence[Delivery], taken: Taken) -> None:
        items = [_item(delivery) for delivery in deliveries]
        outcomes: list[pb.PutRawDocumentsOutcome] = []
        for batch in batches(items):
            request = pb.PutRawDocumentsRequest(project=project, items=batch)
            with deadline.limit(self._call_seconds):
                outcomes += (await self._docstore.put_raw_documents(request)).outcomes
        reach("ingest.intake.stored")
        for delivery, outcome in zip(deliveries, outcomes, strict=True):
            word = pb.RawOutcome.Name(outcome.outcome).removeprefix("RAW_OUTCOME_").lower()
            metrics.SOURCE_EVENTS.labels(word).inc()
            await self._sort(project, delivery, outcome, taken)

    async def _sort(self, project: str, delivery: Delivery, outcome: pb.PutRawDocumentsOutcome, taken: Taken) -> None:
        published = delivery.event
        assert isinstance(published, Published)
        event = published.event
        if outcome.reason:
            taken.parked.append((delivery, outcome.reason))
        elif outcome.outcome not in SETTLED:
            taken.done.append(delivery)
        elif event.type is SourceEventType.LISTED:
            await self._look(project, event.source, [delivery], taken)
        else:
            keep_absent = event.type is not SourceEventType.REMOVED
            change = Change(event.source, event.path, bulk=published.bulk, keep_absent=keep_absent)
            taken.changes.append((delivery, project, change))

    async def _look(self, project: str, source: str, deliveries: Sequence[Delivery], taken: Taken) -> None:
        """Has a source looked at: at the paths of these events, or at all of it where one names none."""
        paths = {one.event.event.path for one in deliveries if isinstance(one.event, Published)}
        try:
            await self._hint(project, source, () if "" in paths else paths)
        except NotFound as error:
            taken.parked += [(delivery, error.message) for delivery in deliveries]
        else:
            taken.done += deliveries

    async def _report(self, parked: Sequence[tuple[Delivery, str]]) -> None:
        """Shows what was parked with its source: the newest, for there may be very many."""
        newest: dict[tuple[str, str], str] = {}
        for delivery, reason in parked:
            event = delivery.event
            metrics.SOURCE_EVENTS.labels("parked").inc()
            metrics.PARKED.labels(metrics.EVENT).inc()
            log.warning("an event was parked", project=event.project, source=event.source, reason=reason)
            newest[event.project, event.source] = reason
        for (project, source), reason in newest.items():
            if source in self._sources.get(project, ()):
                report = pb.Report(path=source, kind=pb.REPORT_KIND_PARKED, reason=f"an event was set aside: {reason}")
                request = pb.ReportDocumentsRequest(project=project, source=source, reports=[report])
                with deadline.limit(self._call_seconds):
                    await self._docstore.report_documents(request)


def _item(delivery: Delivery) -> pb.PutRawDocumentsItem:
    assert isinstance(delivery.event, Published) and delivery.event.event.item is not None
    return delivery.event.event.item
