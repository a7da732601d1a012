"""Builds the filters of one project's points, and is the only thing that builds any; pure, knows no collection.

Every filter demands the project first: there is no way to ask, to write over or to delete without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qdrant_client import models

from refdesk.errors import InvalidArgument
from refdesk.search.engines.interface import Filter, Grain, SweepItem, VectorItem

ORDER_BITS = 48
"""Of a document's id, from the front: its place in the order of documents. Qdrant compares ranges as float64, which holds them exactly."""
ORDERS = 1 << ORDER_BITS


class Scope:
    """The points of one project. Raises: InvalidArgument where none is named."""

    def __init__(self, project: str) -> None:
        if not project:
            raise InvalidArgument("the vector index is asked without a project; name one")
        self._project = _is("project", (project,))

    def whole(self) -> models.Filter:
        """Every entry."""
        return self._all()

    def narrow(self, grain: Grain, narrowed: Filter) -> models.Filter:
        """Entries of a grain that a search may find."""
        folders = (narrowed.path_prefix,) if narrowed.path_prefix else ()
        asked = {
            "source": narrowed.sources,
            "folders": folders,
            "version": narrowed.versions,
            "kind": narrowed.kinds,
        }
        return self._all(_of(grain), *(_is(field, wanted) for field, wanted in asked.items() if wanted))

    def named(self, ids: Sequence[str]) -> models.Filter:
        """Entries by id."""
        return self._all(models.HasIdCondition(has_id=list(ids)))

    def chunks(self, ids: Sequence[str]) -> models.Filter:
        """Chunks by id."""
        return self._all(_of(Grain.CHUNK), models.HasIdCondition(has_id=list(ids)))

    def embedded(self, text_hashes: Sequence[str]) -> models.Filter:
        """Chunks by the hash of their embedded text."""
        return self._all(_of(Grain.CHUNK), _is("text_hash", text_hashes))

    def documents(self, ids: Sequence[str]) -> models.Filter:
        """Every entry of these documents."""
        return self._all(_is("document", ids))

    def window(self, start: int, end: int) -> models.Filter:
        """Entries of documents whose order is at least `start` and below `end`."""
        return self._all(models.FieldCondition(key="document_order", range=models.Range(gte=start, lt=end)))

    def not_later(self, items: Iterable[VectorItem]) -> models.Filter:
        """What these items may replace: entries of their documents that are not later than they are.

        A clause each document and stamp. A document must come with one stamp only: with two, the later clause would let the earlier item
        replace what is later than itself.
        """
        stamps = {(item.document_id, item.stamp) for item in items}
        clauses: list[models.Condition] = [
            models.Filter(must=[_is("document", (document,)), _up_to(stamp)]) for document, stamp in sorted(stamps)
        ]
        return models.Filter(must=[self._project], should=clauses)

    def nothing(self) -> models.Filter:
        """Matches no entry: stamps begin at 1."""
        return self._all(_up_to(0))

    def swept(self, item: SweepItem) -> models.Filter:
        """What a sweep deletes, whatever has been written since it looked."""
        conditions = [_is("document", (item.document_id,)), _up_to(item.up_to_stamp)]
        if not item.remove_document:
            conditions.append(_of(Grain.CHUNK))
        swept = self._all(*conditions)
        if item.keep_chunk_ids:
            swept.must_not = [models.HasIdCondition(has_id=sorted(item.keep_chunk_ids))]
        return swept

    def _all(self, *conditions: models.Condition) -> models.Filter:
        return models.Filter(must=[self._project, *conditions])


def order_of(document_id: str) -> int:
    """A document's place in the order of documents, below ORDERS; two documents may share one."""
    return int(document_id.replace("-", "")[: ORDER_BITS // 4], 16)


def _of(grain: Grain) -> models.FieldCondition:
    return _is("grain", (grain.name.lower(),))


def _is(field: str, wanted: Sequence[str]) -> models.FieldCondition:
    if len(wanted) == 1:
        return models.FieldCondition(key=field, match=models.MatchValue(value=wanted[0]))
    return models.FieldCondition(key=field, match=models.MatchAny(any=list(wanted)))


def _up_to(stamp: int) -> models.FieldCondition:
    return models.FieldCondition(key="stamp", range=models.Range(lte=stamp))
