"""What a pushed statement must be before it may change anything; pure, knows nothing of what is stored."""

from __future__ import annotations

import re
import unicodedata

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.errors import InvalidArgument

MAX_PATH_CHARACTERS = 1024
MAX_EVENT_ID_CHARACTERS = 256
MAX_CONTENT_BYTES = 16 * 1024 * 1024
MAX_LISTED = 100_000
MAX_FACT_CHARACTERS = {"title": 300, "url": 2048, "version": 64, "kind": 16, "language": 16}
KINDS = ("", "documentation", "api")
_LANGUAGE = re.compile(r"([A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*)?")


def check_item(item: pb.PutRawDocumentsItem) -> None:
    """Raises: InvalidArgument naming what is wrong with a statement, and what to do."""
    if not item.event_id or len(item.event_id) > MAX_EVENT_ID_CHARACTERS:
        raise InvalidArgument(f"the event's id must have 1 to {MAX_EVENT_ID_CHARACTERS} characters")
    if item.revision < 1:
        raise InvalidArgument("revision must be a whole number from 1, one that grows with every change in the source")
    match item.WhichOneof("statement"):
        case "content":
            check_path(item.content.path)
            _check_content(item.content)
        case "deletion":
            check_path(item.deletion.path)
        case "listing":
            _check_listing(item.listing)
        case _:
            raise InvalidArgument("the item states nothing; send a content, a deletion or a listing")


def check_path(path: str) -> None:
    """Raises: InvalidArgument for what names no document of a source."""
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in path[:200])
    if not path or len(path) > MAX_PATH_CHARACTERS:
        raise InvalidArgument(f"a path must have 1 to {MAX_PATH_CHARACTERS} characters")
    if any(name in ("", ".", "..") for name in path.split("/")):
        raise InvalidArgument(f"path {shown!r} must be relative to its source, without empty names, . and ..")
    if not path.isprintable():
        raise InvalidArgument(f"path {shown!r} has characters that cannot be shown; leave them out")
    if unicodedata.normalize("NFC", path) != path:
        raise InvalidArgument(f"path {shown!r} must be in Unicode NFC")


def _check_content(content: pb.RawContent) -> None:
    if len(content.content) > MAX_CONTENT_BYTES:
        raise InvalidArgument(f"content of {content.path} has more than {MAX_CONTENT_BYTES:,} bytes; split the page")
    try:
        content.content.decode()
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"content of {content.path} is not UTF-8 at byte {error.start}; send UTF-8") from None
    for name, most in MAX_FACT_CHARACTERS.items():
        value = getattr(content.facts, name)
        if len(value) > most or not value.isprintable():
            raise InvalidArgument(f"{name} of {content.path} must be one line of at most {most} characters")
    if content.facts.kind not in KINDS:
        raise InvalidArgument(f"kind of {content.path} must be documentation or api")
    if not _LANGUAGE.fullmatch(content.facts.language):
        raise InvalidArgument(f"language of {content.path} must be a code such as en")
    if content.facts.url and not content.facts.url.startswith(("https://", "http://")):
        raise InvalidArgument(f"url of {content.path} must begin with https:// or http://")


def _check_listing(listing: pb.RawListing) -> None:
    if len(listing.documents) > MAX_LISTED:
        raise InvalidArgument(f"a listing names at most {MAX_LISTED:,} documents; delete one by one what is gone")
    paths = set[str]()
    for document in listing.documents:
        check_path(document.path)
        if document.path in paths:
            raise InvalidArgument(f"the listing names {document.path} twice")
        paths.add(document.path)
