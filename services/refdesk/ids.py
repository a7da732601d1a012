"""Names of documents, sections and chunks, made from what they are; knows nothing of where they are stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from uuid import UUID, uuid5

# Fixed for ever: another value would rename everything that is stored.
NAMESPACE = UUID("6f1c3a52-8f0e-5d0b-9a53-3f7f6f0c2b11")
DOCUMENT_NAMESPACE = uuid5(NAMESPACE, "document")
SECTION_NAMESPACE = uuid5(NAMESPACE, "section")
CHUNK_NAMESPACE = uuid5(NAMESPACE, "chunk")

UNRECORDED = "unrecorded"
"""Source of a tombstone that stands for entries without a record; a backup is restored over it."""

SHORT_ID_DIGITS = 8
DOCID_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Facets:
    """What a search can be narrowed by besides source and path; part of a chunk's name."""

    version: str = ""
    kind: str = ""
    language: str = ""


_encoder = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))
_VARIANTS = "89ab"  # the digit that bears a UUID's variant, by its two lower bits


def _encode(*parts: object) -> str:
    """One string for one list of parts: JSON quotes what would run together."""
    return _encoder.encode(parts)


def _quote(*texts: str) -> str:
    """Texts as they stand in a list in JSON: what `_encode` gives, several times as fast."""
    return ",".join(map(encode_basestring_ascii, texts))


def document_id(project: str, source: str, path: str) -> str:
    """The UUIDv5 of a document; `path` is relative to its source."""
    return str(uuid5(DOCUMENT_NAMESPACE, _encode(project, source, path)))


def section_id(document: str, breadcrumb: Sequence[str], ordinal: int) -> str:
    """The UUIDv5 of a section; `ordinal` counts the earlier sections of the document with an equal breadcrumb."""
    return str(uuid5(SECTION_NAMESPACE, _encode(document, list(breadcrumb), ordinal)))


class ChunkNames:
    """The ids of a document's chunks in one generation; what they have in common is encoded and hashed once."""

    def __init__(self, generation: str, document: str, facets: Facets) -> None:
        labels = _quote(facets.version, facets.kind, facets.language)
        shared = f"[{_quote(generation, document)},[{labels}],"
        self._hash = hashlib.sha1(CHUNK_NAMESPACE.bytes + shared.encode(), usedforsecurity=False)

    def chunk_id(self, breadcrumb: Sequence[str], text: str, ordinal: int) -> str:
        """The UUIDv5 of a chunk; `ordinal` counts the earlier chunks of the document with equal breadcrumb and text.

        `breadcrumb` is what is embedded above the text, the title included where it is (`chunks.head_path`): a name that
        left the title out would keep the vectors of the old title.
        """
        name = self._hash.copy()
        name.update(f"[{_quote(*breadcrumb)}],{_quote(text)},{ordinal}]".encode())
        digits = name.hexdigest()
        variant = _VARIANTS[int(digits[16], 16) & 3]
        return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def content_hash(text: str) -> str:
    """The SHA-256 of a text as 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def short_id(identifier: str) -> str:
    """The first 8 hex digits of a document_id or section_id, as tools show it."""
    return identifier[:SHORT_ID_DIGITS]


def docid(content: str) -> str:
    """`#` and the first 6 hex digits of a content hash: changes with the content."""
    return "#" + content[:DOCID_DIGITS]
