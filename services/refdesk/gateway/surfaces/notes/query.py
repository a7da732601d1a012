"""query: from sub-queries to numbered snippets, a document each; knows nothing of legs' engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.errors import InvalidArgument
from refdesk.gateway.answers import Answer, AskedLeg, Question, Result, SearchCore, embedded_share
from refdesk.gateway.asking import Asking
from refdesk.gateway.budgets import Packer, longest
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.legs import WHY, mode_line
from refdesk.gateway.profiles import NOTES
from refdesk.gateway.surfaces.docs import wording as docs_wording
from refdesk.gateway.surfaces.docs.wording import QUERY_CHARACTERS, TITLE_CHARACTERS, count, one_line, quoted
from refdesk.gateway.surfaces.interface import ToolAnswer
from refdesk.gateway.surfaces.notes.contexts import Contexts
from refdesk.gateway.surfaces.notes.library import Library
from refdesk.gateway.surfaces.notes.lines import best_line, snippet, words_of
from refdesk.gateway.surfaces.notes.tools import MOST_QUERY_CHARACTERS
from refdesk.gateway.surfaces.notes.wording import summary_line
from refdesk.ids import docid
from refdesk.lex import parse

FIRST_WEIGHT = 2.0
"""Of the first sub-query; the others weigh 1."""
CHUNKS_PER_CANDIDATE = NOTES.chunks_per_document
"""A candidate is a document, of which so many chunks are looked at."""
NOT_AVAILABLE = "rerank: not available"
KINDS = {
    "lex": search_api.LEG_KIND_LEXICAL,
    "vec": search_api.LEG_KIND_SEMANTIC,
    "hyde": search_api.LEG_KIND_HYDE,
}


class Query:
    """Answers query."""

    def __init__(self, core: SearchCore, catalog: Catalog, library: Library, packer: Packer) -> None:
        self._asking = Asking(core, catalog)
        self._packer = packer
        self._catalog = catalog
        self._library = library

    async def run(self, project: docstore_api.Project, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Ranked documents.

        Raises: InvalidArgument for sub-queries that cannot be read, an unknown collection or an index of another model; Unavailable.
        """
        legs = read_legs(arguments)
        stats = await self._asking.stats(project)
        _check_collections(project, stats, arguments["collections"] or ())
        asked = one_line(legs[0].text, QUERY_CHARACTERS)
        if not stats.document_count:
            is_indexing = await self._catalog.is_indexing(project)
            message = docs_wording.nothing_indexed(project.slug, is_indexing=is_indexing)
            return ToolAnswer(message, {"results": [], "message": message})
        question = make_question(project, stats, arguments, legs)
        answer = await self._asking.ask(question)
        results = await self._describe(project, answer, arguments)
        said = _notes(answer, stats, arguments)

        async def compose(most: int) -> ToolAnswer:
            shown, left_out = results[:most], len(results) - len(results[:most])
            notes = [
                *([f"{left_out} of {len(results)} results did not fit: max_tokens is full."] if left_out else []),
                *said,
            ]
            text = _text(asked, shown, answer, notes)
            return ToolAnswer(text, _structured(shown, answer, notes), answer.mode, answer.degraded, len(shown))

        return await self._packer.fit(
            project.model_id,
            arguments["max_tokens"],
            max(1, len(results)),
            compose,
            lambda one: longest(one.text, one.structured),
        )

    async def _describe(
        self, project: docstore_api.Project, answer: Answer, arguments: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        kept = [result for result in answer.results if round(result.share, 2) >= arguments["minScore"]]
        documents = await self._library.describe(project, [result.chunk.document_id for result in kept])
        contexts = Contexts(project)
        asked, intended = _asked_words(arguments), words_of(arguments["intent"] or "")
        return [
            _describe(result, documents[result.chunk.document_id], contexts, project.live_generation, asked, intended)
            for result in kept
            if result.chunk.document_id in documents
        ]


def read_legs(arguments: Mapping[str, Any]) -> tuple[AskedLeg, ...]:
    """The legs of the sub-queries, or of a plain query; the first sub-query weighs double.

    Raises: InvalidArgument for both, neither, or a lex sub-query that is not of its grammar.
    """
    searches, query, intent = arguments["searches"], arguments["query"], arguments["intent"]
    if (searches is None) == (query is None):
        raise InvalidArgument("query needs searches, a list of {type, query}, or query, a plain text: one of the two")
    if query is not None:
        semantic = AskedLeg(search_api.LEG_KIND_SEMANTIC, _with_intent(query, intent))
        return (AskedLeg(search_api.LEG_KIND_LEXICAL, query), semantic)
    legs = []
    for place, search in enumerate(searches):
        weight = FIRST_WEIGHT if place == 0 else 1.0
        legs.append(_read_leg(place, search["type"], search["query"], intent, weight))
    return tuple(legs)


def make_question(
    project: docstore_api.Project,
    stats: docstore_api.GetStatsResponse,
    arguments: Mapping[str, Any],
    legs: tuple[AskedLeg, ...],
) -> Question:
    """What the search core is asked."""
    most = arguments["candidateLimit"]
    return Question(
        project,
        legs[0].text,
        min(arguments["limit"], most),
        search_api.Filter(sources=arguments["collections"] or ()),
        replace(NOTES, kept=most * CHUNKS_PER_CANDIDATE),
        embedded_share=embedded_share(stats),
        legs=legs,
    )


def _read_leg(place: int, kind: str, text: str, intent: str | None, weight: float) -> AskedLeg:
    if kind == "lex":
        try:
            parse(text)
        except InvalidArgument as refusal:
            raise InvalidArgument(f"searches[{place}]: {refusal.message}") from None
        return AskedLeg(KINDS[kind], text, weight, search_api.LEG_SYNTAX_LEX)
    return AskedLeg(KINDS[kind], _with_intent(text, intent) if kind == "vec" else text, weight)


def _with_intent(text: str, intent: str | None) -> str:
    """A question by meaning, told what it is about; where there is room for it."""
    told = f"{text} ({intent})" if intent else text
    return told if len(told) <= MOST_QUERY_CHARACTERS else text


def _check_collections(
    project: docstore_api.Project, stats: docstore_api.GetStatsResponse, asked: Sequence[str]
) -> None:
    known = list(dict.fromkeys((*(one.name for one in project.sources), *(one.source for one in stats.sources))))
    for name in asked:
        if name not in known:
            there = docs_wording.listed(known, 2_000) or "none yet"
            raise InvalidArgument(f"no collection {quoted(one_line(name, TITLE_CHARACTERS))}; valid: {there}")


def _asked_words(arguments: Mapping[str, Any]) -> frozenset[str]:
    if arguments["query"] is not None:
        return words_of(arguments["query"])
    texts = [
        parse(search["query"]).wanted_text if search["type"] == "lex" else search["query"]
        for search in arguments["searches"]
    ]
    return words_of(" ".join(texts))


def _describe(
    result: Result,
    document: docstore_api.Document,
    contexts: Contexts,
    generation: str,
    asked: frozenset[str],
    intended: frozenset[str],
) -> dict[str, Any]:
    chunk = result.chunk
    span = next(
        (one for head in document.heads if head.generation == generation for one in head.chunks
         if one.chunk_id == chunk.chunk_id),
        None,
    )  # fmt: skip
    text = chunk.text.removeprefix(span.lead).removesuffix(span.tail) if span else chunk.text
    lines = text.strip("\n").split("\n")
    first = chunk.first_line + len(text) - len(text.lstrip("\n")) if chunk.first_line else 1
    return {
        "docid": docid(document.content_hash),
        "file": chunk.path,
        "title": one_line(chunk.title, TITLE_CHARACTERS) or chunk.path,
        "score": round(result.share, 2),
        "context": contexts.of_path(chunk.path) or None,
        "snippet": snippet(lines, first, best_line(lines, asked, intended), NOTES.snippet_characters),
    }


def _notes(answer: Answer, stats: docstore_api.GetStatsResponse, arguments: Mapping[str, Any]) -> list[str]:
    vectors = docs_wording.vectors_line(stats) if answer.semantic_ran else ""
    rerank = NOT_AVAILABLE if arguments["rerank"] else ""
    return [note for note in (mode_line(answer.mode, answer.absent), vectors, rerank) if note]


def _text(asked: str, results: Sequence[Mapping[str, Any]], answer: Answer, notes: Sequence[str]) -> str:
    if results:
        lines = [
            f"{summary_line(one['docid'], '{}% {}'.format(round(one['score'] * 100), one['file']), one['title'])}"
            for one in results
        ]
        head = f'Found {count(len(results), "result")} for "{asked}":\n\n'
        return "\n\n".join((head + "\n".join(lines), *(["\n".join(notes)] if notes else [])))
    if answer.has_failed_leg:
        failed = " and ".join(dict.fromkeys(WHY[leg.name] for leg in answer.absent if leg.failed))
        nothing = (
            f'No answer yet for "{asked}": {failed} could not be searched, so this does not mean that nothing is there.'
        )
    else:
        nothing = f'No results found for "{asked}"'
    return "\n".join((nothing, *notes))


def _structured(results: Sequence[Mapping[str, Any]], answer: Answer, notes: Sequence[str]) -> Mapping[str, Any]:
    shown: dict[str, Any] = {"results": list(results)}
    if answer.absent:
        shown["mode"] = answer.mode
    if notes:
        shown["message"] = "\n".join(notes)
    return shown
