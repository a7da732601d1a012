"""Writes and sweeps points of one project, each on a condition that Qdrant itself holds to; knows no searches.

Several processes may write the same point at once, late, and twice. So no write trusts what was read before it: the server compares the
stamps while it writes. What a write did is told from a look after it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from refdesk import failpoints
from refdesk.errors import Unavailable
from refdesk.search.engines.interface import Entry, SweepItem, Swept, VectorItem, Written
from refdesk.search.engines.qdrant_calls import Calls
from refdesk.search.engines.qdrant_collections import Collection, delete, upsert
from refdesk.search.engines.qdrant_points import build_point, list_doomed, part_batches, part_newest
from refdesk.search.engines.qdrant_reads import Reader


@dataclass(frozen=True)
class Writer:
    """Writes in one collection what belongs to one project."""

    calls: Calls
    collection: Collection
    project: str
    reader: Reader

    async def write(self, items: Sequence[VectorItem]) -> Written:
        """Writes points that are not older than what is there. Raises: Unavailable where the server does not show them."""
        newest, superseded = part_newest(items)
        for batch in part_batches(newest):
            points = [build_point(self.project, item) for item in batch]
            over = self.reader.scope.not_later(batch)
            failpoints.reach("vectors_write")
            await self.calls.write(partial(upsert, name=self.collection.name, points=points, over=over))
            failpoints.reach("vectors_written")
            superseded += await self._list_superseded(batch)
        return Written(len(items) - len(superseded), tuple(superseded))

    async def sweep(self, items: Sequence[SweepItem]) -> list[Swept]:
        """Deletes what of each document is not kept; what was deleted is told from a second look."""
        present = await self._read_documents(items)
        doomed = {item: list_doomed(item, present[item.document_id])[0] for item in items}
        deleting = [item for item in items if doomed[item]]
        for item in deleting:
            over = self.reader.scope.swept(item)
            await self.calls.write(partial(delete, name=self.collection.name, over=over))
        if deleting:
            left = await self._read_documents(deleting)
            present.update({item.document_id: left[item.document_id] for item in deleting})
        outcomes = []
        for item in items:
            entries = present[item.document_id]
            gone = doomed[item] - {entry.id for entry in entries}
            outcomes.append(Swept(len(gone), list_doomed(item, entries)[1]))
        return outcomes

    async def drop(self) -> bool:
        """Deletes every entry of the project; False where there was none. The collection stays: other projects may write to it."""
        if await self.reader.is_empty():
            return False
        await self.calls.write(partial(delete, name=self.collection.name, over=self.reader.scope.whole()))
        return True

    async def _list_superseded(self, batch: Sequence[VectorItem]) -> list[str]:
        """Ids that have a later stamp, or were swept since they had one."""
        stamps = await self.reader.read_stamps([item.id for item in batch])
        if any(stamps.get(item.id, item.stamp) < item.stamp for item in batch):
            raise Unavailable(f"collection {self.collection.name} took points and does not show them; try again")
        return [item.id for item in batch if stamps.get(item.id) != item.stamp]

    async def _read_documents(self, items: Sequence[SweepItem]) -> defaultdict[str, list[Entry]]:
        present: defaultdict[str, list[Entry]] = defaultdict(list)
        for entry in await self.reader.read_documents(list(dict.fromkeys(item.document_id for item in items))):
            present[entry.document_id].append(entry)
        return present
