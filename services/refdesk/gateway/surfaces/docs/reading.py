"""Takes a document apart for reading: sections by breadcrumb, ranges of chunks, pieces to cut at; pure, it counts no tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.errors import InvalidArgument, NotFound
from refdesk.gateway.surfaces.docs.wording import SEPARATOR, TITLE_CHARACTERS, one_line, quoted

MOST_HEADINGS = 40
NO_CHUNK = -1


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of the text, `end` exclusive; `last_chunk` is the range's last one, NO_CHUNK for the document's."""

    start: int
    end: int
    last_chunk: int = NO_CHUNK
    lead: str = ""
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """Text from the start of a chunk to the start of the next; `tail` closes what it leaves open when it is the last."""

    chunk: int
    text: str
    lead: str = ""
    tail: str = ""


def head_chunks(document: docstore_api.Document, generation: str) -> Sequence[docstore_api.ChunkSpan]:
    """The document's chunks in a generation; empty where it has no head of it."""
    return next((head.chunks for head in document.heads if head.generation == generation), ())


def whole_span(document: docstore_api.Document) -> Span:
    """All of the text."""
    return Span(0, len(document.text))


def range_span(
    document: docstore_api.Document, chunks: Sequence[docstore_api.ChunkSpan], first: int | None, last: int | None
) -> Span:
    """Chunks `first` to `last`, both inclusive, from 0; an end that is not given is the document's.

    Raises: InvalidArgument for a range that the document does not have.
    """
    if not chunks:
        raise InvalidArgument(f"{document.path} has no chunks to count by: read it without from and to")
    start = 0 if first is None else first
    end = len(chunks) - 1 if last is None else min(last, len(chunks) - 1)
    if start >= len(chunks):
        raise InvalidArgument(f"from {start} is past the end: {document.path} has chunks 0 to {len(chunks) - 1}")
    if last is not None and start > last:
        raise InvalidArgument(f"from {start} is above to {last}: give the first chunk as from and the last as to")
    # The first chunk takes what stands before it along, the last one what stands after it: reading all ranges reads all.
    at = 0 if start == 0 else chunks[start].start
    is_last = end == len(chunks) - 1
    until = len(document.text) if is_last else chunks[end].end
    return Span(at, until, end, chunks[start].lead if start else "", "" if is_last else chunks[end].tail)


def section_spans(
    document: docstore_api.Document, chunks: Sequence[docstore_api.ChunkSpan], heading: str
) -> list[Span]:
    """The sections of that breadcrumb, subsections included: several where the document has equal ones.

    Raises: NotFound with the headings that exist; InvalidArgument when a part of a breadcrumb fits several.
    """
    wanted = _parts(heading)
    crumbs = [_parts(SEPARATOR.join(section.breadcrumb)) for section in document.sections]
    for depth in (None, -len(wanted)):  # the whole breadcrumb, else its last headings
        found = [place for place, parts in enumerate(crumbs) if wanted and parts[depth:] == wanted]
        if len({crumbs[place] for place in found}) > 1:
            candidates = ", ".join(quoted(SEPARATOR.join(document.sections[place].breadcrumb)) for place in found[:10])
            raise InvalidArgument(
                f"heading {quoted(one_line(heading, TITLE_CHARACTERS))} fits several of {document.path}: {candidates}"
            )
        if found:
            sections = [document.sections[place] for place in found]
            return [Span(one.start, one.end, _chunk_before(chunks, one.end)) for one in sections]
    if wanted == _parts(document.title):
        return [whole_span(document)]
    raise NotFound(
        f"no heading {quoted(one_line(heading, TITLE_CHARACTERS))} in {document.path}; {_known_headings(document)}"
    )


def pieces_of(text: str, chunks: Sequence[docstore_api.ChunkSpan], span: Span) -> list[Piece]:
    """The span in pieces that start where chunks start, so that the rest can be asked for by chunk."""
    if not chunks:
        return [Piece(NO_CHUNK, line) for line in text[span.start : span.end].splitlines(keepends=True)]
    first = max(0, _chunk_before(chunks, span.start + 1))
    inside = [place for place, chunk in enumerate(chunks) if place > first and span.start < chunk.start < span.end]
    places = [first, *inside]
    starts = [span.start, *(chunks[place].start for place in inside)]
    ends = [*starts[1:], span.end]
    pieces = [
        Piece(place, text[start:end], "", chunks[place].tail)
        for place, start, end in zip(places, starts, ends, strict=True)
    ]
    pieces[0] = Piece(pieces[0].chunk, pieces[0].text, span.lead, pieces[0].tail)
    pieces[-1] = Piece(pieces[-1].chunk, pieces[-1].text, pieces[-1].lead, span.tail)
    return pieces


def joined(pieces: Sequence[Piece]) -> str:
    """The pieces as one text, with what the first needs before it and the last behind it."""
    if not pieces:
        return ""
    lead, tail = pieces[0].lead, pieces[-1].tail
    body = "".join(piece.text for piece in pieces).strip("\n")
    return "\n".join(part for part in (lead.rstrip("\n"), body, tail.strip("\n")) if part)


def _parts(heading: str) -> tuple[str, ...]:
    return tuple(" ".join(part.split()).casefold() for part in heading.split(SEPARATOR.strip()) if part.strip())


def _chunk_before(chunks: Sequence[docstore_api.ChunkSpan], place: int) -> int:
    """The last chunk that starts before a character."""
    before = [number for number, chunk in enumerate(chunks) if chunk.start < place]
    return before[-1] if before else NO_CHUNK


def _known_headings(document: docstore_api.Document) -> str:
    crumbs = list(dict.fromkeys(SEPARATOR.join(section.breadcrumb) for section in document.sections))
    if not crumbs:
        return "it has none: read it without heading"
    more = f" and {len(crumbs) - MOST_HEADINGS:,} more" if len(crumbs) > MOST_HEADINGS else ""
    return "its headings: " + ", ".join(quoted(crumb) for crumb in crumbs[:MOST_HEADINGS]) + more
