"""Reads chunks with their text, place and neighbours; knows nothing of why they were found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.cuts import Cut, CutCache, Stamp, parse_cut
from refdesk.docstore.engines.opensearch import rows
from refdesk.docstore.engines.opensearch.changing import grouped
from refdesk.docstore.engines.opensearch.records import TEXTS_TOGETHER
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import Hit, get_many, search_hits


async def hydrate_chunks(
    client: OpenSearchClient,
    alias: str,
    cache: CutCache,
    project: str,
    generation: str,
    chunk_ids: Sequence[str],
    *,
    with_neighbors: bool,
) -> list[pb.HydratedChunk]:
    """The chunks that a head of the generation lists, in the order that was asked."""
    if not chunk_ids:
        return []
    stamps = await _find(client, alias, project, generation, chunk_ids)
    cuts = await _read_cuts(client, alias, cache, generation, stamps)
    # A head may list none of them: the document was found by one of another generation, or was put meanwhile.
    found = {chunk_id: cut for cut in cuts for chunk_id in set(chunk_ids) & cut.ordinals.keys()}
    return [
        found[chunk_id].hydrate(chunk_id, with_neighbors=with_neighbors) for chunk_id in chunk_ids if chunk_id in found
    ]


async def _find(
    client: OpenSearchClient, alias: str, project: str, generation: str, chunk_ids: Sequence[str]
) -> dict[str, Stamp]:
    """Key of each current document that lists one of the chunks, and which write of it was found."""
    wanted = [
        {"term": {"project": project}},
        {"term": {"deleted": False}},
        {"term": {"generations": generation}},
        {"terms": {"chunks": list(set(chunk_ids))}},
    ]
    hits = await search_hits(
        client,
        alias,
        {
            "query": {"bool": {"filter": wanted}},
            "size": len(chunk_ids),
            "seq_no_primary_term": True,
            "_source": False,
            "stored_fields": "_none_",
            "docvalue_fields": ["document_id"],
        },
    )
    return {rows.key_of(project, hit.fields["document_id"][0]): (hit.seq_no, hit.primary_term) for hit in hits}


async def _read_cuts(
    client: OpenSearchClient, alias: str, cache: CutCache, generation: str, stamps: Mapping[str, Stamp]
) -> list[Cut]:
    """The documents, from the cache those that have not been written since."""
    kept = {key: cache.get((key, generation), stamp) for key, stamp in stamps.items()}
    cuts = [cut for cut in kept.values() if cut is not None]
    for together in grouped([key for key, cut in kept.items() if cut is None], TEXTS_TOGETHER):
        for hit in await get_many(client, alias, together, only=("record", "cuts", "text")):
            cut = _parse(hit, generation) if hit else None
            if hit and cut:
                cache.put((hit.id, generation), (hit.seq_no, hit.primary_term), cut)
                cuts.append(cut)
    return cuts


def _parse(hit: Hit, generation: str) -> Cut | None:
    """None where the document was deleted, or lost the head, since it was found."""
    record = rows.decode(hit.source["record"])
    head = next((head for head in rows.unpack_heads(hit.source["cuts"]) if head.generation == generation), None)
    if head is None or pb.Document.FromString(record).deleted:
        return None
    return parse_cut(record, head.SerializeToString(), hit.source["text"])
