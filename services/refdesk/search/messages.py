"""Turns the contract's messages into what engines take, and checks every bound that the contract names; pure."""

from __future__ import annotations

import base64
import json
import math
import re
from array import array
from collections.abc import Iterable

from refdesk.api.search.v1 import search_pb2 as pb
from refdesk.errors import InvalidArgument
from refdesk.lex import parse
from refdesk.projects import SLUG
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
from refdesk.search.legs import Look

MOST_LEGS = 10
MOST_TEXT_CHARACTERS = 2000
MOST_HASHES = 1024
MOST_PAGE_ENTRIES = 10_000
USUAL_PAGE_ENTRIES = 1000
MOST_CANDIDATES = 1000

_SLUG = re.compile(SLUG)
_GENERATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_LENGTH_TOLERANCE = 0.01


def read_index(project: str, generation: str) -> IndexName:
    """The index that a request names. Raises: InvalidArgument."""
    if not _SLUG.fullmatch(project):
        raise InvalidArgument(f"project {project!r} is not a slug of a-z, 0-9 and -")
    if not _GENERATION.fullmatch(generation):
        raise InvalidArgument(f"generation {generation!r} is not a name of letters, digits, dots, _ and -")
    return IndexName(project, generation)


def read_word_documents(documents: Iterable[pb.WordDocument]) -> list[WordDocument]:
    """Documents for the keyword index. Raises: InvalidArgument."""
    return [_read_word_document(document) for document in documents]


def read_vector_items(entries: Iterable[pb.VectorEntry]) -> list[VectorItem]:
    """Points of the vector index. Raises: InvalidArgument."""
    items = []
    for entry in entries:
        identity = _read_identity(entry)
        _check_length(entry)
        items.append(VectorItem(*identity, entry.stamp, _read_facets(entry.facets), entry.text_hash, entry.vector))
    return items


def read_sweep_items(items: Iterable[pb.SweepDocumentsItem]) -> list[SweepItem]:
    """What of each document stays. Raises: InvalidArgument."""
    for item in items:
        if not _ID.fullmatch(item.document_id):
            raise InvalidArgument(f"document id {item.document_id!r} is not a UUID in lower case")
    return [SweepItem(i.document_id, i.up_to_stamp, frozenset(i.keep_chunk_ids), i.remove_document) for i in items]


def read_look(request: pb.RetrieveRequest) -> Look:
    """What a retrieval looks at. Raises: InvalidArgument for unknown legs, empty or long texts, and counts out of bounds."""
    index = read_index(request.project, request.generation)
    if not request.model_id:
        raise InvalidArgument("model_id is empty; name the generation's model")
    if not 1 <= len(request.legs) <= MOST_LEGS:
        raise InvalidArgument(f"{len(request.legs)} legs; give 1 to {MOST_LEGS}")
    for leg in request.legs:
        if leg.kind not in (pb.LEG_KIND_LEXICAL, pb.LEG_KIND_SEMANTIC, pb.LEG_KIND_HYDE):
            raise InvalidArgument("a leg is of no known kind; use lexical, semantic or hyde")
        if not leg.text.strip() or len(leg.text) > MOST_TEXT_CHARACTERS:
            raise InvalidArgument(
                f"a leg's text has {len(leg.text)} characters; give 1 to {MOST_TEXT_CHARACTERS}, not all blank"
            )
        _check_syntax(leg)
    counts = (request.chunk_candidates, request.chunks_per_document, request.document_candidates)
    if max(counts) > MOST_CANDIDATES:
        raise InvalidArgument(f"a count of candidates is {max(counts)}; the most is {MOST_CANDIDATES}")
    candidates = Candidates(*(given or usual for given, usual in zip(counts, Candidates(), strict=True)))
    wanted = request.filter
    narrowed = Filter(tuple(wanted.sources), wanted.path_prefix.strip("/"), tuple(wanted.versions), tuple(wanted.kinds))
    floor_cosine = request.floor_cosine if request.HasField("floor_cosine") else None
    return Look(index, request.model_id, narrowed, candidates, request.chunks_only, floor_cosine)


def read_hashes(request: pb.GetVectorsRequest) -> list[str]:
    """The hashes asked for, each once. Raises: InvalidArgument."""
    if not 1 <= len(request.text_hashes) <= MOST_HASHES:
        raise InvalidArgument(f"{len(request.text_hashes)} hashes; give 1 to {MOST_HASHES}")
    return list(dict.fromkeys(request.text_hashes))


def read_page_size(request: pb.ListEntriesRequest) -> int:
    """How many entries a page has at most. Raises: InvalidArgument."""
    if request.page_size > MOST_PAGE_ENTRIES:
        raise InvalidArgument(f"page_size {request.page_size} is above {MOST_PAGE_ENTRIES}")
    return request.page_size or USUAL_PAGE_ENTRIES


def write_page_token(request: pb.ListEntriesRequest, document_id: str, id: str) -> str:
    """A token that goes on behind this entry, in this listing and no other."""
    values = [request.engine, request.project, request.generation, document_id, id]
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode()


def read_page_token(request: pb.ListEntriesRequest) -> tuple[str, str]:
    """Document and id that the page starts behind. Raises: InvalidArgument for a token of another listing."""
    if not request.page_token:
        return "", ""
    try:
        *listing, document_id, id = json.loads(base64.urlsafe_b64decode(request.page_token))
    except (ValueError, TypeError):
        raise InvalidArgument("page_token is not one that this service gave") from None
    if (
        listing != [request.engine, request.project, request.generation]
        or not isinstance(document_id, str)
        or not isinstance(id, str)
    ):
        raise InvalidArgument("page_token is of another listing; start without one")
    return document_id, id


def _check_syntax(leg: pb.Leg) -> None:
    if leg.syntax == pb.LEG_SYNTAX_UNSPECIFIED:
        return
    if leg.syntax != pb.LEG_SYNTAX_LEX or leg.kind != pb.LEG_KIND_LEXICAL:
        raise InvalidArgument("a leg's syntax is not one of its kind; lex is of lexical legs, others have none")
    parse(leg.text)


def _read_word_document(document: pb.WordDocument) -> WordDocument:
    _check_id("document_id", document.document_id)
    _check_stamp(document.document_id, document.stamp)
    text = document.text
    chunks = tuple(
        [
            WordChunk(chunk.id, tuple(chunk.headings), chunk.start, chunk.end, chunk.lead, chunk.tail)
            for chunk in document.chunks
        ]
    )
    for chunk in chunks:
        _check_id("id", chunk.id)
        if not chunk.start <= chunk.end <= len(text):
            raise InvalidArgument(f"chunk {chunk.id} spans {chunk.start} to {chunk.end} of {len(text)} characters")
    return WordDocument(
        document.document_id, document.stamp, _read_facets(document.facets), tuple(document.headings), text, chunks
    )


def _check_id(name: str, id: str) -> None:
    if not _ID.fullmatch(id):
        raise InvalidArgument(f"{name} {id!r} of an entry is not a UUID in lower case")


def _check_stamp(id: str, stamp: int) -> None:
    if stamp <= 0:
        raise InvalidArgument(f"entry {id} has stamp {stamp}; stamps are above 0")


def _read_identity(entry: pb.VectorEntry) -> tuple[str, str, Grain]:
    _check_id("id", entry.id)
    _check_id("document_id", entry.document_id)
    if entry.grain not in (pb.GRAIN_CHUNK, pb.GRAIN_DOCUMENT):
        raise InvalidArgument(f"entry {entry.id} has no grain")
    _check_stamp(entry.id, entry.stamp)
    return entry.id, entry.document_id, Grain(entry.grain)


def _read_facets(facets: pb.Facets) -> Facets:
    return Facets(facets.source, facets.path, facets.version, facets.kind, facets.language)


def _check_length(entry: pb.VectorEntry) -> None:
    """A vector of another length would rank by its length; dot products are cosines for length 1 alone."""
    if not entry.vector or len(entry.vector) % 4:
        raise InvalidArgument(f"the vector of entry {entry.id} is {len(entry.vector)} bytes; it takes 4 a number")
    length = math.hypot(*array("f", entry.vector))
    if not abs(length - 1) <= _LENGTH_TOLERANCE:
        raise InvalidArgument(f"the vector of entry {entry.id} has length {length:.3f}; it must be 1")
