"""What source systems pushed, as docstore keeps it, as a source of documents; knows nothing of events, or what decides between pushes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable
from dataclasses import dataclass, field

import structlog

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.errors import RefdeskError
from refdesk.ingest.scan import is_within
from refdesk.ingest.sources.interface import DocumentUnreadable, ListedDocument, Listing, RawDocument, Skipped, Stated
from refdesk.ingest.sources.raw_reader import RawReader
from refdesk.projects import SourceSettings

RECENT_SECONDS = 5.0
"""How often docstore is asked for what is newer: what no hint told of is found by that."""
OVERLAP_MILLISECONDS = 10_000
"""How far a look reaches back before the last: clocks of docstore's replicas differ, and puts take their time."""
NEVER_MILLISECONDS = 2**62
DROPPED = "its text was dropped after it was deleted; its publisher has to send it again"
_log = structlog.get_logger()


@dataclass
class Recent:
    """What the last look has seen."""

    looked_at_milliseconds: int = 0
    listing_change_count: int = 0
    changes: dict[str, int] = field(default_factory=dict)


class PushSource:
    """The pushed documents of one source of one project."""

    def __init__(self, settings: SourceSettings, raw: RawReader) -> None:
        self._settings = settings
        self._raw = raw

    async def list(self, within: Collection[str] | None = None) -> Listing:
        """All documents in path order, or those at or under the paths `within`. Raises: what docstore raises."""
        if within is not None and not any(path.endswith("/") for path in within):
            items = await self._raw.look_at(sorted(within))
        else:
            items = [item async for page in self._raw.pages() for item in page.items]
        return self._listing(item for item in items if is_within(item.document.path, within))

    async def read(self, path: str) -> RawDocument | None:
        """The document as it was pushed last; None when it was deleted, left out by a listing, or never pushed.

        Raises: DocumentUnreadable where its text is not kept any more; what docstore raises.
        """
        item = await self._raw.read(path)
        record, facts = item.document, item.document.facts
        if item.standing != pb.RAW_STANDING_LIVE:
            return None
        if record.dropped:
            raise DocumentUnreadable(f"{self._settings.name}/{path}: {DROPPED}")
        if self._why_not(record):
            return None
        stated = Stated(facts.title, facts.url, facts.version, facts.kind, facts.language)
        return RawDocument(record.content, str(record.revision), stated)

    async def watch(self) -> AsyncIterator[set[str] | None]:
        """Paths that were pushed of late; None where anything may stand otherwise. It never ends."""
        recent = Recent()
        while True:
            try:
                hints = await self._look(recent)
            except RefdeskError as error:
                _log.debug("what was pushed of late cannot be asked for now", reason=error.message)
            else:
                if hints is None or hints:
                    yield hints
            await asyncio.sleep(min(RECENT_SECONDS, self._settings.poll_seconds))

    async def _look(self, recent: Recent) -> set[str] | None:
        """What came since the last look; None at the first one and after a new listing."""
        first = recent.looked_at_milliseconds == 0
        since = NEVER_MILLISECONDS if first else recent.looked_at_milliseconds - OVERLAP_MILLISECONDS
        pages = [page async for page in self._raw.pages(since)]
        changes = {item.document.path: item.document.change_count for page in pages for item in page.items}
        fresh = {path for path, count in changes.items() if recent.changes.get(path) != count}
        listed = pages[0].listing_change_count != recent.listing_change_count
        recent.looked_at_milliseconds = pages[0].read_at_milliseconds
        recent.listing_change_count = pages[0].listing_change_count
        recent.changes = changes
        return None if first or listed else fresh

    def _listing(self, items: Iterable[pb.RawItem]) -> Listing:
        documents: list[ListedDocument] = []
        skipped: list[Skipped] = []
        removed: dict[str, str] = {}
        for item in items:
            record = item.document
            if item.standing == pb.RAW_STANDING_DELETED:
                removed[record.path] = str(record.stated_revision)
            elif item.standing == pb.RAW_STANDING_LIVE and (reason := self._why_not(record)):
                skipped.append(Skipped(record.path, reason, unreadable=record.dropped))
            elif item.standing == pb.RAW_STANDING_LIVE:
                documents.append(ListedDocument(record.path, str(record.revision), record.content_bytes))
        return Listing(tuple(documents), tuple(skipped), removed=removed)

    def _why_not(self, record: pb.RawDocument) -> str:
        """Why a pushed document is not indexed, for people; empty where it is."""
        if record.dropped:
            return DROPPED
        if record.content_bytes == 0:
            return "empty; it is indexed once there is something in it"
        most, size = self._settings.max_bytes, record.content_bytes
        return f"larger than {most:,} bytes ({size:,}); raise max_bytes to index it" if size > most else ""
