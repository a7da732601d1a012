"""search_docs: from arguments to ranked excerpts in the docs surface's words; knows nothing of legs or engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.errors import InvalidArgument
from refdesk.gateway.answers import Answer, Question, Result, SearchCore, embedded_share
from refdesk.gateway.asking import Asking
from refdesk.gateway.budgets import Packer, longest
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.legs import WHY, mode_line
from refdesk.gateway.packing import Excerpt, Packed, pack, split_heading
from refdesk.gateway.profiles import DOCS
from refdesk.gateway.surfaces.docs import wording
from refdesk.gateway.surfaces.docs.tools import MODES
from refdesk.gateway.surfaces.docs.wording import QUERY_CHARACTERS, TITLE_CHARACTERS, count, one_line, quoted
from refdesk.gateway.surfaces.interface import ToolAnswer

NARROWING = ("source", "path_prefix", "version")


class SearchDocs:
    """Answers search_docs with at most `most_characters`."""

    def __init__(self, core: SearchCore, catalog: Catalog, packer: Packer, most_characters: int) -> None:
        self._asking = Asking(core, catalog)
        self._packer = packer
        self._catalog = catalog
        self._most_characters = most_characters

    async def run(self, project: docstore_api.Project, arguments: Mapping[str, Any]) -> ToolAnswer:
        """The answer to read arguments.

        Raises: InvalidArgument for an unknown source or version, or an index of another model; Unavailable.
        """
        stats = await self._asking.stats(project)
        _check_project(project, stats, arguments)
        query = one_line(arguments["query"], QUERY_CHARACTERS)
        if not stats.document_count:
            is_indexing = await self._catalog.is_indexing(project)
            message = wording.nothing_indexed(project.slug, is_indexing=is_indexing)
            return ToolAnswer(*_special(project, stats, query, None, message))
        question = Question(
            project,
            arguments["query"],
            arguments["limit"],
            _filter(arguments),
            DOCS,
            MODES[arguments.get("mode") or "hybrid"],
            embedded_share=embedded_share(stats),
        )
        answer = await self._asking.ask(question)
        vectors = wording.vectors_line(stats) if answer.semantic_ran else ""
        notes = [note for note in (mode_line(answer.mode, answer.absent), vectors) if note]
        if not answer.results or not answer.is_good:
            message = "\n".join([_nothing_good(project, query, answer, arguments), *notes])
            return ToolAnswer(*_special(project, stats, query, answer, message), answer.mode, answer.degraded)
        most_tokens = arguments["max_tokens"]

        async def compose(most_characters: int) -> ToolAnswer:
            cap = (
                f"{most_tokens:,} tokens"
                if most_characters < self._most_characters
                else f"{most_characters:,} characters"
            )
            return self._pack(project, stats, query, answer, notes, most_characters, cap)

        return await self._packer.fit(
            project.model_id, most_tokens, self._most_characters, compose, lambda one: longest(one.text, one.structured)
        )

    @staticmethod
    def _pack(
        project: docstore_api.Project,
        stats: docstore_api.GetStatsResponse,
        query: str,
        answer: Answer,
        notes: Sequence[str],
        most_characters: int,
        cap: str,
    ) -> ToolAnswer:
        results = answer.results
        excerpts = [_excerpt(rank, result) for rank, result in enumerate(results, start=1)]
        head = f'Found {count(len(results), "result")} for "{query}" in project "{project.slug}":'

        def notice(shown: int) -> str:
            return _left_out(results, shown, cap)

        overhead = len(head) + 2 + sum(len(note) + 1 for note in notes) + (1 if notes else 0)
        packed = pack(excerpts, most_characters, overhead, notice)
        notes = [*([notice(len(packed.blocks))] if packed.left_out else []), *notes]
        text = "\n\n".join([head, *packed.blocks, *(["\n".join(notes)] if notes else [])])
        structured = _structured(project, stats, query, answer, packed, "\n".join(notes))
        return ToolAnswer(text, structured, answer.mode, answer.degraded, len(packed.blocks))


def _check_project(
    project: docstore_api.Project, stats: docstore_api.GetStatsResponse, arguments: Mapping[str, Any]
) -> None:
    declared, indexed = (source.name for source in project.sources), (item.source for item in stats.sources)
    sources = list(dict.fromkeys((*declared, *indexed)))
    source, version, prefix = arguments["source"], arguments["version"], arguments["path_prefix"] or ""
    if "\\" in prefix or {".", ".."} & set(prefix.split("/")):
        shown = quoted(one_line(prefix, TITLE_CHARACTERS))
        raise InvalidArgument(
            f"path_prefix {shown} is no path as list_topics shows it: whole segments with /, without . and .."
        )
    chosen = arguments.get("pageTypeIds") or []
    for name in (*([source] if source else []), *chosen):
        if name not in sources:
            known = wording.listed(sources, 2_000) or "none yet"
            raise InvalidArgument(
                f'no source {quoted(one_line(name, TITLE_CHARACTERS))} in project "{project.slug}"; its sources: {known}'
            )
    if source and chosen and source not in chosen:
        raise InvalidArgument(f"source {quoted(source)} is none of pageTypeIds: leave one of the two out")
    if version and version not in stats.versions:
        known = wording.listed(stats.versions, 2_000)
        has = f"its versions: {known}" if known else "no document of it has a version, so leave version out"
        raise InvalidArgument(
            f'no version {quoted(one_line(version, TITLE_CHARACTERS))} in project "{project.slug}"; {has}'
        )


def _filter(arguments: Mapping[str, Any]) -> search_api.Filter:
    return search_api.Filter(
        sources=[arguments["source"]] if arguments["source"] else arguments.get("pageTypeIds") or [],
        path_prefix=(arguments["path_prefix"] or "").strip("/"),
        versions=[arguments["version"]] if arguments["version"] else [],
    )


def _excerpt(rank: int, result: Result) -> Excerpt:
    chunk = result.chunk
    place = one_line(wording.breadcrumb_text(chunk.breadcrumb, chunk.title), 2 * TITLE_CHARACTERS)
    score = "" if result.cosine is None else f" (score {result.cosine:.3f})"
    head = f"### {rank}. {chunk.path}{' — ' + place if place else ''}{score}"
    heading, text = split_heading(chunk.text, chunk.breadcrumb)
    return Excerpt(head, text, chunk.before, chunk.after, heading)


def _left_out(results: Sequence[Result], shown: int, cap: str) -> str:
    chunk = results[shown].chunk
    call = wording.call_text("read_document", [("path", chunk.path), ("from", chunk.ordinal), ("to", chunk.ordinal)])
    return (
        f"{count(len(results) - shown, 'result')} of {len(results)} did not fit: an answer is capped at "
        f"{cap}. Next: {call}, or search again with a narrower source or path_prefix."
    )


def _nothing_good(project: docstore_api.Project, query: str, answer: Answer, arguments: Mapping[str, Any]) -> str:
    if not answer.results and answer.has_failed_leg:
        failed = " and ".join(WHY[leg.name] for leg in answer.absent if leg.failed)
        return (
            f'No answer yet for "{query}" in project "{project.slug}": {failed} could not be searched, '
            "so this does not mean that nothing is there. Retry in a moment."
        )
    narrowed = [f"{name} {quoted(arguments[name])}" for name in NARROWING if arguments[name]]
    hint = f" The search was narrowed to {', '.join(narrowed)}; it may be found without." if narrowed else ""
    return (
        f'No good match for "{query}" in project "{project.slug}".{hint} '
        "Ask in other words, or call list_topics to see what is documented."
    )


def _special(
    project: docstore_api.Project,
    stats: docstore_api.GetStatsResponse,
    query: str,
    answer: Answer | None,
    message: str,
) -> tuple[str, Mapping[str, Any]]:
    return message, _structured(project, stats, query, answer, Packed((), (), 0), message)


def _structured(
    project: docstore_api.Project,
    stats: docstore_api.GetStatsResponse,
    query: str,
    answer: Answer | None,
    packed: Packed,
    message: str,
) -> Mapping[str, Any]:
    shown = answer.results[: len(packed.bodies)] if answer else ()
    absent = answer.absent if answer else ()
    return {
        "project": project.slug,
        "query": query,
        "mode": answer.mode if answer else "none",
        "not_searched": [{"leg": leg.name, "reason": leg.reason} for leg in absent],
        "results": [
            _structured_result(rank, result, body)
            for rank, (result, body) in enumerate(zip(shown, packed.bodies, strict=True), start=1)
        ],
        "left_out": packed.left_out,
        "vectors": {"embedded": stats.embedded_count, "embeddable": stats.embeddable_count},
        "message": message,
    }


def _structured_result(rank: int, result: Result, body: str) -> dict[str, Any]:
    chunk = result.chunk
    shown: dict[str, Any] = {
        "rank": rank,
        "path": chunk.path,
        "title": chunk.title,
        "heading": wording.breadcrumb_text(chunk.breadcrumb, chunk.title),
        "excerpt": body,
        "chunk": chunk.ordinal,
        "chunk_count": chunk.chunk_count,
    }
    if result.cosine is not None:
        shown["score"] = round(result.cosine, 3)
    if chunk.version:
        shown["version"] = chunk.version
    if chunk.url:
        shown["url"] = chunk.url
    return shown
