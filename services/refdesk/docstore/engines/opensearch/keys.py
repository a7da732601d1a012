"""Access keys, put conditionally; knows nothing of what they open."""

from __future__ import annotations

from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.opensearch.revisions import put_on_revision
from refdesk.docstore.engines.opensearch.rows import decode
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import MAX_HITS, get_many, search_hits


async def get_keys(client: OpenSearchClient, alias: str, key_ids: Sequence[str]) -> list[pb.AccessKey | None]:
    """One item an id, in the order of the ids."""
    hits = await get_many(client, alias, key_ids)
    return [pb.AccessKey.FromString(decode(hit.source["key"])) if hit else None for hit in hits]


async def list_keys(client: OpenSearchClient, alias: str) -> list[pb.AccessKey]:
    """All of them, by id."""
    keys: list[pb.AccessKey] = []
    while True:
        after = {"search_after": [keys[-1].key_id]} if keys else {}
        body = {"sort": [{"key_id": "asc"}], "size": MAX_HITS, "_source": False, "docvalue_fields": ["key"], **after}
        hits = await search_hits(client, alias, body)
        keys += [pb.AccessKey.FromString(decode(hit.fields["key"][0])) for hit in hits]
        if len(hits) < MAX_HITS:
            return keys


async def put_key(
    client: OpenSearchClient, alias: str, key: pb.AccessKey, expected_revision: int
) -> pb.AccessKey | None:
    """The key as it is now, or None where it has another revision. Raises: InvalidArgument; Unavailable."""
    return await put_on_revision(client, alias, key, expected_revision, name="key_id", what="key")
