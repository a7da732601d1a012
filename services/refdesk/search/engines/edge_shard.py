"""One shard of Qdrant Edge, the points of one project and generation: writes, sweeps, searches; blocking, knows nothing of processes.

Vectors are of length 1 and compared by their dot product, which is their cosine then and leaves their bits as they came. Small shards are
scanned; nothing here optimises but `optimize`. Edge keeps every write in its log, which outlives a kill without a flush.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import qdrant_edge as edge

from refdesk import failpoints
from refdesk.errors import InvalidArgument, RefdeskError, Unavailable
from refdesk.search.engines.dimensions import check_dimension
from refdesk.search.engines.edge_found import PackedFound, pack_ids, pack_scores
from refdesk.search.engines.interface import (
    Candidates,
    Entry,
    Filter,
    Grain,
    SweepItem,
    Swept,
    VectorItem,
    Written,
)
from refdesk.search.engines.paths import list_folders

LABEL_FILE = "vectors.json"
SCHEMA_VERSION = 1
INDEXED_FIELDS = ("grain", "document_id", "folders", "version", "kind", "text_hash")
"""Fields that are filtered by. Without an index, a filter costs 100 ms at 12,000 points, with it 0.2 ms."""
LISTED_ENTRIES = 2_000
"""Of one call that lists: 18 ms, and a search has its turn before the next."""
NARROWEST_LOOK, WIDEST_LOOK = 2.0, 16.0
"""Times as many chunks as are wanted are read, at first and at most, where one document fills the list."""


class EdgeShard:
    """The points of one index, in one folder; it belongs to the process that opened it."""

    def __init__(self, folder: Path, label: dict[str, Any], shard: edge.EdgeShard) -> None:
        self._folder = folder
        self._label = label
        self._shard = shard
        # Of 200 hits, reading payloads takes as long as finding them; so whose a chunk is, is kept here: 200 bytes a chunk.
        self._documents: dict[int, str] = {}
        for point in self._scroll(_all(grain=(_name(Grain.CHUNK),)), ["document_id"]):
            self._documents[point.id.int] = point.payload["document_id"]

    @classmethod
    def open(cls, folder: Path) -> EdgeShard | None:
        """The shard in this folder; None where none was ever created. Raises: Unavailable."""
        file = folder / LABEL_FILE
        if not file.is_file():
            return None
        try:
            label = json.loads(file.read_text())
            if label["schema"] != SCHEMA_VERSION:
                raise Unavailable(
                    f"the vector index in {folder} has schema {label['schema']}, this release reads {SCHEMA_VERSION}; index again"
                )
            return cls(folder, label, edge.EdgeShard.load(str(folder)))
        except RefdeskError:
            raise
        except Exception as error:  # the driver raises no class of its own
            raise Unavailable(
                f"the vector index in {folder} cannot be opened; delete this folder and index again"
            ) from error

    @classmethod
    def create(cls, folder: Path, model_id: str, dimension: int) -> EdgeShard:
        """A new shard for vectors of this model. A creation that was interrupted left no label and is done over."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        label = {"schema": SCHEMA_VERSION, "model_id": model_id, "dimension": dimension}
        with _translated(f"the vector index in {folder} cannot be created; is the disk full?"):
            shard = edge.EdgeShard.create(str(folder), _configure(dimension))
            for field in INDEXED_FIELDS:
                shard.update(edge.UpdateOperation.create_field_index(field, edge.PayloadSchemaType.Keyword))
            shard.flush()
            failpoints.reach("vectors_created")
            unfinished = folder / f"{LABEL_FILE}.new"
            unfinished.write_text(json.dumps(label))
            unfinished.replace(folder / LABEL_FILE)
        return cls(folder, label, shard)

    @property
    def unoptimized_count(self) -> int:
        """Points that a search has to scan."""
        info = self._shard.info()
        return int(info.points_count - info.indexed_vectors_count)

    def check(self, model_id: str, vectors: Sequence[bytes]) -> None:
        """Raises: InvalidArgument where vectors are of another model or dimension than the index."""
        if model_id and model_id != self._label["model_id"]:
            raise InvalidArgument(
                f"this index holds vectors of {self._label['model_id']}, not of {model_id}; index again with {model_id}"
            )
        check_dimension(vectors, self._label["dimension"], "this index", self._label["model_id"])

    def write(self, items: Sequence[VectorItem]) -> Written:
        """Writes points that are not older than what is there."""
        newest: dict[str, VectorItem] = {}
        superseded: list[str] = []
        present = self._read_stamps([item.id for item in items])
        for item in items:
            if max(present.get(item.id, 0), newest[item.id].stamp if item.id in newest else 0) > item.stamp:
                superseded.append(item.id)
                continue
            newest[item.id] = item
        if newest:
            self._update(edge.UpdateOperation.upsert_points([_build_point(item) for item in newest.values()]))
            chunks = (item for item in newest.values() if item.grain == Grain.CHUNK)
            self._documents.update((UUID(item.id).int, item.document_id) for item in chunks)
        return Written(len(items) - len(superseded), tuple(superseded))

    def sweep(self, item: SweepItem) -> Swept:
        """Deletes what of a document is not kept."""
        doomed: list[str] = []
        later_stamp = False
        for point in self._scroll(_all(document_id=(item.document_id,)), ["stamp", "grain"]):
            id, stamp, grain = str(point.id), point.payload["stamp"], point.payload["grain"]
            if id in item.keep_chunk_ids or (grain == _name(Grain.DOCUMENT) and not item.remove_document):
                continue
            if stamp > item.up_to_stamp:
                later_stamp = True
                continue
            doomed.append(id)
        if doomed:
            self._update(edge.UpdateOperation.delete_points([*doomed]))
            for id in doomed:
                self._documents.pop(UUID(id).int, None)
        return Swept(len(doomed), later_stamp)

    def find_vectors(self, text_hashes: Sequence[str]) -> dict[str, bytes]:
        """Vectors of chunks by the hash of their embedded text."""
        wanted = _all(text_hash=tuple(text_hashes), grain=(_name(Grain.CHUNK),))
        found = self._scroll(wanted, ["text_hash"], with_vector=True)
        return {point.payload["text_hash"]: array("f", point.vector).tobytes() for point in found}

    def read_entries(self, offset: Any) -> tuple[list[Entry], Any]:
        """Some entries in no order that is promised, and the offset of the next ones; None before the first and after the last."""
        points, offset = self._scroll_page(None, ["document_id", "grain", "stamp"], offset, LISTED_ENTRIES)
        grains = {_name(grain): grain for grain in Grain}
        rows = ((point.payload, str(point.id)) for point in points)
        return [
            Entry(payload["document_id"], id, grains[payload["grain"]], payload["stamp"]) for payload, id in rows
        ], offset

    def search(self, vector: bytes, narrowed: Filter, candidates: Candidates) -> PackedFound:
        """The nearest chunks and documents."""
        self.check("", [vector])
        near = edge.Query.Nearest(array("f", vector).tolist())
        documents = self._query(near, _narrow(Grain.DOCUMENT, narrowed), candidates.documents)
        chunks = self._find_chunks(near, narrowed, candidates)
        return PackedFound(
            pack_ids(id for id, _ in chunks),
            [self._documents[id] for id, _ in chunks],
            pack_scores(point.score for _, point in chunks),
            pack_ids(point.id.int for point in documents),
            pack_scores(point.score for point in documents),
        )

    def measure(self, vector: bytes, chunk_ids: Sequence[str]) -> dict[str, float]:
        """Cosines of these chunks."""
        self.check("", [vector])
        near = edge.Query.Nearest(array("f", vector).tolist())
        points = self._query(near, edge.Filter(must=[edge.HasIdCondition(set(chunk_ids))]), len(chunk_ids))
        return {str(point.id): point.score for point in points}

    def optimize(self) -> None:
        """Builds the graph over all points: seconds to minutes in which nothing else runs here."""
        with _translated(f"the vector index in {self._folder} could not be optimised"):
            self._shard.optimize()

    def flush(self) -> None:
        """Has the disk hold all that was written, against the loss of power."""
        with _translated(f"the vector index in {self._folder} could not be written; is the disk full?"):
            self._shard.flush()

    def close(self) -> None:
        """Lets go of the folder."""
        with contextlib.suppress(Exception):
            self._shard.close()

    def _find_chunks(self, near: Any, narrowed: Filter, candidates: Candidates) -> list[tuple[int, Any]]:
        """Where nothing narrows, all is scanned and whole documents are left out here: a filter costs a third more time."""
        wanted = _narrow(Grain.CHUNK, narrowed) if any(narrowed) else None
        width = NARROWEST_LOOK
        while True:
            limit = int(candidates.chunks * width) + (0 if wanted else candidates.documents // 2)
            points = self._query(near, wanted, limit)
            kept = self._keep_chunks(points, candidates)
            if len(kept) == candidates.chunks or len(points) < limit or width >= WIDEST_LOOK:
                return kept
            width = WIDEST_LOOK

    def _keep_chunks(self, points: Sequence[Any], candidates: Candidates) -> list[tuple[int, Any]]:
        """The first chunks with the numbers that their ids are, at most so many of a document."""
        counts: dict[str, int] = {}
        kept: list[tuple[int, Any]] = []
        for point in points:
            if len(kept) == candidates.chunks:
                break
            # An id is made anew each time that it is looked at, so once, and no further down than is kept: it takes as long as the rest.
            id = point.id.int
            document = self._documents.get(id)
            if document is None or (count := counts.get(document, 0)) >= candidates.chunks_per_document:
                continue
            counts[document] = count + 1
            kept.append((id, point))
        return kept

    def _query(self, near: Any, wanted: edge.Filter | None, limit: int) -> list[Any]:
        request = edge.QueryRequest(limit=limit, query=near, filter=wanted, with_payload=False, with_vector=False)
        with _translated("the vector index could not be searched"):
            return list(self._shard.query(request))

    def _scroll(self, wanted: edge.Filter | None, payload: list[str], with_vector: bool = False) -> list[Any]:
        points: list[Any] = []
        offset = None
        while True:
            page, offset = self._scroll_page(wanted, payload, offset, 10_000, with_vector)
            points += page
            if offset is None:
                return points

    def _scroll_page(
        self, wanted: edge.Filter | None, payload: list[str], offset: Any, limit: int, with_vector: bool = False
    ) -> tuple[list[Any], Any]:
        with _translated("the vector index could not be read"):
            points, offset = self._shard.scroll(
                edge.ScrollRequest(
                    offset=offset, limit=limit, filter=wanted, with_payload=payload, with_vector=with_vector
                )
            )
        return list(points), offset

    def _read_stamps(self, ids: Sequence[str]) -> dict[str, int]:
        with _translated("the vector index could not be read"):
            records = self._shard.retrieve(list(dict.fromkeys(ids)), ["stamp"], False)
        return {str(record.id): record.payload["stamp"] for record in records if record.payload}

    def _update(self, operation: edge.UpdateOperation) -> None:
        with _translated("the vector index could not be written; is the disk full?"):
            self._shard.update(operation)


def _configure(dimension: int) -> edge.EdgeConfig:
    # Cold: mapped from the file and read as scans need it; no slower once read, and a fifth less memory than Cached.
    vectors = edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Dot, memory=edge.Memory.Cold)
    return edge.EdgeConfig(vectors=vectors, max_search_threads=1, payload_memory=edge.Memory.Cold)


def _build_point(item: VectorItem) -> edge.Point:
    facets = item.facets
    payload = {
        "grain": _name(item.grain),
        "document_id": item.document_id,
        "folders": sorted({facets.source, *list_folders(facets.path)}),
        "version": facets.version,
        "kind": facets.kind,
        "text_hash": item.text_hash,
        "stamp": item.stamp,
    }
    return edge.Point(item.id, array("f", item.vector).tolist(), payload)


def _narrow(grain: Grain, narrowed: Filter) -> edge.Filter:
    """A source is the first folder of a path, so that one index serves both."""
    folders = (narrowed.path_prefix,) if narrowed.path_prefix else ()
    conditions = [_any("folders", wanted) for wanted in (narrowed.sources, folders) if wanted]
    named = {"grain": (_name(grain),), "version": narrowed.versions, "kind": narrowed.kinds}
    return edge.Filter(must=[*conditions, *(_any(field, wanted) for field, wanted in named.items() if wanted)])


def _all(**fields: tuple[str, ...]) -> edge.Filter:
    return edge.Filter(must=[_any(field, wanted) for field, wanted in fields.items()])


def _any(field: str, wanted: Sequence[str]) -> edge.FieldCondition:
    return edge.FieldCondition(key=field, match=edge.MatchAny(any=list(wanted)))


def _name(grain: Grain) -> str:
    return Grain(grain).name.lower()


@contextlib.contextmanager
def _translated(message: str) -> Iterator[None]:
    """The driver raises bare Exceptions: at this edge they become Unavailable, and their words stay out."""
    try:
        yield
    except Exception as error:
        raise Unavailable(message) from error
