"""What a message on the queue is: an event of our own, one of a source system, or nothing that can be taken; pure, knows no connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from refdesk.cloudevents import PREFIX as CE_PREFIX
from refdesk.cloudevents import read_message
from refdesk.errors import InvalidArgument, NotFound
from refdesk.ingest.events.event import ChangeEvent, ChangeType, decode_envelope, read_envelope
from refdesk.source_events import SourceEvent, SourceEventType, read_source_event

PREFIX = ("refdesk", "events")
BULK = "bulk"


@dataclass(frozen=True, slots=True)
class Place:
    """What a subject says: `refdesk.events.<project>.<source>.<type>`, and `.bulk` behind it where single changes shall go before it."""

    project: str
    source: str
    type: str
    bulk: bool


@dataclass(frozen=True, slots=True)
class Published:
    """An event of a source system."""

    project: str
    event: SourceEvent
    bulk: bool = False

    @property
    def source(self) -> str:
        """Source name."""
        return self.event.source


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A message that is no event, or one that its subject contradicts; project and source are the subject's, as far as it names them."""

    project: str
    source: str
    reason: str
    bulk: bool = False


Incoming = ChangeEvent | Published | Unreadable


def read_incoming(subject: str, headers: Mapping[str, bytes], payload: bytes) -> Incoming:
    """What a message is; header names are lower-case."""
    place = read_subject(subject)
    if place is None:
        project, source = [unquote(token) for token in [*subject.split("."), "", "", "", ""][2:4]]
        return Unreadable(project, source, f"subject {subject[:200]!r} names no type of event that is known")
    try:
        return _read_own(place, headers, payload) or _read_published(place, headers, payload)
    except (InvalidArgument, NotFound) as error:
        return Unreadable(place.project, place.source, error.message, place.bulk)


def read_subject(subject: str) -> Place | None:
    """What a subject says; None where it names no known type."""
    tokens = subject.split(".")
    bulk = len(tokens) == 6 and tokens[5] == BULK
    known = {*ChangeType, *SourceEventType}
    if tuple(tokens[:2]) != PREFIX or len(tokens) - bulk != 5 or tokens[4] not in known:
        return None
    return Place(unquote(tokens[2]), unquote(tokens[3]), tokens[4], bulk)


def _read_own(place: Place, headers: Mapping[str, bytes], payload: bytes) -> ChangeEvent | None:
    """An event of our own, which bears data; None for what a source system sent. Raises: InvalidArgument."""
    if place.type not in set(ChangeType) or "content-type" in headers or f"{CE_PREFIX}specversion" in headers:
        return None
    envelope = read_envelope(payload)
    if "data" not in envelope:
        return None
    change = decode_envelope(envelope)
    _agree(place, change.project, change.source, change.type)
    return change


def _read_published(place: Place, headers: Mapping[str, bytes], payload: bytes) -> Published:
    """Raises: InvalidArgument, NotFound."""
    found = read_source_event(read_message(headers, payload), place.project)
    _agree(place, place.project, found.source, found.type)
    return Published(place.project, found, place.bulk)


def _agree(place: Place, project: str, source: str, kind: str) -> None:
    for name, said, meant in (
        ("project", place.project, project),
        ("source", place.source, source),
        ("type", place.type, kind),
    ):
        if said != meant:
            raise InvalidArgument(f"the subject says {name} {said[:80]} and the event says {meant[:80]}")
