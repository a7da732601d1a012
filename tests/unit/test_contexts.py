"""Contexts of path prefixes: as they are declared, as they travel in the catalog, and which one a document has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway.surfaces.notes.contexts import Contexts
from refdesk.ingest.catalog import wanted_project
from refdesk.projects import ProjectSettings, SourceSettings

SEGMENT = st.sampled_from(["a", "b", "ab", "a.md"])


def project_of(contexts: dict[str, str], description: str = "") -> docstore_api.Project:
    source = SourceSettings(name="notes", path="/docs", contexts=contexts, description=description)
    return wanted_project("handbook", ProjectSettings(sources=(source,)), "model", None)


@pytest.mark.promise("notes.40", "notes.41")
def test_the_longest_prefix_by_whole_segments_wins() -> None:
    contexts = Contexts(
        project_of({"ops/": "Run by  the\nplatform team", "ops/keys": "Keys", "/": "All notes"}, "Notes")
    )
    assert contexts.of_path("notes/ops/pager.md") == "Run by the platform team"
    assert contexts.of_path("notes/ops/keys/rotation.md") == "Keys"
    assert contexts.of_path("notes/ops/keys.md") == "Run by the platform team"
    assert contexts.of_path("notes/ops-old/keys.md") == "All notes"
    assert contexts.of_path("other/ops/keys.md") == ""
    assert contexts.of_source("notes") == "All notes"


def test_pages_are_for_anybody_only_where_a_project_says_so() -> None:
    for declared in (False, True):
        settings = ProjectSettings(public_pages=declared)
        assert wanted_project("handbook", settings, "model", None).public_pages is declared
    assert not ProjectSettings().public_pages


def test_a_source_without_a_context_of_its_own_is_described_by_its_description() -> None:
    contexts = Contexts(project_of({"ops": "Run by the platform team"}, "Notes"))
    assert contexts.of_path("notes/travel.md") == contexts.of_source("notes") == "Notes"


@given(
    st.dictionaries(st.lists(SEGMENT, max_size=3).map("/".join), st.sampled_from(["x", "y", "z"])), st.lists(SEGMENT)
)
def test_the_context_of_a_path_is_what_comparing_with_every_prefix_says(
    declared: dict[str, str], segments: list[str]
) -> None:
    path = "/".join(segments)
    fitting = [prefix for prefix in declared if not prefix or path == prefix or path.startswith(f"{prefix}/")]
    expected = declared[max(fitting, key=len)] if fitting else ""
    assert Contexts(project_of(declared)).of_path(f"notes/{path}".rstrip("/")) == expected


@pytest.mark.parametrize(
    ("contexts", "says"),
    [
        ({"ops": " "}, "the context of ops must have 1 to 500 characters"),
        ({"": "x" * 501}, "the context of / must have 1 to 500 characters"),
        ({"ops": "a", "ops/": "b"}, "two contexts are of the same path prefix"),
    ],
)
def test_a_context_that_says_nothing_or_too_much_is_refused(contexts: dict[str, str], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        SourceSettings(name="notes", path="/docs", contexts=contexts)
