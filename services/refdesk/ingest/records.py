"""What a document's record becomes, and what of it is still to be written; pure, and knows nothing of engines or of sources.

Every function answers for one step of the publish protocol and is given what the worker has read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.generation import generation_name
from refdesk.ids import UNRECORDED

REMEMBERED = 5
"""Earlier paths and content hashes that a record keeps."""
UNDETERMINED = "und"


@dataclass(frozen=True)
class Generation:
    """A followed generation: the model's facts that cutting and embedding need."""

    model_id: str
    chunker_version: int
    window_tokens: int
    languages: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The name that its heads and entries bear."""
        return generation_name(self.model_id, self.chunker_version)

    def speaks(self, language: str) -> bool:
        """Whether the model gives this language vectors; what is undetermined counts as spoken."""
        return not self.languages or language in self.languages or language in ("", UNDETERMINED)


def fingerprint(generation: Generation, chunk_tokens: int, token_scale: float, declared: str) -> str:
    """What a head's chunks were cut with; `declared` is a digest of what its source says of it."""
    sizes = f"{chunk_tokens}/{generation.window_tokens}x{token_scale:.4g}"
    return f"c{generation.chunker_version} {sizes} {declared}"


@dataclass(frozen=True)
class Origin:
    """What is known of a document before it is read: its names, and what its source declares of it."""

    document_id: str
    project: str
    source: str
    path: str
    url: str = ""
    version: str = ""
    kind: str = "documentation"
    language: str = ""
    chunk_tokens: int = 200
    pushed: bool = False
    held_back: bool = False
    """Whether its source declares it unpublished."""

    def fingerprint(self, generation: Generation, token_scale: float) -> str:
        """Everything but the content that decides what chunks it is cut into in a generation, and what they bear."""
        stated = [self.url, self.version, self.kind, self.language]
        declared = json.dumps([*stated, "held back"] if self.held_back else stated)
        digest = hashlib.sha256(declared.encode()).hexdigest()[:8]
        return fingerprint(generation, self.chunk_tokens, token_scale, digest)


@dataclass(frozen=True)
class Found:
    """What the source holds of a document, as the worker has read it.

    `unusable`: it is there and cannot be indexed as it is; the last good text stays, and the put with its source revision is what
    keeps it from being tried again until it changes. `always_puts`: the source's revisions can come back.
    """

    source_revision: str
    content_hash: str = ""
    absent: bool = False
    unusable: bool = False
    previous_paths: tuple[str, ...] = ()
    bulk: bool = False
    always_puts: bool = False
    least_token_scale: float = 1.0


class Verdict(Enum):
    """What step 2 decides."""

    OLDER = "older"
    SAME = "same"
    TOUCH = "touch"
    BURY = "bury"
    CUT = "cut"


def token_scale(view: pb.Document | None, found: Found) -> float:
    """The correction of estimated token counts that a new head is cut with; it never shrinks."""
    return max(1.0, view.token_scale if view else 1.0, found.least_token_scale)


def judge(view: pb.Document | None, origin: Origin, found: Found, generations: Sequence[Generation]) -> Verdict:
    """Compares a record with what the source holds."""
    if view is None:
        return Verdict.BURY if found.absent or found.unusable else Verdict.CUT
    if origin.pushed and not found.absent and _number(found.source_revision) < _number(view.source_revision):
        return Verdict.OLDER
    if found.absent and not (view.deleted and _has_heads(view, generations)):
        return Verdict.BURY
    if not (found.absent or found.unusable) and not _stands(view, origin, found, generations):
        return Verdict.CUT
    moved = not set(found.previous_paths) <= set(view.previous_paths)
    if moved or found.always_puts or view.source_revision != found.source_revision:
        return Verdict.TOUCH
    return Verdict.SAME


def _stands(view: pb.Document, origin: Origin, found: Found, generations: Sequence[Generation]) -> bool:
    same = view.content_hash == found.content_hash
    return same and is_current(view, origin, generations, token_scale(view, found))


def is_current(view: pb.Document, origin: Origin, generations: Sequence[Generation], scale: float = 0.0) -> bool:
    """Whether a record bears its source's metadata and a head, cut as now, of every followed generation."""
    if view.deleted:
        return False
    heads = {head.generation: head.fingerprint for head in view.heads}
    scale = scale or max(1.0, view.token_scale)
    return all(heads.get(one.name) == origin.fingerprint(one, scale) for one in generations)


def cut_record(
    view: pb.Document | None, origin: Origin, found: Found, parsed: pb.Document, generations: Sequence[Generation]
) -> pb.Document:
    """The record with new content; `parsed` holds what parsing finds: metadata, text, sections and the heads' chunks.

    Heads that this worker did not cut are dropped, unless the content and what decides its chunks are what they were.
    """
    record = pb.Document()
    record.CopyFrom(parsed)
    _name(record, origin, found, view)
    record.content_hash = found.content_hash
    record.token_scale = token_scale(view, found)
    record.bulk = found.bulk
    known = {one.name: one for one in generations}
    for head in record.heads:
        generation = known[head.generation]
        head.fingerprint = origin.fingerprint(generation, record.token_scale)
        head.embeddable = generation.speaks(record.language)
        head.missing_vectors[:] = missing_vectors(_head(view, head.generation), head)
    if view and _same_content(view, record):
        for head in view.heads:
            if head.generation not in known:
                record.heads.add().CopyFrom(head)
    unsweep(record)
    return record


def touched_record(view: pb.Document, origin: Origin, found: Found) -> pb.Document:
    """The record put again as it is, so that a slower worker with older content conflicts; `view` bears its text."""
    record = pb.Document()
    record.CopyFrom(view)
    _name(record, origin, found, view)
    unsweep(record)
    return record


def buried_record(
    view: pb.Document | None, origin: Origin, found: Found, generations: Sequence[Generation]
) -> pb.Document:
    """The record of a document that is gone: its heads list nothing, its text stays until it is purged."""
    record = touched_record(view or pb.Document(), origin, found)
    record.deleted = True
    del record.heads[:]
    for one in generations:
        record.heads.add(generation=one.name, fingerprint=origin.fingerprint(one, 1.0), embeddable=True)
    return record


def fenced_record(view: pb.Document) -> pb.Document:
    """The record unchanged under the next revision, so that entries with that stamp may be swept; `view` bears its text."""
    record = pb.Document()
    record.CopyFrom(view)
    record.revision = view.revision + 1
    unsweep(record)
    return record


def is_unrecorded(view: pb.Document | None) -> bool:
    """Whether nothing was ever recorded of a document, or no more than that it may have entries."""
    return view is None or view.source == UNRECORDED


def unrecorded_record(view: pb.Document | None, origin: Origin, generations: Sequence[Generation]) -> pb.Document:
    """What stands for a document that went away before it was recorded: a backup that knows it is restored over that."""
    record = unrecorded_tombstone(origin.project, origin.document_id, generations)
    record.revision += view.revision if view else 0
    return record


def unrecorded_tombstone(project: str, document_id: str, generations: Sequence[Generation]) -> pb.Document:
    """A record for entries whose document was never recorded: nothing but its id is known, and whoever publishes it renames it."""
    record = pb.Document(document_id=document_id, project=project, source=UNRECORDED, revision=1, deleted=True)
    record.path = f"{UNRECORDED}/{document_id}"
    record.heads.extend(pb.Head(generation=one.name, embeddable=True) for one in generations)
    return record


def unsweep(record: pb.Document) -> None:
    """A put leaves every head unswept."""
    for head in record.heads:
        head.swept = False


def new_chunk_ids(view: pb.Document | None, head: pb.Head) -> list[str]:
    """The chunks that the old head of this generation does not list, in order of the text."""
    old = _head(view, head.generation)
    had = {span.chunk_id for span in old.chunks} if old else set[str]()
    return [span.chunk_id for span in head.chunks if span.chunk_id not in had]


def find_head(record: pb.Document, generation: str) -> pb.Head | None:
    """A record's head of a generation."""
    return next((head for head in record.heads if head.generation == generation), None)


def _head(view: pb.Document | None, generation: str) -> pb.Head | None:
    return find_head(view, generation) if view else None


def missing_vectors(old: pb.Head | None, head: pb.Head) -> list[str]:
    """Chunks that need a vector: the new ones, and those that were missing and are still listed."""
    if not head.embeddable:
        return []
    has_vector = {span.chunk_id for span in old.chunks} if old and old.embeddable else set[str]()
    if old:
        has_vector.difference_update(old.missing_vectors)
    return [span.chunk_id for span in head.chunks if span.chunk_id not in has_vector]


def _same_content(view: pb.Document, record: pb.Document) -> bool:
    def key(one: pb.Document) -> tuple[object, ...]:
        return one.content_hash, one.text, one.language, one.version, one.kind, one.title, one.deleted

    return key(view) == key(record)


def _name(record: pb.Document, origin: Origin, found: Found, view: pb.Document | None) -> None:
    """Sets what every put sets: names, the next revision, the source revision, what is remembered."""
    record.document_id, record.project = origin.document_id, origin.project
    record.source, record.path = origin.source, origin.path
    record.revision = (view.revision if view else 0) + 1
    record.source_revision = found.source_revision
    paths = list(view.previous_paths) if view else []
    paths = [path for path in paths if path not in found.previous_paths] + list(found.previous_paths)
    record.previous_paths[:] = paths[-REMEMBERED:]
    hashes = list(view.previous_content_hashes) if view else []
    if view and view.content_hash and found.content_hash not in ("", view.content_hash):
        hashes = [one for one in hashes if one != view.content_hash] + [view.content_hash]
    record.previous_content_hashes[:] = hashes[-REMEMBERED:]


def _has_heads(view: pb.Document, generations: Sequence[Generation]) -> bool:
    heads = {head.generation for head in view.heads}
    return all(one.name in heads for one in generations)


def _number(revision: str) -> int:
    return int(revision) if revision.isdecimal() else 0
