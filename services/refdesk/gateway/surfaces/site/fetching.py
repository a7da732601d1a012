"""get_pages_by_id and get_pages_by_path: each page checked by itself, in the order that was asked, within a number of tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import InvalidArgument
from refdesk.gateway.budgets import MOST_TOKENS, Packer
from refdesk.gateway.pages import candidates, page_url, resolve_path, site_path
from refdesk.gateway.surfaces.docs.cutting import Cut, Cutter
from refdesk.gateway.surfaces.docs.reading import head_chunks, pieces_of, range_span, whole_span
from refdesk.gateway.surfaces.docs.wording import one_line
from refdesk.gateway.tokens import TokenCounter

LEAST_TOKENS = 120
"""Of a page that is begun: below it, it is left out."""
SHOWN_CHARACTERS = 200
ENVELOPE_TOKENS = 60
"""Of a page beside its own fields: commas, and that it was omitted."""


class Pages:
    """Reads pages as DocResources."""

    def __init__(self, docstore: Docstore, tokens: TokenCounter) -> None:
        self._docstore = docstore
        self._packer = Packer(tokens)
        self._cutter = Cutter(tokens)

    async def by_id(
        self, project: docstore_api.Project, arguments: Mapping[str, Any], base_url: str
    ) -> list[dict[str, Any]]:
        """One resource an id. Raises: InvalidArgument for `from` with several pages; Unavailable."""
        asked = arguments["pageIds"]
        request = docstore_api.GetDocumentsRequest(
            project=project.slug, document_ids=asked, include_text=True, generations=[project.live_generation]
        )
        items = (await self._docstore.get_documents(request)).items
        sources = {source.name for source in project.sources}
        found: list[docstore_api.Document | dict[str, Any]] = []
        for page_id, item in zip(asked, items, strict=True):
            shown = one_line(page_id, SHOWN_CHARACTERS)
            if not item.HasField("document") or item.document.deleted:
                found.append({"pageId": shown, **_error(f"page not found: {shown}")})
            elif item.document.source not in sources:
                found.append({"pageId": shown, **_error(f"page is not within a documentation set: {shown}")})
            else:
                found.append(item.document)
        return await self._fill(project, found, arguments, "pageIds", base_url)

    async def by_path(
        self, project: docstore_api.Project, arguments: Mapping[str, Any], base_url: str
    ) -> list[dict[str, Any]]:
        """One resource a path. Raises: InvalidArgument for `from` with several pages; Unavailable."""
        sources = {source.name for source in project.sources}
        found: list[docstore_api.Document | dict[str, Any]] = []
        checked: dict[str, str] = {}
        for path in arguments["paths"]:
            try:
                checked[path] = resolve_path(path)
            except InvalidArgument as error:
                checked[path] = ""
                found.append(_error(error.message, path))
                continue
            if checked[path].split("/")[0] not in sources:
                shown = one_line(path, SHOWN_CHARACTERS)
                found.append(_error(f"path is not within a documentation set: {shown}", path))
                checked[path] = ""
        documents, moved = await self.find(project, [path for path in checked.values() if path])
        errors = iter(found)
        ordered = [
            documents.get(checked[path]) or _missing(path, moved.get(checked[path], ""))
            if checked[path]
            else next(errors)
            for path in arguments["paths"]
        ]
        return await self._fill(project, ordered, arguments, "paths", base_url)

    async def find(
        self, project: docstore_api.Project, paths: Sequence[str]
    ) -> tuple[dict[str, docstore_api.Document], dict[str, str]]:
        """The current documents that checked site paths mean, with text, and where others have moved to."""
        wanted = list(dict.fromkeys(one for path in paths for one in candidates(path)))
        if not wanted:
            return {}, {}
        request = docstore_api.GetDocumentsRequest(
            project=project.slug, paths=wanted, include_text=True, generations=[project.live_generation]
        )
        items = dict(zip(wanted, (await self._docstore.get_documents(request)).items, strict=True))
        found: dict[str, docstore_api.Document] = {}
        moved: dict[str, str] = {}
        for path in paths:
            for item in (items[one] for one in candidates(path)):
                if item.HasField("document") and not item.document.deleted:
                    found.setdefault(path, item.document)
                elif item.moved_to:
                    moved[path] = site_path(item.moved_to)
        return found, moved

    async def _fill(
        self,
        project: docstore_api.Project,
        found: Sequence[docstore_api.Document | dict[str, Any]],
        arguments: Mapping[str, Any],
        name: str,
        base_url: str,
    ) -> list[dict[str, Any]]:
        if arguments["from"] is not None and len(found) > 1:
            raise InvalidArgument(f"from goes with one page: give one of {name}")
        envelopes = [one if isinstance(one, dict) else _envelope(project, one, base_url) for one in found]
        written = [json.dumps(one, ensure_ascii=False) for one in envelopes]
        costs = await self._packer.costs(project.model_id, written)
        room = arguments["max_tokens"] - ENVELOPE_TOKENS * len(found) - sum(costs)
        filled = 0
        resources = []
        for asked, one, resource in zip(arguments[name], found, envelopes, strict=True):
            if isinstance(one, dict):
                resources.append(resource)
                continue
            used = 0
            if not filled or room >= LEAST_TOKENS:
                used = await self._add_content(project, one, resource, arguments, (name, asked), room, not filled)
            if "content" in resource:
                filled += 1
            else:
                resource["error"] = (
                    f"omitted: this answer is full at {arguments['max_tokens']:,} tokens; ask for this page by itself"
                )
                resource["url"] = ""
            room -= used
            resources.append(resource)
        return resources

    async def _add_content(
        self,
        project: docstore_api.Project,
        document: docstore_api.Document,
        resource: dict[str, Any],
        arguments: Mapping[str, Any],
        asked: tuple[str, str],
        room: int,
        may_cut: bool,
    ) -> int:
        """Fills in the page's text, or what of it fits, and answers what that costs; a page that may not be cut comes whole or not."""
        chunks = head_chunks(document, project.live_generation)
        first = arguments["from"]
        span = whole_span(document) if first is None else range_span(document, chunks, first, None)
        pieces = pieces_of(document.text, chunks, span)
        least = max(room, LEAST_TOKENS)

        async def compose(allowed: int) -> tuple[dict[str, Any], bool]:
            cut = await self._cutter.cut(project.model_id, "", [pieces], max(allowed, LEAST_TOKENS), document.path)
            return {"content": cut.text, **_next(cut, asked, arguments["max_tokens"])}, cut.is_cut

        def written(composed: tuple[dict[str, Any], bool]) -> str:
            return json.dumps(composed[0], ensure_ascii=False)

        if may_cut:
            entry, _ = await self._packer.fit(project.model_id, least, least, compose, written)
        else:
            entry, is_cut = await compose(least)
            if is_cut:
                return 0
        cost = await self._packer.cost(project.model_id, json.dumps(entry, ensure_ascii=False))
        if cost > room and not may_cut:
            return 0
        resource.update(entry)
        return cost


def _envelope(project: docstore_api.Project, document: docstore_api.Document, base_url: str) -> dict[str, Any]:
    return {
        "pageId": document.document_id,
        "path": site_path(document.path),
        "url": document.url or page_url(base_url, project.slug, document.path),
        "title": one_line(document.title, SHOWN_CHARACTERS),
        "setId": document.source,
    }


def _error(message: str, path: str = "") -> dict[str, Any]:
    return {"path": one_line(path, SHOWN_CHARACTERS), "url": "", "error": message}


def _missing(path: str, moved_to: str) -> dict[str, Any]:
    where = f"; it has moved to {moved_to}" if moved_to else ""
    return _error(f"page not found: {one_line(path, SHOWN_CHARACTERS)}{where}", path)


def _next(cut: Cut, asked: tuple[str, str], max_tokens: int) -> dict[str, Any]:
    """Arguments of the call for the rest; nothing where nothing is left, or no call could bring it."""
    if not cut.is_cut:
        return {}
    name, value = asked
    if cut.next_chunk is not None:
        return {"next": {name: [value], "from": cut.next_chunk}}
    if max_tokens < cut.needed_tokens <= MOST_TOKENS:
        return {"next": {name: [value], "max_tokens": cut.needed_tokens}}
    return {"next": {name: [value], "from": cut.first_chunk + 1}} if cut.first_chunk >= 0 else {}
