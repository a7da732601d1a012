"""What a record becomes when heads are cut from its stored text, beside or in place of those that it has; pure, knows no source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.ingest import records
from refdesk.ingest.records import Generation, Origin, find_head

_FINGERPRINT = re.compile(r"c\d+ (\d+)/\d+x\S+ (\w+)")


@dataclass(frozen=True)
class Cutting:
    """What a head's fingerprint says of its source as it was declared then, whatever the generation."""

    chunk_tokens: int = 200
    declared: str = "unknown"

    @classmethod
    def read(cls, view: pb.Document) -> Cutting:
        """How the heads of a record were cut; the first that says so counts."""
        found = (_FINGERPRINT.fullmatch(head.fingerprint) for head in view.heads)
        return next((cls(int(match[1]), match[2]) for match in found if match), cls())


def lacking(view: pb.Document, generations: Sequence[Generation]) -> list[Generation]:
    """The generations that a record of a current document has no head of."""
    heads = {head.generation for head in view.heads}
    return [] if view.deleted else [one for one in generations if one.name not in heads]


def is_declared(view: pb.Document, origin: Origin, generations: Sequence[Generation]) -> bool:
    """Whether the heads that a record has of these generations were cut as its source declares now."""
    scale = max(1.0, view.token_scale)
    pairs = ((find_head(view, one.name), one) for one in generations)
    return all(head is None or head.fingerprint == origin.fingerprint(one, scale) for head, one in pairs)


def stored_origin(view: pb.Document) -> Origin:
    """What cutting a record's stored text needs to know of its document."""
    return Origin(view.document_id, view.project, view.source, view.path, chunk_tokens=Cutting.read(view).chunk_tokens)


def grown_record(
    view: pb.Document, heads: Sequence[pb.Head], generations: Sequence[Generation], token_scale: float
) -> pb.Document:
    """The record with these heads, whose chunks were cut from its text with this scale; `view` bears its text.

    Their fingerprints say what those of its heads do, so that what its source declares otherwise by now stays known as such.
    """
    record = records.fenced_record(view)
    record.token_scale = token_scale
    known, cutting = {one.name: one for one in generations}, Cutting.read(view)
    for made in heads:
        generation = known[made.generation]
        head = find_head(record, made.generation) or record.heads.add()
        head.CopyFrom(made)
        head.fingerprint = records.fingerprint(generation, cutting.chunk_tokens, token_scale, cutting.declared)
        head.embeddable = generation.speaks(record.language)
        head.missing_vectors[:] = records.missing_vectors(find_head(view, made.generation), head)
    records.unsweep(record)
    return record


def emptied_record(view: pb.Document, generations: Sequence[Generation]) -> pb.Document:
    """The record of a deleted document with an empty head of each of these generations, so that what is left in it can be swept."""
    record = records.fenced_record(view)
    missing = [one for one in generations if find_head(record, one.name) is None]
    record.heads.extend(pb.Head(generation=one.name, embeddable=True) for one in missing)
    return record
