"""Finds current paths that share pieces with one that is not known; knows nothing of records."""

from __future__ import annotations

from refdesk.docstore.engines.likeness import MAX_CANDIDATES, rank_paths
from refdesk.docstore.engines.opensearch.rows import name_of
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import search_hits

COMPARED_CHARACTERS = 200
"""From the end, where the name stands: each makes two clauses, of at most 1,024."""


async def suggest_paths(client: OpenSearchClient, alias: str, project: str, path: str, limit: int) -> list[str]:
    """Current paths of the project, nearest first."""
    alike = [
        {"constant_score": {"filter": {"term": {"name": name_of(path)}}, "boost": 1_000}},
        {"match": {"path.grams": path[-COMPARED_CHARACTERS:]}},
    ]
    current = [{"term": {"project": project}}, {"term": {"deleted": False}}]
    hits = await search_hits(
        client,
        alias,
        {
            "query": {"bool": {"filter": current, "should": alike, "minimum_should_match": 1}},
            "sort": ["_score", {"path": "asc"}],
            "size": MAX_CANDIDATES,
            "_source": False,
            "stored_fields": "_none_",
            "docvalue_fields": ["path"],
        },
    )
    return rank_paths(path, (hit.fields["path"][0] for hit in hits), limit)
