"""Documents as rows and back: ids as bytes, text and sections beside the rest; pure, knows nothing of SQL."""

from __future__ import annotations

from collections.abc import Iterable

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import View, folder_of


def pack_id(identifier: str) -> bytes:
    """The 16 bytes of a UUID; b"" for what is none, and so equals no id that is kept."""
    try:
        packed = bytes.fromhex(identifier.replace("-", ""))
    except ValueError:
        return b""
    return packed if len(packed) == 16 else b""


def unpack_id(packed: bytes) -> str:
    """The UUID that 16 bytes stand for."""
    digits = packed.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


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


def source_range(source: str) -> tuple[str, str]:
    """First folder key of a source, inclusive, and last, exclusive; of every source for ""."""
    return (source, source + "\x02") if source else ("", "\U0010ffff")
