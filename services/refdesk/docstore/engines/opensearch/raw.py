"""Pushed documents in an index of their own, content beside the record; knows nothing of what decides between statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.opensearch.changing import READ_TOGETHER, Change, change_documents, grouped
from refdesk.docstore.engines.opensearch.layout import RAW
from refdesk.docstore.engines.opensearch.records import TEXTS_TOGETHER
from refdesk.docstore.engines.opensearch.rows import decode, encode, key_of_path
from refdesk.docstore.engines.raw_interface import RawPut
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import Hit, get_many, search_hits
from refdesk.errors import InvalidArgument


class OpenSearchRawStore:
    """The part of the store that keeps pushed documents; what each method promises stands in `RawStore`."""

    _client: OpenSearchClient

    async def get_raw(
        self, project: str, source: str, paths: Sequence[str], *, with_content: bool
    ) -> list[pb.RawDocument | None]:
        """One record a path."""
        keys = [key_of_path(project, source, path) for path in paths]
        only = ("record", "content") if with_content else ("record",)
        found: list[pb.RawDocument | None] = []
        for together in grouped(keys, TEXTS_TOGETHER if with_content else READ_TOGETHER):
            hits = await get_many(self._client, RAW.alias(self._client), together, only=only)
            found += [_unpack(hit) if hit else None for hit in hits]
        return found

    async def put_raw(self, puts: Sequence[RawPut], put_at_milliseconds: int) -> list[bool]:
        """Which were put, each whole or not at all."""
        by_key = {key_of_path(put.record.project, put.record.source, put.record.path): put for put in puts}
        was_put: dict[str, bool] = {}

        def decide(key: str, standing: Hit | None) -> Change | None:
            put = by_key[key]
            change_count = standing.source["change_count"] if standing else 0
            was_put[key] = change_count == put.expected_change_count
            return Change(_pack(put.record, put_at_milliseconds)) if was_put[key] else None

        alias = RAW.alias(self._client)
        refused = await change_documents(self._client, alias, list(by_key), decide, only=["change_count"])
        if refused:
            names = ", ".join(by_key[key].record.path for key in refused[:3])
            raise InvalidArgument(f"{names} cannot be kept: OpenSearch takes no document of that size")
        return [was_put[key] for key in by_key]

    async def list_raw(
        self, project: str, source: str, after_path: str, limit: int, *, put_since_milliseconds: int = 0
    ) -> list[pb.RawDocument]:
        """Records by path, without content."""
        wanted = [
            {"term": {"project": project}},
            {"term": {"source": source}},
            {"range": {"put_at": {"gte": put_since_milliseconds}}},
        ]
        hits = await search_hits(
            self._client,
            RAW.alias(self._client),
            {
                "query": {"bool": {"filter": wanted}},
                "sort": [{"path": "asc"}],
                "search_after": [after_path],
                "size": limit,
                "_source": False,
                "stored_fields": "_none_",
                "docvalue_fields": ["record"],
            },
        )
        return [pb.RawDocument.FromString(decode(hit.fields["record"][0])) for hit in hits]


def _pack(document: pb.RawDocument, put_at_milliseconds: int) -> dict[str, Any]:
    record = pb.RawDocument()
    record.CopyFrom(document)
    record.content = b""
    record.put_at_milliseconds = put_at_milliseconds
    return {
        "project": document.project,
        "source": document.source,
        "path": document.path,
        "change_count": document.change_count,
        "put_at": put_at_milliseconds,
        "record": encode(record.SerializeToString()),
        "content": encode(document.content),
    }


def _unpack(hit: Hit) -> pb.RawDocument:
    record = pb.RawDocument.FromString(decode(hit.source["record"]))
    record.content = decode(hit.source.get("content", ""))
    return record
