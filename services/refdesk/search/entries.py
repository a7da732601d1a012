"""What entries of words are indexed by: path, headings twice and text; pure, knows no engine."""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import NamedTuple

from refdesk.search.analysis import NOTHING, Analysis, Found, analyze_pieces, join
from refdesk.search.engines.interface import WordDocument
from refdesk.search.words import join_words


class AnalyzedChunk(NamedTuple):
    """A chunk's id and what it is indexed by."""

    id: str
    analysis: Analysis


class AnalyzedDocument(NamedTuple):
    """What the chunks of a document are indexed by, and the document as a whole where it has text."""

    chunks: list[AnalyzedChunk]
    whole: Analysis | None
    words: str
    """All its words in their order, where it has text."""


def analyze_document(document: WordDocument) -> AnalyzedDocument:
    """Terms and identifiers of a document's entries; one field for path, headings and text does what fields with weights do.

    The text is cut once, at every end of a chunk, and chunks and document are put together from the pieces.
    """
    language, text = document.facets.language, document.text
    ends = sorted({0, len(text)}.union(*[(chunk.start, chunk.end) for chunk in document.chunks]))
    places = {end: place for place, end in enumerate(ends)}
    pieces = analyze_pieces([text[start:end] for start, end in itertools.pairwise(ends)], language)
    path = document.facets.path
    place = (path.rpartition(".")[0] or path).replace("/", " ")
    label = _analyze_label(place, language)
    chunks = []
    for chunk in document.chunks:
        head = _analyze_headings(chunk.headings, language)
        lead, tail = (_analyze_label(frame, language) for frame in (chunk.lead, chunk.tail))
        own = pieces[places[chunk.start] : places[chunk.end]]
        chunks.append(AnalyzedChunk(chunk.id, join([label, head, lead, *own, tail])))
    head = _analyze_headings(document.headings, language)
    whole = join([label, head, *pieces]) if text else None
    return AnalyzedDocument(chunks, whole, join_words(place, *document.headings, text) if text else "")


@lru_cache(maxsize=1024)
def _analyze_headings(headings: tuple[str, ...], language: str) -> Found:
    """Of headings, which count twice: the chunks of a section share theirs."""
    labels = [_analyze_label(heading, language) for heading in headings]
    return Found(*("".join(part) * 2 for part in zip(*labels, strict=True))) if labels else NOTHING


@lru_cache(maxsize=4096)
def _analyze_label(label: str, language: str) -> Found:
    """Of a path, a heading, a table's head: many chunks share theirs."""
    return analyze_pieces([label], language)[0] if label else NOTHING
