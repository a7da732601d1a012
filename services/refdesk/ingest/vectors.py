"""Gives chunks their vectors, behind the words: step 5 of the publish protocol; knows nothing of sources or of queues.

What is pending is found by asking docstore; a hint only says when. Two lanes work side by side on different documents, so that the
embedder has texts to do while a lane reads and writes.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_pb
from refdesk.api.search.v1 import search_pb2 as search_pb
from refdesk.failpoints import reach
from refdesk.ingest import entries, metrics
from refdesk.ingest.embedding import Embedding
from refdesk.ingest.records import Generation, find_head
from refdesk.ingest.settings import IngestSettings
from refdesk.ingest.stores import Stores
from refdesk.ingest.supervision import OUTAGE, Backoff

log = structlog.get_logger()

LANES = 2
REST_SECONDS = 30.0
"""How long a document rests of which a round could do nothing."""

Record = docstore_pb.Document
TooLong = Callable[[Record, float], Awaitable[bool]]
"""Publishes a document again with a corrected scale of token counts; False when it could not be."""


@dataclass
class Job:
    """One document's pending chunks in one round."""

    record: Record
    head: docstore_pb.Head
    spans: list[docstore_pb.ChunkSpan]
    hashes: dict[str, str] = field(default_factory=dict)
    scale: float = 0.0

    @property
    def takes_all(self) -> bool:
        """Whether nothing is missing after this round."""
        return len(self.spans) == len(self.head.missing_vectors)


class Vectors:
    """The work behind the words, of one project."""

    def __init__(
        self,
        stores: Stores,
        embedding: Embedding,
        generations: Callable[[], Awaitable[Sequence[Generation]]],
        too_long: TooLong,
        settings: IngestSettings,
        loads: Callable[[], bool] = lambda: False,
    ) -> None:
        self._stores = stores
        self._embedding = embedding
        self._generations = generations
        self._too_long = too_long
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
                jobs = self._plan(pairs, generation)
                vectors = await self._take_over(generation, (one for job in jobs for one in job.hashes.values()))
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
        jobs = self._plan(pairs, generation)
        idle = set(document_ids) - {
            record.document_id for record, head in pairs if head.missing_vectors or not head.swept
        }
        for one in idle:  # somebody else has finished it since
            self._rest(one)
        if not jobs:
            return
        texts = {
            job.hashes[span.chunk_id]: entries.text_to_embed(job.record, span) for job in jobs for span in job.spans
        }
        vectors = await self._take_over(generation, texts)
        embedded = await self._embedding.embed(
            generation.model_id, {one: text for one, text in texts.items() if one not in vectors}
        )
        metrics.VECTORS.labels("embedded").inc(len(embedded.vectors))
        vectors |= embedded.vectors
        await self._write(generation, jobs, vectors, embedded.token_counts)
        await self._correct(jobs, embedded.over_window)

    def _plan(self, pairs: Iterable[tuple[Record, docstore_pb.Head]], generation: Generation) -> list[Job]:
        jobs, room = [], self._settings.vector_round_chunks
        for record, head in pairs:
            missing = set(head.missing_vectors)
            spans = [span for span in head.chunks if span.chunk_id in missing][: max(room, 1)]
            if not spans:
                continue
            room -= len(spans)
            hashes = {one.chunk_id: self._hash(record, one, generation) for one in spans}
            jobs.append(Job(record, head, spans, hashes))
        return jobs

    @staticmethod
    def _hash(record: Record, span: docstore_pb.ChunkSpan, generation: Generation) -> str:
        return entries.text_hash(entries.text_to_embed(record, span), generation.model_id)

    async def _take_over(self, generation: Generation, hashes: Iterable[str]) -> dict[str, bytes]:
        """Vectors that the project already has for these texts."""
        found = await self._stores.get_vectors(generation.name, list(dict.fromkeys(hashes)))
        metrics.VECTORS.labels("taken_over").inc(len(found))
        return found

    async def _write(
        self, generation: Generation, jobs: Sequence[Job], vectors: Mapping[str, bytes], counts: Mapping[str, int]
    ) -> None:
        reach("ingest.step5.before")
        points: list[search_pb.VectorEntry] = []
        notes: list[docstore_pb.NoteDocumentsItem] = []
        whole = await self._document_points(generation, [job for job in jobs if job.takes_all], vectors)
        for job in jobs:
            done = [span.chunk_id for span in job.spans if job.hashes[span.chunk_id] in vectors]
            points += [self._point(job.record, one, job.hashes[one], vectors[job.hashes[one]]) for one in done]
            counted = [one for one in done if job.hashes[one] in counts]
            plain = [one for one in done if job.hashes[one] not in counts]
            if counted:
                exact = [counts[job.hashes[one]] for one in counted]
                notes.append(self._stores.note(job.record, generation.name, chunk_ids=counted, token_counts=exact))
            if plain:
                notes.append(self._stores.note(job.record, generation.name, chunk_ids=plain))
        await self._stores.write_vectors(generation.name, generation.model_id, points + whole)
        noted = await self._stores.put_notes(notes)
        lost = {note.document_id for note, done in zip(notes, noted, strict=True) if not done}
        reach("ingest.step5.after")
        await self._resume(generation, lost)

    async def _resume(self, generation: Generation, lost: Iterable[str]) -> None:
        """A lost note: the record has moved on, so the points just written may be nobody's. Goes on with it as it is now, without a put."""
        now = await self._stores.read(lost)
        await self._stores.sweep(list(now.values()), [generation.name])

    def _point(self, record: Record, chunk_id: str, text_hash: str, vector: bytes) -> search_pb.VectorEntry:
        return search_pb.VectorEntry(
            id=chunk_id,
            document_id=record.document_id,
            grain=search_pb.GRAIN_CHUNK,
            stamp=record.revision,
            facets=entries.facets(record),
            text_hash=text_hash,
            vector=vector,
        )

    async def _document_points(
        self, generation: Generation, jobs: Sequence[Job], vectors: Mapping[str, bytes]
    ) -> list[search_pb.VectorEntry]:
        """The whole-document points of documents of which nothing is missing now; the other chunks' vectors are asked for."""
        hashes: dict[str, list[str]] = defaultdict(list)
        for job in jobs:
            for span in job.head.chunks:
                known = job.hashes.get(span.chunk_id)
                hashes[job.record.document_id].append(known or self._hash(job.record, span, generation))
        wanted = {one for some in hashes.values() for one in some if one not in vectors}
        known_vectors = {**vectors, **await self._take_over(generation, wanted)}
        points = []
        for job in jobs:
            found = [known_vectors.get(one) for one in hashes[job.record.document_id]]
            vectors_of_all = [one for one in found if one is not None]
            if len(vectors_of_all) == len(found):
                point = self._point(job.record, job.record.document_id, "", entries.mean_vector(vectors_of_all))
                point.grain = search_pb.GRAIN_DOCUMENT
                points.append(point)
        return points

    async def _correct(self, jobs: Sequence[Job], over_window: Mapping[str, int]) -> None:
        """Publishes documents again of which a chunk was over the window, cut with a corrected scale of token counts."""
        for job in jobs:
            exact = [
                (span, over_window[one]) for span in job.spans if (one := job.hashes[span.chunk_id]) in over_window
            ]
            if not exact:
                continue
            factor = max(max(count / max(span.token_count, 1) for span, count in exact) * 1.05, 1.05)
            scale = max(1.0, job.record.token_scale) * factor
            log.info("a chunk is over the model's window", path=job.record.path, token_scale=round(scale, 3))
            if not await self._too_long(job.record, scale):
                self._rest(job.record.document_id)

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
            jobs = [Job(record, head, []) for record, head in heads if head and head.chunks and head.embeddable]
            points = await self._document_points(generation, [job for job in jobs if job.takes_all], {})
            await self._stores.write_vectors(generation.name, generation.model_id, points)
        return True
