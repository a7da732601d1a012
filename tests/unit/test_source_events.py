"""What source systems may say: what each type of event needs, and what becomes of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.cloudevents import CloudEvent, read_message
from refdesk.errors import InvalidArgument, NotFound
from refdesk.source_events import TYPES, SourceEventType, read_source_event

CHANGED, PUSHED, REMOVED, LISTED = TYPES


def event(type: str, data: bytes | None = None, **attributes: str) -> CloudEvent:
    merged = {"specversion": "1.0", "id": "e1", "source": "wiki", "type": type, **attributes}
    return CloudEvent({name: value for name, value in merged.items() if value}, data)


def pushed(data: bytes | None = b"# A\n", **attributes: str) -> CloudEvent:
    values = {"subject": "ops/a.md", "revision": "17", "datacontenttype": "text/markdown", **attributes}
    return event(PUSHED, data, **values)


def listed(data: object, **attributes: str) -> CloudEvent:
    return event(LISTED, json.dumps(data).encode(), revision="5", **attributes)


def test_a_hint_names_a_document_a_folder_or_the_whole_source() -> None:
    for subject in ("ops/a.md", "ops/", ""):
        found = read_source_event(event(CHANGED, subject=subject), "handbook")
        assert (found.type, found.source, found.path, found.item) == (SourceEventType.CHANGED, "wiki", subject, None)


def test_a_pushed_document_bears_its_text_and_all_that_is_said_of_it() -> None:
    facts = {"title": "A", "url": "https://w/a", "version": "v2", "kind": "api", "language": "en"}
    found = read_source_event(pushed(**facts, unknownextension="x"), "handbook")
    assert found.path == "ops/a.md"
    assert found.item == pb.PutRawDocumentsItem(
        source="wiki",
        event_id="e1",
        revision=17,
        content=pb.RawContent(path="ops/a.md", content=b"# A\n", facts=pb.RawFacts(**facts)),
    )


def test_a_removal_and_a_listing() -> None:
    removed = read_source_event(event(REMOVED, subject="a.md", revision="3"), "handbook")
    assert (removed.path, removed.item and removed.item.deletion.path) == ("a.md", "a.md")
    found = read_source_event(listed({"documents": [{"path": "a.md", "revision": 4}, {"path": "b.md"}]}), "handbook")
    assert found.path == ""
    assert found.item is not None
    assert [(one.path, one.revision) for one in found.item.listing.documents] == [("a.md", 4), ("b.md", 0)]


def test_a_source_may_be_named_at_length_but_not_of_another_project() -> None:
    assert read_source_event(pushed(source="/projects/handbook/sources/wiki"), "handbook").source == "wiki"
    with pytest.raises(NotFound, match="project handbook has no source /projects/secret/sources/wiki"):
        read_source_event(pushed(source="/projects/secret/sources/wiki"), "handbook")


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        (event("dev.refdesk.document.pushed.v2"), r"is not known; use one of dev\.refdesk\.document\.changed\.v1, "),
        (event("dev.refdesk.document.deleted.v1"), "is not known"),
        (pushed(revision=""), "needs the attribute revision"),
        (pushed(revision="0"), "whole number from 1"),
        (pushed(revision="-1"), "whole number from 1"),
        (pushed(revision="1.5"), "whole number from 1"),
        (pushed(revision="٣"), "whole number from 1"),
        (pushed(revision=str(2**63)), "whole number from 1"),
        (pushed(revision="9" * 40), "whole number from 1"),
        (pushed(subject=""), "has no subject"),
        (pushed(datacontenttype="application/x-www-form-urlencoded"), "must be text/markdown in UTF-8"),
        (pushed(datacontenttype="text/markdown; charset=latin-1"), "in UTF-8"),
        (pushed(datacontenttype=""), "content type is none"),
        (pushed(None), r"has no text: to delete it, send dev\.refdesk\.document\.removed\.v1"),
        (pushed(b""), "has no text"),
        (event(REMOVED, subject="a.md"), "needs the attribute revision"),
        (event(REMOVED, revision="1"), "has no subject"),
        (listed([], subject="a.md"), "leave subject out"),
        (event(LISTED, revision="5"), "data in JSON"),
        (listed([]), "documents, an array"),
        (listed({"documents": {"a.md": 1}}), "documents, an array"),
        (listed({"documents": ["a.md"]}), "needs path"),
        (listed({"documents": [{"path": 3}]}), "needs path"),
        (listed({"documents": [{"path": "\ud800"}]}), "needs path"),
        (listed({"documents": [{"path": "a.md", "revision": 0}]}), r"revision of a\.md"),
        (listed({"documents": [{"path": "a.md", "revision": True}]}), r"revision of a\.md"),
        (listed({"documents": [{"path": "a.md", "revision": "4"}]}), r"revision of a\.md"),
    ],
)
def test_an_event_that_lacks_something_is_refused_with_what_to_do(bad: CloudEvent, complaint: str) -> None:
    with pytest.raises(InvalidArgument, match=complaint):
        read_source_event(bad, "handbook")


@given(st.integers(1, 2**63 - 1))
def test_a_revision_may_be_a_number_in_json_or_a_text(revision: int) -> None:
    members = {"specversion": "1.0", "id": "e", "source": "wiki", "type": REMOVED, "subject": "a.md"}
    for value in (revision, str(revision)):
        found = read_source_event(read_message({}, json.dumps({**members, "revision": value}).encode()), "handbook")
        assert found.item is not None
        assert found.item.revision == revision
