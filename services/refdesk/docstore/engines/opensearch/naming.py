"""Finds records by short names of sections and contents, and names those that have none; knows nothing of what a name means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines import names
from refdesk.docstore.engines.opensearch import rows
from refdesk.docstore.engines.opensearch.changing import Change, change_documents
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import Hit, get_many, search_hits
from refdesk.errors import Unavailable

FILLED_TOGETHER = 200
"""Records that are given names by one step."""
FIELDS = {pb.ID_KIND_DOCUMENT: "document_id", pb.ID_KIND_SECTION: "section_names", pb.ID_KIND_CONTENT: "content_names"}
_READ_TOGETHER = 100
_LATER_SECONDS = 5.0


async def resolve_ids(
    client: OpenSearchClient, alias: str, project: str, queries: Sequence[pb.IdQuery]
) -> list[pb.ResolvedId]:
    """What each prefix fits, in order of the queries. Raises: Unavailable."""
    return [await _resolve(client, alias, project, query) for query in queries]


async def fill_names(client: OpenSearchClient, alias: str, project: str = "") -> bool:
    """Gives names to some records that an earlier release has put, of one project or ("") of any; whether there was one."""
    scope = [{"term": {"project": project}}] if project else []
    unnamed = {"bool": {"filter": scope, "must_not": {"term": {"named": True}}}}
    body = {
        "query": unnamed,
        "size": FILLED_TOGETHER,
        "_source": False,
        "stored_fields": "_none_",
        "docvalue_fields": ["project", "document_id"],
    }
    found = await search_hits(client, alias, body)
    keys = [rows.key_of(hit.fields["project"][0], hit.fields["document_id"][0]) for hit in found]

    def decide(_: str, standing: Hit | None) -> Change | None:
        return Change(rows.pack_names(_unpack(standing)), is_whole=False) if standing else None

    await change_documents(client, alias, keys, decide, only=["record", "sections"])
    return bool(keys)


async def _resolve(client: OpenSearchClient, alias: str, project: str, query: pb.IdQuery) -> pb.ResolvedId:
    digits = names.read_digits(query.prefix)
    if not digits:
        return pb.ResolvedId()
    found = await _find(client, alias, project, query.kind, digits)
    # A record may stand there unnamed; that it does not exist is said of named ones only.
    if not found.candidates and query.kind != pb.ID_KIND_DOCUMENT and await fill_names(client, alias, project):
        found = await _find(client, alias, project, query.kind, digits)
        if not found.candidates and await fill_names(client, alias, project):
            raise Unavailable(
                "records of an earlier release cannot be found by short names yet; try again soon",
                retry_after_seconds=_LATER_SECONDS,
            )
    return found


async def _find(client: OpenSearchClient, alias: str, project: str, kind: pb.IdKind, digits: str) -> pb.ResolvedId:
    wanted = [{"term": {"project": project}}, {"term": {"deleted": False}}, _named(kind, digits)]
    hits = await search_hits(
        client,
        alias,
        {
            "query": {"bool": {"filter": wanted}},
            "sort": [{"path": "asc"}],
            "size": names.MAX_COMPARED,
            "_source": False,
            "stored_fields": "_none_",
            "docvalue_fields": ["document_id"],
        },
    )
    keys = [rows.key_of(project, hit.fields["document_id"][0]) for hit in hits]
    only = ["record", "sections"] if kind == pb.ID_KIND_SECTION else ["record"]
    candidates: list[pb.IdCandidate] = []
    for start in range(0, len(keys), _READ_TOGETHER):
        for hit in await get_many(client, alias, keys[start : start + _READ_TOGETHER], only=only):
            candidates += names.find_candidates(_unpack(hit), kind, digits) if hit else []
    return names.choose_candidates(candidates)


def _named(kind: pb.IdKind, digits: str) -> dict[str, Any]:
    return {"prefix": {FIELDS[kind]: digits[: names.INDEXED_DIGITS]}}


def _unpack(hit: Hit) -> pb.Document:
    document = pb.Document.FromString(rows.decode(hit.source["record"]))
    document.MergeFromString(rows.decode(hit.source.get("sections", "")))
    return document
