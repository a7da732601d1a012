"""Rows of calls, written in batches and read for reports; knows nothing of what was called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.opensearch.rows import decode, encode
from refdesk.engines.opensearch.bulk import Action, write_actions
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import refresh, search_hits

PURGED_TOGETHER = 1000
SELECTIONS: Mapping[pb.CallSelection, list[dict[str, Any]]] = {
    pb.CALL_SELECTION_UNSPECIFIED: [],
    pb.CALL_SELECTION_FOUND_NOTHING: [{"term": {"found_nothing": True}}],
    pb.CALL_SELECTION_DENIED: [{"term": {"denied": True}}],
}


async def put_calls(client: OpenSearchClient, alias: str, calls: Sequence[pb.CallRecord]) -> None:
    """Notes each once: what is there already is a conflict, and stays. Found by the next refresh."""
    actions = {call.call_id: Action("create", alias, call.call_id, _pack(call)) for call in calls}
    await write_actions(client, actions.values(), refresh="false")


async def list_calls(
    client: OpenSearchClient,
    alias: str,
    project: str,
    selection: pb.CallSelection,
    since_milliseconds: int,
    limit: int,
) -> list[pb.CallRecord]:
    """The newest first."""
    await refresh(client, alias)
    wanted = [{"term": {"project": project}}, {"range": {"at": {"gte": since_milliseconds}}}, *SELECTIONS[selection]]
    body = {
        "query": {"bool": {"filter": wanted}},
        "sort": [{"at": "desc"}, {"call_id": "asc"}],
        "size": limit,
        "_source": False,
        "docvalue_fields": ["call"],
    }
    hits = await search_hits(client, alias, body)
    return [pb.CallRecord.FromString(decode(hit.fields["call"][0])) for hit in hits]


async def purge_calls(client: OpenSearchClient, alias: str, project: str, before_milliseconds: int) -> int:
    """How many were dropped."""
    await refresh(client, alias)
    wanted = [{"term": {"project": project}}, {"range": {"at": {"lt": before_milliseconds}}}]
    body = {"query": {"bool": {"filter": wanted}}, "sort": [{"at": "asc"}], "size": PURGED_TOGETHER, "_source": False}
    purged = 0
    while hits := await search_hits(client, alias, body):
        await write_actions(client, [Action("delete", alias, hit.id) for hit in hits], refresh="true")
        purged += len(hits)
    return purged


def _pack(call: pb.CallRecord) -> dict[str, Any]:
    return {
        "call_id": call.call_id,
        "project": call.project,
        "at": call.at_milliseconds,
        "found_nothing": call.found_nothing,
        "denied": bool(call.denied),
        "call": encode(call.SerializeToString()),
    }
