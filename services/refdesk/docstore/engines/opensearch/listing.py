"""Pages by key, so that what is put between two pages moves nothing else; knows nothing of page tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import Unfinished, UnfinishedKey, View
from refdesk.docstore.engines.opensearch import rows
from refdesk.docstore.engines.packing import folder_key
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import Hit, search_hits


async def list_documents(
    client: OpenSearchClient, alias: str, project: str, generation: str, source: str, after_path: str, limit: int
) -> list[pb.DocumentSummary]:
    """Current documents after a path, by folder, then path."""
    hits = await _read_page(
        client,
        alias,
        [{"term": {"project": project}}, {"term": {"deleted": False}}, *_of_source(source)],
        order=("folder", "path"),
        after=(folder_key(after_path), after_path) if after_path else (),
        limit=limit,
        fields=("record", "text_length", "progress"),
    )
    return [_summarize(hit, generation) for hit in hits]


async def list_records(
    client: OpenSearchClient, alias: str, project: str, source: str, after_id: str, limit: int, *, with_heads: bool
) -> list[pb.Document]:
    """All records after an id, by id."""
    hits = await _read_page(
        client,
        alias,
        [{"term": {"project": project}}, *_of_source(source)],
        order=("document_id",),
        after=(after_id,) if after_id else (),
        limit=limit,
        fields=("record", "cuts") if with_heads else ("record",),
    )
    return [rows.unpack({name: values[0] for name, values in hit.fields.items()}, View()) for hit in hits]


async def list_unfinished(
    client: OpenSearchClient, alias: str, project: str, generation: str, after: UnfinishedKey | None, limit: int
) -> list[Unfinished]:
    """Heads with work left after a place: changed before bulk, by put time, by id."""
    hits = await _read_page(
        client,
        alias,
        [{"term": {"project": project}}, {"term": {"unfinished": generation}}],
        order=("bulk", "put_at", "document_id"),
        after=(int(after.bulk), after.put_at_milliseconds, after.document_id) if after else (),
        limit=limit,
        fields=("bulk", "put_at", "document_id", "revision", "progress"),
    )
    return [_unfinished(hit, generation) for hit in hits]


async def _read_page(
    client: OpenSearchClient,
    alias: str,
    wanted: Sequence[Mapping[str, Any]],
    *,
    order: Sequence[str],
    after: Sequence[str | int],
    limit: int,
    fields: Sequence[str],
) -> list[Hit]:
    """From columns alone: sources hold the texts, and would have to be read and taken apart."""
    body: dict[str, Any] = {
        "query": {"bool": {"filter": list(wanted)}},
        "sort": [{name: "asc"} for name in order],
        "size": limit,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": list(fields),
    }
    if after:
        body["search_after"] = list(after)
    return await search_hits(client, alias, body)


def _of_source(source: str) -> list[Mapping[str, Any]]:
    return [{"term": {"source": source}}] if source else []


def _summarize(hit: Hit, generation: str) -> pb.DocumentSummary:
    record = pb.Document.FromString(rows.decode(hit.fields["record"][0]))
    return pb.DocumentSummary(
        document_id=record.document_id,
        source=record.source,
        path=record.path,
        title=record.title,
        chunk_count=rows.read_progress(hit.fields.get("progress", ()), generation)[0],
        text_length=hit.fields["text_length"][0],
    )


def _unfinished(hit: Hit, generation: str) -> Unfinished:
    bulk, put_at, document_id, revision = (
        hit.fields[name][0] for name in ("bulk", "put_at", "document_id", "revision")
    )
    _, missing_count, swept = rows.read_progress(hit.fields["progress"], generation)
    document = pb.UnfinishedDocument(
        bulk=bool(bulk), document_id=document_id, revision=revision, missing_count=missing_count, swept=swept
    )
    return Unfinished(UnfinishedKey(bool(bulk), put_at, document_id), document)
