"""The child process that owns the vector indices: Qdrant Edge holds the interpreter's lock through every call; knows no queries' words."""

from __future__ import annotations

import sys
import time
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from refdesk import failpoints
from refdesk.child import serve
from refdesk.errors import Unavailable
from refdesk.search.engines.edge_found import PackedFound
from refdesk.search.engines.edge_shard import LABEL_FILE, EdgeShard
from refdesk.search.engines.folders import delete_index
from refdesk.search.engines.interface import (
    Candidates,
    Entry,
    Filter,
    IndexName,
    SweepItem,
    Swept,
    VectorItem,
    Written,
)

OPEN_SHARDS = 8
"""Shards that stay open; one more closes the one that was not used for longest, and opening costs tens of milliseconds."""
LISTING_SECONDS = 10.0
"""How long the pages of a listing come from one reading."""


@dataclass
class _Listing:
    """What the pages of one listing come from: read a part at a time, so that searches have their turn, then sorted."""

    entries: list[Entry] = field(default_factory=list)
    offset: Any = None
    is_whole: bool = False
    read_at: float = field(default_factory=time.monotonic)

    def add(self, entries: Sequence[Entry], offset: Any) -> None:
        """Adds a part; without an offset it was the last."""
        self.entries += entries
        self.offset = offset
        self.is_whole = offset is None
        self.read_at = time.monotonic()
        if self.is_whole:
            self.entries.sort()


class VectorProcess:
    """Handlers of the child; every call names its index."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._shards: OrderedDict[IndexName, EdgeShard] = OrderedDict()
        self._unflushed: set[IndexName] = set()
        self._listings: dict[IndexName, _Listing] = {}

    def list_unoptimized(self, least_count: int) -> list[IndexName]:
        """Indices of which more than `least_count` points have to be scanned."""
        labels = sorted(self._root.glob(f"*/*/{LABEL_FILE}"))
        names = [IndexName(label.parent.name, label.parent.parent.name) for label in labels]
        return [
            name for name in names if (shard := self._find(name)) is not None and shard.unoptimized_count > least_count
        ]

    def optimize(self, index: IndexName) -> None:
        """Builds the graph over an index."""
        if (shard := self._find(index)) is not None:
            shard.optimize()

    def write(self, index: IndexName, model_id: str, items: Sequence[VectorItem]) -> Written:
        """Writes points; the first ones decide the index's model and dimension."""
        shard = self._find(index)
        if shard is None:
            shard = EdgeShard.create(self._folder(index), model_id, len(items[0].vector) // 4)
            self._keep(index, shard)
        shard.check(model_id, [item.vector for item in items])
        failpoints.reach("vectors_write")
        written = shard.write(items)
        self._unflushed.add(index)
        failpoints.reach("vectors_written")
        return written

    def sweep(self, index: IndexName, items: Sequence[SweepItem]) -> list[Swept]:
        """Sweeps documents, an outcome for each."""
        if (shard := self._find(index)) is None:
            return [Swept(0, False) for _ in items]
        self._unflushed.add(index)
        return [shard.sweep(item) for item in items]

    def drop(self, index: IndexName) -> bool:
        """Deletes the index's folder; whether there was one."""
        if (shard := self._shards.pop(index, None)) is not None:
            shard.close()
        self._unflushed.discard(index)
        self._listings.pop(index, None)
        try:
            return delete_index(self._root, self._folder(index))
        except OSError as error:
            raise Unavailable(f"the vector index of {index.project} could not be deleted") from error

    def find_vectors(self, index: IndexName, text_hashes: Sequence[str]) -> dict[str, bytes]:
        """Vectors by the hash of the embedded text."""
        shard = self._find(index)
        return {} if shard is None else shard.find_vectors(text_hashes)

    def list_entries(self, index: IndexName, after: tuple[str, str], limit: int, anew: bool) -> list[Entry] | None:
        """A page of entries; None: a part of what the pages come from was read, call again."""
        listing = self._take_listing(index, anew=anew)
        if not listing.is_whole:
            shard = self._find(index)
            listing.add(*((), None) if shard is None else shard.read_entries(listing.offset))
            if not listing.is_whole:
                return None
        start = bisect_right(listing.entries, after, key=lambda entry: entry[:2])
        if start + limit >= len(listing.entries):
            del self._listings[index]
        return listing.entries[start : start + limit]

    def _take_listing(self, index: IndexName, *, anew: bool) -> _Listing:
        oldest = time.monotonic() - LISTING_SECONDS
        self._listings = {name: one for name, one in self._listings.items() if one.read_at > oldest}
        if anew or index not in self._listings:
            self._listings[index] = _Listing()
        return self._listings[index]

    def search(self, index: IndexName, vector: bytes, narrowed: Filter, candidates: Candidates) -> PackedFound:
        """What is nearest to a vector."""
        shard = self._find(index)
        return PackedFound() if shard is None else shard.search(vector, narrowed, candidates)

    def measure(self, index: IndexName, vector: bytes, chunk_ids: Sequence[str]) -> dict[str, float]:
        """Cosines of these chunks."""
        shard = self._find(index)
        return {} if shard is None else shard.measure(vector, chunk_ids)

    def flush(self) -> None:
        """Has the disk hold all that was written."""
        for index in list(self._unflushed):
            if (shard := self._shards.get(index)) is not None:
                shard.flush()
            self._unflushed.discard(index)

    def close(self) -> None:
        """Lets go of every shard; closing flushes."""
        for shard in self._shards.values():
            shard.close()
        self._shards.clear()

    def _folder(self, index: IndexName) -> Path:
        return self._root / index.generation / index.project

    def _find(self, index: IndexName) -> EdgeShard | None:
        if index in self._shards:
            self._shards.move_to_end(index)
            return self._shards[index]
        shard = EdgeShard.open(self._folder(index))
        if shard is not None:
            self._keep(index, shard)
        return shard

    def _keep(self, index: IndexName, shard: EdgeShard) -> None:
        while len(self._shards) >= OPEN_SHARDS:
            _, oldest = self._shards.popitem(last=False)
            oldest.close()
        self._shards[index] = shard


if __name__ == "__main__":
    process = VectorProcess(Path(sys.argv[1]))
    names = (
        "list_unoptimized",
        "optimize",
        "write",
        "sweep",
        "drop",
        "find_vectors",
        "list_entries",
        "search",
        "measure",
        "flush",
    )
    serve({name: getattr(process, name) for name in names})
    process.close()
