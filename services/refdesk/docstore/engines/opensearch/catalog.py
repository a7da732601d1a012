"""The catalog of projects, put conditionally; knows nothing of documents."""

from __future__ import annotations

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.opensearch.revisions import put_on_revision
from refdesk.docstore.engines.opensearch.rows import decode
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import MAX_HITS, get_many, search_hits


async def get_project(client: OpenSearchClient, alias: str, slug: str) -> pb.Project | None:
    """One project, or None."""
    [hit] = await get_many(client, alias, [slug])
    return pb.Project.FromString(decode(hit.source["project"])) if hit else None


async def list_projects(client: OpenSearchClient, alias: str) -> list[pb.Project]:
    """All of them, by slug."""
    body = {"sort": [{"slug": "asc"}], "size": MAX_HITS, "_source": False, "docvalue_fields": ["project"]}
    hits = await search_hits(client, alias, body)
    return [pb.Project.FromString(decode(hit.fields["project"][0])) for hit in hits]


async def put_project(
    client: OpenSearchClient, alias: str, project: pb.Project, expected_revision: int
) -> pb.Project | None:
    """The project as it is now, or None where it has another revision. Raises: InvalidArgument; Unavailable."""
    return await put_on_revision(client, alias, project, expected_revision, name="slug", what="project")
