"""Reads CloudEvents 1.0 in binary, structured and batch mode, over HTTP or NATS; pure, knows nothing of what any event means.

By hand and not by the SDK, which reads no batches; why, stands in docs/decisions.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from urllib.parse import unquote_to_bytes

from refdesk.errors import InvalidArgument

SPEC_VERSION = "1.0"
STRUCTURED, BATCH = "application/cloudevents+json", "application/cloudevents-batch+json"
PREFIX = "ce-"
_FORMAT = "application/cloudevents"
_NAME = re.compile(r"[a-z0-9]+")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
REQUIRED = ("specversion", "id", "source", "type")


@dataclass(frozen=True, slots=True)
class CloudEvent:
    """One event. `attributes` are all of its attributes in their canonical text, `data` the bytes of its data, None where it has none."""

    attributes: Mapping[str, str]
    data: bytes | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        """Unique within the source."""
        return self.attributes["id"]

    @property
    def source(self) -> str:
        """Where it happened, a URI reference."""
        return self.attributes["source"]

    @property
    def type(self) -> str:
        """What happened."""
        return self.attributes["type"]

    @property
    def subject(self) -> str:
        """What it happened to; empty where the event does not say."""
        return self.attributes.get("subject", "")

    @property
    def media_type(self) -> str:
        """Of the data, lower-case, without parameters; empty where the event does not say."""
        return self.attributes.get("datacontenttype", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str:
        """The one that datacontenttype names, lower-case, or empty."""
        for parameter in self.attributes.get("datacontenttype", "").split(";")[1:]:
            name, _, value = parameter.partition("=")
            if name.strip().lower() == "charset":
                return value.strip().strip('"').lower()
        return ""


def read_request(headers: Mapping[str, bytes], body: bytes) -> list[CloudEvent | InvalidArgument] | CloudEvent:
    """What an HTTP request holds: one event, or a batch with an event or what is wrong with it for each. Header names are lower-case.

    Raises: InvalidArgument naming what is wrong with the request as a whole.
    """
    content_type = headers.get("content-type", b"").decode("latin-1").strip()
    kind = content_type.partition(";")[0].strip().lower()
    if kind.startswith(f"{_FORMAT}-batch"):
        return _read_batch(kind, body)
    if kind.startswith(_FORMAT):
        return read_structured(kind, body)
    if f"{PREFIX}specversion" not in headers:
        raise InvalidArgument(
            f"the request is no CloudEvent: send Content-Type {STRUCTURED} or {BATCH}, or the headers "
            + ", ".join(f"{PREFIX}{name}" for name in REQUIRED)
        )
    attributes = _header_attributes(headers)
    if "datacontenttype" in attributes:
        raise InvalidArgument("ce-datacontenttype is not for HTTP: Content-Type says it")
    if content_type:
        attributes["datacontenttype"] = content_type
    return _checked(attributes, body or None)


def read_message(headers: Mapping[str, bytes], payload: bytes) -> CloudEvent:
    """What a NATS message holds. Header names are lower-case; a message without headers is in structured mode.

    Raises: InvalidArgument naming what is wrong with it.
    """
    kind = headers.get("content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    if kind.startswith(_FORMAT) or f"{PREFIX}specversion" not in headers:
        return read_structured(kind or STRUCTURED, payload)
    return _checked(_header_attributes(headers), payload or None)


def read_structured(kind: str, body: bytes) -> CloudEvent:
    """One event in the JSON format. Raises: InvalidArgument."""
    if kind.startswith(_FORMAT) and kind != STRUCTURED:
        raise InvalidArgument(f"event format {kind[:80]} is not known; send {STRUCTURED}")
    return _read_object(_load(body))


def _read_batch(kind: str, body: bytes) -> list[CloudEvent | InvalidArgument]:
    if kind != BATCH:
        raise InvalidArgument(f"event format {kind[:80]} is not known; send {BATCH}")
    items = _load(body)
    if not isinstance(items, list):
        raise InvalidArgument("a batch must be a JSON array of events")
    return [_read_item(item) for item in items]


def _read_item(item: Any) -> CloudEvent | InvalidArgument:
    try:
        return _read_object(item)
    except InvalidArgument as error:
        return error


def _load(body: bytes) -> Any:
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise InvalidArgument("the event is not JSON; send it as UTF-8") from None


def _refuse_constant(_: str) -> NoReturn:
    raise ValueError("not JSON")


def _read_object(value: Any) -> CloudEvent:
    if not isinstance(value, dict):
        raise InvalidArgument("an event must be a JSON object")
    attributes = {
        name: _canonical(name, one)
        for name, one in value.items()
        if name not in ("data", "data_base64") and one is not None
    }
    if "data" in value and "data_base64" in value:
        raise InvalidArgument("an event has data or data_base64, not both")
    return _checked(attributes, _json_data(value, attributes))


def _canonical(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | str):
        return str(value)
    raise InvalidArgument(f"attribute {name[:40]} must be a text, a whole number, true or false")


def _json_data(value: Mapping[str, Any], attributes: Mapping[str, str]) -> bytes | None:
    if "data_base64" in value:
        try:
            return base64.b64decode(value["data_base64"], validate=True)
        except (TypeError, ValueError, binascii.Error):
            raise InvalidArgument("data_base64 must be Base64") from None
    if "data" not in value:
        return None
    media_type = attributes.get("datacontenttype", "application/json").partition(";")[0].strip().lower()
    if media_type.endswith(("/json", "+json")):
        try:
            return json.dumps(value["data"], ensure_ascii=False).encode("utf-8", "surrogatepass")
        except RecursionError:
            raise InvalidArgument("data is nested too deep") from None
    if not isinstance(value["data"], str):
        raise InvalidArgument(f"data must be a text, as datacontenttype {media_type[:80]} is not JSON")
    try:
        return value["data"].encode()
    except UnicodeEncodeError:
        raise InvalidArgument("data has half a character (a lone surrogate)") from None


def _header_attributes(headers: Mapping[str, bytes]) -> dict[str, str]:
    return {
        name.removeprefix(PREFIX): _decode_header(name, value)
        for name, value in headers.items()
        if name.startswith(PREFIX)
    }


def _decode_header(name: str, value: bytes) -> str:
    """A header's value: quotes taken off, then percent-decoded once."""
    text = value.strip(b" \t").decode("latin-1")
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        text = re.sub(r"\\(.)", r"\1", quoted[1])
    try:
        return unquote_to_bytes(text.encode("latin-1")).decode()
    except UnicodeDecodeError:
        raise InvalidArgument(f"header {name} is not UTF-8 once it is percent-decoded") from None


def _checked(attributes: dict[str, str], data: bytes | None) -> CloudEvent:
    for name, value in attributes.items():
        if not _NAME.fullmatch(name):
            raise InvalidArgument(f"attribute name {name[:40]!r} must be made of a-z and 0-9")
        if _CONTROL.search(value):
            raise InvalidArgument(f"attribute {name[:40]} has control characters")
    for name in REQUIRED:
        if not attributes.get(name):
            raise InvalidArgument(f"the event has no {name}")
    if attributes["specversion"] != SPEC_VERSION:
        raise InvalidArgument(f"specversion must be {SPEC_VERSION}")
    if "time" in attributes and not _TIME.fullmatch(attributes["time"]):
        raise InvalidArgument("time must be as in RFC 3339, such as 2026-01-02T03:04:05Z")
    return CloudEvent(attributes, data)
