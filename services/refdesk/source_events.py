"""What source systems may tell a desk, as CloudEvents: their types, and what each needs; pure, knows nothing of how they arrive."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.cloudevents import CloudEvent
from refdesk.errors import InvalidArgument, NotFound

MOST_REVISION = 2**63 - 1
FACTS = ("title", "url", "version", "kind", "language")
"""Extension attributes that say something of a pushed document."""
MARKDOWN = "text/markdown"
_LONG_SOURCE = re.compile(r"/projects/([^/]+)/sources/([^/]+)")


class SourceEventType(StrEnum):
    """The last word of a type and of a NATS subject."""

    CHANGED = "changed"
    PUSHED = "pushed"
    REMOVED = "removed"
    LISTED = "listed"


TYPES: Mapping[str, SourceEventType] = {
    "dev.refdesk.document.changed.v1": SourceEventType.CHANGED,
    "dev.refdesk.document.pushed.v1": SourceEventType.PUSHED,
    "dev.refdesk.document.removed.v1": SourceEventType.REMOVED,
    "dev.refdesk.source.listed.v1": SourceEventType.LISTED,
}
TYPE_NAMES: Mapping[SourceEventType, str] = {kind: name for name, kind in TYPES.items()}


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """One event of a source system.

    `path` is relative to the source; empty where the event speaks of the whole source, and (of CHANGED only) with a slash at the end for
    all that is under a folder. `item` is what docstore shall keep; None for a hint.
    """

    type: SourceEventType
    source: str
    path: str
    item: pb.PutRawDocumentsItem | None = field(default=None, repr=False)


def read_source_event(event: CloudEvent, project: str) -> SourceEvent:
    """What an event for a project says.

    Raises: InvalidArgument naming what is wrong with it; NotFound for another project's source.
    """
    kind = TYPES.get(event.type)
    if kind is None:
        raise InvalidArgument(f"event type {event.type[:80]!r} is not known; use one of {', '.join(TYPES)}")
    source = read_source_name(event.source, project)
    if kind is SourceEventType.CHANGED:
        return SourceEvent(kind, source, event.subject)
    item = pb.PutRawDocumentsItem(source=source, event_id=event.id, revision=_read_revision(event))
    if kind is SourceEventType.LISTED:
        item.listing.CopyFrom(_read_listing(event))
        return SourceEvent(kind, source, "", item)
    if not event.subject:
        raise InvalidArgument("the event has no subject: it must be the document's path within the source")
    if kind is SourceEventType.REMOVED:
        item.deletion.path = event.subject
    else:
        item.content.CopyFrom(_read_content(event))
    return SourceEvent(kind, source, event.subject, item)


def read_source_name(source: str, project: str) -> str:
    """The source that an event's `source` names: its name, or /projects/<project>/sources/<name>. Raises: NotFound."""
    found = _LONG_SOURCE.fullmatch(source)
    if found is None:
        return source
    if found[1] != project:
        raise NotFound(f"project {project} has no source {source[:200]}")
    return found[2]


def _read_revision(event: CloudEvent) -> int:
    text = event.attributes.get("revision", "")
    revision = int(text) if text.isdecimal() and text.isascii() and len(text) < 20 else 0
    if not 1 <= revision <= MOST_REVISION:
        raise InvalidArgument(
            "the event needs the attribute revision, a whole number from 1 that grows with every change in the source"
        )
    return revision


def _read_content(event: CloudEvent) -> pb.RawContent:
    if event.media_type != MARKDOWN or event.charset not in ("", "utf-8", "us-ascii"):
        said = event.attributes.get("datacontenttype", "none")
        raise InvalidArgument(f"a pushed document must be {MARKDOWN} in UTF-8, and its content type is {said[:80]}")
    if not event.data:
        name = TYPE_NAMES[SourceEventType.REMOVED]
        raise InvalidArgument(f"the pushed document has no text: to delete it, send {name}")
    facts = {name: event.attributes.get(name, "") for name in FACTS}
    return pb.RawContent(path=event.subject, content=event.data, facts=pb.RawFacts(**facts))


def _read_listing(event: CloudEvent) -> pb.RawListing:
    if event.subject:
        raise InvalidArgument("a listing speaks of the whole source: leave subject out")
    try:
        found = json.loads(event.data or b"")
    except (ValueError, RecursionError):
        raise InvalidArgument('a listing needs data in JSON, {"documents": [{"path": …}, …]}') from None
    documents = found.get("documents") if isinstance(found, dict) else None
    if not isinstance(documents, list):
        raise InvalidArgument("a listing needs documents, an array of objects with path")
    return pb.RawListing(documents=[_read_listed(one) for one in documents])


def _read_listed(one: Any) -> pb.RawListed:
    path = one.get("path") if isinstance(one, dict) else None
    revision = one.get("revision") if isinstance(one, dict) else None
    if not isinstance(path, str) or not _is_text(path):
        raise InvalidArgument("each of a listing's documents needs path, a text")
    if revision is not None and not (type(revision) is int and 1 <= revision <= MOST_REVISION):
        raise InvalidArgument(f"revision of {path[:80]} must be a whole number from 1, or left out")
    return pb.RawListed(path=path, revision=revision or 0)


def _is_text(value: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in value)
