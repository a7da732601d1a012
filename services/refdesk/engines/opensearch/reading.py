"""Reads documents by id as they are now, or by a search as of the last refresh; knows nothing of what stands in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from refdesk.engines.opensearch.client import READ_SHARE, OpenSearchClient, Pauses
from refdesk.engines.opensearch.faults import Busy, Refused
from refdesk.errors import Internal, RefdeskError, Unavailable

MAX_HITS = 10_000
"""index.max_result_window, as an index has it unless somebody sets it."""
_WHOLE = {"allow_partial_search_results": False}
_RANKED = {"search_type": "dfs_query_then_fetch"}
"""Of one shard OpenSearch makes an ordinary search of it by itself."""


@dataclass(frozen=True)
class Hit:
    """A document that was found."""

    id: str
    source: Mapping[str, Any]
    """What of it was asked for."""
    seq_no: int = -1
    """With primary_term, names this very write of the document; -1 where a search did not ask for it."""
    primary_term: int = -1
    fields: Mapping[str, list[Any]] = field(default_factory=dict)
    """By `docvalue_fields`."""
    score: float = 0.0
    version: int = -1
    """Where a search asked for it."""
    index: str = ""
    """The index itself, where several were searched by their aliases."""
    matched: Sequence[str] = ()
    """Names of the parts of the query that it matches."""

    @property
    def unchanged(self) -> dict[str, int | str]:
        """The condition that it is still the same."""
        return {"if_seq_no": self.seq_no, "if_primary_term": self.primary_term}


async def get_many(
    client: OpenSearchClient, alias: str, ids: Sequence[str], *, without: Sequence[str] = (), only: Sequence[str] = ()
) -> list[Hit | None]:
    """One document an id, in order, None where there is none; every acknowledged write is seen, refreshed or not.

    Raises: Unavailable, as a shard that does not answer is no missing document.
    """
    if not ids:
        return []
    params = {
        name: ",".join(fields) for name, fields in (("_source_excludes", without), ("_source_includes", only)) if fields
    }
    answer = await client.read("POST", f"/{alias}/_mget", {"ids": list(ids)}, params)
    return [_read_document(client, document) for document in answer["docs"]]


async def search(client: OpenSearchClient, alias: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The whole answer of a search, of every shard or of none. Raises: Unavailable; Internal."""
    answer: Mapping[str, Any] = await client.read(
        "POST", f"/{alias}/_search", {"track_total_hits": False, **body}, {"allow_partial_search_results": "false"}
    )
    return answer


async def search_hits(client: OpenSearchClient, alias: str, body: Mapping[str, Any]) -> list[Hit]:
    """What a search found, in its order. Raises: as `search`."""
    return read_hits(await search(client, alias, body))


async def search_many(
    client: OpenSearchClient, searches: Sequence[tuple[str, Mapping[str, Any]]]
) -> list[Mapping[str, Any]]:
    """The whole answers of several searches in one request, each by alias and body; ranked by the statistics of all shards.

    Raises: as `search`, where any of them fails.
    """
    lines = b"".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        for alias, body in searches
        for line in ({"index": alias, **_WHOLE, **_RANKED}, {"track_total_hits": False, **body})
    )
    pauses = Pauses(client.settings.retry_seconds * READ_SHARE)
    while True:
        answers: list[Mapping[str, Any]] = (await client.read("POST", "/_msearch", lines))["responses"]
        failure = _read_failure(client, answers)
        if failure is None:
            return answers
        if not isinstance(failure, Busy) or not await pauses.rest():
            raise failure


def read_hits(answer: Mapping[str, Any]) -> list[Hit]:
    """What a search found, from its whole answer."""
    return [
        Hit(
            hit.get("_id", ""),
            hit.get("_source", {}),
            hit.get("_seq_no", -1),
            hit.get("_primary_term", -1),
            hit.get("fields", {}),
            hit.get("_score") or 0.0,
            hit.get("_version", -1),
            hit["_index"],
            hit.get("matched_queries", ()),
        )
        for hit in answer["hits"]["hits"]
    ]


async def refresh(client: OpenSearchClient, alias: str) -> None:
    """Makes what was written before this call searchable. Raises: Unavailable where that is not sure of every shard."""
    answer = await client.write("POST", f"/{alias}/_refresh")
    if answer["_shards"]["failed"]:
        raise Unavailable(f"not every shard of {alias} at {client.address} answers")


def _read_failure(client: OpenSearchClient, answers: Sequence[Mapping[str, Any]]) -> RefdeskError | None:
    """The first that failed, one that needs no more than another attempt last."""
    failures = [
        client.faults.translate_status(answer["status"], answer["error"]) for answer in answers if "error" in answer
    ]
    if not failures:
        return None
    failure = min(failures, key=lambda one: isinstance(one, Busy))
    return Internal(f"a request of ours was refused: {failure.message}") if isinstance(failure, Refused) else failure


def _read_document(client: OpenSearchClient, document: Mapping[str, Any]) -> Hit | None:
    error = document.get("error")
    if error is not None:
        # A status is not told of one document; whatever it is, nobody knows whether there is such a document.
        raise client.faults.translate_status(503, error)
    if not document.get("found"):
        return None
    return Hit(
        document["_id"],
        document.get("_source", {}),
        document["_seq_no"],
        document["_primary_term"],
        version=document["_version"],
        index=document["_index"],
    )
