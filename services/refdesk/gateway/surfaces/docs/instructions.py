"""What the docs surface tells a client when it connects, within the 2,048 characters that clients keep."""

from __future__ import annotations

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway.surfaces.docs.wording import count, listed, one_line, source_label, vectors_line

MOST_CHARACTERS = 2_048
"""Clients cut there, without saying so."""

USAGE = (
    "Use search_docs first, for a question or an exact identifier (a setting, an error code, a header): ask in the "
    "language that the pages are written in. Narrow it with source, path_prefix or version when you know where the "
    "answer lives, and raise limit when a topic is spread over many pages.\n"
    "Use read_document to read on from a result: its path with its breadcrumb as heading is cheaper than the page.\n"
    "Use list_topics to see what exists, and when a search finds no good match.\n"
    "Cite the file path of every document that you use. If the documents do not answer, say so."
)


def compose(project: docstore_api.Project, stats: docstore_api.GetStatsResponse) -> str:
    """Project, counts and sources first, then when to use which tool."""
    holds = f"{count(stats.document_count, 'document')}, {count(stats.chunk_count, 'chunk')}"
    description = one_line(project.description, 300)
    first = (
        f'The documentation of project "{project.slug}"{": " + description if description else ""}. It holds {holds}.'
    )
    rest = "\n".join(part for part in (vectors_line(stats), USAGE) if part)
    if not project.sources:
        return f"{first}\n{rest}"
    label = "Sources (the first segment of every path): "
    room = MOST_CHARACTERS - len(first) - len(label) - len(rest) - 2
    return f"{first}\n{label}{listed(map(source_label, project.sources), room)}\n{rest}"
