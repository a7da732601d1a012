"""Notes on heads, dropped heads, purges: changes that leave a record's revision alone; knows nothing of puts."""

from __future__ import annotations

from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.notes import apply_note
from refdesk.docstore.engines.opensearch import rows
from refdesk.docstore.engines.opensearch.changing import Change, change_documents
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import Hit, search_hits

PURGED_TOGETHER = 200


async def note_documents(client: OpenSearchClient, alias: str, notes: Sequence[pb.NoteDocumentsItem]) -> list[bool]:
    """Notes what does not conflict, in order; whether each was noted."""
    by_key: dict[str, list[int]] = {}
    for place, note in enumerate(notes):
        by_key.setdefault(rows.key_of(note.project, note.document_id), []).append(place)
    noted = [False] * len(notes)

    def decide(key: str, standing: Hit | None) -> Change | None:
        heads = rows.unpack_heads(standing.source["cuts"]) if standing else []
        revision = int(standing.source["revision"]) if standing else 0
        before = [head.SerializeToString() for head in heads]
        for place in by_key[key]:
            note = notes[place]
            head = next((head for head in heads if head.generation == note.generation), None)
            noted[place] = head is not None and note.revision == revision
            if head is not None and noted[place]:
                apply_note(head, note)
        if standing is None or before == [head.SerializeToString() for head in heads]:
            return None
        return Change(rows.pack_heads(standing.source["source"], heads), is_whole=False)

    keys = [key for key in by_key if key]
    await change_documents(client, alias, keys, decide, only=["revision", "source", "cuts"])
    return noted


async def drop_heads(client: OpenSearchClient, alias: str, project: str, generation: str, limit: int) -> int:
    """Takes heads of a generation off records, some at a time; how many."""
    found = await _find(client, alias, project, [{"term": {"generations": generation}}], "", limit)

    dropped: dict[str, bool] = {}

    def decide(key: str, standing: Hit | None) -> Change | None:
        heads = rows.unpack_heads(standing.source["cuts"]) if standing else []
        kept = [head for head in heads if head.generation != generation]
        dropped[key] = len(kept) < len(heads)
        if standing is None or not dropped[key]:
            return None
        return Change(rows.pack_heads(standing.source["source"], kept), is_whole=False)

    keys = [rows.key_of(project, identifier) for identifier in found]
    await change_documents(client, alias, keys, decide, only=["source", "cuts"])
    return sum(dropped.values())


async def purge_documents(client: OpenSearchClient, alias: str, project: str, deleted_before_milliseconds: int) -> int:
    """Drops texts, sections and titles of documents deleted before a time; how many texts that were."""
    wanted = [{"term": {"purgeable": True}}, {"range": {"put_at": {"lt": deleted_before_milliseconds}}}]
    lengths: dict[str, int] = {}

    def decide(key: str, standing: Hit | None) -> Change | None:
        lengths[key] = 0
        if standing is None or not standing.source["purgeable"]:
            return None
        if standing.source["put_at"] >= deleted_before_milliseconds:
            return None
        lengths[key] = standing.source["text_length"]
        return Change(rows.pack_purge(standing.source["record"]), is_whole=False)

    after = ""
    while found := await _find(client, alias, project, wanted, after, PURGED_TOGETHER):
        keys = [rows.key_of(project, identifier) for identifier in found]
        await change_documents(client, alias, keys, decide, only=["purgeable", "put_at", "text_length", "record"])
        after = found[-1]
    return sum(length > 0 for length in lengths.values())


async def _find(
    client: OpenSearchClient, alias: str, project: str, wanted: Sequence[object], after_id: str, limit: int
) -> list[str]:
    """Ids of the first records after one that are as wanted."""
    body = {
        "query": {"bool": {"filter": [{"term": {"project": project}}, *wanted]}},
        "sort": [{"document_id": "asc"}],
        "size": limit,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["document_id"],
        **({"search_after": [after_id]} if after_id else {}),
    }
    return [hit.fields["document_id"][0] for hit in await search_hits(client, alias, body)]
