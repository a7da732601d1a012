"""The child process that parses and cuts documents; knows nothing of sources, records or engines."""

from __future__ import annotations

import dataclasses
import gc
import math
from collections.abc import Callable, Sequence

from refdesk import ids, language
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.children import serve
from refdesk.errors import InvalidArgument
from refdesk.ingest import chunks
from refdesk.ingest.chunkers import find_chunker
from refdesk.ingest.chunks import Chunk, ChunkSettings
from refdesk.ingest.formats import markdown
from refdesk.ingest.formats.document import ParsedDocument
from refdesk.ingest.heads import head_path
from refdesk.ingest.parsing import Parsed, ParseTask
from refdesk.ingest.sources.interface import NOTHING_STATED, SPEC, Stated
from refdesk.openapi.pages import SpecPages, make_pages

KINDS = ("documentation", "api")


def parse_documents(tasks: Sequence[ParseTask]) -> list[Parsed]:
    """An answer for each task, in order."""
    return [parse_document(ParseTask(*task)) for task in tasks]


def parse_document(task: ParseTask) -> Parsed:
    """Parses one document and cuts it for every generation; what it cannot do with it is said in the answer."""
    if task.stored:
        return _answer(lambda: cut_stored(task))
    if task.stated.kind == SPEC:
        return _answer(lambda: keep_spec(task))
    try:
        document = markdown.parse(task.content, task.origin.path)
    except InvalidArgument as error:
        return Parsed(unusable=error.message)
    except MemoryError:
        gc.collect()
        return Parsed(failure="parsing needs more memory than it is given")
    if document.draft or not document.published:
        return Parsed(unpublished="its front matter says that it is a draft")
    said = as_stated(document, task.stated)
    return _answer(lambda: build_record(said, task), said.warnings)


def _answer(build: Callable[[], pb.Document], remarks: tuple[str, ...] = ()) -> Parsed:
    try:
        return Parsed(record=build().SerializeToString(), remarks=remarks)
    except InvalidArgument as error:
        return Parsed(failure=error.message)
    except MemoryError:
        gc.collect()
        return Parsed(failure="cutting needs more memory than it is given")


def as_stated(document: ParsedDocument, stated: Stated) -> ParsedDocument:
    """The document with what its source says of it in place of what it says itself."""
    if stated == NOTHING_STATED:
        return document
    said = {name: value for name, value in dataclasses.asdict(stated).items() if value}
    return dataclasses.replace(document, **said)


def build_record(document: ParsedDocument, task: ParseTask) -> pb.Document:
    """The part of a record that a document's content decides; what its front matter says goes before what its source declares."""
    origin = task.origin
    record = pb.Document(
        title=document.title,
        summary=document.summary,
        url=document.url if document.url.startswith(("https://", "http://")) else origin.url,
        version=document.version or origin.version,
        kind=document.kind if document.kind in KINDS else origin.kind,
        language=language.detect(document.text, document.language or origin.language, origin.language),
        text=document.text,
    )
    for section in document.sections:
        if section.level:
            record.sections.add(
                level=section.level,
                breadcrumb=section.breadcrumb,
                ordinal=section.ordinal,
                start=section.start,
                end=section.end,
            )
    _add_heads(record, document, task)
    return record


def keep_spec(task: ParseTask) -> pb.Document:
    """An API's spec, kept whole to be read: it has heads without chunks, for what is searched are the pages made of it."""
    stated, origin = task.stated, task.origin
    record = pb.Document(
        title=stated.title,
        url=stated.url or origin.url,
        version=stated.version or origin.version,
        kind=SPEC,
        language=language.detect("", stated.language or origin.language, ""),
        text=task.content.decode("utf-8-sig"),
    )
    record.heads.extend(pb.Head(generation=generation.name) for generation in task.generations)
    return record


def expand_spec(content: bytes) -> SpecPages:
    """The pages of a spec. Raises: InvalidArgument that says what is wrong with it; NoSpec."""
    try:
        return make_pages(content)
    except MemoryError:
        gc.collect()
        raise InvalidArgument("it needs more memory than a parser is given") from None


def cut_stored(task: ParseTask) -> pb.Document:
    """Heads alone, cut from a record's text as it stands, and what they bear."""
    stored = pb.Document.FromString(task.content)
    record = pb.Document(version=stored.version, kind=stored.kind, language=stored.language)
    if stored.kind == SPEC:
        record.heads.extend(pb.Head(generation=generation.name) for generation in task.generations)
        return record
    _add_heads(record, dataclasses.replace(markdown.structure(stored.text), title=stored.title), task)
    return record


def _add_heads(record: pb.Document, document: ParsedDocument, task: ParseTask) -> None:
    """A head of each generation, cut by its own chunker. Raises: InvalidArgument."""
    facets = ids.Facets(record.version, record.kind, record.language)
    cuts: dict[tuple[int, ChunkSettings], tuple[Chunk, ...]] = {}
    for generation in task.generations:
        sizes = chunk_settings(task.origin.chunk_tokens, generation.window_tokens, task.token_scale)
        key = generation.chunker_version, sizes
        if key not in cuts:
            cuts[key] = find_chunker(generation.chunker_version).cut(document, sizes)
        names = ids.ChunkNames(generation.name, task.origin.document_id, facets)
        _add_spans(record.heads.add(generation=generation.name), cuts[key], names, document.title)


def chunk_settings(chunk_tokens: int, window_tokens: int, token_scale: float) -> ChunkSettings:
    """Sizes that fit the window. Raises: InvalidArgument where the window leaves no room for text."""
    scale = min(token_scale, 10.0)
    least = math.ceil(chunks.LEAST_CHUNK_TOKENS * scale)
    if least > window_tokens:
        raise InvalidArgument(f"the model's window of {window_tokens} tokens is too small for what this text costs")
    return ChunkSettings(min(max(chunk_tokens, least), window_tokens), window_tokens, scale)


def _add_spans(head: pb.Head, cut: Sequence[Chunk], names: ids.ChunkNames, title: str) -> None:
    """Spans are made where they belong: a message that is put into another one is copied."""
    seen: dict[tuple[tuple[str, ...], str], int] = {}
    for chunk in cut:
        path = head_path(title, chunk.breadcrumb)
        ordinal = seen.get((path, chunk.text), 0)
        seen[path, chunk.text] = ordinal + 1
        head.chunks.add(
            chunk_id=names.chunk_id(path, chunk.text, ordinal),
            breadcrumb=chunk.breadcrumb,
            start=chunk.start,
            end=chunk.end,
            lead=chunk.lead,
            tail=chunk.tail,
            token_count=chunk.token_estimate,
            first_line=chunk.first_line + 1,
            last_line=chunk.last_line + 1,
        )


def ping() -> None:
    """Shows that the process lives."""


if __name__ == "__main__":
    serve({"parse": parse_documents, "expand": expand_spec, "ping": ping})
