"""What the site surface tells a client when it connects, within the 2,048 characters that clients keep."""

from __future__ import annotations

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway.surfaces.docs.wording import listed, one_line

MOST_CHARACTERS = 2_048
OPENING = "Start with get_site_overview to learn what documentation sets this site publishes."
USAGE = (
    "Then browse a set with get_documentation_set, or search: search_docs finds documentation, search_api the API "
    "reference, and neither finds the other's pages. pageTypeIds narrows a search to some sets, which pins a session "
    "to one version of an API.\n"
    "Fetch only the pages that you need, up to 25 at a time, with get_pages_by_id or get_pages_by_path. "
    "get_openapi_spec is large: use it only when the whole API is needed.\n"
    "Cite the url of every page that you use. Only what is published is here; if it does not answer, say so."
)


def compose(project: docstore_api.Project | None) -> str:
    """The opening move first, then how to go on, then which sets there are, as far as they fit."""
    text = f"{OPENING}\n{USAGE}"
    if project is None or not project.sources:
        return text
    label = f"\nSets of {one_line(project.title or project.slug, 100)}: "
    return text + label + listed((source.name for source in project.sources), MOST_CHARACTERS - len(text + label))
