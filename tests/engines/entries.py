"""Made entries for the conformance suites: ids that can be read, documents that can be told apart."""

from __future__ import annotations

import math
from array import array
from hashlib import sha256
from uuid import NAMESPACE_URL, uuid5

from refdesk.search.analysis import QueryAnalysis, analyze_query
from refdesk.search.engines.interface import (
    Candidates,
    Facets,
    Filter,
    Grain,
    IndexName,
    SweepItem,
    VectorItem,
    WordChunk,
    WordDocument,
)

HANDBOOK = IndexName("handbook", "model.c1")
OTHER = IndexName("other", "model.c1")
EVERYWHERE = Filter()
USUAL = Candidates()


def id_of(name: str) -> str:
    """A stable UUID for a name."""
    return str(uuid5(NAMESPACE_URL, name))


def facets(path: str = "docs/a.md", *, version: str = "", kind: str = "documentation", language: str = "en") -> Facets:
    """Facets of a document at `path`; the source is its first segment."""
    return Facets(path.partition("/")[0], path, version, kind, language)


def word_item(
    name: str,
    text: str,
    *,
    document: str = "a",
    stamp: int = 1,
    where: Facets | None = None,
    headings: tuple[str, ...] = (),
) -> WordDocument:
    """A chunk alone: its text is all lead, so its document has none."""
    chunk = WordChunk(id_of(name), headings, 0, 0, text, "")
    return WordDocument(id_of(document), stamp, where or facets(f"docs/{document}.md"), (), "", (chunk,))


def whole_item(document: str, text: str, *, stamp: int = 1) -> WordDocument:
    """A whole document without chunks."""
    return WordDocument(id_of(document), stamp, facets(f"docs/{document}.md"), (), text, ())


def sweep_item(document: str, up_to_stamp: int, *keep: str, remove: bool = False) -> SweepItem:
    """What of a document stays."""
    return SweepItem(id_of(document), up_to_stamp, frozenset(map(id_of, keep)), remove)


def asking(text: str, *languages: str) -> QueryAnalysis:
    """A query in an index of these languages."""
    return analyze_query(text, languages or ("en",))


def vector_of(*numbers: float) -> bytes:
    """Numbers scaled to length 1, as a contract's vector."""
    length = math.sqrt(sum(number * number for number in numbers))
    return array("f", [number / length for number in numbers]).tobytes()


def vector_item(
    name: str,
    vector: bytes,
    *,
    document: str = "a",
    stamp: int = 1,
    where: Facets | None = None,
    text_hash: str = "",
    grain: Grain = Grain.CHUNK,
) -> VectorItem:
    """A point; its text's hash is of its name."""
    where = where or facets(f"docs/{document}.md")
    return VectorItem(id_of(name), id_of(document), grain, stamp, where, text_hash or hash_of(name), vector)


def hash_of(text: str) -> str:
    """sha256 in hex."""
    return sha256(text.encode()).hexdigest()


def page_item(document: str, *chunks: str, stamp: int = 1, where: Facets | None = None) -> WordDocument:
    """A document whose text is these chunks, each a paragraph, with the chunks."""
    text, spans = "", []
    for number, chunk in enumerate(chunks):
        start = len(text)
        text += f"{chunk}\n\n"
        spans.append(WordChunk(id_of(f"{document}{number}"), (), start, start + len(chunk), "", ""))
    return WordDocument(id_of(document), stamp, where or facets(f"docs/{document}.md"), (), text, tuple(spans))
