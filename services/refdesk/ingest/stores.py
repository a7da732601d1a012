"""What publishing asks of docstore and search, in batches bounded by number, bytes and time; knows nothing of when or why."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_pb
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.search.v1 import search_pb2 as search_pb
from refdesk.api.search.v1.search_protocol import Search
from refdesk.ingest import entries
from refdesk.ingest.records import find_head
from refdesk.rpc import deadline

ITEMS = 512
"""Most items of one request; both contracts take 1024."""
BYTES = 16 * 1024 * 1024
"""Most bytes of one request, far below the cap of a message."""

DROP_SECONDS = 120.0
"""Of dropping an index: an engine that merges ends that first."""

Record = docstore_pb.Document


class _Sized(Protocol):
    def ByteSize(self) -> int: ...


Sized = TypeVar("Sized", bound=_Sized)


def batches(items: Iterable[Sized], most_items: int = ITEMS, most_bytes: int = BYTES) -> Iterator[list[Sized]]:
    """The items in order, cut into lists of at most so many items and bytes; one item may be larger alone."""
    batch: list[Sized] = []
    size_bytes = 0
    for item in items:
        item_bytes = item.ByteSize()
        if batch and (len(batch) == most_items or size_bytes + item_bytes > most_bytes):
            yield batch
            batch, size_bytes = [], 0
        batch.append(item)
        size_bytes += item_bytes
    if batch:
        yield batch


class Stores:
    """One project's records and entries. Every method raises what the services raise."""

    def __init__(self, project: str, docstore: Docstore, search: Search, call_seconds: float = 30.0) -> None:
        self.project = project
        self.docstore = docstore
        self.search = search
        self._call_seconds = call_seconds

    async def read(self, document_ids: Iterable[str], *, include_text: bool = False) -> dict[str, Record]:
        """The records that exist, by id."""
        found: dict[str, Record] = {}
        wanted = list(dict.fromkeys(document_ids))
        step = ITEMS if not include_text else ITEMS // 4
        for start in range(0, len(wanted), step):
            request = docstore_pb.GetDocumentsRequest(
                project=self.project, document_ids=wanted[start : start + step], include_text=include_text
            )
            with deadline.limit(self._call_seconds):
                response = await self.docstore.get_documents(request)
            found |= {item.document.document_id: item.document for item in response.items if item.HasField("document")}
        return found

    async def write_words(self, generation: str, words: Sequence[search_pb.WordDocument]) -> None:
        """Writes chunks and documents; returns when all are durable and searchable. What bears a later stamp is left alone."""
        for batch in batches(words):
            request = search_pb.WriteWordsRequest(project=self.project, generation=generation, documents=batch)
            with deadline.limit(self._call_seconds):
                await self.search.write_words(request)

    async def write_vectors(self, generation: str, model_id: str, points: Sequence[search_pb.VectorEntry]) -> None:
        """Writes points; returns when all are durable and searchable. What bears a later stamp is left alone."""
        for batch in batches(points, most_items=20_000):
            request = search_pb.WriteVectorsRequest(
                project=self.project, generation=generation, model_id=model_id, entries=batch
            )
            with deadline.limit(self._call_seconds):
                await self.search.write_vectors(request)

    async def get_vectors(self, generation: str, text_hashes: Sequence[str]) -> dict[str, bytes]:
        """The vectors that the project already has, by the hash of their text."""
        found: dict[str, bytes] = {}
        for start in range(0, len(text_hashes), ITEMS):
            request = search_pb.GetVectorsRequest(
                project=self.project, generation=generation, text_hashes=text_hashes[start : start + ITEMS]
            )
            with deadline.limit(self._call_seconds):
                response = await self.search.get_vectors(request)
            found |= {one.text_hash: one.vector for one in response.vectors}
        return found

    async def put(self, records: Sequence[Record]) -> list[bool]:
        """Puts each record conditional on the revision before its own; False is a conflict."""
        committed: list[bool] = []
        items = (docstore_pb.PutDocumentsItem(document=one, expected_revision=one.revision - 1) for one in records)
        for batch in batches(items):
            with deadline.limit(self._call_seconds):
                response = await self.docstore.put_documents(docstore_pb.PutDocumentsRequest(items=batch))
            committed += [outcome.committed for outcome in response.outcomes]
        return committed

    async def sweep(self, records: Sequence[Record], generations: Iterable[str]) -> tuple[int, set[str]]:
        """Sweeps each document by its record as read or put, in both engines, then notes it where the record does not say so.

        Answers how many entries went, and the documents of which an unlisted entry with a later stamp was left.
        """
        deleted, later = 0, set[str]()
        notes: list[docstore_pb.NoteDocumentsItem] = []
        for generation in generations:
            pairs = [(record, head) for record in records if (head := find_head(record, generation))]
            outcomes = await self._sweep(generation, [entries.sweep_item(record, head) for record, head in pairs])
            for (record, head), outcome in zip(pairs, outcomes, strict=True):
                deleted += outcome.deleted_words + outcome.deleted_vectors
                if outcome.later_stamp:
                    later.add(record.document_id)
                if not head.swept:
                    notes.append(self.note(record, generation, swept=True))
        await self.put_notes(notes)
        return deleted, later

    async def _sweep(
        self, generation: str, items: list[search_pb.SweepDocumentsItem]
    ) -> list[search_pb.SweepDocumentsOutcome]:
        outcomes: list[search_pb.SweepDocumentsOutcome] = []
        for batch in batches(items):
            request = search_pb.SweepDocumentsRequest(project=self.project, generation=generation, items=batch)
            with deadline.limit(self._call_seconds):
                outcomes += (await self.search.sweep_documents(request)).outcomes
        return outcomes

    def note(
        self,
        record: Record,
        generation: str,
        *,
        swept: bool = False,
        chunk_ids: Sequence[str] = (),
        token_counts: Sequence[int] = (),
    ) -> docstore_pb.NoteDocumentsItem:
        """A note on one head, conditional on the record's revision."""
        return docstore_pb.NoteDocumentsItem(
            document_id=record.document_id,
            project=self.project,
            generation=generation,
            revision=record.revision,
            embedded_chunk_ids=chunk_ids,
            token_counts=token_counts,
            swept=swept,
        )

    async def put_notes(self, notes: Sequence[docstore_pb.NoteDocumentsItem]) -> list[bool]:
        """Notes progress; False where the record has another revision by now."""
        noted: list[bool] = []
        for batch in batches(notes):
            with deadline.limit(self._call_seconds):
                response = await self.docstore.note_documents(docstore_pb.NoteDocumentsRequest(items=batch))
            noted += [outcome.noted for outcome in response.outcomes]
        return noted

    async def list_unfinished(self, generation: str, page_token: str) -> docstore_pb.ListUnfinishedResponse:
        """One page of heads with work left, changed documents before bulk."""
        request = docstore_pb.ListUnfinishedRequest(project=self.project, generation=generation, page_token=page_token)
        with deadline.limit(self._call_seconds):
            return await self.docstore.list_unfinished(request)

    async def list_records(self, *, source: str = "", without_heads: bool = False) -> AsyncIterator[Record]:
        """All records in order of their ids, without text."""
        token = ""
        while True:
            request = docstore_pb.ListRecordsRequest(
                project=self.project, source=source, page_token=token, page_size=500, without_heads=without_heads
            )
            with deadline.limit(self._call_seconds):
                page = await self.docstore.list_records(request)
            for record in page.documents:
                yield record
            token = page.next_page_token
            if not token:
                return

    async def list_entries(self, generation: str, engine: search_pb.Engine) -> AsyncIterator[search_pb.Entry]:
        """All entries of one engine in order of their documents' ids."""
        token = ""
        while True:
            request = search_pb.ListEntriesRequest(
                project=self.project, generation=generation, engine=engine, page_token=token, page_size=5000
            )
            with deadline.limit(self._call_seconds):
                page = await self.search.list_entries(request)
            for entry in page.entries:
                yield entry
            token = page.next_page_token
            if not token:
                return

    async def count(self, generation: str) -> docstore_pb.GetStatsResponse:
        """Counts of one generation."""
        request = docstore_pb.GetStatsRequest(project=self.project, generation=generation)
        with deadline.limit(self._call_seconds):
            return await self.docstore.get_stats(request)

    async def drop_heads(self, generation: str) -> None:
        """Takes all heads of a generation that is followed no more off the records."""
        request = docstore_pb.DropHeadsRequest(project=self.project, generation=generation)
        dropped_count = 1
        while dropped_count:
            with deadline.limit(self._call_seconds):
                dropped_count = (await self.docstore.drop_heads(request)).dropped_count

    async def drop_entries(self, generation: str) -> None:
        """Drops a generation's index from both engines."""
        request = search_pb.DropGenerationRequest(project=self.project, generation=generation)
        with deadline.limit(DROP_SECONDS):
            await self.search.drop_generation(request)

    async def report(
        self, source: str, reports: Sequence[docstore_pb.Report] = (), cleared_paths: Sequence[str] = ()
    ) -> None:
        """Notes and clears what kept documents of a source from being indexed."""
        if not reports and not cleared_paths:
            return
        request = docstore_pb.ReportDocumentsRequest(
            project=self.project, source=source, reports=reports, cleared_paths=cleared_paths
        )
        with deadline.limit(self._call_seconds):
            await self.docstore.report_documents(request)

    async def list_reports(self, source: str, limit: int) -> Sequence[docstore_pb.Report]:
        """What is not indexed of a source, and why."""
        request = docstore_pb.ListReportsRequest(project=self.project, source=source, limit=limit)
        with deadline.limit(self._call_seconds):
            return (await self.docstore.list_reports(request)).reports
