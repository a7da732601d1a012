"""Decides what a publisher's statement changes: by its revision, never by when it came; pure, knows nothing of how records are kept.

A document has two orders. Its content is that of the highest revision. Whether it exists is what the newest statement says: its
own content or deletion, or a later listing of the whole source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field

from refdesk.api.docstore.v1 import docstore_pb2 as pb

REMEMBERED = 5
"""Events that a record keeps."""
LISTING_PATH = ""
"""The path of a source's newest listing."""


@dataclass(frozen=True)
class Listing:
    """A source's newest listing; revision 0: there was none yet."""

    revision: int = 0
    paths: Collection[str] = frozenset()

    def contradicts(self, path: str, revision: int) -> bool:
        """Whether it says later than `revision` that there is no such document."""
        return self.revision > revision and path not in self.paths


NO_LISTING = Listing()


@dataclass(frozen=True)
class Decision:
    """What became of a statement; `record` is the record as it shall be, or None where nothing changes."""

    outcome: pb.RawOutcome
    reason: str = ""
    record: pb.RawDocument | None = field(default=None, compare=False)


UNCHANGED = Decision(pb.RAW_OUTCOME_UNCHANGED)
OLDER = Decision(pb.RAW_OUTCOME_OLDER)


def read_listing(record: pb.RawDocument | None) -> Listing:
    """The listing that a record at LISTING_PATH holds."""
    if record is None:
        return NO_LISTING
    return Listing(record.revision, frozenset(record.content.decode().split("\n")) - {""})


def stand(record: pb.RawDocument | None, listing: Listing) -> pb.RawStanding:
    """How a document stands by its own record and its source's listing."""
    if record is None:
        return pb.RAW_STANDING_UNKNOWN
    if listing.revision > record.stated_revision and record.path in listing.paths:
        return pb.RAW_STANDING_LIVE
    if record.deleted:
        return pb.RAW_STANDING_DELETED
    return pb.RAW_STANDING_UNLISTED if listing.revision > record.stated_revision else pb.RAW_STANDING_LIVE


def decide(record: pb.RawDocument | None, listing: Listing, item: pb.PutRawDocumentsItem) -> Decision:
    """What a statement changes of the record at its path; for a listing, of the record at LISTING_PATH."""
    seen = next((event for event in record.events if event.id == item.event_id), None) if record else None
    if seen is not None and seen.revision == item.revision:
        return UNCHANGED
    if seen is not None:
        return _conflict(
            f"event id {item.event_id[:80]} was sent before with revision {seen.revision}: give every event an id of its own"
        )
    if item.HasField("content"):
        return _decide_content(record, listing, item)
    if item.HasField("deletion"):
        return _decide_deletion(record, listing, item)
    return _decide_listing(record, item)


def hash_content(content: pb.RawContent) -> str:
    """Names a content together with what is stated beside it."""
    digest = hashlib.sha256(content.content)
    facts = content.facts.SerializeToString(deterministic=True)
    if facts:
        digest.update(b"\0facts\0" + facts)
    return digest.hexdigest()


def _decide_content(record: pb.RawDocument | None, listing: Listing, item: pb.PutRawDocumentsItem) -> Decision:
    path, revision = item.content.path, item.revision
    if record is not None:
        if stand(record, listing) != pb.RAW_STANDING_LIVE and record.deleted and revision <= record.stated_revision:
            if revision < record.stated_revision:
                return OLDER
            return _conflict(f"{path} was deleted at revision {revision}: send a higher one")
        if revision < record.revision:
            return OLDER
        if revision == record.revision and hash_content(item.content) != record.content_hash:
            return _conflict(f"revision {revision} of {path} is known with another content: send a higher one")
        if revision == record.revision and not record.dropped:
            return UNCHANGED
    stored = _store(record, item, _written(record, item))
    # A listing that says later that there is no such document may itself be overtaken: the content is kept for that.
    return Decision(pb.RAW_OUTCOME_OLDER, record=stored.record) if listing.contradicts(path, revision) else stored


def _decide_deletion(record: pb.RawDocument | None, listing: Listing, item: pb.PutRawDocumentsItem) -> Decision:
    path, revision = item.deletion.path, item.revision
    if listing.revision > revision and path in listing.paths:
        return OLDER
    if record is not None and revision < record.stated_revision:
        return OLDER
    if record is not None and revision == record.stated_revision:
        if record.deleted:
            return UNCHANGED
        return _conflict(f"revision {revision} of {path} is known as its content: delete it with a higher one")
    deleted = _copy(record, path)
    deleted.deleted = True
    deleted.stated_revision = revision
    drop(deleted)
    return _store(record, item, deleted)


def _decide_listing(record: pb.RawDocument | None, item: pb.PutRawDocumentsItem) -> Decision:
    content = "\n".join(sorted(document.path for document in item.listing.documents)).encode()
    digest = hashlib.sha256(content).hexdigest()
    if record is not None and item.revision < record.revision:
        return OLDER
    if record is not None and item.revision == record.revision:
        if digest == record.content_hash:
            return UNCHANGED
        return _conflict(f"revision {item.revision} is known as another listing: send a higher one")
    listed = _copy(record, LISTING_PATH)
    listed.revision = listed.stated_revision = item.revision
    listed.content, listed.content_bytes, listed.content_hash = content, len(content), digest
    return _store(record, item, listed)


def drop(record: pb.RawDocument) -> None:
    """Takes the content away; its hash stays."""
    record.content, record.content_bytes = b"", 0
    record.ClearField("facts")
    record.dropped = True


def _written(record: pb.RawDocument | None, item: pb.PutRawDocumentsItem) -> pb.RawDocument:
    written = _copy(record, item.content.path)
    written.revision = item.revision
    written.content, written.content_bytes = item.content.content, len(item.content.content)
    written.content_hash = hash_content(item.content)
    written.facts.CopyFrom(item.content.facts)
    written.dropped = False
    if item.revision > written.stated_revision:
        written.stated_revision, written.deleted = item.revision, False
    return written


def _copy(record: pb.RawDocument | None, path: str) -> pb.RawDocument:
    mine = pb.RawDocument(path=path)
    if record is not None:
        mine.CopyFrom(record)
    return mine


def _store(record: pb.RawDocument | None, item: pb.PutRawDocumentsItem, wanted: pb.RawDocument) -> Decision:
    wanted.source = item.source
    wanted.change_count = (record.change_count if record else 0) + 1
    events = [*wanted.events, pb.RawEvent(id=item.event_id, revision=item.revision)]
    del wanted.events[:]
    wanted.events.extend(events[-REMEMBERED:])
    return Decision(pb.RAW_OUTCOME_STORED, record=wanted)


def _conflict(reason: str) -> Decision:
    return Decision(pb.RAW_OUTCOME_CONFLICT, reason)
