"""Records as an engine keeps them and back: text, sections and heads beside the rest; pure, knows nothing of any engine."""

from __future__ import annotations

from collections.abc import Iterable

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import View, folder_of


def pack_sections(document: pb.Document) -> bytes:
    """The sections alone."""
    return pb.Document(sections=document.sections).SerializeToString() if document.sections else b""


def pack_record(document: pb.Document, put_at_milliseconds: int) -> bytes:
    """The record without text, sections and heads, which are kept beside it."""
    record = pb.Document()
    for field, value in document.ListFields():
        if field.name in _BESIDE:
            continue
        if isinstance(value, str | int | float):
            setattr(record, field.name, value)
        else:
            getattr(record, field.name).extend(value)
    record.put_at_milliseconds = put_at_milliseconds
    return record.SerializeToString()


_BESIDE = frozenset({"text", "sections", "heads"})


def purge_record(packed: bytes) -> bytes:
    """The record of a deleted document without what it said: id, place, revisions and hashes stay."""
    record = pb.Document.FromString(packed)
    for field in ("title", "summary", "url"):
        record.ClearField(field)
    return record.SerializeToString()


def unpack_document(
    record: bytes, heads: Iterable[tuple[str, bytes]], texts: tuple[str, bytes] | None, view: View
) -> pb.Document:
    """The record as `view` asks for it; a deleted document has no text whatever is kept."""
    document = pb.Document.FromString(record)
    for generation, head in heads:
        if not view.generations or generation in view.generations:
            document.heads.add().ParseFromString(head)
    if texts is not None and view.include_text and not document.deleted:
        document.text = texts[0]
        document.MergeFromString(texts[1])
    return document


def folder_key(path: str) -> str:
    """The folder of a path, made to sort right before the folders in it."""
    return folder_of(path).replace("/", "\x01")
