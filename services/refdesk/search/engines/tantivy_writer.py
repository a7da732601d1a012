"""The child process that writes keyword indices: analyses, commits, sweeps; knows no queries.

It is the one writer of its folders, so reading a stamp and writing over it are one step. A kill leaves the last commit: of each grain,
what a call wrote is there whole or not at all; the caller of a call that died writes again.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
import time
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import tantivy

from refdesk import failpoints
from refdesk.child import Spent, serve
from refdesk.errors import Unavailable
from refdesk.search.analysis import Analysis
from refdesk.search.engines.folders import delete_index
from refdesk.search.engines.interface import Grain, IndexName, SweepItem, Swept, WordDocument, Written
from refdesk.search.engines.paths import join_id, list_folders, split_id
from refdesk.search.engines.tantivy_schema import LABELS, NUMBERS, build_schema, name_folder, open_index, read_numbers
from refdesk.search.entries import analyze_document

HEAP_BYTES = 20_000_000
"""Of each open writer, for entries not yet written out; tantivy takes at least 15 MB and uses it only while it writes."""
OPEN_INDICES = 4
"""Projects whose writers stay open; each has two."""
LOCK_PATIENCE_SECONDS = 10.0
"""A writer that was killed a moment ago may still hold its lock; the kernel frees it with the process."""

_CHUNK_OF_QUERY = 512


class _Entry(NamedTuple):
    """An entry to write."""

    id: str
    document: WordDocument
    analysis: Analysis
    words: str = ""


class _GrainWriter:
    """One folder that is written."""

    def __init__(self, folder: Path, grain: Grain) -> None:
        self._schema = build_schema(grain)
        self._index = open_index(folder, self._schema)
        self._index.config_reader("manual")
        self._writer = _take_writer(self._index, folder)
        self._touched = False
        self._uncommitted: dict[str, int] = {}

    def write(self, entries: Sequence[_Entry]) -> Written:
        """Adds entries that are not older than what is there; nothing is durable before `commit`."""
        newest: dict[str, _Entry] = {}
        superseded: list[str] = []
        for entry in entries:
            if entry.id in newest and newest[entry.id].document.stamp > entry.document.stamp:
                superseded.append(entry.id)
                continue
            newest[entry.id] = entry
        present = self._read_stamps(newest.values())
        for entry in newest.values():
            if present.get(entry.id, 0) > entry.document.stamp:
                superseded.append(entry.id)
                continue
            self._add(entry, entry.id in present)
        return Written(len(entries) - len(superseded), tuple(superseded))

    def sweep(self, item: SweepItem, grain: Grain) -> Swept:
        """Deletes what of a document is not kept; nothing is durable before `commit`."""
        if grain is Grain.DOCUMENT and not item.remove_document:
            return Swept(0, False)
        deleted_count, later_stamp = 0, False
        for id, stamp in self._find_document(item.document_id):
            if id in item.keep_chunk_ids:
                continue
            if stamp > item.up_to_stamp:
                later_stamp = True
                continue
            self._writer.delete_documents_by_term("id", id)
            self._touched = True
            deleted_count += 1
        return Swept(deleted_count, later_stamp)

    def commit(self) -> None:
        """Makes all durable; after it readers see it when they reload."""
        if not self._touched:
            return
        failpoints.reach("words_commit")
        self._writer.commit()
        self._touched = False
        self._uncommitted.clear()
        self._index.reload()

    def close(self) -> None:
        """Lets go of the folder, with merges under way at their end; what is not committed is lost."""
        self._writer.wait_merging_threads()

    def _add(self, entry: _Entry, is_present: bool) -> None:
        if is_present:
            self._writer.delete_documents_by_term("id", entry.id)
        self._writer.add_document(_build_document(entry))
        self._uncommitted[entry.id] = entry.document.stamp
        self._touched = True

    def _read_stamps(self, entries: Collection[_Entry]) -> dict[str, int]:
        """Stamps by id, of those that are there; most documents of a first load have none, which their own term tells at once."""
        searcher = self._index.searcher()
        documents = {entry.document.document_id for entry in entries}
        known = {document for document in documents if searcher.doc_freq("document_id", document)}
        ids = [entry.id for entry in entries if entry.document.document_id in known]
        stamps: dict[str, int] = {}
        for start in range(0, len(ids), _CHUNK_OF_QUERY):
            some = ids[start : start + _CHUNK_OF_QUERY]
            stamps.update(self._read(tantivy.Query.term_set_query(self._schema, "id", some), len(some)))
        return stamps | {entry.id: self._uncommitted[entry.id] for entry in entries if entry.id in self._uncommitted}

    def _find_document(self, document_id: str) -> list[tuple[str, int]]:
        count = self._index.searcher().doc_freq("document_id", document_id)
        query = tantivy.Query.term_query(self._schema, "document_id", document_id, "basic")
        return self._read(query, count) if count else []

    def _read(self, query: tantivy.Query, limit: int) -> list[tuple[str, int]]:
        searcher = self._index.searcher()
        addresses = [address for _, address in searcher.search(query, limit, count=False).hits]
        highs, lows, stamps = read_numbers(searcher, ("id_high", "id_low", "stamp"), addresses)
        return [(join_id(high, low), stamp) for high, low, stamp in zip(highs, lows, stamps, strict=True)]


class KeywordWriter:
    """Handlers of the child: every call names its index and is committed when it answers."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._open: OrderedDict[IndexName, dict[Grain, _GrainWriter]] = OrderedDict()
        self._second = ThreadPoolExecutor(1)

    def write(self, index: IndexName, batches: Sequence[bytes]) -> list[Written]:
        """Writes several batches, each a pickled list of WordDocument, with one commit; an outcome for each."""
        with self._writing(index) as writers:
            return [_write_grains(writers, pickle.loads(batch)) for batch in batches]

    def sweep(self, index: IndexName, items: Sequence[SweepItem]) -> list[Swept]:
        """Sweeps documents with one commit, an outcome for each."""
        with self._writing(index) as writers:
            return [_sweep_grains(writers, item) for item in items]

    def drop(self, index: IndexName) -> bool:
        """Deletes the index's folder; whether there was one."""
        for writer in self._open.pop(index, {}).values():
            writer.close()
        try:
            return delete_index(self._root, self._root / index.project / index.generation)
        except OSError as error:
            raise Unavailable(f"the keyword index of {index.project} could not be deleted") from error

    @contextlib.contextmanager
    def _writing(self, index: IndexName) -> Iterator[dict[Grain, _GrainWriter]]:
        """The writers of an index; what was done with them is committed at the end, or forgotten with this process when anything failed."""
        writers = self._open_writers(index)
        try:
            yield writers
            self._commit(writers)
        except (ValueError, OSError) as error:
            # tantivy keeps the lock of a writer that failed, as long as this process lives.
            raise Spent(
                Unavailable(f"the keyword index of {index.project} could not be written; is the disk full?")
            ) from error
        self._open[index] = writers

    def _commit(self, writers: dict[Grain, _GrainWriter]) -> None:
        documents = self._second.submit(writers[Grain.DOCUMENT].commit)  # both wait for the disk, so both at once
        try:
            writers[Grain.CHUNK].commit()
        finally:
            documents.result()

    def _open_writers(self, index: IndexName) -> dict[Grain, _GrainWriter]:
        writers = self._open.pop(index, None)
        if writers is None:
            while len(self._open) >= OPEN_INDICES:
                self._open.popitem(last=False)
            writers = {grain: _GrainWriter(name_folder(self._root, *index, grain), grain) for grain in Grain}
        return writers


def _write_grains(writers: dict[Grain, _GrainWriter], batch: Sequence[WordDocument]) -> Written:
    entries: dict[Grain, list[_Entry]] = {grain: [] for grain in writers}
    for document in batch:
        analyzed = analyze_document(document)
        entries[Grain.CHUNK] += [_Entry(chunk.id, document, chunk.analysis) for chunk in analyzed.chunks]
        if analyzed.whole:
            entries[Grain.DOCUMENT].append(_Entry(document.document_id, document, analyzed.whole, analyzed.words))
    outcomes = [writer.write(entries[grain]) for grain, writer in writers.items()]
    superseded = tuple(id for outcome in outcomes for id in outcome.superseded_ids)
    return Written(sum(outcome.written_count for outcome in outcomes), superseded)


def _sweep_grains(writers: dict[Grain, _GrainWriter], item: SweepItem) -> Swept:
    outcomes = [writer.sweep(item, grain) for grain, writer in writers.items()]
    return Swept(sum(outcome.deleted_count for outcome in outcomes), any(outcome.later_stamp for outcome in outcomes))


def _build_document(entry: _Entry) -> tantivy.Document:
    document, facets, built = entry.document, entry.document.facets, tantivy.Document()
    numbers = (*split_id(entry.id), *split_id(document.document_id), document.stamp)
    for name, number in zip(NUMBERS, numbers, strict=True):
        built.add_unsigned(name, number)
    labels = (entry.id, document.document_id, facets.source, facets.version, facets.kind, facets.language)
    for name, label in zip(LABELS, labels, strict=True):
        built.add_text(name, label)
    for folder in list_folders(facets.path):
        built.add_text("folders", folder)
    built.add_text("terms", entry.analysis.terms)
    built.add_text("identifiers", entry.analysis.identifiers)
    if entry.words:
        built.add_text("words", entry.words)
    return built


def _take_writer(index: tantivy.Index, folder: Path) -> tantivy.IndexWriter:
    ends_at = time.monotonic() + LOCK_PATIENCE_SECONDS
    while True:
        try:
            return index.writer(heap_size=HEAP_BYTES, num_threads=1)
        except ValueError as error:
            if time.monotonic() > ends_at:
                raise Unavailable(
                    f"the keyword index in {folder} is being written by another process; stop that one"
                ) from error
            time.sleep(0.05)


if __name__ == "__main__":
    writer = KeywordWriter(Path(sys.argv[1]))
    serve({"write": writer.write, "sweep": writer.sweep, "drop": writer.drop})
