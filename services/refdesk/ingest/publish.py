"""Publishes documents to the publish protocol's letter, many at a time, an outcome for each; knows nothing of queues.

Steps 1, 2 (`prepare`), 3, 4 and 6 (`write`) are here; step 5 runs behind the words (vectors.py). What each clause prevents is said in
docs/architecture; the short of it: the conditional put of step 4 is the one commit point, and everything else may be repeated or late.
"""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.search.v1 import search_pb2 as search_pb
from refdesk.errors import DeadlineExceeded, Internal, InvalidArgument, RefdeskError, Unavailable
from refdesk.failpoints import reach
from refdesk.ingest import entries, metrics, records
from refdesk.ingest.changes import Change, Ending, Followed, Outcome, origin_of
from refdesk.ingest.parsing import Parsers, ParseTask
from refdesk.ingest.records import Found, Generation, Origin, Verdict
from refdesk.ingest.sources.interface import NOTHING_STATED, DocumentUnreadable
from refdesk.ingest.stores import Stores
from refdesk.ingest.work import Batch, Work, conclude, plan_record, report_of, set_aside, still_open

ATTEMPTS = 8
"""How often a document starts again at step 1 before its event has to come again."""
PAUSE_SECONDS = 0.05
"""Most of the first pause before starting again; it doubles."""

OWN_FAULT = (InvalidArgument, Internal)
"""Refusals that blame what was sent: alone, each document shows whose it was."""

Pause = Callable[[float], Awaitable[None]]


class Behind(Protocol):
    """What gives chunks their vectors, behind the words."""

    def kick(self, published: Sequence[pb.Document] = ()) -> None:
        """Says that there may be something to do."""
        ...

    async def take_over(self, moved: Sequence[pb.Document]) -> None:
        """Gives chunks the vectors that the project already has for their texts. What fails is left for later."""
        ...


class Publisher:
    """Publishes one project's documents. `generations` answers with those that are followed now."""

    def __init__(
        self,
        stores: Stores,
        sources: Mapping[str, Followed],
        parsers: Parsers,
        generations: Callable[[], Awaitable[Sequence[Generation]]],
        *,
        behind: Behind | None = None,
        pause: Pause = asyncio.sleep,
        seed: int | None = None,
    ) -> None:
        self._stores = stores
        self._sources = sources
        self._parsers = parsers
        self._generations = generations
        self._behind = behind
        self._pause = pause
        self._random = random.Random(seed)

    async def publish(self, changes: Sequence[Change]) -> list[Outcome]:
        """Publishes each document as its source has it now. Raises: Unavailable and the like; then everything may be repeated."""
        return await self.write(await self.prepare(changes))

    async def park(self, change: Change) -> None:
        """Sets a document aside that failed by itself: it is reported, and not tried again until its content changes.

        Raises: Unavailable and the like.
        """
        (outcome,) = await self.publish([change])
        if outcome.ending not in (Ending.SKIPPED, Ending.PUBLISHED, Ending.UNCHANGED):
            path = f"{change.source}/{change.path}"
            report = pb.Report(path=path, kind=pb.REPORT_KIND_PARKED, reason=change.set_aside)
            await self._stores.report(change.source, [report])

    async def prepare(self, changes: Sequence[Change]) -> Batch:
        """Steps 1 and 2: reads the records, then the sources, and cuts what differs."""
        generations = tuple(await self._generations())
        works = [self._open(change) for change in changes]
        await self._each_alone(self._read_records, still_open(works))
        await self._each_alone(lambda some: self._read_sources(some, generations), still_open(works))
        return Batch(works, generations)

    async def write(self, batch: Batch, attempt: int = 1) -> list[Outcome]:
        """Steps 3, 4 and 6 of what was prepared; what conflicts starts again at step 1, a bounded number of times."""
        works, generations = batch.works, batch.generations
        await self._each_alone(lambda some: self._write_words(some, generations), still_open(works))
        await self._check_followed(still_open(works), generations)
        await self._each_alone(self._put, still_open(works))
        await self._hand_on([work for work in works if work.ended(Ending.PUBLISHED)])
        await self._sweep([work for work in works if work.outcome is None or work.ended(Ending.PUBLISHED)], generations)
        conclude(works)
        await self._report([work for work in works if work.origin.document_id])
        conflicted = [work for work in works if work.ended(Ending.CONFLICTED)]
        if conflicted and attempt < ATTEMPTS:
            metrics.CONFLICTS.inc(len(conflicted))
            await self._pause(self._random.random() * PAUSE_SECONDS * 2**attempt)
            again = await self.write(await self.prepare([work.change for work in conflicted]), attempt + 1)
            for work, outcome in zip(conflicted, again, strict=True):
                work.outcome = outcome
        return [work.outcome or Outcome(Ending.UNCHANGED) for work in works]

    def _open(self, change: Change) -> Work:
        followed = self._sources.get(change.source)
        if followed:
            return Work(change, origin_of(self._stores.project, followed.settings, change.path))
        work = Work(change, Origin("", self._stores.project, change.source, f"{change.source}/{change.path}"))
        work.end(Ending.SKIPPED, f"source {change.source} is not declared")
        return work

    async def _each_alone(self, step: Callable[[list[Work]], Awaitable[None]], works: list[Work]) -> None:
        """Runs a step on all; where it is refused, on each alone, so that a document fails by itself and holds up nothing else."""
        if not works:
            return
        try:
            await step(works)
        except OWN_FAULT as error:
            if len(works) == 1:
                works[0].end(Ending.FAILED, error.message)
                return
            for work in works:
                await self._each_alone(step, [work])

    # Step 1

    async def _read_records(self, works: list[Work]) -> None:
        reach("ingest.step1.before")
        old = {id(work): self._old_origin(work) for work in works if work.change.moved_from}
        wanted = [work.origin.document_id for work in works] + [origin.document_id for origin in old.values()]
        found = await self._stores.read(wanted)
        for work in works:
            work.view = found.get(work.origin.document_id)
            if id(work) in old:
                before = found.get(old[id(work)].document_id)
                paths = (*(before.previous_paths if before else ()), old[id(work)].path)
                work.found = Found("", previous_paths=tuple(paths[-records.REMEMBERED :]))
        reach("ingest.step1.after")

    def _old_origin(self, work: Work) -> Origin:
        return origin_of(self._stores.project, self._sources[work.change.source].settings, work.change.moved_from)

    # Step 2

    async def _read_sources(self, works: list[Work], generations: tuple[Generation, ...]) -> None:
        reach("ingest.step2.before")
        await asyncio.gather(*(self._read_source(work) for work in works))
        for work in still_open(works):
            work.verdict = records.judge(work.view, work.origin, work.found, generations)
        await self._parse([work for work in still_open(works) if work.verdict is Verdict.CUT], generations)
        await self._read_texts([work for work in still_open(works) if work.verdict in (Verdict.TOUCH, Verdict.BURY)])
        for work in still_open(works):
            plan_record(work, generations)
        reach("ingest.step2.after")

    async def _read_source(self, work: Work) -> None:
        followed = self._sources[work.change.source]
        try:
            work.raw = await followed.reader.read(work.change.path)
        except DocumentUnreadable as error:
            work.end(Ending.SKIPPED, error.message)
            return
        except RefdeskError as error:
            work.end(Ending.HELD, error.message)
            return
        raw = work.raw
        if raw is None and work.change.keep_absent and work.view and not work.view.deleted:
            # What deletes it comes; for what is not on record nothing would, and entries may be there.
            work.end(Ending.UNCHANGED)
            return
        work.reason = work.change.set_aside if raw else ""
        work.found = Found(
            source_revision=raw.revision if raw else "",
            content_hash=raw.content_hash if raw else "",
            absent=raw is None,
            unusable=bool(work.reason),
            previous_paths=work.found.previous_paths,
            bulk=work.change.bulk,
            always_puts=followed.revisions_return,
            least_token_scale=work.change.least_token_scale,
        )

    async def _parse(self, works: list[Work], generations: tuple[Generation, ...]) -> None:
        if not works:
            return
        tasks = [
            ParseTask(
                content=work.raw.content if work.raw else b"",
                origin=work.origin,
                generations=generations,
                token_scale=records.token_scale(work.view, work.found),
                stated=work.raw.stated if work.raw else NOTHING_STATED,
            )
            for work in works
        ]
        for work, parsed in zip(works, await self._parsers.parse(tasks), strict=True):
            work.remarks = parsed.remarks
            if work.origin.held_back:
                set_aside(work, "its source declares it unpublished", absent=True, generations=generations)
            elif parsed.failure:
                work.end(Ending.FAILED, parsed.failure, unparsed=True)
            elif parsed.unusable or parsed.unpublished:
                reason, absent = parsed.unusable or parsed.unpublished, bool(parsed.unpublished)
                set_aside(work, reason, absent=absent, generations=generations)
            else:
                work.parsed = pb.Document.FromString(parsed.record)

    async def _read_texts(self, works: list[Work]) -> None:
        """Reads what is put again unchanged with its text; where the record has moved on since step 1, the put conflicts."""
        with_view = [work for work in works if work.view]
        found = await self._stores.read((work.origin.document_id for work in with_view), include_text=True)
        for work in with_view:
            now = found.get(work.origin.document_id)
            if now is None or work.view is None or now.revision != work.view.revision:
                work.end(Ending.CONFLICTED)
            else:
                work.view = now

    # Steps 3, 4 and 6

    async def _write_words(self, works: list[Work], generations: tuple[Generation, ...]) -> None:
        reach("ingest.step3.before")
        for generation in generations:
            words: list[search_pb.WordDocument] = []
            for work in works:
                head = records.find_head(work.record, generation.name) if work.record else None
                if work.record and head and head.chunks and work.verdict is Verdict.CUT:
                    words.append(entries.word_document(work.record, head, records.new_chunk_ids(work.view, head)))
            if words:
                await self._stores.write_words(generation.name, words)
        reach("ingest.step3.after")

    async def _check_followed(self, works: list[Work], generations: tuple[Generation, ...]) -> None:
        """What was cut while another generation began to be followed starts again: put now, it would have no head of that one."""
        cut = [work for work in works if work.record and work.verdict in (Verdict.CUT, Verdict.BURY)]
        if cut and {one.name for one in await self._generations()} != {one.name for one in generations}:
            for work in cut:
                work.end(Ending.CONFLICTED)

    async def _put(self, works: list[Work]) -> None:
        reach("ingest.step4.before")
        putting = [(work, work.record) for work in works if work.record]
        committed = await self._stores.put([record for _, record in putting])
        for (work, _), done in zip(putting, committed, strict=True):
            work.end(Ending.PUBLISHED if done else Ending.CONFLICTED)
        reach("ingest.step4.after")

    async def _hand_on(self, works: list[Work]) -> None:
        """Leaves step 5 to what runs behind; but a moved document takes its vectors over now, before its old path is swept."""
        if self._behind is None:
            return
        moved = [work.record for work in works if work.record and work.change.moved_from]
        if moved:
            await self._behind.take_over(moved)
        self._behind.kick([work.record for work in works if work.record and work.verdict is Verdict.CUT])

    async def _sweep(self, works: list[Work], generations: tuple[Generation, ...]) -> None:
        """Step 6, in any case: also where nothing was put, since a slower worker may have left entries behind."""
        swept = [one for work in works if (one := work.record or work.view)]
        if not swept:
            return
        try:
            reach("ingest.step6.before")
            await self._stores.sweep(swept, [one.name for one in generations])
            reach("ingest.step6.after")
        except (Unavailable, DeadlineExceeded):
            # What was put is on record as unswept and found again; the rest has only its event to bring it back.
            for work in works:
                if work.outcome is None:
                    work.end(Ending.HELD, "entries could not be swept")

    async def _report(self, works: list[Work]) -> None:
        reports: dict[str, list[pb.Report]] = defaultdict(list)
        cleared: dict[str, list[str]] = defaultdict(list)
        for work in works:
            report = report_of(work)
            if report:
                reports[work.origin.source].append(report)
            elif work.raw and work.ended(Ending.PUBLISHED):
                cleared[work.origin.source].append(work.origin.path)
        for source in reports.keys() | cleared.keys():
            await self._stores.report(source, reports[source], cleared[source])
