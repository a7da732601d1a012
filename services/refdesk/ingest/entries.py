"""The entries that a record asks of both engines: what is written, what is embedded, what stays; pure, and knows no engine."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

import numpy as np

from refdesk.api.docstore.v1 import docstore_pb2 as docstore
from refdesk.api.search.v1 import search_pb2 as search
from refdesk.ingest.chunks import embedded_text
from refdesk.ingest.heads import head_path


def chunk_text(record: docstore.Document, span: docstore.ChunkSpan) -> str:
    """The text of a chunk as it is indexed and shown."""
    return span.lead + record.text[span.start : span.end] + span.tail


def facets(record: docstore.Document) -> search.Facets:
    """What a search can be narrowed by."""
    return search.Facets(
        source=record.source, path=record.path, version=record.version, kind=record.kind, language=record.language
    )


def word_document(record: docstore.Document, head: docstore.Head, chunk_ids: Collection[str]) -> search.WordDocument:
    """These chunks and the whole document, stamped with the record's revision."""
    wanted = set(chunk_ids)
    headings = [record.title, *(section.breadcrumb[-1] for section in record.sections if section.breadcrumb)]
    return search.WordDocument(
        document_id=record.document_id,
        stamp=record.revision,
        facets=facets(record),
        headings=list(dict.fromkeys(headings)),
        text=record.text,
        chunks=[
            search.WordChunk(
                id=span.chunk_id,
                headings=head_path(record.title, span.breadcrumb),
                start=span.start,
                end=span.end,
                lead=span.lead,
                tail=span.tail,
            )
            for span in head.chunks
            if span.chunk_id in wanted
        ],
    )


def sweep_item(record: docstore.Document, head: docstore.Head) -> search.SweepDocumentsItem:
    """What of a document stays: what the head lists, and what is written for a later revision."""
    return search.SweepDocumentsItem(
        document_id=record.document_id,
        up_to_stamp=record.revision,
        keep_chunk_ids=[span.chunk_id for span in head.chunks],
        remove_document=not head.chunks,
    )


def text_to_embed(record: docstore.Document, span: docstore.ChunkSpan) -> str:
    """What the model is given of a chunk."""
    return embedded_text(record.title, span.breadcrumb, chunk_text(record, span))


def text_hash(text: str, model_id: str) -> str:
    """The key under which a project's vectors are found again: sha256, hex, of the embedded text and its model."""
    return hashlib.sha256(f"{model_id}\0{text}".encode()).hexdigest()


def mean_vector(vectors: Sequence[bytes]) -> bytes:
    """The normalised mean of vectors of length 1, all as little-endian float32; a mean of nothing is the first of them."""
    rows = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    mean = rows.mean(axis=0, dtype=np.float64)
    length = float(np.linalg.norm(mean))
    return (mean / length).astype("<f4").tobytes() if length > 1e-9 else vectors[0]
