"""Pages as a desk would index them by words: parsed, cut, named; knows no engine and no judging."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.ingest import entries
from refdesk.ingest.parse_child import parse_document
from refdesk.ingest.parsing import ParseTask
from refdesk.ingest.records import Generation, Origin
from refdesk.search.engines.interface import WordDocument
from refdesk.search.messages import read_word_documents

ROOT = Path(__file__).resolve().parents[2]
CORPORA = Path(os.environ.get("REFDESK_CORPORA", ROOT.parent / "shared" / "corpora"))
FOLDERS: Mapping[str, Path] = {
    "helm": Path("helm/v3"),
    "prometheus": Path("prometheus"),
    "opensearch": Path("opensearch"),
}
PROJECT = "handbook"
GENERATION = Generation("all-MiniLM-L6-v2", 1, 256)


def read_pages(folder: Path) -> dict[str, bytes]:
    """Markdown files by their path below the folder."""
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in sorted(folder.rglob("*.md"))}


def build_documents(pages: Mapping[str, bytes], source: str, stamp: int = 1) -> list[WordDocument]:
    """What is written to a keyword index; a page that is none, or a draft, is left out."""
    records = (_parse(path, content, source, stamp) for path, content in pages.items())
    return read_word_documents(_name_words(record for record in records if record))


def _parse(path: str, content: bytes, source: str, stamp: int) -> docstore_pb2.Document | None:
    origin = Origin(ids.document_id(PROJECT, source, path), PROJECT, source, f"{source}/{path}")
    parsed = parse_document(ParseTask(content, origin, (GENERATION,), 1.0))
    if not parsed.record:
        return None
    record = docstore_pb2.Document.FromString(parsed.record)
    record.document_id, record.revision, record.source, record.path = origin.document_id, stamp, source, origin.path
    return record


def _name_words(records: Iterable[docstore_pb2.Document]) -> Iterable[entries.search.WordDocument]:
    for record in records:
        head = record.heads[0]
        yield entries.word_document(record, head, [span.chunk_id for span in head.chunks])
