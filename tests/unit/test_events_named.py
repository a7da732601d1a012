"""Change events as CloudEvents, their names, and the subjects they go to."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import InvalidArgument
from refdesk.ingest.announcing import Announced, make_events
from refdesk.ingest.events.event import ChangeEvent, ChangeType, decode, encode, event_id, now
from refdesk.ingest.events.stream import subject
from refdesk.ingest.scan import Known, Move, Plan

EVENT = ChangeEvent(
    id="42",
    project="default",
    source="my.docs",
    path="ops/ключ.md",
    type=ChangeType.CHANGED,
    time="2026-01-02T03:04:05.678Z",
    bulk=True,
    moved_from="old.md",
)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


def test_an_event_is_a_structured_cloudevent() -> None:
    assert json.loads(encode(EVENT)) == {
        "specversion": "1.0",
        "id": "42",
        "source": "/projects/default/sources/my.docs",
        "type": "dev.refdesk.document.changed.v1",
        "subject": "ops/ключ.md",
        "time": "2026-01-02T03:04:05.678Z",
        "datacontenttype": "application/json",
        "data": {
            "project": "default",
            "source": "my.docs",
            "path": "ops/ключ.md",
            "bulk": True,
            "moved_from": "old.md",
        },
    }


@given(
    st.builds(
        ChangeEvent, texts, texts, texts, texts, st.sampled_from(ChangeType), texts, st.booleans(), texts | st.none()
    )
)
def test_decoding_gives_back_what_was_encoded(event: ChangeEvent) -> None:
    assert decode(encode(event)) == event


def test_attributes_that_are_not_known_are_left_aside() -> None:
    envelope = json.loads(encode(EVENT)) | {"traceparent": "00-1", "dataschema": "x"}
    envelope["data"]["later"] = 1
    assert decode(json.dumps(envelope).encode()) == EVENT


def without(name: str) -> dict[str, object]:
    return {key: value for key, value in json.loads(encode(EVENT)).items() if key != name}


@pytest.mark.parametrize(
    ("payload", "complaint"),
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "specversion"),
        (json.dumps(without("id")).encode(), "needs id"),
        (json.dumps(without("data")).encode(), "no data"),
        (json.dumps(without("type") | {"type": "dev.refdesk.document.exploded.v1"}).encode(), "exploded"),
        (json.dumps(without("type") | {"type": "dev.refdesk.document.changed.v2"}).encode(), "not known"),
        (json.dumps(without("data") | {"data": {"project": "p", "source": "s", "path": ""}}).encode(), "needs path"),
        (json.dumps(without("data") | {"data": {"project": "p", "source": "s", "path": 3}}).encode(), "needs path"),
        (json.dumps(without("data") | {"data": {"bulk": "yes"}}).encode(), "bulk must be"),
    ],
)
def test_a_bad_event_is_refused_with_what_is_wrong(payload: bytes, complaint: str) -> None:
    with pytest.raises(InvalidArgument, match=complaint):
        decode(payload)


def test_the_time_is_rfc_3339_in_utc() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", now())


@pytest.mark.parametrize(
    ("source", "bulk", "expected"),
    [
        ("handbook", False, "refdesk.events.default.handbook.changed"),
        ("handbook", True, "refdesk.events.default.handbook.changed.bulk"),
        ("my.docs", False, "refdesk.events.default.my%2Edocs.changed"),
        ("a b>*%", False, "refdesk.events.default.a%20b%3E%2A%25.changed"),
    ],
)
def test_a_subject_has_one_token_a_part_whatever_the_names(source: str, bulk: bool, expected: str) -> None:
    assert subject(replace(EVENT, source=source, bulk=bulk)) == expected


@given(st.tuples(texts, texts), st.tuples(texts, texts))
def test_two_sources_never_share_a_subject(one: tuple[str, str], other: tuple[str, str]) -> None:
    subjects = {subject(replace(EVENT, project=project, source=source)) for project, source in (one, other)}
    assert len(subjects) == len({one, other})


def test_the_same_change_has_the_same_id_and_another_has_another() -> None:
    same = event_id("p", "s", "a", ChangeType.CHANGED, "2", "1")
    assert same == event_id("p", "s", "a", ChangeType.CHANGED, "2", "1")
    others = {
        event_id("q", "s", "a", ChangeType.CHANGED, "2", "1"),
        event_id("p", "t", "a", ChangeType.CHANGED, "2", "1"),
        event_id("p", "s", "b", ChangeType.CHANGED, "2", "1"),
        event_id("p", "s", "a", ChangeType.DELETED, "2", "1"),
        event_id("p", "s", "a", ChangeType.CHANGED, "3", "1"),
        event_id("p", "s", "a", ChangeType.CHANGED, "2", "3"),
    }
    assert same not in others
    assert len(others) == 6


def test_a_plan_becomes_events_with_what_moved_after_its_new_place() -> None:
    known = {"old": Known("1", "h"), "edit": Known("1", "h"), "gone": Known("1", "h")}
    plan = Plan(new={"new": "2"}, edited={"edit": "2"}, vanished={"gone": known["gone"]}, moves=(Move("old", "new"),))
    events = make_events("p", "s", plan, ["gone"], known, "now")
    assert [(event.path, event.type.value, event.moved_from) for event in events] == [
        ("edit", "changed", None),
        ("new", "changed", "old"),
        ("gone", "deleted", None),
        ("old", "deleted", None),
    ]
    assert not any(event.bulk for event in events)


def test_a_page_that_goes_comes_back_as_it_was_and_goes_again_has_gone_twice() -> None:
    once, again = (
        make_events("p", "s", Plan({}, {}, {"a": known}), ["a"], {"a": known}, "now")[0].id
        for known in (Known("1", "h", record_revision=4), Known("1", "h", record_revision=6))
    )
    assert once != again


@pytest.mark.parametrize(("count", "bulk"), [(50, False), (51, True)])
def test_more_than_fifty_events_are_bulk(count: int, bulk: bool) -> None:
    plan = Plan(new={str(number): "1" for number in range(count)}, edited={}, vanished={})
    assert {event.bulk for event in make_events("p", "s", plan, [], {}, "now")} == {bulk}


def test_a_held_delete_makes_no_event() -> None:
    plan = Plan(new={}, edited={}, vanished={"gone": Known("1", "h")})
    assert make_events("p", "s", plan, [], {"gone": Known("1", "h")}, "now") == []


def test_what_was_announced_of_late_is_left_out_until_it_is_another_change_or_long_ago() -> None:
    announced = Announced(lasting_seconds=300)
    announced.note([EVENT], now_seconds=1000)
    assert announced.leave_out([EVENT], now_seconds=1299) == []
    assert announced.leave_out([EVENT], now_seconds=1301) == [EVENT]
    other = replace(EVENT, id="43")
    assert announced.leave_out([other], now_seconds=1001) == [other]
    announced.keep(set())
    assert announced.leave_out([EVENT], now_seconds=1001) == [EVENT]
