"""Gives chunks their vectors, behind the words: step 5 of the publish protocol; knows nothing of sources or of queues.

What is pending is found by asking docstore; a hint only says when. Two lanes work side by side on different documents, so that the
embedder has texts to do while a lane reads and writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

import structlog

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_pb
from refdesk.api.search.v1 import search_pb2 as search_pb
from refdesk.errors import InvalidArgument
from refdesk.failpoints import reach
from refdesk.ingest import metrics, pending
from refdesk.ingest.changes import Change, Ending, Outcome
from refdesk.ingest.embedding import Embedding
from refdesk.ingest.pending import Pending
from refdesk.ingest.records import Generation, find_head
from refdesk.ingest.settings import IngestSettings
from refdesk.ingest.stores import Stores
from refdesk.ingest.supervision import OUTAGE, Backoff
from refdesk.ingest.work import relative_path

log = structlog.get_logger()

LANES = 2
REST_SECONDS = 30.0
"""How long a document rests of which a round could do nothing."""

Record = docstore_pb.Document
Republish = Callable[[Sequence[Change]], Awaitable[Sequence[Outcome]]]


class Vectors:
    """The work behind the words, of one project."""

    def __init__(
        self,
        stores: Stores,
        embedding: Embedding,
        generations: Callable[[], Awaitable[Sequence[Generation]]],
        republish: Republish,
        settings: IngestSettings,
        loads: Callable[[], bool] = lambda: False,
    ) -> None:
        self._stores = stores
        self._embedding = embedding
        self._generations = generations
        self._republish = republish
        self._settings = settings
        self._loads = loads
        self._kicked = asyncio.Event()
        self._claimed: set[str] = set()
        self._resting: dict[str, float] = {}
        self._changed: dict[str, None] = {}

    def kick(self, published: Sequence[Record] = ()) -> None:
        """Says that there may be something to do, and which documents were published with new content."""
        for record in published:
            if any(head.chunks and head.embeddable and not head.missing_vectors for head in record.heads):
                self._changed[record.document_id] = None
        self._kicked.set()

    async def take_over(self, moved: Sequence[Record]) -> None:
        """Gives moved documents the vectors that the project already has for their texts. What fails is left for the lanes."""
        try:
            for generation in await self._generations():
                pairs = [(record, head) for record in moved if (head := find_head(record, generation.name))]
                jobs = pending.plan(pairs, generation, self._settings.vector_round_chunks)
                vectors = await self._take_over(generation, (key for job in jobs for key in job.hashes))
                await self._write(generation, jobs, vectors, {})
        except OUTAGE as error:
            log.warning("moved documents are embedded anew", reason=error.message)

    async def run(self) -> None:
        """Works until it is cancelled; pauses while something cannot be reached."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(LANES):
                tasks.create_task(self._run_lane())

    async def _run_lane(self) -> None:
        backoff = Backoff(self._settings.outage_seconds)
        while True:
            try:
                busy = await self.work()
            except OUTAGE as error:
                seconds = backoff.next(error.retry_after_seconds)
                metrics.OUTAGES.labels("vectors").inc()
                log.warning("vectors wait", reason=error.message, seconds=seconds)
                await asyncio.sleep(seconds)
                continue
            except InvalidArgument as error:  # the model and the index do not fit, which an operator has to mend
                metrics.OUTAGES.labels("vectors").inc()
                log.error("vectors cannot be made", reason=error.message, seconds=self._settings.outage_seconds)
                await asyncio.sleep(self._settings.outage_seconds)
                continue
            backoff.reset()
            if not busy:
                await self._wait()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self._settings.vector_poll_seconds):
                await self._kicked.wait()
        except TimeoutError:
            pass

    async def work(self) -> bool:
        """One round; False when there was nothing to do. Raises: Unavailable and the like."""
        self._kicked.clear()
        for generation in await self._generations():
            claimed = await self._claim(generation)
            if not claimed:
                continue
            try:
                await self._do_round(generation, claimed)
            finally:
                self._claimed -= set(claimed)
            return True
        return await self._refresh()

    async def _claim(self, generation: Generation) -> list[str]:
        """Documents with work left that no other lane has, changed before bulk, for about one round; no bulk while its words come in."""
        claimed: list[str] = []
        chunk_count, token = 0, ""
        now = asyncio.get_running_loop().time()
        while chunk_count < self._settings.vector_round_chunks:
            page = await self._stores.list_unfinished(generation.name, token)
            for one in page.documents:
                if one.bulk and self._loads():
                    return claimed
                rests = self._resting.get(one.document_id, 0.0) > now
                if chunk_count >= self._settings.vector_round_chunks or one.document_id in self._claimed or rests:
                    continue
                self._claimed.add(one.document_id)
                claimed.append(one.document_id)
                chunk_count += max(1, one.missing_count)
            token = page.next_page_token
            if not token:
                break
        return claimed

    async def _do_round(self, generation: Generation, document_ids: Sequence[str]) -> None:
        found = await self._stores.read(document_ids, include_text=True)
        pairs = [(record, head) for record in found.values() if (head := find_head(record, generation.name))]
        await self._stores.sweep([record for record, head in pairs if not head.swept], [generation.name])
        jobs = pending.plan(pairs, generation, self._settings.vector_round_chunks)
        idle = set(document_ids) - {
            record.document_id for record, head in pairs if head.missing_vectors or not head.swept
        }
        for one in idle:  # somebody else has finished it since
            self._rest(one)
        if not jobs:
            return
        texts = {key: text for job in jobs for key, text in zip(job.hashes, job.texts, strict=True)}
        vectors = await self._take_over(generation, texts)
        embedded = await self._embedding.embed(
            generation.model_id, {key: text for key, text in texts.items() if key not in vectors}
        )
        metrics.VECTORS.labels("embedded").inc(len(embedded.vectors))
        vectors |= embedded.vectors
        await self._write(generation, jobs, vectors, embedded.token_counts)
        await self._correct(jobs, embedded.over_window)

    async def _take_over(self, generation: Generation, hashes: Iterable[str]) -> dict[str, bytes]:
        """Vectors that the project already has for these texts, in this generation or another one of the same model."""
        wanted = list(dict.fromkeys(hashes))
        found = await self._stores.get_vectors(generation.name, wanted)
        for other in await self._generations():
            left = [one for one in wanted if one not in found]
            if left and other.model_id == generation.model_id and other.name != generation.name:
                found |= await self._stores.get_vectors(other.name, left)
        metrics.VECTORS.labels("taken_over").inc(len(found))
        return found

    async def _write(
        self, generation: Generation, jobs: Sequence[Pending], vectors: Mapping[str, bytes], counts: Mapping[str, int]
    ) -> None:
        reach("ingest.step5.before")
        points = await self._document_points(generation, [job for job in jobs if job.takes_all], vectors)
        notes: list[docstore_pb.NoteDocumentsItem] = []
        for job in jobs:
            points += job.points(vectors)
            done = [(span.chunk_id, key) for span, key in zip(job.spans, job.hashes, strict=True) if key in vectors]
            counted = [one for one, key in done if key in counts]
            plain = [one for one, key in done if key not in counts]
            if counted:
                exact = [counts[key] for _, key in done if key in counts]
                notes.append(self._stores.note(job.record, generation.name, chunk_ids=counted, token_counts=exact))
            if plain:
                notes.append(self._stores.note(job.record, generation.name, chunk_ids=plain))
        await self._stores.write_vectors(generation.name, generation.model_id, points)
        noted = await self._stores.put_notes(notes)
        lost = {note.document_id for note, done in zip(notes, noted, strict=True) if not done}
        reach("ingest.step5.after")
        await self._resume(generation, lost)

    async def _resume(self, generation: Generation, lost: Iterable[str]) -> None:
        """A lost note: the record has moved on, so the points just written may be nobody's. Goes on with it as it is now, without a put."""
        now = await self._stores.read(lost)
        await self._stores.sweep(list(now.values()), [generation.name])

    async def _document_points(
        self, generation: Generation, jobs: Sequence[Pending], vectors: Mapping[str, bytes]
    ) -> list[search_pb.VectorEntry]:
        """The whole-document points of documents of which nothing is missing now; the other chunks' vectors are asked for."""
        hashes = [job.all_hashes(generation) for job in jobs]
        wanted = {one for some in hashes for one in some if one not in vectors}
        known = {**vectors, **await self._take_over(generation, wanted)}
        found = [job.document_point(some, known) for job, some in zip(jobs, hashes, strict=True)]
        return [point for point in found if point]

    async def _correct(self, jobs: Sequence[Pending], over_window: Mapping[str, int]) -> None:
        """Publishes documents again of which a chunk was over the window, cut with a corrected scale of token counts."""
        scales = {job.record.document_id: scale for job in jobs if (scale := job.corrected_scale(over_window))}
        records = [job.record for job in jobs if job.record.document_id in scales]
        if not records:
            return
        log.info("chunks are over the model's window", documents=len(records), first=records[0].path)
        changes = [
            Change(
                one.source,
                relative_path(one),
                "",
                one.bulk,
                least_token_scale=scales[one.document_id],
                keep_absent=True,
            )
            for one in records
        ]
        for record, outcome in zip(records, await self._republish(changes), strict=True):
            if outcome.ending is not Ending.PUBLISHED:
                self._rest(record.document_id)

    def _rest(self, document_id: str) -> None:
        self._resting[document_id] = asyncio.get_running_loop().time() + REST_SECONDS

    async def _refresh(self) -> bool:
        """Whole-document points of documents that only lost chunks: nothing is missing, so no record asks for them."""
        if not self._changed:
            return False
        document_ids = list(self._changed)[: self._settings.vector_round_chunks]
        for one in document_ids:
            del self._changed[one]
        found = await self._stores.read(document_ids, include_text=True)
        for generation in await self._generations():
            heads = [(record, find_head(record, generation.name)) for record in found.values()]
            jobs = [
                pending.prepare(record, head, [], generation)
                for record, head in heads
                if head and head.chunks and head.embeddable and not head.missing_vectors
            ]
            points = await self._document_points(generation, jobs, {})
            await self._stores.write_vectors(generation.name, generation.model_id, points)
        return True
