"""Follows one source: scans it, guards its deletes, and announces what differs from the records; knows nothing of publishing."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol
from uuid import uuid4

import structlog

from refdesk.api.ingest.v1 import ingest_pb2 as pb
from refdesk.errors import RefdeskError
from refdesk.ingest.announcing import Announced, make_events
from refdesk.ingest.backlog import Sync
from refdesk.ingest.events.event import now
from refdesk.ingest.events.interface import Events
from refdesk.ingest.guard import DeleteLimit, Verdict, judge
from refdesk.ingest.scan import Known, Plan, compare, pair_moves
from refdesk.ingest.sources.interface import DocumentSource, DocumentUnreadable, Listing, Skipped
from refdesk.projects import SourceSettings
from refdesk.tasks import end_tasks
from refdesk.telemetry import tracing
from refdesk.telemetry.labels import source_label

FULL_SECONDS = 600.0
"""How often what is pushed is listed in full, or less often where the source says so: what comes is asked for every few seconds."""
RETRY_SECONDS = 5.0
"""After a scan that failed; or at the next poll, where that is sooner."""
ANNOUNCED_SECONDS = 300.0
"""A document that still differs so long after it was announced is announced anew; longer than the queue remembers ids."""
ONE_GO_SECONDS = 60.0
"""Deletes so close to each other are judged as one: hints cut a large removal into small ones."""
_log = structlog.get_logger()


class SourceRecords(Protocol):
    """What is on record of one source; paths are relative to it. Every method raises what docstore raises."""

    async def known(self, paths: Collection[str] | None) -> Mapping[str, Known]:
        """The records of these paths, or (None) all; deleted ones too."""
        ...

    async def reported(self) -> Collection[str]:
        """The paths that are reported as not indexed, for whatever reason."""
        ...

    async def report(self, skipped: Sequence[Skipped], cleared: Sequence[str]) -> None:
        """Notes why documents are not taken, and clears paths of which that is no longer so."""
        ...


class Follower:
    """One source of one project. Scans go one after the other; one that fails deletes nothing and is tried again.

    `covering` widens paths that somebody else hints at to all that may change with them.
    """

    def __init__(
        self,
        project: str,
        settings: SourceSettings,
        source: DocumentSource,
        events: Events,
        records: SourceRecords,
        *,
        limit: DeleteLimit | None = None,
        covering: Callable[[Collection[str]], set[str]] = set,
    ) -> None:
        self._project = project
        self._settings = settings
        self._source = source
        self._events = events
        self._records = records
        self._limit = limit or DeleteLimit()
        self._covering = covering
        self._announced = Announced(ANNOUNCED_SECONDS)
        self._let_go: list[tuple[float, int]] = []
        self._held: set[str] = set()
        self._skipped: set[str] = set()
        self._began_at_seconds = time.time()
        self._status = pb.SourceStatus(name=settings.name, kind=settings.kind, state=pb.SOURCE_STATE_WAITING)
        self._scanning = asyncio.Lock()
        self._wanted = asyncio.Event()
        self._lease = events.lease(
            f"{project}.{settings.name}", lambda: self._status.SerializeToString(), self._wanted.set
        )
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begins to follow: a scan at once, then by hints and by the clock."""
        names = {"poll": self._poll(), "watch": self._watch()}
        self._tasks = [asyncio.create_task(work, name=f"{name} {self._settings.name}") for name, work in names.items()]

    async def close(self) -> None:
        """Ends following; a scan under way is given up."""
        await end_tasks(self._tasks)
        self._tasks = []

    @property
    def interval_seconds(self) -> float:
        """How often everything is looked at."""
        pushed = self._settings.kind == "push"
        return max(self._settings.poll_seconds, FULL_SECONDS) if pushed else self._settings.poll_seconds

    def lag(self) -> Sync:
        """How far behind it is; where it was never scanned whole, since it was begun to be followed here."""
        status = self.status()
        return Sync(
            source_label(self._project, self._settings.name),
            status.scanned_at_milliseconds / 1000 or self._began_at_seconds,
            self.interval_seconds,
            pb.SourceState.Name(status.state).removeprefix("SOURCE_STATE_").lower(),
        )

    def status(self) -> pb.SourceStatus:
        """What it does now, or the process that follows it in its place, as a message of its own."""
        if not self._lease.held and self._lease.told:
            return pb.SourceStatus.FromString(self._lease.told)
        status = pb.SourceStatus()
        status.CopyFrom(self._status)
        return status

    async def sync(self, confirm_deletes: bool) -> pb.SyncSourceResponse:
        """Scans everything now, and announces again what was announced of late. Raises: Unavailable; nothing was deleted then."""
        try:
            return await self._scan(None, confirmed=confirm_deletes, again=True)
        except RefdeskError as error:
            self._fail(error.message)
            raise

    async def hint(self, paths: Collection[str]) -> int:
        """Looks at what may have changed (no path: everything); how many documents were announced.

        Raises: Unavailable; then everything is looked at soon.
        """
        try:
            found = await self._scan(self._covering(paths) or None)
        except RefdeskError:
            self._wanted.set()
            raise
        return int(found.changed_count + found.deleted_count + found.moved_count)

    async def _poll(self) -> None:
        while True:
            await self._lease.until_held()
            succeeded = await self._try_scan(None)
            pause = self.interval_seconds if succeeded else min(self.interval_seconds, RETRY_SECONDS)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wanted.wait(), pause)
            self._wanted.clear()

    async def _watch(self) -> None:
        said = False
        while True:
            async for hints in self._source.watch():
                await self._lease.until_held()  # nobody else is asked for hints meanwhile
                if not await self._try_scan(hints):
                    self._wanted.set()
            if not said:
                _log.warning("changes are not watched, only polled for", source=self._settings.name)
                said = True
            await asyncio.sleep(self._settings.poll_seconds)

    async def _try_scan(self, within: Collection[str] | None) -> bool:
        try:
            await self._scan(within)
        except RefdeskError as error:
            self._fail(error.message)
        except Exception:  # this loop is a boundary: one source's defect must not end the following of it
            _log.exception("a scan failed", source=self._settings.name)
            self._fail("the scan failed; the log has the place")
        else:
            return True
        return False

    async def _scan(
        self, within: Collection[str] | None, *, confirmed: bool = False, again: bool = False
    ) -> pb.SyncSourceResponse:
        async with self._scanning:
            if within is None:
                self._status.state = pb.SOURCE_STATE_SCANNING
            listing = await self._source.list(within)
            exact = within is not None and not any(path.endswith("/") for path in within)
            known = await self._records.known(within if exact else None)
            plan = await self._pair_moves(compare(listing, known, within))
            verdict = self._judge(plan, known, listing, within, confirmed)
            await self._announce(plan, verdict, known, within, again)
            await self._report(listing, within)
            self._note_scan(listing, verdict, within)
            return pb.SyncSourceResponse(
                changed_count=len(plan.new) + len(plan.edited),
                deleted_count=len(verdict.allowed),
                moved_count=len(plan.moves),
                held_deletes=verdict.held_count,
            )

    async def _pair_moves(self, plan: Plan) -> Plan:
        """Reads what is new, if anything vanished, to tell what merely moved."""
        if not plan.vanished:
            return plan
        hashes: dict[str, str] = {}
        for path in plan.new:
            with contextlib.suppress(DocumentUnreadable):
                if found := await self._source.read(path):
                    hashes[path] = found.content_hash
        return pair_moves(plan, hashes)

    def _judge(
        self,
        plan: Plan,
        known: Mapping[str, Known],
        listing: Listing,
        within: Collection[str] | None,
        confirmed: bool,
    ) -> Verdict:
        """What was deleted on purpose is not judged, nor again what was let go before and is not worked off yet."""
        alive = sum(not record.deleted for record in known.values())
        let_go = (self._announced.deletes() & plan.vanished.keys()) | plan.removed.keys()
        since = time.monotonic() - ONE_GO_SECONDS
        self._let_go = [(moment, count) for moment, count in self._let_go if moment > since]
        vanished = plan.vanished.keys() - let_go
        verdict = judge(
            self._settings.name,
            vanished,
            alive if within is None else max(alive, self._status.listed_count),
            complete=listing.complete,
            limit=self._limit,
            deleted_before=sum(count for _, count in self._let_go),
            held_before=not self._held.isdisjoint(vanished),
            confirmed=confirmed,
        )
        if within is None and listing.complete:
            self._held = set(vanished) if verdict.held_count else set()
        if not confirmed:
            self._let_go.append((time.monotonic(), len(verdict.allowed)))
        return replace(verdict, allowed=tuple(sorted({*verdict.allowed, *let_go}))) if listing.complete else verdict

    async def _announce(
        self, plan: Plan, verdict: Verdict, known: Mapping[str, Known], within: Collection[str] | None, again: bool
    ) -> None:
        events = make_events(self._project, self._settings.name, plan, verdict.allowed, known, now())
        if events:
            self._announced.begin(await self._events.incarnation())
        fresh = events if again else self._announced.leave_out(events, time.monotonic())
        # Somebody who asks again may know better than the queue, which takes the same change within two minutes for a repetition.
        with tracing.span("announce changes", "producer", begins=bool(fresh)):
            await self._events.publish([replace(event, id=uuid4().hex) for event in fresh] if again else fresh)
        self._announced.note(fresh, time.monotonic())
        if within is None:
            self._announced.keep({event.path for event in events})
        if fresh:
            _log.info("announced changes", source=self._settings.name, events=len(fresh), bulk=fresh[0].bulk)

    async def _report(self, listing: Listing, within: Collection[str] | None) -> None:
        """Reports what is not taken; a path that was reported and is gone is cleared, one that is taken now clears its worker."""
        skipped = {one.path for one in listing.skipped}
        standing = skipped | {document.path for document in listing.documents}
        if within is None:
            cleared = sorted(set(await self._records.reported()) - standing)
        else:
            cleared = sorted((self._skipped & {path.rstrip("/") for path in within}) - standing)
        new = [one for one in listing.skipped if within is None or one.path not in self._skipped]
        if new or cleared:
            await self._records.report(new, cleared)
        self._skipped = skipped if within is None else (self._skipped | skipped) - set(cleared)

    def _note_scan(self, listing: Listing, verdict: Verdict, within: Collection[str] | None) -> None:
        if within is not None:
            if verdict.held_count:
                self._wanted.set()  # only a full scan can say how many there are in all
            return
        followed = pb.SOURCE_STATE_HELD if verdict.held_count else pb.SOURCE_STATE_FOLLOWED
        self._status.state = followed if listing.complete else pb.SOURCE_STATE_FAILED
        self._status.message = verdict.message
        self._status.held_deletes = verdict.held_count
        self._status.listed_count = len(listing.documents)
        if listing.complete:
            self._status.scanned_at_milliseconds = time.time_ns() // 1_000_000

    def _fail(self, message: str) -> None:
        if self._status.message != message:
            _log.warning("a source cannot be followed now", source=self._settings.name, reason=message)
        self._status.state = pb.SOURCE_STATE_FAILED
        self._status.message = message
