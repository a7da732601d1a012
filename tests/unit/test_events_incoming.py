"""What a message on the queue is, by its subject and by what is in it; the two must agree."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.ingest.events.event import ChangeEvent, ChangeType, encode
from refdesk.ingest.events.incoming import Place, Published, Unreadable, read_incoming, read_subject
from refdesk.ingest.events.stream import parked_subject, subject
from refdesk.source_events import TYPE_NAMES, SourceEventType

OWN = ChangeEvent("1", "handbook", "my.docs", "a.md", ChangeType.DELETED, "2026-01-02T03:04:05Z", True)
WIKI = "refdesk.events.handbook.wiki"
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


def sent(kind: SourceEventType, **members: object) -> bytes:
    made = {"specversion": "1.0", "id": "e1", "source": "wiki", "type": TYPE_NAMES[kind], "subject": "a.md", **members}
    if kind is not SourceEventType.CHANGED:
        made.setdefault("revision", 7)
    if kind is SourceEventType.PUSHED:
        made |= {"datacontenttype": "text/markdown", "data": "# A\n"}
    if kind is SourceEventType.LISTED:
        made |= {"subject": None, "data": {"documents": []}}
    return json.dumps(made).encode()


@given(texts, texts, st.sampled_from(ChangeType), st.booleans())
def test_an_event_of_our_own_comes_back_from_its_subject(
    project: str, source: str, kind: ChangeType, bulk: bool
) -> None:
    event = replace(OWN, project=project, source=source, type=kind, bulk=bulk)
    assert read_incoming(subject(event), {"nats-msg-id": b"1"}, encode(event)) == event
    assert read_subject(subject(event)) == Place(project, source, kind, bulk)


@pytest.mark.parametrize("kind", SourceEventType)
@pytest.mark.parametrize("bulk", [False, True])
def test_an_event_of_a_source_system_is_read_where_its_subject_says_the_same(kind: SourceEventType, bulk: bool) -> None:
    name = f"{WIKI}.{kind}" + (".bulk" if bulk else "")
    found = read_incoming(name, {}, sent(kind))
    assert isinstance(found, Published)
    assert (found.project, found.source, found.event.type, found.bulk) == ("handbook", "wiki", kind, bulk)
    assert found.event.path == ("" if kind is SourceEventType.LISTED else "a.md")


@pytest.mark.parametrize(
    ("name", "payload", "reason"),
    [
        (f"{WIKI}.pushed", sent(SourceEventType.REMOVED), "the subject says type pushed and the event says removed"),
        (f"{WIKI}.removed", sent(SourceEventType.REMOVED, source="docs"), "says source wiki and the event says docs"),
        (
            f"{WIKI}.removed",
            sent(SourceEventType.REMOVED, source="/projects/secret/sources/wiki"),
            "project handbook has no source /projects/secret/sources/wiki",
        ),
        (subject(OWN), encode(replace(OWN, project="secret")), "says project handbook and the event says secret"),
        (subject(OWN), encode(replace(OWN, source="wiki")), "says source my.docs and the event says wiki"),
        (subject(OWN), encode(replace(OWN, type=ChangeType.CHANGED)), "says type deleted and the event says changed"),
        (f"{WIKI}.pushed", b"\x00\x01", "not JSON"),
        (f"{WIKI}.pushed", b"{}", "has no specversion"),
        (f"{WIKI}.pushed", sent(SourceEventType.PUSHED, revision=None), "needs the attribute revision"),
        (f"{WIKI}.deleted", sent(SourceEventType.REMOVED, type="dev.refdesk.document.deleted.v1"), "is not known"),
        (f"{WIKI}.exploded", sent(SourceEventType.PUSHED), "names no type of event that is known"),
        (f"{WIKI}.pushed.slowly", sent(SourceEventType.PUSHED), "names no type of event that is known"),
    ],
)
def test_what_contradicts_itself_or_is_no_event_is_unreadable_by_name_and_reason(
    name: str, payload: bytes, reason: str
) -> None:
    found = read_incoming(name, {}, payload)
    assert isinstance(found, Unreadable)
    assert reason in found.reason
    assert found.project == "handbook"
    assert found.source in ("wiki", "my.docs")


def test_a_source_of_any_name_is_named_in_a_subject_as_our_own_events_do() -> None:
    found = read_incoming(
        "refdesk.events.handbook.my%2Edocs.pushed", {}, sent(SourceEventType.PUSHED, source="my.docs")
    )
    assert isinstance(found, Published)
    assert found.source == "my.docs"


@given(
    st.lists(st.text(), max_size=8).map(".".join),
    st.binary(max_size=50),
    st.dictionaries(st.sampled_from(["content-type", "ce-specversion", "ce-id"]), st.binary(max_size=9)),
)
def test_no_message_makes_reading_fail(name: str, payload: bytes, headers: dict[str, bytes]) -> None:
    for one in (name, f"{WIKI}.pushed", f"{WIKI}.changed"):
        assert read_incoming(one, headers, payload) is not None


def test_what_is_set_aside_keeps_its_place() -> None:
    assert parked_subject(f"{WIKI}.pushed.bulk") == "refdesk.parked.handbook.wiki.pushed.bulk"
