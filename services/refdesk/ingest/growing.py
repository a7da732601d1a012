"""Cuts heads from stored text, for records that have none of a followed generation; knows no source and no queue.

It publishes as any worker does: words first, then the record put on condition, vectors behind. A record that somebody else puts meanwhile
is left as it is: whoever asks comes again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import structlog

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.failpoints import reach
from refdesk.ingest import entries, metrics, records, stored_heads
from refdesk.ingest.parsing import Parsers, ParseTask
from refdesk.ingest.records import Generation
from refdesk.ingest.stores import Stores

log = structlog.get_logger()

GROUP = 64
"""Documents that are cut and written at once."""

Record = pb.Document


class Growth:
    """Grows one project's records."""

    def __init__(
        self,
        stores: Stores,
        parsers: Parsers,
        generations: Callable[[], Awaitable[Sequence[Generation]]],
        *,
        changed: Callable[[Sequence[Record]], None],
    ) -> None:
        self._stores = stores
        self._parsers = parsers
        self._generations = generations
        self._changed = changed
        self._growing = asyncio.Lock()
        self.failures: dict[str, str] = {}
        """Paths whose text could not be cut at the last try, and why."""

    async def fill(self) -> int:
        """Gives all current records a head of every followed generation; how many were given one. Raises: Unavailable and the like."""
        grown, behind = 0, list[str]()
        followed = await self._generations()
        async for record in self._stores.list_records():
            if stored_heads.lacking(record, followed):
                behind.append(record.document_id)
            if len(behind) == GROUP:
                grown += await self.grow(behind)
                behind = []
        return grown + await self.grow(behind)

    async def grow(self, document_ids: Sequence[str]) -> int:
        """Gives records the heads that they lack; how many were given one. Raises: Unavailable and the like."""
        if not document_ids:
            return 0
        async with self._growing:  # one at a time: reconciling finds the same records as a build
            followed = tuple(await self._generations())
            found = await self._stores.read(document_ids, include_text=True)
            lacking = [(view, tuple(stored_heads.lacking(view, followed))) for view in found.values()]
            return len(await self._cut([(view, some) for view, some in lacking if some], followed, {}))

    async def recut(self, scales: Mapping[str, float]) -> set[str]:
        """Cuts all heads of records anew with a corrected scale of token counts; the ids of those that were put.

        For documents that cannot be published again from their source. Raises: Unavailable and the like.
        """
        if not scales:
            return set()
        followed = tuple(await self._generations())
        found = await self._stores.read(scales, include_text=True)
        return await self._cut([(view, followed) for view in found.values() if not view.deleted], followed, scales)

    async def _cut(
        self,
        works: Sequence[tuple[Record, tuple[Generation, ...]]],
        followed: tuple[Generation, ...],
        scales: Mapping[str, float],
    ) -> set[str]:
        tasks = [_task(view, some, scales.get(view.document_id, 0.0)) for view, some in works]
        grown: list[tuple[Record, Record]] = []
        for (view, _), task, parsed in zip(works, tasks, await self._parsers.parse(tasks), strict=True):
            told = self.failures.pop(view.path, "")
            if parsed.failure:
                self.failures[view.path] = parsed.failure
                if told != parsed.failure:
                    log.warning("stored text cannot be cut", path=view.path, reason=parsed.failure)
                continue
            heads = pb.Document.FromString(parsed.record).heads
            grown.append((view, stored_heads.grown_record(view, heads, followed, task.token_scale)))
        return await self._write(grown, followed)

    async def _write(self, grown: Sequence[tuple[Record, Record]], followed: tuple[Generation, ...]) -> set[str]:
        reach("ingest.grow.before")
        for generation in followed:
            words = []
            for view, record in grown:
                head = records.find_head(record, generation.name)
                wanted = records.new_chunk_ids(view, head) if head else []
                if head and wanted:
                    words.append(entries.word_document(record, head, wanted))
            await self._stores.write_words(generation.name, words)
        if {one.name for one in await self._generations()} != {one.name for one in followed}:
            return set()  # what is followed has changed meanwhile: whoever asks comes again
        committed = await self._stores.put([record for _, record in grown])
        reach("ingest.grow.after")
        put = [record for (_, record), done in zip(grown, committed, strict=True) if done]
        metrics.GROWN.inc(len(put))
        self._changed(put)
        await self._stores.sweep(put, [one.name for one in followed])
        return {record.document_id for record in put}


def _task(view: Record, generations: tuple[Generation, ...], token_scale: float) -> ParseTask:
    stored = pb.Document(title=view.title, text=view.text, version=view.version, kind=view.kind, language=view.language)
    return ParseTask(
        content=stored.SerializeToString(),
        origin=stored_heads.stored_origin(view),
        generations=generations,
        token_scale=max(1.0, view.token_scale, token_scale),
        stored=True,
    )
