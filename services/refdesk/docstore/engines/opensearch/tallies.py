"""Counts of current documents and heads, by the engine's own sums; knows nothing of texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import search

MOST_NAMES = 10_000
"""Sources, versions, languages or generations of one project; counts are exact up to here."""


async def read_stats(client: OpenSearchClient, alias: str, project: str, generation: str) -> pb.GetStatsResponse:
    """Counts of a project in a generation; all zero for a project that is not known."""
    answer = await search(client, alias, _question(project, generation))
    counts = answer["aggregations"]
    heads = counts["heads"]["followed"]
    sources = _counts(counts["sources"])
    chunks = {bucket["key"]: int(bucket["chunks"]["value"]) for bucket in heads["sources"]["buckets"]}
    languages = {name: count for name, count in _counts(counts["languages"]).items() if name}
    return pb.GetStatsResponse(
        document_count=sum(sources.values()),
        chunk_count=sum(chunks.values()),
        embeddable_count=heads["speaks"]["doc_count"],
        embedded_count=heads["speaks"]["embedded"]["doc_count"],
        missing_vector_count=int(heads["missing"]["value"]),
        sources=[
            pb.SourceStats(source=name, document_count=count, chunk_count=chunks.get(name, 0))
            for name, count in sorted(sources.items())
        ],
        versions=sorted(_counts(counts["versions"]).keys() - {""}),
        languages=sorted(languages, key=lambda name: (-languages[name], name)),
        other_generation_count=counts["others"]["doc_count"],
        other_generations=sorted(_counts(counts["others"]["generations"])),
    )


def _question(project: str, generation: str) -> dict[str, Any]:
    followed = {"term": {"heads.generation": generation}}
    elsewhere = {"must": {"exists": {"field": "generations"}}, "must_not": {"term": {"generations": generation}}}
    return {
        "size": 0,
        "query": {"bool": {"filter": [{"term": {"project": project}}, {"term": {"deleted": False}}]}},
        "aggs": {
            "sources": _names("source"),
            "versions": _names("version"),
            "languages": _names("language"),
            "heads": {
                "nested": {"path": "heads"},
                "aggs": {"followed": {"filter": followed, "aggs": _head_sums()}},
            },
            "others": {"filter": {"bool": elsewhere}, "aggs": {"generations": _names("generations")}},
        },
    }


def _head_sums() -> dict[str, Any]:
    embedded = {"filter": {"term": {"heads.missing_count": 0}}}
    return {
        "sources": {**_names("heads.source"), "aggs": {"chunks": {"sum": {"field": "heads.chunk_count"}}}},
        "missing": {"sum": {"field": "heads.missing_count"}},
        "speaks": {"filter": {"term": {"heads.speaks": True}}, "aggs": {"embedded": embedded}},
    }


def _names(field: str) -> dict[str, Any]:
    return {"terms": {"field": field, "size": MOST_NAMES}}


def _counts(aggregation: Mapping[str, Any]) -> dict[str, int]:
    return {bucket["key"]: bucket["doc_count"] for bucket in aggregation["buckets"]}
