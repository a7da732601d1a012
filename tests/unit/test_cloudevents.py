"""CloudEvents 1.0.2 in its three content modes: what the specification says, and what is refused."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.cloudevents import BATCH, STRUCTURED, CloudEvent, read_message, read_request
from refdesk.errors import InvalidArgument

ATTRIBUTES = {"specversion": "1.0", "id": "1", "source": "wiki", "type": "t"}


def in_headers(**attributes: str | bytes) -> dict[str, bytes]:
    merged: dict[str, str | bytes] = {**ATTRIBUTES, **attributes}
    return {f"ce-{name}": value if isinstance(value, bytes) else value.encode() for name, value in merged.items()}


def in_json(**members: object) -> bytes:
    return json.dumps({**ATTRIBUTES, **members}).encode()


def one(headers: dict[str, bytes], body: bytes = b"") -> CloudEvent:
    found = read_request(headers, body)
    assert isinstance(found, CloudEvent)
    return found


def structured(**members: object) -> CloudEvent:
    return one({"content-type": STRUCTURED.encode()}, in_json(**members))


def test_the_same_event_reads_the_same_in_all_modes_over_http_and_nats() -> None:
    members = {"subject": "a b.md", "revision": 17, "datacontenttype": "text/markdown", "data": "# Ä\n"}
    event = structured(**members)
    headers = in_headers(subject="a%20b.md", revision="17")
    binary = one({**headers, "content-type": b"text/markdown"}, "# Ä\n".encode())
    assert binary == event
    [in_batch] = read_request({"content-type": BATCH.encode()}, b"[" + in_json(**members) + b"]")  # type: ignore[misc]
    assert in_batch == event
    assert read_message({}, in_json(**members)) == event
    assert read_message({"content-type": STRUCTURED.encode()}, in_json(**members)) == event
    on_nats = {**headers, "ce-datacontenttype": b"text/markdown"}
    assert read_message(on_nats, "# Ä\n".encode()) == event
    assert event.attributes["revision"] == "17"
    assert (event.subject, event.media_type, event.data) == ("a b.md", "text/markdown", "# Ä\n".encode())


@pytest.mark.parametrize(
    ("header", "value"),
    [
        (b"Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro € 😀"),  # the specification's own example
        (b"Euro%20%e2%82%ac%20%f0%9f%98%80", "Euro € 😀"),
        (b"%41unneeded", "Aunneeded"),
        (b'"quoted \\"value\\" \\\\ %41"', 'quoted "value" \\ A'),
        ("Euro €".encode(), "Euro €"),
        (b"  padded\t", "padded"),
        (b"%2541", "%41"),  # once, and not again
        (b'half"quoted', 'half"quoted'),
    ],
)
def test_a_header_is_unquoted_and_percent_decoded_once(header: bytes, value: str) -> None:
    assert one(in_headers(subject=header)).subject == value


@pytest.mark.parametrize("header", [b"%C0%A0", b"%ff", b"caf\xe9"])
def test_a_header_that_is_no_utf_8_is_refused(header: bytes) -> None:
    with pytest.raises(InvalidArgument, match="header ce-subject is not UTF-8"):
        one(in_headers(subject=header))


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_any_text_comes_through_a_header_that_is_percent_encoded_as_the_specification_says(text: str) -> None:
    plain = set(range(0x21, 0x7F)) - {0x22, 0x25}
    encoded = "".join(
        letter if ord(letter) in plain else "".join(f"%{byte:02X}" for byte in letter.encode()) for letter in text
    )
    assert one(in_headers(subject=encoded)).subject == text


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1),
    st.text(st.characters(exclude_categories=["Cs"])),
)
def test_any_text_comes_through_json(subject: str, data: str) -> None:
    event = structured(subject=subject, data=data, datacontenttype="text/markdown")
    assert (event.subject, event.data) == (subject, data.encode())


@pytest.mark.parametrize(
    ("members", "data"),
    [
        ({}, None),
        ({"data": {"a": 1}}, b'{"a": 1}'),
        ({"data": None}, b"null"),
        ({"data": "text"}, b'"text"'),  # no datacontenttype means JSON, so this is a JSON string
        ({"data": "text", "datacontenttype": "text/plain"}, b"text"),
        ({"data": [1.5], "datacontenttype": "application/vnd.x+json; charset=utf-8"}, b"[1.5]"),
        ({"data_base64": base64.b64encode(b"\x00\xff").decode()}, b"\x00\xff"),
    ],
)
def test_data_is_read_by_its_content_type(members: dict[str, object], data: bytes | None) -> None:
    assert structured(**members).data == data


def test_an_attribute_that_is_null_is_absent_and_true_and_numbers_are_texts() -> None:
    event = structured(subject=None, flag=True, count=-5)
    assert (event.subject, event.attributes["flag"], event.attributes["count"]) == ("", "true", "-5")
    assert "subject" not in event.attributes


def test_a_content_type_is_matched_whatever_its_case_and_parameters() -> None:
    assert one({"content-type": b"Application/CloudEvents+JSON; charset=UTF-8"}, in_json()).id == "1"
    event = one({**in_headers(), "content-type": b'Text/Markdown; charset="UTF-8"'}, b"x")
    assert (event.media_type, event.charset) == ("text/markdown", "utf-8")


def test_a_batch_has_an_answer_for_each_of_its_events_and_may_be_empty() -> None:
    body = json.dumps([ATTRIBUTES, {**ATTRIBUTES, "id": ""}, 3, {**ATTRIBUTES, "id": "4"}]).encode()
    found = read_request({"content-type": BATCH.encode()}, body)
    assert isinstance(found, list)
    assert [getattr(event, "id", None) or event.message for event in found] == [  # type: ignore[union-attr]
        "1",
        "the event has no id",
        "an event must be a JSON object",
        "4",
    ]
    assert read_request({"content-type": BATCH.encode()}, b"[]") == []


@pytest.mark.parametrize(
    ("content_type", "body", "complaint"),
    [
        ("application/json", b"{}", "the request is no CloudEvent"),
        ("", b"", "the request is no CloudEvent"),
        ("application/cloudevents+avro", b"", "event format application/cloudevents.avro is not known"),
        ("application/cloudevents", b"{}", "is not known; send application/cloudevents.json"),
        ("application/cloudevents-batch+xml", b"[]", "send application/cloudevents-batch.json"),
        (STRUCTURED, b"", "not JSON"),
        (STRUCTURED, b"\xff\xfe\xfd", "not JSON"),
        (STRUCTURED, b"[" * 100_000, "not JSON"),
        (STRUCTURED, b'{"id": NaN}', "not JSON"),
        (STRUCTURED, b'{"id": ' + b"9" * 5000 + b"}", "not JSON"),
        (STRUCTURED, b"[]", "must be a JSON object"),
        (STRUCTURED, in_json(id=""), "has no id"),
        (STRUCTURED, in_json(source=None), "has no source"),
        (STRUCTURED, in_json(type=""), "has no type"),
        (STRUCTURED, in_json(specversion="0.3"), "specversion must be 1.0"),
        (STRUCTURED, in_json(specversion=1.0), "attribute specversion must be a text"),
        (STRUCTURED, in_json(subject={"a": 1}), "attribute subject must be a text"),
        (STRUCTURED, in_json(subject="a\nb"), "control characters"),
        (STRUCTURED, in_json(subject="\ud800"), "control characters"),
        (STRUCTURED, in_json(Revision=3), "attribute name 'Revision'"),
        (STRUCTURED, in_json(time="yesterday"), "RFC 3339"),
        (STRUCTURED, in_json(data=1, data_base64=""), "not both"),
        (STRUCTURED, in_json(data_base64="%%"), "Base64"),
        (STRUCTURED, in_json(data_base64=7), "Base64"),
        (STRUCTURED, in_json(data=7, datacontenttype="text/markdown"), "data must be a text"),
        (STRUCTURED, in_json(data="\ud800", datacontenttype="text/markdown"), "half a character"),
        (BATCH, b"{}", "must be a JSON array"),
        (BATCH, b"no", "not JSON"),
    ],
)
def test_what_is_no_event_is_refused_with_what_is_wrong(content_type: str, body: bytes, complaint: str) -> None:
    with pytest.raises(InvalidArgument, match=complaint):
        read_request({"content-type": content_type.encode()}, body)


def test_a_binary_event_names_its_content_type_once() -> None:
    with pytest.raises(InvalidArgument, match="ce-datacontenttype is not for HTTP"):
        one(in_headers(datacontenttype="text/markdown"))


def test_data_of_any_depth_is_read_or_refused() -> None:
    outcomes = set()
    for depth in range(10, 2000, 30):
        body = in_json(data=1).replace(b": 1}", b": " + b"[" * depth + b"]" * depth + b"}")
        try:
            assert one({"content-type": STRUCTURED.encode()}, body).data == b"[" * depth + b"]" * depth
            outcomes.add("read")
        except InvalidArgument:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


@given(st.binary(max_size=60), st.sampled_from([STRUCTURED, BATCH, "text/markdown", ""]), st.booleans())
def test_no_bytes_make_it_fail_in_another_way(body: bytes, content_type: str, with_headers: bool) -> None:
    headers = {**(in_headers(subject=body) if with_headers else {}), "content-type": content_type.encode()}
    for read in (read_request, read_message):
        try:
            read(headers, body)
        except InvalidArgument as error:
            assert error.message
