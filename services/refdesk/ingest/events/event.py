"""Change events as CloudEvents 1.0 in structured JSON; knows nothing of what carries them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from refdesk.errors import InvalidArgument

SPEC_VERSION = "1.0"
_TYPE = re.compile(r"^dev\.refdesk\.document\.([a-z]+)\.v1$")


class ChangeType(StrEnum):
    """What the publisher believes; the worker reads the source and decides."""

    CHANGED = "changed"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class ChangeEvent:
    """A hint that one document may have changed. `path` is relative to the source; `time` is RFC 3339, UTC."""

    id: str
    project: str
    source: str
    path: str
    type: ChangeType
    time: str
    bulk: bool = False
    moved_from: str | None = None


def event_id(project: str, source: str, path: str, change: ChangeType, revision: str, known_state: str) -> str:
    """Names a change from `known_state` to `revision`: announced twice within a short time it is one event.

    The known state is part of it because a revision may come back: that is another change, not a repetition.
    """
    parts = "\x00".join((project, source, path, change, revision, known_state))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def now() -> str:
    """The present as RFC 3339 in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def encode(event: ChangeEvent) -> bytes:
    """The event as one structured CloudEvent in JSON, UTF-8."""
    envelope = {
        "specversion": SPEC_VERSION,
        "id": event.id,
        "source": f"/projects/{event.project}/sources/{event.source}",
        "type": f"dev.refdesk.document.{event.type}.v1",
        "subject": event.path,
        "time": event.time,
        "datacontenttype": "application/json",
        "data": {
            "project": event.project,
            "source": event.source,
            "path": event.path,
            "bulk": event.bulk,
            "moved_from": event.moved_from,
        },
    }
    return json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).encode()


def decode(payload: bytes) -> ChangeEvent:
    """The event that a payload holds; attributes and data that are not known are left aside.

    Raises: InvalidArgument naming what is wrong with it.
    """
    return decode_envelope(read_envelope(payload))


def decode_envelope(envelope: Mapping[str, Any]) -> ChangeEvent:
    """The event that a structured CloudEvent is. Raises: InvalidArgument naming what is wrong with it."""
    if envelope.get("specversion") != SPEC_VERSION:
        raise InvalidArgument(f"event has no specversion {SPEC_VERSION}; send a structured CloudEvent")
    data = envelope.get("data")
    if not isinstance(data, dict):
        raise InvalidArgument("event has no data object")
    bulk, moved_from = data.get("bulk", False), data.get("moved_from")
    if not isinstance(bulk, bool) or not (moved_from is None or isinstance(moved_from, str)):
        raise InvalidArgument("event data: bulk must be true or false, moved_from a path or null")
    return ChangeEvent(
        id=_text(envelope, "id"),
        project=_text(data, "project"),
        source=_text(data, "source"),
        path=_text(data, "path"),
        type=_change(_text(envelope, "type")),
        time=_text(envelope, "time"),
        bulk=bulk,
        moved_from=moved_from,
    )


def read_envelope(payload: bytes) -> dict[str, Any]:
    """A payload as the JSON object that it must be. Raises: InvalidArgument."""
    try:
        parsed = json.loads(payload)
    except (ValueError, RecursionError):
        raise InvalidArgument("event is not JSON; send a structured CloudEvent") from None
    if not isinstance(parsed, dict):
        raise InvalidArgument("event is not a JSON object; send a structured CloudEvent")
    return parsed


def _text(holder: Mapping[str, Any], name: str) -> str:
    value = holder.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidArgument(f"event needs {name}, a text that is not empty")
    return value


def _change(name: str) -> ChangeType:
    found = _TYPE.match(name)
    if found is None or found[1] not in set(ChangeType):
        raise InvalidArgument(
            f"event type {name[:80]!r} is not known; use dev.refdesk.document.changed.v1 or .deleted.v1"
        )
    return ChangeType(found[1])
