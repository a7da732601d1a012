"""What a record of a backup becomes when it is put again; pure."""

from __future__ import annotations

from refdesk.api.docstore.v1 import docstore_pb2 as pb

REVISIONS_ABOVE = 1 << 20
"""No document is put so often between a backup and its restoring: stamps of all those puts are below the restored revision."""


def restored(document: pb.Document) -> pb.Document:
    """The record under a revision above every one that it can have had since, its heads unswept."""
    record = pb.Document()
    record.CopyFrom(document)
    record.revision = document.revision + REVISIONS_ABOVE
    for head in record.heads:
        head.swept = False
    return record


def restored_push(document: pb.RawDocument) -> pb.RawDocument:
    """The pushed document as the first record at its path."""
    record = pb.RawDocument()
    record.CopyFrom(document)
    record.change_count = 1
    return record
