"""search_docs and search_api: pages of one kind, ranked; knows nothing of legs or engines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.gateway.answers import Question, Result, SearchCore, embedded_share
from refdesk.gateway.asking import Asking
from refdesk.gateway.budgets import MOST_TOKENS, Packer
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.legs import HYBRID, LEXICAL, SEMANTIC, mode_line
from refdesk.gateway.packing import MARK, cut_end, split_heading
from refdesk.gateway.pages import page_url, site_path
from refdesk.gateway.profiles import SITE
from refdesk.gateway.surfaces.docs import wording
from refdesk.gateway.surfaces.interface import ToolAnswer
from refdesk.gateway.surfaces.site.sets import narrow_sets

KEYWORD = "keyword"
ASKED = {HYBRID: HYBRID, KEYWORD: LEXICAL, SEMANTIC: SEMANTIC}
SHOWN = {core: shown for shown, core in ASKED.items()}


class PageSearch:
    """Answers searches of one kind of page with a record: mode and results."""

    def __init__(self, core: SearchCore, catalog: Catalog, packer: Packer) -> None:
        self._asking = Asking(core, catalog)
        self._packer = packer

    async def find(
        self,
        project: docstore_api.Project,
        kind: str,
        arguments: Mapping[str, Any],
        base_url: str,
        sets_name: str = "pageTypeIds",
    ) -> ToolAnswer:
        """The answer, its text the same as its data; `sets_name` is what the caller calls pageTypeIds.

        Raises: InvalidArgument for an unknown set, or an index of another model; Unavailable.
        """
        sets = narrow_sets(project, kind, arguments["pageTypeIds"], sets_name)
        stats = await self._asking.stats(project)
        if not stats.document_count or sets == []:
            return _told({"mode": arguments["mode"], "results": []})
        question = Question(
            project,
            arguments["query"],
            arguments["limit"],
            search_api.Filter(sources=sets or [], kinds=[kind] if kind else []),
            SITE,
            mode=ASKED[arguments["mode"]],
            embedded_share=embedded_share(stats),
        )
        answer = await self._asking.ask(question)
        results = [_result(project, result, base_url) for result in answer.results]
        failed = [mode_line(SHOWN[answer.mode], answer.absent)] if answer.has_failed_leg else []
        most_tokens = arguments.get("max_tokens") or MOST_TOKENS

        async def compose(most: int) -> ToolAnswer:
            left_out = len(results) - len(results[:most])
            notes = [*([f"{left_out} of {len(results)} results did not fit"] if left_out else []), *failed]
            told: dict[str, Any] = {"mode": SHOWN[answer.mode], "results": results[:most]}
            return _told({**told, **({"message": " ".join(notes)} if notes else {})}, answer.mode, answer.degraded)

        return await self._packer.fit(
            project.model_id, most_tokens, max(1, len(results)), compose, lambda one: one.text
        )


def _told(found: Mapping[str, Any], mode: str = "", degraded: str = "") -> ToolAnswer:
    return ToolAnswer(json.dumps(found, ensure_ascii=False), found, mode, degraded, len(found["results"]))


def _result(project: docstore_api.Project, result: Result, base_url: str) -> dict[str, Any]:
    chunk = result.chunk
    return {
        "pageId": chunk.document_id,
        "path": site_path(chunk.path),
        "url": chunk.url or page_url(base_url, project.slug, chunk.path),
        "title": wording.one_line(chunk.title, wording.TITLE_CHARACTERS),
        "setId": chunk.source,
        "snippet": make_snippet(chunk.text, chunk.breadcrumb),
        "score": round(result.share, 2),
    }


def make_snippet(text: str, breadcrumb: Any) -> str:
    """The start of a chunk below its heading on one line, at most 300 characters; … where it goes on."""
    _, body = split_heading(text, breadcrumb)
    line = " ".join(body.split())
    if len(line) <= SITE.snippet_characters:
        return line
    kept, _ = cut_end(line, SITE.snippet_characters - len(MARK))
    return f"{kept}{MARK}"
