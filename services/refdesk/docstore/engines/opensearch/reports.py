"""What kept documents from being indexed, one document a path; knows nothing of the records themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.opensearch.rows import key_of_path
from refdesk.engines.opensearch.bulk import Action, Ending, write_actions
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import search
from refdesk.errors import InvalidArgument


async def report_documents(
    client: OpenSearchClient,
    alias: str,
    project: str,
    source: str,
    reports: Sequence[pb.Report],
    cleared_paths: Sequence[str],
    now_milliseconds: int,
) -> int:
    """Clears, then notes; how many reports the source has now.

    Raises: InvalidArgument for one that OpenSearch refuses to keep, the others are noted then; Unavailable.
    """
    noted = {key_of_path(project, source, report.path): report for report in reports}
    cleared = {key_of_path(project, source, path) for path in cleared_paths} - noted.keys()
    actions = [Action("delete", alias, key) for key in sorted(cleared)]
    actions += [
        Action("index", alias, key, _pack(project, source, report, now_milliseconds)) for key, report in noted.items()
    ]
    endings = await write_actions(client, actions, refresh="true")
    if Ending.REFUSED in endings:
        raise InvalidArgument(f"a report of {source} cannot be kept: its path is longer than OpenSearch takes")
    return (await list_reports(client, alias, project, source, 0))[1]


async def list_reports(
    client: OpenSearchClient, alias: str, project: str, source: str, limit: int
) -> tuple[list[pb.Report], int]:
    """The first reports by path, and how many there are."""
    wanted = [{"term": {"project": project}}, *([{"term": {"source": source}}] if source else [])]
    answer = await search(
        client,
        alias,
        {
            "query": {"bool": {"filter": wanted}},
            "sort": [{"path": "asc"}, {"source": "asc"}],
            "size": limit,
            "track_total_hits": True,
        },
    )
    reports = [_unpack(hit["_source"]) for hit in answer["hits"]["hits"]]
    return reports, int(answer["hits"]["total"]["value"])


def _pack(project: str, source: str, report: pb.Report, now_milliseconds: int) -> dict[str, Any]:
    return {
        "project": project,
        "source": source,
        "path": report.path,
        "kind": report.kind,
        "reason": report.reason,
        "reported_at": now_milliseconds,
    }


def _unpack(source: Mapping[str, Any]) -> pb.Report:
    return pb.Report(
        path=source["path"],
        kind=source["kind"],
        reason=source["reason"],
        reported_at_milliseconds=source["reported_at"],
    )
