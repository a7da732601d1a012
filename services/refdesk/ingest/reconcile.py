"""Compares records with what the engines hold and mends what differs; knows nothing of events, and trusts no note.

Both listings are ordered by document, so they are read side by side, a page at a time. What looks wrong is read again before anything is
done about it, for publishing goes on meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_pb
from refdesk.api.search.v1 import search_pb2 as search_pb
from refdesk.ingest import entries, metrics, records, stored_heads
from refdesk.ingest.changes import Change, Followed, origin_of
from refdesk.ingest.records import Generation, find_head
from refdesk.ingest.stores import Stores
from refdesk.ingest.work import relative_path
from refdesk.rpc import deadline

log = structlog.get_logger()

GROUP = 64
"""Documents that are mended at once."""
DAY_SECONDS = 86_400

Record = docstore_pb.Document
Holding = dict[str, search_pb.Entry]
Republish = Callable[[Sequence[Change]], Awaitable[object]]
Grow = Callable[[Sequence[str]], Awaitable[int]]
"""Gives documents, by id, the heads that they lack; how many were given one."""


@dataclass
class Findings:
    """What one run has looked at and mended."""

    record_count: int = 0
    republished_count: int = 0
    swept_count: int = 0
    fenced_count: int = 0
    fenced: set[str] = field(default_factory=set)
    started_at_milliseconds: float = 0.0
    """What was put since then may be newer than a page of entries read before it: nothing is called lost of it."""

    @property
    def mended_count(self) -> int:
        """Documents that were put right."""
        return self.republished_count + self.swept_count + self.fenced_count


@dataclass
class Compared:
    """One document in one generation: its record, if there is one, and what each engine holds of it."""

    document_id: str
    record: Record | None
    words: Holding
    points: Holding


class Reconciler:
    """Reconciles one project; a run may be repeated at any time, and beside publishing."""

    def __init__(
        self,
        stores: Stores,
        sources: Mapping[str, Followed],
        generations: Callable[[], Awaitable[Sequence[Generation]]],
        republish: Republish,
        grow: Grow,
        *,
        changed: Callable[[Sequence[Record]], None] = lambda _: None,
        purge_days: float = 7,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._stores = stores
        self._sources = sources
        self._generations = generations
        self._republish = republish
        self._grow = grow
        self._changed = changed
        self._purge_days = purge_days
        self._now = now
        self.newest = Findings()
        """Of the newest run, or of the one that goes on."""

    async def run(self) -> Findings:
        """One run over all records and entries. Raises: Unavailable and the like; then it is run again."""
        self.newest = findings = Findings(started_at_milliseconds=self._now() * 1000)
        generations = tuple(await self._generations())
        for generation in generations:
            await self._reconcile(generation, generations, findings)
        await self._complete(generations, findings)
        await self._purge()
        self._count(findings)
        return findings

    async def run_one(self, name: str) -> Findings:
        """The same over one generation's entries, before it answers. Raises: as `run`."""
        self.newest = findings = Findings(started_at_milliseconds=self._now() * 1000)
        generations = tuple(await self._generations())
        for generation in generations:
            if generation.name == name:
                await self._reconcile(generation, generations, findings)
        self._count(findings)
        return findings

    async def _reconcile(self, generation: Generation, followed: tuple[Generation, ...], findings: Findings) -> None:
        findings.record_count = 0
        suspects: list[Compared] = []
        async for compared in self._compare(generation, findings):
            if is_sound(compared, generation.name):
                continue
            suspects.append(compared)
            if len(suspects) == GROUP:
                await self._mend(suspects, generation, followed, findings)
                suspects = []
        await self._mend(suspects, generation, followed, findings)

    @staticmethod
    def _count(findings: Findings) -> None:
        for mending in ("republished", "swept", "fenced"):
            metrics.RECONCILED.labels(mending).inc(getattr(findings, f"{mending}_count"))

    async def _compare(self, generation: Generation, findings: Findings) -> AsyncIterator[Compared]:
        """Walks through records and both engines side by side, in order of the documents' ids."""
        recorded = _Cursor(self._stores.list_records())
        words = _Grouped(self._stores.list_entries(generation.name, search_pb.ENGINE_WORDS))
        points = _Grouped(self._stores.list_entries(generation.name, search_pb.ENGINE_VECTORS))
        while True:
            heads = [await recorded.peek(), await words.peek(), await points.peek()]
            left = [one for one in heads if one is not None]
            if not left:
                return
            document_id = min(left)
            record = await recorded.take(document_id)
            findings.record_count += record is not None
            yield Compared(document_id, record, await words.take(document_id), await points.take(document_id))

    async def _mend(
        self, suspects: Sequence[Compared], generation: Generation, followed: Sequence[Generation], findings: Findings
    ) -> None:
        now = await self._stores.read([one.document_id for one in suspects], include_text=True)
        unrecorded = [one.document_id for one in suspects if one.document_id not in now and one.record is None]
        tombstones = [records.unrecorded_tombstone(self._stores.project, one, followed) for one in unrecorded]
        if tombstones:
            await self._stores.put(tombstones)
            now |= await self._stores.read(unrecorded, include_text=True)
        now |= await self._empty(now, generation)
        without_point = {one.document_id for one in suspects if one.document_id not in one.points}
        self._changed([record for one, record in now.items() if one in without_point])
        for one in suspects:
            record = now.get(one.document_id)
            settled = record is not None and record.put_at_milliseconds < findings.started_at_milliseconds
            if record and settled and one.record and record.revision == one.record.revision:
                now[one.document_id] = await self._restore(one, record, generation, findings)
        deleted, later = await self._stores.sweep(list(now.values()), [generation.name])
        findings.swept_count += deleted
        await self._fence([now[one] for one in later - findings.fenced], generation, findings)

    async def _restore(self, compared: Compared, record: Record, generation: Generation, findings: Findings) -> Record:
        """Writes what an engine has lost of a record that has not changed meanwhile, and puts the record as its next revision."""
        head = find_head(record, generation.name)
        if head is None or record.deleted:
            return record
        lost_words, lost_points = losses(compared, head)
        if not lost_words and not lost_points:
            return record
        restored = records.fenced_record(record)
        new_head = find_head(restored, generation.name)
        assert new_head is not None
        new_head.missing_vectors.extend(sorted(lost_points))
        await self._stores.write_words(generation.name, [entries.word_document(restored, new_head, lost_words)])
        log.warning("an engine had lost entries", path=record.path, words=len(lost_words), points=len(lost_points))
        if (await self._stores.put([restored]))[0]:
            findings.republished_count += 1
            return restored
        return await self._read_again(record)

    async def _read_again(self, record: Record) -> Record:
        """After a conflict: a sweep goes by the record as it is now."""
        found = await self._stores.read([record.document_id], include_text=True)
        return found.get(record.document_id, record)

    async def _fence(self, later: Sequence[Record], generation: Generation, findings: Findings) -> None:
        """Puts records unchanged as their next revision where an unlisted entry bears a later stamp, once a run, then sweeps."""
        if not later:
            return
        findings.fenced.update(record.document_id for record in later)
        fenced = [records.fenced_record(record) for record in later]
        committed = await self._stores.put(fenced)
        findings.fenced_count += sum(committed)
        now = [
            record if done else await self._read_again(record) for record, done in zip(fenced, committed, strict=True)
        ]
        deleted, _ = await self._stores.sweep(now, [generation.name])
        findings.swept_count += deleted

    async def _empty(self, now: Mapping[str, Record], generation: Generation) -> dict[str, Record]:
        """Deleted documents without a head of a generation get an empty one: entries that a slow worker left in it are swept by that."""
        headless = [one for one in now.values() if one.deleted and find_head(one, generation.name) is None]
        emptied = [stored_heads.emptied_record(one, [generation]) for one in headless]
        committed = await self._stores.put(emptied) if emptied else []
        return {one.document_id: one for one, done in zip(emptied, committed, strict=True) if done}

    async def _complete(self, generations: Sequence[Generation], findings: Findings) -> None:
        """Publishes documents again that their source declares otherwise by now, and gives those a head that lack one."""
        outdated: list[Change] = []
        lacking: list[str] = []
        async for record in self._stores.list_records():
            followed = self._sources.get(record.source)
            if record.deleted:
                continue
            path = relative_path(record)
            if followed and not stored_heads.is_declared(
                record, origin_of(self._stores.project, followed.settings, path), generations
            ):
                outdated.append(Change(record.source, path, bulk=True, keep_absent=True))
            if stored_heads.lacking(record, generations):
                lacking.append(record.document_id)
        for start in range(0, len(outdated), GROUP):
            await self._republish(outdated[start : start + GROUP])
        for start in range(0, len(lacking), GROUP):
            findings.republished_count += await self._grow(lacking[start : start + GROUP])
        findings.republished_count += len(outdated)

    async def _purge(self) -> None:
        before = int((self._now() - self._purge_days * DAY_SECONDS) * 1000)
        request = docstore_pb.PurgeDocumentsRequest(project=self._stores.project, deleted_before_milliseconds=before)
        with deadline.limit(60):
            await self._stores.docstore.purge_documents(request)


def losses(compared: Compared, head: docstore_pb.Head) -> tuple[set[str], set[str]]:
    """Chunks that the head lists and the keyword index has not, and those that should have a point and have none.

    A lost entry of the whole document counts as a loss of words by its document's id.
    """
    listed = {span.chunk_id for span in head.chunks}
    words = listed - compared.words.keys()
    if listed and compared.document_id not in compared.words:
        words.add(compared.document_id)
    points = listed - compared.points.keys() - set(head.missing_vectors) if head.embeddable else set[str]()
    return words, points


def is_sound(compared: Compared, generation: str) -> bool:
    """Whether engines hold what the record lists and nothing else, and nothing is left to sweep."""
    head = find_head(compared.record, generation) if compared.record else None
    if compared.record is None or head is None:
        return not compared.words and not compared.points and compared.record is not None
    listed = {span.chunk_id for span in head.chunks} | ({compared.document_id} if head.chunks else set())
    surplus = (compared.words.keys() | compared.points.keys()) - listed
    whole = (
        compared.document_id in compared.points or bool(head.missing_vectors) or not (head.chunks and head.embeddable)
    )
    return head.swept and whole and not surplus and not any(losses(compared, head))


class _Cursor:
    """A listing of records of which one is looked at ahead."""

    def __init__(self, listing: AsyncIterator[Record]) -> None:
        self._listing = listing
        self._next: Record | None = None
        self._ended = False

    async def peek(self) -> str | None:
        """Id of the next record."""
        if self._next is None and not self._ended:
            self._next = await anext(self._listing, None)
            self._ended = self._next is None
        return self._next.document_id if self._next else None

    async def take(self, document_id: str) -> Record | None:
        """The next record, if it is this one."""
        if await self.peek() != document_id:
            return None
        record, self._next = self._next, None
        return record


class _Grouped:
    """A listing of entries, a document's at a time."""

    def __init__(self, listing: AsyncIterator[search_pb.Entry]) -> None:
        self._listing = listing
        self._next: search_pb.Entry | None = None
        self._ended = False

    async def peek(self) -> str | None:
        """Id of the next entry's document."""
        if self._next is None and not self._ended:
            self._next = await anext(self._listing, None)
            self._ended = self._next is None
        return self._next.document_id if self._next else None

    async def take(self, document_id: str) -> Holding:
        """All entries of this document, by id."""
        taken: Holding = {}
        while await self.peek() == document_id and self._next:
            taken[self._next.id], self._next = self._next, None
        return taken
