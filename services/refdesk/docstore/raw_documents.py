"""Pushed documents as docstore serves them: reads what stands, lets the order decide, puts conditionally; knows nothing of publishing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore import cursor, metrics, validation
from refdesk.docstore.engines.interface import DocumentStore, View
from refdesk.docstore.engines.raw_interface import RawPut
from refdesk.docstore.raw_order import LISTING_PATH, Decision, Listing, decide, drop, read_listing, stand
from refdesk.docstore.raw_validation import check_item
from refdesk.errors import InvalidArgument, Unavailable

ATTEMPTS = 8
"""How often what lost against another writer is decided anew."""
CONTENT_BYTES = 16 * 1024 * 1024
"""Of one answer; one content may be larger alone."""
MISSING_PATHS = 100
PAGE_SIZE, MAX_PAGE_SIZE = 200, 1000
LISTINGS = 64
"""Parsed listings that are remembered."""
SETTLED = (pb.RAW_OUTCOME_STORED, pb.RAW_OUTCOME_UNCHANGED)


@dataclass
class Waiting:
    """A statement that is not answered yet, and its place in the request."""

    place: int
    item: pb.PutRawDocumentsItem

    @property
    def key(self) -> tuple[str, str]:
        """Source and path of the record that it speaks of."""
        statement = self.item.WhichOneof("statement")
        if statement == "content":
            return self.item.source, self.item.content.path
        return self.item.source, self.item.deletion.path if statement == "deletion" else LISTING_PATH


class RawDocuments:
    """Pushed documents of all projects."""

    def __init__(self, store: DocumentStore, clock: Callable[[], int]) -> None:
        self._store = store
        self._clock = clock
        self._listings: dict[tuple[str, str], tuple[int, Listing]] = {}

    async def put_documents(self, request: pb.PutRawDocumentsRequest) -> pb.PutRawDocumentsResponse:
        """An outcome for each statement, in order. Raises: InvalidArgument, Unavailable."""
        project = validation.require(request.project, "project")
        validation.check_count(request.items, "items", least=1)
        sources = await self._push_sources(project)
        if not sources and not await self._store.list_projects():
            # Nobody knows yet which sources there are.
            raise Unavailable("no project is declared yet", retry_after_seconds=1)
        outcomes: dict[int, pb.PutRawDocumentsOutcome] = {}
        waiting = [Waiting(*one) for one in enumerate(request.items)]
        waiting = [one for one in waiting if not _refuse(one, project, sources, outcomes)]
        for _ in range(ATTEMPTS):
            waiting = await self._apply(project, waiting, outcomes)
            if not waiting:
                break
        else:
            raise Unavailable("other writers change the same pushed documents; send them again", retry_after_seconds=1)
        for place, item in enumerate(request.items):
            if item.HasField("listing") and outcomes[place].outcome in SETTLED:
                await self._note_missing(project, item, outcomes[place])
        answer = [outcomes[place] for place in range(len(request.items))]
        for one in answer:
            metrics.RAW_PUT.labels(pb.RawOutcome.Name(one.outcome).removeprefix("RAW_OUTCOME_").lower()).inc()
        return pb.PutRawDocumentsResponse(outcomes=answer)

    async def get_documents(self, request: pb.GetRawDocumentsRequest) -> pb.GetRawDocumentsResponse:
        """An item a path, in order. Raises: InvalidArgument, Unavailable."""
        project, source = _require_source(request.project, request.source)
        validation.check_count(request.paths, "paths", least=1)
        paths = list(request.paths)
        listing, _ = await self._listing(project, source)
        records = await self._store.get_raw(project, source, paths, with_content=False)
        fitting = _fitting(records) if request.include_content else []
        if fitting:
            with_content = await self._store.get_raw(
                project, source, [paths[one] for one in fitting], with_content=True
            )
            for place, record in zip(fitting, with_content, strict=True):
                records[place] = record
        items = [pb.RawItem(document=record, standing=stand(record, listing)) for record in records]
        for place, item in enumerate(items):
            item.deferred = request.include_content and item.document.content_bytes > 0 and place not in fitting
        return pb.GetRawDocumentsResponse(items=items)

    async def list_documents(self, request: pb.ListRawDocumentsRequest) -> pb.ListRawDocumentsResponse:
        """A page. Raises: InvalidArgument, Unavailable."""
        project, source = _require_source(request.project, request.source)
        size = validation.choose_limit(request.page_size, "page_size", default=PAGE_SIZE, most=MAX_PAGE_SIZE)
        since = request.put_since_milliseconds
        scope = ("raw", project, source, str(since))
        key = cursor.decode(request.page_token, scope, (str,))
        read_at = self._clock()
        listing, changes = await self._listing(project, source)
        after = str(key[0]) if key else LISTING_PATH
        records = await self._store.list_raw(project, source, after, size + 1, put_since_milliseconds=since)
        items = [pb.RawItem(document=record, standing=stand(record, listing)) for record in records[:size]]
        return pb.ListRawDocumentsResponse(
            items=items,
            next_page_token=cursor.encode(scope, (records[size - 1].path,)) if len(records) > size else "",
            listing_change_count=changes,
            read_at_milliseconds=read_at,
        )

    async def purge_documents(self, project: str, deleted_before_milliseconds: int) -> None:
        """Drops the content of what a listing left out, once its document was deleted before a time. Raises: Unavailable."""
        for source in await self._push_sources(project):
            listing, changes = await self._listing(project, source)
            if not changes:
                continue
            async for page in self._pages(project, source):
                gone = [one for one in page if not one.dropped and stand(one, listing) == pb.RAW_STANDING_UNLISTED]
                await self._drop(project, source, gone, deleted_before_milliseconds)

    async def _drop(self, project: str, source: str, gone: Sequence[pb.RawDocument], before_milliseconds: int) -> None:
        if not gone:
            return
        names = [ids.document_id(project, source, one.path) for one in gone]
        documents = await self._store.get_by_id(project, names, View())
        puts = []
        for record, item in zip(gone, documents, strict=True):
            document = item.document
            deleted_at = document.put_at_milliseconds if document.deleted else record.put_at_milliseconds
            if (document.deleted or item.HasField("unknown")) and deleted_at < before_milliseconds:
                drop(record)
                record.change_count += 1
                puts.append(RawPut(record, record.change_count - 1))
        if puts:
            await self._store.put_raw(puts, self._clock())

    async def _push_sources(self, project: str) -> frozenset[str]:
        """The sources that take pushes. Raises: Unavailable."""
        found = await self._store.get_project(project)
        return frozenset(source.name for source in found.sources if source.kind == "push") if found else frozenset()

    async def _apply(
        self, project: str, waiting: Sequence[Waiting], outcomes: dict[int, pb.PutRawDocumentsOutcome]
    ) -> list[Waiting]:
        """Decides and puts; what lost against another writer comes back."""
        standing = await self._read(project, {one.key for one in waiting})
        read = {key: record.change_count if record else 0 for key, record in standing.items()}
        listings = {source: (await self._listing(project, source))[0] for source, _ in standing}
        for one in waiting:
            decision = decide(standing[one.key], listings[one.item.source], one.item)
            outcomes[one.place] = pb.PutRawDocumentsOutcome(outcome=decision.outcome, reason=decision.reason)
            self._take(project, one, decision, standing, listings)
        changed = {key: record for key, record in standing.items() if record and record.change_count != read[key]}
        puts = []
        for key, record in changed.items():
            record.change_count = read[key] + 1
            puts.append(RawPut(record, read[key]))
        done = await self._store.put_raw(puts, self._clock()) if puts else []
        lost = {key for key, put in zip(changed, done, strict=True) if not put}
        return [one for one in waiting if one.key in lost]

    @staticmethod
    def _take(
        project: str,
        one: Waiting,
        decision: Decision,
        standing: dict[tuple[str, str], pb.RawDocument | None],
        listings: dict[str, Listing],
    ) -> None:
        """Later statements of the same request see what this one changed."""
        if decision.record is None:
            return
        decision.record.project = project
        standing[one.key] = decision.record
        if one.key[1] == LISTING_PATH:
            listings[one.item.source] = read_listing(decision.record)

    async def _read(self, project: str, keys: set[tuple[str, str]]) -> dict[tuple[str, str], pb.RawDocument | None]:
        """The records at these sources and paths, without content: no statement keeps the content that was there."""
        found: dict[tuple[str, str], pb.RawDocument | None] = {}
        for source in sorted({source for source, _ in keys}):
            paths = sorted(path for name, path in keys if name == source)
            records = await self._store.get_raw(project, source, paths, with_content=False)
            found |= {(source, path): record for path, record in zip(paths, records, strict=True)}
        return found

    async def _listing(self, project: str, source: str) -> tuple[Listing, int]:
        """A source's listing and its changes; parsed anew only when it has changed."""
        [record] = await self._store.get_raw(project, source, [LISTING_PATH], with_content=False)
        if record is None:
            return read_listing(None), 0
        known = self._listings.get((project, source))
        if known is None or known[0] != record.change_count:
            [record] = await self._store.get_raw(project, source, [LISTING_PATH], with_content=True)
            assert record is not None
            if len(self._listings) >= LISTINGS:
                self._listings.clear()
            known = self._listings[project, source] = (record.change_count, read_listing(record))
        return known[1], known[0]

    async def _pages(self, project: str, source: str) -> AsyncIterator[list[pb.RawDocument]]:
        after = LISTING_PATH
        while page := await self._store.list_raw(project, source, after, MAX_PAGE_SIZE):
            yield page
            after = page[-1].path

    async def _note_missing(
        self, project: str, item: pb.PutRawDocumentsItem, outcome: pb.PutRawDocumentsOutcome
    ) -> None:
        """What a listing names and is not here as it says, so that its publisher can send it."""
        wanted = {document.path: document.revision for document in item.listing.documents}
        listing, _ = await self._listing(project, item.source)
        async for page in self._pages(project, item.source):
            for record in page:
                here = stand(record, listing) == pb.RAW_STANDING_LIVE and not record.dropped
                if here and record.revision >= wanted.get(record.path, 0):
                    wanted.pop(record.path, None)
        outcome.missing_count = len(wanted)
        outcome.missing_paths[:] = sorted(wanted)[:MISSING_PATHS]


def _require_source(project: str, source: str) -> tuple[str, str]:
    return validation.require(project, "project"), validation.require(source, "source")


def _refuse(
    one: Waiting, project: str, sources: frozenset[str], outcomes: dict[int, pb.PutRawDocumentsOutcome]
) -> bool:
    """Answers a statement that nothing can come of, and says whether it did."""
    if one.item.source not in sources:
        reason = f"project {project[:63]} has no source {one.item.source[:63]} that takes pushes"
        outcomes[one.place] = pb.PutRawDocumentsOutcome(outcome=pb.RAW_OUTCOME_UNKNOWN_SOURCE, reason=reason)
        return True
    try:
        check_item(one.item)
    except InvalidArgument as error:
        outcomes[one.place] = pb.PutRawDocumentsOutcome(outcome=pb.RAW_OUTCOME_INVALID, reason=error.message)
        return True
    return False


def _fitting(records: Sequence[pb.RawDocument | None]) -> list[int]:
    """Places of the records whose contents fit into one answer, the first in any case."""
    fitting: list[int] = []
    size_bytes = 0
    for place, record in enumerate(records):
        if record is None or not record.content_bytes:
            continue
        size_bytes += record.content_bytes
        if fitting and size_bytes > CONTENT_BYTES:
            break
        fitting.append(place)
    return fitting
