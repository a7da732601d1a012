"""The documentation sets of a project: its declared sources as a site's readers know them; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.errors import InvalidArgument, NotFound
from refdesk.gateway.budgets import count_fitting
from refdesk.gateway.surfaces.docs.wording import listed, one_line, quoted

DOCUMENTATION, API = "documentation", "api"
NAMES_CHARACTERS = 1_000
SETS_CHARACTERS = 16_000
"""Of all sets together: a token has a character at least."""
MOST_SETS = 200
"""Of one answer: with names as long as they may be, as many fit into 20,000 tokens."""


def describe_site(project: docstore_api.Project) -> Mapping[str, Any]:
    """get_site_overview."""
    return {
        "title": project.title or project.slug,
        "description": one_line(project.description, 300),
        **describe_sets(project),
    }


def describe_sets(project: docstore_api.Project) -> Mapping[str, Any]:
    """list_documentation_sets."""
    described = [describe_set(source) for source in project.sources[:MOST_SETS]]
    lengths = (len(json.dumps(one, ensure_ascii=False)) + 2 for one in described)
    shown = described[: count_fitting(lengths, SETS_CHARACTERS)]
    left_out = len(project.sources) - len(shown)
    return {"sets": shown, **({"omitted": left_out} if left_out else {})}


def describe_set(source: docstore_api.Source) -> Mapping[str, Any]:
    """One set."""
    return {
        "id": source.name,
        "name": one_line(source.title or source.name, 100),
        "type": kind_of(source),
        "basePath": f"/{source.name}/",
    }


def kind_of(source: docstore_api.Source) -> str:
    """What its pages are: documentation, unless it says api."""
    return API if source.type == API else DOCUMENTATION


def find_set(project: docstore_api.Project, set_id: str) -> docstore_api.Source:
    """The set of this id. Raises: NotFound with those there are."""
    found = next((source for source in project.sources if source.name == set_id), None)
    if found is None:
        raise NotFound(f"no documentation set {quoted(one_line(set_id, 60))}; {_known(project.sources)}")
    return found


def narrow_sets(
    project: docstore_api.Project, kind: str, set_ids: Sequence[str] | None, name: str = "pageTypeIds"
) -> list[str] | None:
    """The sets of a kind ("": any) that a search is narrowed to; None: no narrowing. One of another kind is not among them.
    `name`: of the argument.

    Raises: InvalidArgument for an id that is no set's.
    """
    if not set_ids:
        return None
    kinds = {source.name: kind_of(source) for source in project.sources}
    for one in set_ids:
        if one not in kinds:
            raise InvalidArgument(
                f"{name}: no documentation set {quoted(one_line(one, 60))}; {_known(project.sources)}"
            )
    return [one for one in dict.fromkeys(set_ids) if kind in ("", kinds[one])]


def known_sets(project: docstore_api.Project, kind: str) -> str:
    """Names of the sets of a kind."""
    names = [source.name for source in project.sources if kind_of(source) == kind]
    return listed(names, NAMES_CHARACTERS) if names else "none"


def _known(sources: Sequence[docstore_api.Source]) -> str:
    return f"its sets: {listed((source.name for source in sources), NAMES_CHARACTERS)}" if sources else "it has none"
