"""What a note changes of a head; pure, knows nothing of where heads stand."""

from __future__ import annotations

from refdesk.api.docstore.v1 import docstore_pb2 as pb


def apply_note(head: pb.Head, note: pb.NoteDocumentsItem) -> None:
    """Changes what a note may change: missing vectors, token counts, swept."""
    embedded = set(note.embedded_chunk_ids)
    missing = [chunk_id for chunk_id in head.missing_vectors if chunk_id not in embedded]
    del head.missing_vectors[:]
    head.missing_vectors.extend(missing)
    counts = dict(zip(note.embedded_chunk_ids, note.token_counts, strict=False))
    if counts:
        for span in head.chunks:
            span.token_count = counts.get(span.chunk_id, span.token_count)
    head.swept = head.swept or note.swept
