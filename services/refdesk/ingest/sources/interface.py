"""What every kind of source offers to ingest: a listing, a document as it is now, and hints; knows nothing of events or records."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from refdesk.errors import PermissionDenied


@dataclass(frozen=True, slots=True)
class ListedDocument:
    """A document that stands in the source; its path is relative to the source, with slashes, in Unicode NFC."""

    path: str
    revision: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that would be a document and is not taken; `path` ends with a slash where it stands for all that is under it.

    `unreadable`: it may well exist, so what is known of it stays as it is; else it counts as not there.
    """

    path: str
    reason: str
    unreadable: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """What stands in a source; `complete` is false when the listing ended early, and then nothing may be deleted on its word.

    `removed` maps paths that were deleted one by one, on purpose, to the revisions of that: they are not guarded, as what is missing is.
    """

    documents: tuple[ListedDocument, ...]
    skipped: tuple[Skipped, ...] = ()
    complete: bool = True
    removed: Mapping[str, str] = field(default_factory=dict)


SPEC = "spec"
"""The kind of an API's spec, which is kept whole and not searched; no front matter and no publisher can give it to a page."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What a source says of one document beside its content; it goes before front matter, and is empty where the source says nothing."""

    title: str = ""
    url: str = ""
    version: str = ""
    kind: str = ""
    language: str = ""


NOTHING_STATED = Stated()


@dataclass(frozen=True, slots=True)
class RawDocument:
    """A document's bytes, the revision that they were read at, and what its source says of it."""

    content: bytes
    revision: str
    stated: Stated = NOTHING_STATED

    @property
    def content_hash(self) -> str:
        """sha256, hex, of all that decides what is indexed of it."""
        digest = hashlib.sha256(self.content)
        if self.stated != NOTHING_STATED:
            digest.update(b"\0stated\0" + json.dumps(dataclasses.astuple(self.stated)).encode())
        return digest.hexdigest()


class DocumentUnreadable(PermissionDenied):
    """One document exists and cannot be read; the others can."""


class DocumentSource(Protocol):
    """One origin of documents. Paths are relative to the source; hints ending with a slash mean anything under that folder."""

    async def list(self, within: Collection[str] | None = None) -> Listing:
        """All documents in path order, or those at or under the paths `within`.

        Raises: Unavailable when the source cannot be listed; it says what to do.
        """
        ...

    async def read(self, path: str) -> RawDocument | None:
        """The document as it is now; None when it does not exist, or the rules leave it out.

        Raises: DocumentUnreadable for this document alone; Unavailable when the source cannot be read at all.
        """
        ...

    def watch(self) -> AsyncIterator[set[str] | None]:
        """Paths that may have changed, or None: anything may have. None comes first, once all that changes from then on is seen.

        Ends where watching cannot be done, or no longer.
        """
        ...
