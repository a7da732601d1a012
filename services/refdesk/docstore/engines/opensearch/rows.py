"""Records as OpenSearch keeps them, and back; pure, knows nothing of requests."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import View
from refdesk.docstore.engines.names import names_of
from refdesk.docstore.engines.packing import folder_key, pack_record, pack_sections, purge_record

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def key_of(project: str, document_id: str) -> str:
    """What OpenSearch calls the record; "" for what is no id, so that nobody reaches another project's by a made-up one."""
    return f"{project}:{document_id}" if _ID.fullmatch(document_id) else ""


def key_of_path(project: str, source: str, path: str) -> str:
    """What OpenSearch calls what is kept of a path: paths may be longer than an id."""
    return hashlib.sha256("\0".join((project, source, path)).encode()).hexdigest()


def pack(document: pb.Document, put_at_milliseconds: int) -> dict[str, Any]:
    """The record with all that it is found, ordered and counted by."""
    return {
        "project": document.project,
        "document_id": document.document_id,
        "revision": document.revision,
        "source": document.source,
        "folder": folder_key(document.path),
        "path": document.path,
        "name": name_of(document.path),
        "previous_paths": list(document.previous_paths),
        "version": document.version,
        "language": document.language,
        "bulk": int(document.bulk),
        "put_at": put_at_milliseconds,
        "deleted": document.deleted,
        "purgeable": document.deleted,
        "text_length": len(document.text),
        "record": encode(pack_record(document, put_at_milliseconds)),
        "sections": encode(pack_sections(document)),
        "text": document.text,
        **pack_names(document),
        **pack_heads(document.source, document.heads),
    }


def pack_names(document: pb.Document) -> dict[str, Any]:
    """The fields by which sections and contents are found."""
    found = sorted(names_of(document))
    return {
        "section_names": [digits for kind, digits in found if kind == pb.ID_KIND_SECTION],
        "content_names": [digits for kind, digits in found if kind == pb.ID_KIND_CONTENT],
        "named": True,
    }


def pack_heads(source: str, heads: Sequence[pb.Head]) -> dict[str, Any]:
    """The fields that heads alone decide: those that a note or a dropped head changes."""
    return {
        "generations": [head.generation for head in heads],
        "unfinished": [head.generation for head in heads if head.missing_vectors or not head.swept],
        "progress": [
            f"{len(head.chunks)}:{len(head.missing_vectors)}:{int(head.swept)}:{head.generation}" for head in heads
        ],
        "heads": [
            {
                "generation": head.generation,
                "source": source,
                "chunk_count": len(head.chunks),
                "missing_count": len(head.missing_vectors),
                "speaks": head.embeddable and bool(head.chunks),
            }
            for head in heads
        ],
        "chunks": list(dict.fromkeys(span.chunk_id for head in heads for span in head.chunks)),
        "cuts": encode(pb.Document(heads=heads).SerializeToString()),
    }


def pack_purge(record: str) -> dict[str, Any]:
    """The fields that a purge changes."""
    return {
        "purgeable": False,
        "text_length": 0,
        "record": encode(purge_record(decode(record))),
        "sections": "",
        "text": "",
    }


def unpack(source: Mapping[str, Any], view: View) -> pb.Document:
    """The record as `view` asks for it; a deleted document has no text whatever is kept."""
    document = pb.Document.FromString(decode(source["record"]))
    if "cuts" in source:
        heads = unpack_heads(source["cuts"])
        document.heads.extend(head for head in heads if not view.generations or head.generation in view.generations)
    if view.include_text and not document.deleted:
        document.text = source["text"]
        document.MergeFromString(decode(source["sections"]))
    return document


def unpack_heads(cuts: str) -> list[pb.Head]:
    """The heads, in the order in which they were put."""
    return list(pb.Document.FromString(decode(cuts)).heads)


def read_progress(progress: Sequence[str], generation: str) -> tuple[int, int, bool]:
    """Chunks, missing vectors, and whether swept, of the head of a generation; nothing of anything where there is none."""
    for packed in progress:
        chunk_count, missing_count, swept, name = packed.split(":", 3)
        if name == generation:
            return int(chunk_count), int(missing_count), swept == "1"
    return 0, 0, False


def name_of(path: str) -> str:
    """The file's own name, as it is compared: the longest that a term can hold."""
    return path.rpartition("/")[2].casefold()[:8191]


def encode(blob: bytes) -> str:
    """Bytes as JSON can hold them."""
    return base64.b64encode(blob).decode("ascii")


def decode(text: str) -> bytes:
    """Back again; OpenSearch leaves the padding out where it answers from a column."""
    return base64.b64decode(text + "=" * (-len(text) % 4))
