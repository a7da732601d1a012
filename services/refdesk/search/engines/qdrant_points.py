"""Turns entries into Qdrant's points and back, and parts batches so that one conditional write is right for all in it; pure."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from qdrant_client import models

from refdesk.search.engines.interface import Entry, Grain, SweepItem, VectorItem
from refdesk.search.engines.paths import list_folders
from refdesk.search.engines.qdrant_scope import order_of

BATCH_POINTS = 256
"""Of one write: as many as were tried on a real server."""
BATCH_BYTES = 2 * 1024 * 1024
"""Of the vectors of one write: well below any cap on a message."""
ENTRY_FIELDS = ["document", "grain", "stamp"]
"""Payload fields that name an entry."""

_GRAINS = {grain.name.lower(): grain for grain in Grain}


def build_point(project: str, item: VectorItem) -> models.PointStruct:
    """The point of an entry; nothing is validated, since that takes longer than all else."""
    facets = item.facets
    payload = {
        "project": project,
        "document": item.document_id,
        "document_order": order_of(item.document_id),
        "grain": item.grain.name.lower(),
        "stamp": item.stamp,
        "source": facets.source,
        "folders": list_folders(facets.path),
        "version": facets.version,
        "kind": facets.kind,
        "text_hash": item.text_hash,
    }
    return models.PointStruct.model_construct(id=item.id, vector=read_numbers(item.vector), payload=payload)


def read_entry(record: models.Record) -> Entry:
    """The entry that a point is of; its payload holds ENTRY_FIELDS."""
    payload = record.payload or {}
    return Entry(payload["document"], str(record.id), _GRAINS[payload["grain"]], payload["stamp"])


def read_numbers(vector: bytes) -> list[float]:
    """Numbers of a contract's vector."""
    return array("f", vector).tolist()


def write_numbers(vector: object) -> bytes:
    """A contract's vector from a point's numbers."""
    assert isinstance(vector, list)
    return array("f", vector).tobytes()


def part_newest(items: Sequence[VectorItem]) -> tuple[list[VectorItem], list[str]]:
    """The latest item of each id, and the ids of those that an item with a later stamp outdoes."""
    newest: dict[str, VectorItem] = {}
    outdone: list[str] = []
    for item in items:
        if item.id in newest and newest[item.id].stamp > item.stamp:
            outdone.append(item.id)
            continue
        newest[item.id] = item
    return list(newest.values()), outdone


def part_batches(items: Iterable[VectorItem]) -> Iterator[list[VectorItem]]:
    """Batches of which each holds a document with one stamp only, so that one filter is right for all (see Scope.not_later)."""
    layers: defaultdict[int, list[VectorItem]] = defaultdict(list)
    ranks: defaultdict[str, dict[int, int]] = defaultdict(dict)
    for item in items:
        stamps = ranks[item.document_id]
        layers[stamps.setdefault(item.stamp, len(stamps))].append(item)
    for layer in layers.values():
        size = max(1, min(BATCH_POINTS, BATCH_BYTES // max(1, len(layer[0].vector))))
        yield from (layer[start : start + size] for start in range(0, len(layer), size))


def list_doomed(item: SweepItem, entries: Iterable[Entry]) -> tuple[set[str], bool]:
    """Ids of a document's entries that a sweep deletes, and whether an unlisted entry bears a later stamp."""
    unlisted = [
        entry
        for entry in entries
        if entry.id not in item.keep_chunk_ids and (entry.grain == Grain.CHUNK or item.remove_document)
    ]
    doomed = {entry.id for entry in unlisted if entry.stamp <= item.up_to_stamp}
    return doomed, len(doomed) < len(unlisted)
