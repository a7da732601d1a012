"""Writes and sweeps entries, each on a condition that OpenSearch itself holds to; knows nothing of searches.

Several processes may write the same entry at once, late and twice: a write names its stamp as the entry's version, and OpenSearch
refuses an earlier one; a delete names the very write that it has seen. `wait_for` answers when the refresh that comes every second has made
it searchable: forcing one for each would make many small segments, which cost every search and are merged again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from refdesk import failpoints
from refdesk.children import Child
from refdesk.engines.opensearch.action import Action
from refdesk.engines.opensearch.bulk import Ending, write_actions, write_encoded
from refdesk.engines.opensearch.reading import get_many
from refdesk.errors import InvalidArgument
from refdesk.search.engines.interface import Grain, SweepItem, Swept, WordDocument, Written
from refdesk.search.engines.opensearch_entries import Encoded, part_newest, slice_documents
from refdesk.search.engines.opensearch_reader import Reader, Seen

ENCODE_SECONDS = 60.0
"""Of one slice in the child; beyond it something hangs, and the child is started anew."""
SWEEP_ROUNDS = 3
"""How often an entry that is written while it is swept is looked at again."""


class Writer:
    """Writes to the index that `reader` reads."""

    def __init__(self, reader: Reader, child: Child) -> None:
        self._reader = reader
        self._client = reader.client
        self._aliases: Mapping[Grain, str] = reader.names.aliases
        self._child = child

    async def write(self, documents: Sequence[WordDocument]) -> Written:
        """Writes entries that are not older than what is there.

        Raises: Unavailable; InvalidArgument naming a document that cannot be taken.
        """
        encoded = await self._encode(documents)
        newest, superseded = part_newest(encoded)
        failpoints.reach("words_write")
        endings = await self._write_grains(newest)
        failpoints.reach("words_written")
        for entry, ending in endings:
            if ending is Ending.REFUSED:
                raise InvalidArgument(
                    f"the keyword index cannot take document {entry.document_id}; shorten what is very long of it: path, version or text"
                )
        superseded += [entry.id for entry, ending in endings if ending is Ending.CONFLICT]
        return Written(len(encoded) - len(superseded), tuple(superseded))

    async def sweep(self, items: Sequence[SweepItem]) -> list[Swept]:
        """Deletes what is not kept; an entry that is being written all the while counts as one with a later stamp."""
        present = await self._reader.read_documents(list(dict.fromkeys(item.document_id for item in items)))
        tallies = [_Tally(item) for item in items]
        waiting: list[_Doomed] = []
        for tally in tallies:
            unlisted = filter(tally.is_unlisted, present.pop(tally.item.document_id, []))
            waiting += [_Doomed(seen, tally) for seen in unlisted if not tally.is_later(seen.entry.stamp)]
        for _ in range(SWEEP_ROUNDS):
            waiting = await self._look_again(await self._delete(waiting))
            if not waiting:
                break
        for doomed in waiting:
            doomed.tally.later_stamp = True
        return [Swept(tally.deleted_count, tally.later_stamp) for tally in tallies]

    async def _encode(self, documents: Sequence[WordDocument]) -> list[Encoded]:
        aliases = dict(self._aliases)
        calls = [
            self._child.call("encode", aliases, some, timeout_seconds=ENCODE_SECONDS)
            for some in slice_documents(documents)
        ]
        return [entry for some in await asyncio.gather(*calls) for entry in some]

    async def _write_grains(self, entries: Sequence[Encoded]) -> list[tuple[Encoded, Ending]]:
        """Both grains at once, for each waits for a refresh; both have ended when it returns."""
        parts = [[entry for entry in entries if entry.grain is grain] for grain in Grain]
        writes = [write_encoded(self._client, [entry.lines for entry in part], refresh="wait_for") for part in parts]
        endings: list[tuple[Encoded, Ending]] = []
        for part, outcome in zip(parts, await asyncio.gather(*writes, return_exceptions=True), strict=True):
            if isinstance(outcome, BaseException):
                raise outcome
            endings += zip(part, outcome, strict=True)
        return endings

    async def _delete(self, waiting: Sequence[_Doomed]) -> list[_Doomed]:
        """Deletes those that are as they were read; answers with the others."""
        actions = (doomed.delete(self._aliases) for doomed in waiting)
        endings = await write_actions(self._client, actions, refresh="wait_for")
        for doomed, ending in zip(waiting, endings, strict=True):
            doomed.tally.deleted_count += ending is Ending.DONE
        return [doomed for doomed, ending in zip(waiting, endings, strict=True) if ending is Ending.CONFLICT]

    async def _look_again(self, conflicted: Sequence[_Doomed]) -> list[_Doomed]:
        """Those that are there, whether searches see it yet or not, and have no later stamp."""
        waiting: list[_Doomed] = []
        for grain, alias in self._aliases.items():
            some = [doomed for doomed in conflicted if doomed.seen.entry.grain is grain]
            hits = await get_many(self._client, alias, [doomed.seen.entry.id for doomed in some])
            for doomed, hit in zip(some, hits, strict=True):
                if hit and not doomed.tally.is_later(hit.version):
                    waiting.append(replace(doomed, seen=replace(doomed.seen, unchanged=hit.unchanged)))
        return waiting


@dataclass
class _Tally:
    """What became of a document's entries."""

    item: SweepItem
    deleted_count: int = 0
    later_stamp: bool = False

    def is_unlisted(self, seen: Seen) -> bool:
        entry = seen.entry
        return entry.id not in self.item.keep_chunk_ids and (entry.grain is Grain.CHUNK or self.item.remove_document)

    def is_later(self, stamp: int) -> bool:
        """Whether an unlisted entry with this stamp is left, which is noted."""
        is_later = stamp > self.item.up_to_stamp
        self.later_stamp |= is_later
        return is_later


@dataclass(frozen=True)
class _Doomed:
    """An entry that goes, unless it is written meanwhile."""

    seen: Seen
    tally: _Tally

    def delete(self, aliases: Mapping[Grain, str]) -> Action:
        entry = self.seen.entry
        return Action("delete", aliases[entry.grain], entry.id, None, self.seen.unchanged)
