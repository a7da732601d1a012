"""The keyword index on tantivy: a child process writes, this one reads the same folders; knows no ranking beyond one grain's BM25."""

from __future__ import annotations

import asyncio
import pickle
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from refdesk.children import Child
from refdesk.errors import RefdeskError, Unavailable
from refdesk.search.analysis import QueryAnalysis
from refdesk.search.engines.interface import (
    NOTHING,
    Candidates,
    Entry,
    Evidence,
    Filter,
    Found,
    IndexName,
    SweepItem,
    Swept,
    WordDocument,
    Written,
)
from refdesk.search.engines.tantivy_reader import IndexReader
from refdesk.search.words import Wanted

CALL_TIMEOUT_SECONDS = 120.0
"""Of one write in the child; beyond it something hangs, and the child is started anew."""
CLOSE_SECONDS = 5.0
"""At a stop, for writes under way; a child that hangs is then killed, and what nobody was told is written comes again."""
SETTLE_SECONDS = 2.0
"""After a commit tantivy merges segments behind it; readers take the merged ones up after this time."""
MOST_ENTRIES_A_COMMIT = 4096

_Answer = TypeVar("_Answer")
_Waiting = tuple[int, bytes, "asyncio.Future[Written]"]
"""Number of entries, the documents pickled (at their own call, so that no group of them holds up the event loop), and who waits."""


class TantivyIndex:
    """A KeywordIndex in one folder. Writes that arrive while a commit is under way share the next one."""

    def __init__(self, root: Path, reading_threads: int = 2) -> None:
        self._root = root
        self._child = Child("refdesk.search.engines.tantivy_writer", [str(root)], name="the keyword writer")
        self._threads = ThreadPoolExecutor(reading_threads, thread_name_prefix="keyword-reader")
        self._readers: dict[IndexName, IndexReader] = {}
        self._settle_at: dict[IndexName, float] = {}
        self._languages: dict[IndexName, frozenset[str]] = {}
        self._waiting: dict[IndexName, list[_Waiting]] = {}
        self._writing: dict[IndexName, asyncio.Task[None]] = {}
        self._drops: Counter[IndexName] = Counter()

    @property
    def pid(self) -> int | None:
        """Process id of the writing child."""
        return self._child.pid

    async def start(self) -> None:
        """Starts the writing child and opens what is there. Raises: Unavailable."""
        await self._child.start()
        for folder in sorted(self._root.glob("*/*")):
            await self._find_reader(IndexName(folder.parent.name, folder.name))

    async def close(self) -> None:
        """Finishes writes under way, within bounds, and ends the child."""
        if self._writing:
            await asyncio.wait(self._writing.values(), timeout=CLOSE_SECONDS)
        await self._child.close()
        self._threads.shutdown(wait=False)
        self._readers.clear()

    async def write(self, index: IndexName, documents: Sequence[WordDocument]) -> Written:
        """Writes entries; durable and searchable when it returns. Raises: Unavailable."""
        if not documents:
            return Written(0, ())
        outcome: asyncio.Future[Written] = asyncio.get_running_loop().create_future()
        count = sum(len(document.chunks) + 1 for document in documents)
        self._waiting.setdefault(index, []).append((count, pickle.dumps(list(documents), protocol=5), outcome))
        if index not in self._writing:
            self._writing[index] = asyncio.create_task(self._write_waiting(index))
        return await outcome

    async def sweep(self, index: IndexName, items: Sequence[SweepItem]) -> list[Swept]:
        """Deletes what is not kept. Raises: Unavailable."""
        if not items or await self._find_reader(index) is None:
            return [Swept(0, False) for _ in items]
        outcomes: list[Swept] = await self._child.call(
            "sweep", index, list(items), timeout_seconds=CALL_TIMEOUT_SECONDS
        )
        if any(outcome.deleted_count for outcome in outcomes):
            await self._show_commit(index)
        return outcomes

    async def drop(self, index: IndexName) -> bool:
        """Deletes the index's folder. Raises: Unavailable."""
        self._forget(index)
        dropped: bool = await self._child.call("drop", index, timeout_seconds=CALL_TIMEOUT_SECONDS)
        self._forget(index)
        return dropped

    async def list_entries(self, index: IndexName, after: tuple[str, str], limit: int) -> list[Entry]:
        """The next entries in order. Raises: Unavailable."""
        return await self._read(index, lambda reader: reader.list_entries(after, limit), [])

    async def list_languages(self, index: IndexName) -> frozenset[str]:
        """Languages that entries are in. Raises: Unavailable."""
        if index not in self._languages:
            self._languages[index] = await self._read(index, lambda reader: reader.list_languages(), frozenset())
        return self._languages[index]

    async def search(
        self,
        index: IndexName,
        query: QueryAnalysis,
        narrowed: Filter,
        candidates: Candidates,
        wanted: Wanted | None = None,
    ) -> Found:
        """The best chunks and documents, each with its own grain's scores. Raises: Unavailable."""
        return await self._read(index, lambda reader: reader.search(query, narrowed, candidates, wanted), NOTHING)

    async def weigh(
        self, index: IndexName, query: QueryAnalysis, covered: Sequence[str], named: Sequence[str]
    ) -> dict[str, Evidence]:
        """Evidence for chunks by id. Raises: Unavailable."""
        return await self._read(index, lambda reader: reader.weigh(query, covered, named), {})

    async def _write_waiting(self, index: IndexName) -> None:
        try:
            while batches := self._take_waiting(index):
                await self._write_batches(index, batches)
        finally:
            del self._writing[index]

    def _take_waiting(self, index: IndexName) -> list[_Waiting]:
        waiting = self._waiting.get(index, [])
        taken: list[_Waiting] = []
        while waiting and (not taken or sum(one[0] for one in taken) + waiting[0][0] <= MOST_ENTRIES_A_COMMIT):
            taken.append(waiting.pop(0))
        if not waiting:
            self._waiting.pop(index, None)
        return taken

    async def _write_batches(self, index: IndexName, batches: list[_Waiting]) -> None:
        try:
            sent = [pickled for _, pickled, _ in batches]
            outcomes: list[Written] = await self._child.call("write", index, sent, timeout_seconds=CALL_TIMEOUT_SECONDS)
            await self._show_commit(index)
        except RefdeskError as error:
            for _, _, outcome in batches:
                if not outcome.done():
                    outcome.set_exception(error)
            return
        for (_, _, outcome), written in zip(batches, outcomes, strict=True):
            if not outcome.done():
                outcome.set_result(written)

    async def _show_commit(self, index: IndexName) -> None:
        await self._read(index, lambda reader: reader.reload(), None)
        self._languages.pop(index, None)
        self._settle_at[index] = time.monotonic() + SETTLE_SECONDS

    async def _read(self, index: IndexName, read: Callable[[IndexReader], _Answer], empty: _Answer) -> _Answer:
        reader = await self._find_reader(index)
        if reader is None:
            return empty
        settles = self._settle_at.get(index, float("inf")) < time.monotonic()
        if settles:
            del self._settle_at[index]

        def work() -> _Answer:
            if settles:
                reader.reload()
            return read(reader)

        return await self._run(work, index)

    async def _find_reader(self, index: IndexName) -> IndexReader | None:
        """The reader of an index; None as long as nothing was ever written to it."""
        if index not in self._readers:
            drops = self._drops[index]
            opened = await self._run(
                lambda: IndexReader(self._root, index) if IndexReader.exists(self._root, index) else None, index
            )
            if opened is None or self._drops[index] != drops:  # opened on a folder that is gone by now
                return None
            self._readers.setdefault(index, opened)
        return self._readers[index]

    def _forget(self, index: IndexName) -> None:
        """Nothing is read any more of an index that is dropped, and what is being opened of it is not kept."""
        self._drops[index] += 1
        for kept in (self._readers, self._languages, self._settle_at):
            kept.pop(index, None)

    async def _run(self, work: Callable[[], _Answer], index: IndexName) -> _Answer:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except (ValueError, OSError) as error:
            raise Unavailable(
                f"the keyword index of {index.project} cannot be read; if this stays, delete its folder and index again"
            ) from error
