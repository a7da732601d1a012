"""By which short names a document and its sections can be found: what a prefix fits; pure, knows nothing of any engine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as pb

MIN_DIGITS = 4
"""Of a prefix: fewer would fit too much to choose from."""
MAX_CANDIDATES = 10
"""Told of one prefix."""
MAX_COMPARED = 1_000
"""Records that are read for one prefix: many may have the same content."""
INDEXED_DIGITS = 8
"""Of a name that an engine keeps to find it by; the rest is compared in the record itself."""

_DIGITS = re.compile(rf"[0-9a-f]{{{MIN_DIGITS},64}}")

Name = tuple[pb.IdKind, str]
"""Kind, and the first 8 hex digits."""


def read_digits(prefix: str) -> str:
    """The prefix as names are compared; "" for one that fits nothing."""
    digits = prefix.casefold().replace("-", "")
    return digits if _DIGITS.fullmatch(digits) else ""


def names_of(document: pb.Document) -> frozenset[Name]:
    """What sections and contents of a document with its sections are found by; nothing of a deleted one."""
    if document.deleted:
        return frozenset()
    sections = ((pb.ID_KIND_SECTION, name[:INDEXED_DIGITS]) for name in section_ids(document))
    hashes = chain([document.content_hash], document.previous_content_hashes)
    contents = ((pb.ID_KIND_CONTENT, digits[:INDEXED_DIGITS]) for digits in map(read_digits, hashes) if digits)
    return frozenset(chain(sections, contents))


def section_ids(document: pb.Document) -> Iterator[str]:
    """Of what stands above the first heading, then of each section in order."""
    yield ids.section_id(document.document_id, (), 0)
    for section in document.sections:
        yield ids.section_id(document.document_id, section.breadcrumb, section.ordinal)


def find_candidates(document: pb.Document, kind: pb.IdKind, digits: str) -> list[pb.IdCandidate]:
    """What of a document with its sections the digits fit."""
    if document.deleted:
        return []
    found = pb.IdCandidate(
        document_id=document.document_id, path=document.path, current=True, content_hash=document.content_hash
    )
    if kind == pb.ID_KIND_SECTION:
        return [
            pb.IdCandidate(
                document_id=found.document_id,
                path=found.path,
                section_id=name,
                current=True,
                content_hash=found.content_hash,
            )
            for name in section_ids(document)
            if name.replace("-", "").startswith(digits)
        ]
    if kind == pb.ID_KIND_DOCUMENT:
        return [found] if document.document_id.replace("-", "").startswith(digits) else []
    found.current = document.content_hash.startswith(digits)
    is_older = any(content.startswith(digits) for content in document.previous_content_hashes)
    return [found] if found.current or is_older else []


def choose_candidates(candidates: Iterable[pb.IdCandidate]) -> pb.ResolvedId:
    """The first of them in the order that callers are promised; those of one document stand in order of the text already."""
    ordered = sorted(candidates, key=lambda one: (not one.current, one.path))
    return pb.ResolvedId(candidates=ordered[:MAX_CANDIDATES])
