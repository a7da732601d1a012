"""Reads whole records by id or by path; knows nothing of pages or of chunks."""

from __future__ import annotations

from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import View
from refdesk.docstore.engines.opensearch import rows
from refdesk.docstore.engines.opensearch.changing import READ_TOGETHER, grouped
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import MAX_HITS, get_many, search_hits

TEXTS_TOGETHER = 32
"""Whole documents in one answer: some MB where all are long."""


async def get_by_id(
    client: OpenSearchClient, alias: str, project: str, document_ids: Sequence[str], view: View
) -> list[pb.GetDocumentsItem]:
    """One item an id, in order."""
    found = await _read(client, alias, project, document_ids, view)
    return [_item(found.get(identifier)) for identifier in document_ids]


async def get_by_path(
    client: OpenSearchClient, alias: str, project: str, paths: Sequence[str], view: View
) -> list[pb.GetDocumentsItem]:
    """One item a path, in order, with where a document moved to when none stands there now."""
    ids = await _find_paths(client, alias, project, paths)
    found = await _read(client, alias, project, list(ids.values()), view)
    items = [_item(found.get(ids.get(path, ""))) for path in paths]
    gone = [path for path, item in zip(paths, items, strict=True) if _is_gone(item)]
    moved = await _find_moved(client, alias, project, gone) if gone else {}
    for path, item in zip(paths, items, strict=True):
        if _is_gone(item):
            item.moved_to = moved.get(path, "")
    return items


def _item(document: pb.Document | None) -> pb.GetDocumentsItem:
    return pb.GetDocumentsItem(document=document) if document else pb.GetDocumentsItem(unknown=pb.Unknown())


def _is_gone(item: pb.GetDocumentsItem) -> bool:
    return not item.HasField("document") or item.document.deleted


async def _read(
    client: OpenSearchClient, alias: str, project: str, document_ids: Sequence[str], view: View
) -> dict[str, pb.Document]:
    keys = {rows.key_of(project, identifier): identifier for identifier in document_ids}
    keys.pop("", None)
    found: dict[str, pb.Document] = {}
    only = () if view.include_text else ("record", "cuts")
    for together in grouped(list(keys), TEXTS_TOGETHER if view.include_text else READ_TOGETHER):
        for hit in await get_many(client, alias, together, only=only):
            if hit is not None:
                found[keys[hit.id]] = rows.unpack(hit.source, view)
    return found


async def _find_paths(client: OpenSearchClient, alias: str, project: str, paths: Sequence[str]) -> dict[str, str]:
    """Path to id: of several records at one path the current one, else the last."""
    hits = await search_hits(
        client,
        alias,
        {
            "query": {"bool": {"filter": [{"term": {"project": project}}, {"terms": {"path": list(set(paths))}}]}},
            "sort": [{"deleted": "asc"}, {"put_at": "desc"}, {"document_id": "asc"}],
            "collapse": {"field": "path"},
            "size": len(paths),
            "_source": False,
            "docvalue_fields": ["path", "document_id"],
        },
    )
    return {hit.fields["path"][0]: hit.fields["document_id"][0] for hit in hits}


async def _find_moved(client: OpenSearchClient, alias: str, project: str, paths: Sequence[str]) -> dict[str, str]:
    """Old path to the path of the current document that was put last of those that stood there."""
    asked = set(paths)
    current = [{"term": {"project": project}}, {"term": {"deleted": False}}]
    hits = await search_hits(
        client,
        alias,
        {
            "query": {"bool": {"filter": [*current, {"terms": {"previous_paths": list(asked)}}]}},
            "sort": [{"put_at": "desc"}, {"path": "asc"}],
            "size": MAX_HITS,
            "_source": False,
            "docvalue_fields": ["path", "previous_paths"],
        },
    )
    moved: dict[str, str] = {}
    for hit in hits:
        for previous in asked.intersection(hit.fields["previous_paths"]):
            moved.setdefault(previous, hit.fields["path"][0])
    return moved
