"""Small records to put into a docstore, cut in a way that a reader can check by eye; knows nothing of how they are stored."""

from __future__ import annotations

from uuid import UUID, uuid5

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import DocumentStore, View

PROJECT = "handbook"
GENERATION = "model-a.c1"
TEXT = View(include_text=True)
_NAMESPACE = UUID("00000000-0000-4000-8000-000000000001")


def name_document(path: str, project: str = PROJECT) -> str:
    """An id that is a UUID and depends on project and path only."""
    return str(uuid5(_NAMESPACE, f"{project}\n{path}"))


def name_chunk(document_id: str, text: str, generation: str = GENERATION) -> str:
    """An id that is a UUID and depends on generation, document and text only."""
    return str(uuid5(_NAMESPACE, f"{generation}\n{document_id}\n{text}"))


def cut_lines(document_id: str, text: str, generation: str = GENERATION, *, swept: bool = False) -> pb.Head:
    """One chunk a line, its vector missing; equal lines would share a name, so lines must differ."""
    head = pb.Head(generation=generation, fingerprint="lines", swept=swept, embeddable=True)
    start = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        head.chunks.add(
            chunk_id=name_chunk(document_id, line, generation),
            breadcrumb=["Top", f"Line {number}"],
            start=start,
            end=start + len(line),
            token_count=7,
            first_line=number,
            last_line=number,
        )
        start += len(line)
    head.missing_vectors.extend(chunk.chunk_id for chunk in head.chunks)
    return head


def make_record(
    path: str, text: str = "one\ntwo\n", *, project: str = PROJECT, revision: int = 1, **fields: object
) -> pb.Document:
    """A record with one chunk a line; `fields` are other fields of the message."""
    document_id = name_document(path, project)
    values: dict[str, object] = {
        "source": path.partition("/")[0],
        "title": path.rpartition("/")[2],
        "language": "en",
        "kind": "documentation",
        "source_revision": f"s{revision}",
        "content_hash": f"h{len(text)}",
        "heads": [cut_lines(document_id, text)],
        "sections": [pb.Section(level=1, breadcrumb=["Top"], start=0, end=len(text))],
    }
    values.update(fields)
    return pb.Document(document_id=document_id, project=project, path=path, revision=revision, text=text, **values)  # type: ignore[arg-type]


def make_tombstone(
    path: str, revision: int, *, project: str = PROJECT, text: str = "", **fields: object
) -> pb.Document:
    """The record of a deleted document, whose head lists nothing."""
    values: dict[str, object] = {
        "deleted": True,
        "sections": [],
        "heads": [pb.Head(generation=GENERATION, fingerprint="lines", embeddable=True)],
        **fields,
    }
    return make_record(path, text, project=project, revision=revision, **values)


def to_put(*documents: pb.Document) -> list[pb.PutDocumentsItem]:
    """One item a record, conditional on the revision before its own."""
    return [pb.PutDocumentsItem(document=document, expected_revision=document.revision - 1) for document in documents]


async def put(store: DocumentStore, *documents: pb.Document, at: int = 1_000) -> list[tuple[bool, int]]:
    """Puts in one batch; (committed, revision) for each."""
    return [(each.committed, each.revision) for each in await store.put_documents(to_put(*documents), at)]


async def read(store: DocumentStore, path: str, view: View = TEXT) -> pb.GetDocumentsItem:
    """The item of one path."""
    [item] = await store.get_by_path(PROJECT, [path], view)
    return item


async def hydrate(
    store: DocumentStore, *chunk_ids: str, project: str = PROJECT, generation: str = GENERATION
) -> list[str]:
    """Texts of the chunks that are current."""
    found = await store.hydrate_chunks(project, generation, chunk_ids, with_neighbors=False)
    return [chunk.text for chunk in found]
