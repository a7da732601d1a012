"""docs/reference/asyncapi.yaml says what the code does: types, subjects, fields, bounds, and examples that are taken."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.cloudevents import STRUCTURED, CloudEvent, read_message, read_request
from refdesk.docstore.raw_validation import (
    KINDS,
    MAX_EVENT_ID_CHARACTERS,
    MAX_FACT_CHARACTERS,
    MAX_LISTED,
    MAX_PATH_CHARACTERS,
    check_item,
)
from refdesk.errors import InvalidArgument
from refdesk.gateway.events import PATH
from refdesk.ingest.events.incoming import Published, read_incoming, read_subject
from refdesk.ingest.events.stream import PARKED, PARKED_SUBJECTS
from refdesk.source_events import FACTS, MOST_REVISION, TYPE_NAMES, SourceEventType, read_source_event

FILE = Path(__file__).resolve().parent.parent.parent / "docs" / "reference" / "asyncapi.yaml"
TEXT = FILE.read_text(encoding="utf-8")
DOCUMENT: dict[str, Any] = yaml.safe_load(TEXT)
MESSAGES = DOCUMENT["components"]["messages"]
SCHEMAS = DOCUMENT["components"]["schemas"]
ENVELOPE = {"specversion", "id", "source", "type", "time"}


def follow(reference: str) -> Any:
    """What a `$ref` leads to."""
    found: Any = DOCUMENT
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from references(one)


def examples(*, structured: bool = True) -> list[tuple[str, dict[str, Any]]]:
    """Message and example, of those that are whole events."""
    return [
        (name, example)
        for name, message in MESSAGES.items()
        for example in message.get("examples", ())
        if ("headers" not in example) == structured
    ]


def taken(payload: dict[str, Any]) -> pb.PutRawDocumentsItem | None:
    """What becomes of an event. Raises: InvalidArgument."""
    event = read_source_event(read_message({}, json.dumps(payload).encode()), "acme")
    if event.item is not None:
        check_item(event.item)
    return event.item


def test_every_reference_leads_somewhere() -> None:
    assert DOCUMENT["asyncapi"] == "3.0.0"
    assert all(follow(reference) for reference in references(DOCUMENT))


@pytest.mark.parametrize("kind", SourceEventType)
def test_each_type_of_event_has_its_subject_its_message_and_an_operation(kind: SourceEventType) -> None:
    channel = DOCUMENT["channels"][kind.value]
    assert channel["address"] == f"refdesk.events.{{project}}.{{source}}.{kind}"
    place = read_subject(channel["address"].format(project="acme", source="wiki"))
    assert place is not None
    assert (place.project, place.source, place.type, place.bulk) == ("acme", "wiki", kind, False)
    assert MESSAGES[kind.value]["name"] == TYPE_NAMES[kind]
    assert SCHEMAS[kind.value]["properties"]["type"] == {"const": TYPE_NAMES[kind]}
    assert MESSAGES[kind.value]["contentType"] == STRUCTURED
    operations = DOCUMENT["operations"].values()
    assert any(one["channel"]["$ref"] == f"#/channels/{kind}" and one["action"] == "receive" for one in operations)


def test_no_other_type_of_event_is_told_of() -> None:
    told = {message["name"] for name, message in MESSAGES.items() if name != "parked"}
    assert told == set(TYPE_NAMES.values())
    channels = DOCUMENT["channels"]
    assert channels.keys() == {*SourceEventType, "pushedInBulk", "parked", "http"}
    bulk = read_subject(channels["pushedInBulk"]["address"].format(project="acme", source="wiki"))
    assert bulk is not None
    assert bulk.bulk


def test_http_and_the_parked_stream_are_where_the_code_has_them() -> None:
    assert DOCUMENT["channels"]["http"]["address"] == PATH
    assert DOCUMENT["channels"]["http"]["messages"].keys() == {*SourceEventType, "pushedBinary"}
    assert DOCUMENT["channels"]["parked"]["address"].startswith(PARKED_SUBJECTS.removesuffix(">"))
    assert PARKED in DOCUMENT["channels"]["parked"]["description"]


def test_the_fields_of_a_pushed_document_are_those_that_are_read() -> None:
    properties = SCHEMAS["pushed"]["properties"]
    own = {"subject", "revision", "datacontenttype", "data", "data_base64"}
    assert properties.keys() == ENVELOPE | own | set(FACTS)
    headers = SCHEMAS["pushedHeaders"]["properties"]
    assert headers.keys() == {f"ce-{name}" for name in properties if not name.startswith("data")} | {
        "ce-datacontenttype"
    }
    assert SCHEMAS["removed"]["properties"].keys() == ENVELOPE | {"subject", "revision"}
    assert SCHEMAS["listed"]["properties"].keys() == ENVELOPE | {"revision", "datacontenttype", "data"}
    assert SCHEMAS["changed"]["properties"].keys() == ENVELOPE | {"subject"}


def test_the_bounds_are_those_that_are_held() -> None:
    properties = SCHEMAS["pushed"]["properties"]
    assert properties["subject"]["maxLength"] == MAX_PATH_CHARACTERS
    assert properties["id"]["maxLength"] == MAX_EVENT_ID_CHARACTERS
    assert properties["revision"]["oneOf"][0]["maximum"] == MOST_REVISION
    assert {"", *properties["kind"]["enum"]} == set(KINDS)
    for name, most in MAX_FACT_CHARACTERS.items():
        if name != "kind":
            assert properties[name]["maxLength"] == most
    assert SCHEMAS["listed"]["properties"]["data"]["properties"]["documents"]["maxItems"] == MAX_LISTED


@pytest.mark.parametrize(("message", "example"), examples())
def test_an_example_fits_its_schema_and_is_taken(message: str, example: dict[str, Any]) -> None:
    payload = example["payload"]
    jsonschema.validate(payload, SCHEMAS[message])
    item = taken(payload)
    assert (item is None) == (message == "changed")
    subject = DOCUMENT["channels"][message]["address"].format(project="acme", source=payload["source"].split("/")[-1])
    assert isinstance(read_incoming(subject, {}, json.dumps(payload).encode()), Published)
    over_http = read_request({"content-type": STRUCTURED.encode()}, json.dumps(payload).encode())
    assert isinstance(over_http, CloudEvent)


@pytest.mark.parametrize(("message", "example"), examples(structured=False))
def test_an_example_in_binary_mode_fits_its_schema_and_is_taken(message: str, example: dict[str, Any]) -> None:
    jsonschema.validate(example["headers"], follow(MESSAGES[message]["headers"]["$ref"]))
    headers = {name: value.encode() for name, value in example["headers"].items()}
    subject = DOCUMENT["channels"]["pushed"]["address"].format(project="acme", source="wiki")
    found = read_incoming(subject, headers, example["payload"].encode())
    assert isinstance(found, Published)
    whole = next(one["payload"] for name, one in examples() if name == "pushed")
    assert found.event.item == taken(whole), "the same event as in structured mode"


def required_fields() -> list[tuple[str, str]]:
    return [(kind, name) for kind in SourceEventType for name in SCHEMAS[kind]["required"]]


@pytest.mark.parametrize(("kind", "name"), required_fields())
def test_what_the_schema_requires_the_code_requires(kind: str, name: str) -> None:
    payload = copy.deepcopy(next(one["payload"] for message, one in examples() if message == kind))
    del payload[name]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(payload, SCHEMAS[kind])
    with pytest.raises(InvalidArgument):
        taken(payload)


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("pushed", {"revision": 0}),
        ("pushed", {"revision": "seventeen"}),
        ("pushed", {"revision": MOST_REVISION + 1}),
        ("pushed", {"kind": "blog"}),
        ("pushed", {"url": "ftp://files"}),
        ("pushed", {"language": "English, please"}),
        ("pushed", {"title": "t" * 301}),
        ("pushed", {"data": ""}),
        ("pushed", {"datacontenttype": "text/html"}),
        ("pushed", {"subject": "p" * 1025}),
        ("pushed", {"id": "i" * 257}),
        ("listed", {"data": {"documents": [{"path": ""}]}}),
        ("listed", {"data": {"documents": [{"path": "a.md", "revision": 0}]}}),
        ("listed", {"data": []}),
        ("removed", {"revision": -1}),
        ("changed", {"specversion": "0.3"}),
        ("changed", {"source": ""}),
    ],
)
def test_what_the_schema_refuses_the_code_refuses(kind: str, changes: dict[str, Any]) -> None:
    payload = {**next(one["payload"] for message, one in examples() if message == kind), **changes}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(payload, SCHEMAS[kind])
    with pytest.raises(InvalidArgument):
        taken(payload)


def test_a_document_that_says_something_else_is_caught() -> None:
    broken = yaml.safe_load(TEXT.replace("dev.refdesk.document.removed.v1", "dev.refdesk.document.gone.v1"))
    assert {message["name"] for name, message in broken["components"]["messages"].items() if name != "parked"} != set(
        TYPE_NAMES.values()
    )
