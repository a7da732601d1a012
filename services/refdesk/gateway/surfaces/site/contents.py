"""get_documentation_set: a set's menu in parts that fit, its pages resolved as they stand now; knows nothing of how menus are written."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any

from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import InvalidArgument
from refdesk.gateway.budgets import count_fitting
from refdesk.gateway.pages import candidates, page_url, site_path
from refdesk.gateway.surfaces.site.menu import Leaf, build_tree, derive_leaves, split_method, walk_menu
from refdesk.gateway.surfaces.site.sets import API, find_set, kind_of
from refdesk.gateway.tokens import TokenCounter

PART_LEAVES = 400
"""Of one part at most: a page's entry has about 50 tokens."""
KEPT_BACK_TOKENS = 300
"""For the set's own fields and the cursor."""
LISTED_TOGETHER, MOST_LISTED = 1_000, 20_000
"""Documents of a source that a derived folder within a stored menu is looked for in."""
MOST_COUNTED = 50
"""Of folders above a leaf: their entries are counted with it."""
NO_HEADS = ["-"]
"""No generation is called so: records come without their heads."""
DERIVED, STORED = "d", "m"


class SetContents:
    """Answers get_documentation_set."""

    def __init__(self, docstore: Docstore, tokens: TokenCounter) -> None:
        self._docstore = docstore
        self._tokens = tokens

    async def read(
        self, project: docstore_api.Project, arguments: Mapping[str, Any], base_url: str
    ) -> tuple[dict[str, Any], int]:
        """The set's record and how many leaves it shows.

        Raises: NotFound for an unknown set; InvalidArgument for a cursor of something else; Unavailable.
        """
        source = find_set(project, arguments["setId"])
        place = read_cursor(arguments["cursor"], project.slug, source.name)
        request = docstore_api.GetMenusRequest(project=project.slug, sources=[source.name])
        menu = (await self._docstore.get_menus(request)).menus[0]
        room = arguments["max_tokens"] - KEPT_BACK_TOKENS
        if menu.nodes:
            walk = await self._expand(project, source, walk_menu(menu.nodes))
            start = int(place[1]) if place and place[0] == STORED else 0
            part = walk[start : start + PART_LEAVES]
            shown = await self._resolve(project, source, part, base_url)
            fitting = await self._fitting(project, shown, room)
            more = f"{start + fitting}" if start + fitting < len(walk) else ""
            following = (STORED, more) if more else None
        else:
            token = place[1] if place and place[0] == DERIVED else ""
            shown, fitting, following = await self._derive(project, source, token, room, base_url)
        answer: dict[str, Any] = {
            "setId": source.name,
            "name": source.title or source.name,
            "items": build_tree(shown[:fitting]),
        }
        if following:
            answer["nextCursor"] = write_cursor(project.slug, source.name, following)
        return answer, fitting

    async def _derive(
        self, project: docstore_api.Project, source: docstore_api.Source, token: str, room: int, base_url: str
    ) -> tuple[list[tuple[Leaf, dict[str, Any]]], int, tuple[str, str] | None]:
        page = await self._list(project, source, token, PART_LEAVES)
        shown = await self._resolve(project, source, derive_leaves(page.documents), base_url)
        fitting = await self._fitting(project, shown, room)
        if fitting < len(page.documents):
            page = await self._list(project, source, token, fitting)
            fitting = len(page.documents)
        return shown, fitting, (DERIVED, page.next_page_token) if page.next_page_token else None

    async def _list(
        self, project: docstore_api.Project, source: docstore_api.Source, token: str, size: int
    ) -> docstore_api.ListDocumentsResponse:
        request = docstore_api.ListDocumentsRequest(
            project=project.slug,
            generation=project.live_generation,
            source=source.name,
            page_token=token,
            page_size=size,
        )
        try:
            return await self._docstore.list_documents(request)
        except InvalidArgument:
            raise _wrong_cursor() from None

    async def _expand(
        self, project: docstore_api.Project, source: docstore_api.Source, walk: list[Leaf]
    ) -> Sequence[Leaf]:
        """The walk with the pages of derived folders in their places."""
        if not any(leaf.folder for leaf in walk):
            return walk
        documents: list[docstore_api.DocumentSummary] = []
        token = ""
        for _ in range(MOST_LISTED // LISTED_TOGETHER):
            page = await self._list(project, source, token, LISTED_TOGETHER)
            documents += page.documents
            token = page.next_page_token
            if not token:
                break
        return [
            leaf
            for one in walk
            for leaf in (derive_leaves(documents, one.folders, one.folder) if one.folder else [one])
        ]

    async def _resolve(
        self, project: docstore_api.Project, source: docstore_api.Source, leaves: Sequence[Leaf], base_url: str
    ) -> list[tuple[Leaf, dict[str, Any]]]:
        """Each leaf as it is shown; a page that is not there has its id alone."""
        wanted = list(dict.fromkeys(path for leaf in leaves if leaf.page for path in candidates(leaf.page)))
        found: dict[str, docstore_api.Document] = {}
        for start in range(0, len(wanted), 1024):
            paths = [f"{source.name}/{path}" for path in wanted[start : start + 1024]]
            request = docstore_api.GetDocumentsRequest(project=project.slug, paths=paths, generations=NO_HEADS)
            for path, item in zip(paths, (await self._docstore.get_documents(request)).items, strict=True):
                if item.HasField("document") and not item.document.deleted:
                    found[path] = item.document
        return [(leaf, _shown(project, source, leaf, found, base_url)) for leaf in leaves]

    async def _fitting(
        self, project: docstore_api.Project, shown: Sequence[tuple[Leaf, dict[str, Any]]], room: int
    ) -> int:
        """How many leaves fit, one at least."""
        texts = [json.dumps(entry, ensure_ascii=False) for _, entry in shown]
        before: tuple[Any, ...] = ()
        for place, (leaf, _) in enumerate(shown):
            fresh = [folder for folder in leaf.folders[:MOST_COUNTED] if folder not in before]
            texts[place] += "".join(
                json.dumps({"name": one.name, "title": one.title, "children": []}, ensure_ascii=False) for one in fresh
            )
            before = leaf.folders
        counted = await self._tokens.count(project.model_id, texts)
        return max(count_fitting((cost + 1 for cost in counted.counts), room), min(1, len(shown)))


def _shown(
    project: docstore_api.Project,
    source: docstore_api.Source,
    leaf: Leaf,
    found: Mapping[str, docstore_api.Document],
    base_url: str,
) -> dict[str, Any]:
    if leaf.href:
        return {"title": leaf.title or leaf.href, "href": leaf.href}
    paths = [f"{source.name}/{path}" for path in candidates(leaf.page)]
    document = next((found[path] for path in paths if path in found), None)
    title, method = split_method(
        leaf.title or (document.title if document else leaf.page), leaf.method, is_api=kind_of(source) == API
    )
    shown: dict[str, Any] = {"title": title, **({"method": method} if method else {})}
    if document is None:
        has_extension = "." in leaf.page.rpartition("/")[2]
        path = leaf.page if has_extension else candidates(leaf.page)[0]
        return {**shown, "pageId": ids.document_id(project.slug, source.name, path)}
    return {
        **shown,
        "pageId": document.document_id,
        "path": site_path(document.path),
        "url": document.url or page_url(base_url, project.slug, document.path),
    }


def write_cursor(project: str, set_id: str, place: tuple[str, str]) -> str:
    """An opaque text that says where a set's menu goes on."""
    return base64.urlsafe_b64encode(json.dumps([project, set_id, *place]).encode()).decode()


def read_cursor(cursor: str | None, project: str, set_id: str) -> tuple[str, str] | None:
    """Where the menu goes on; None: at its start. Raises: InvalidArgument for a cursor of another set, or none at all."""
    if not cursor:
        return None
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, binascii.Error, RecursionError):
        raise _wrong_cursor() from None
    if not isinstance(parts, list) or len(parts) != 4 or parts[:2] != [project, set_id]:
        raise _wrong_cursor()
    kind, rest = parts[2:]
    if kind not in (DERIVED, STORED) or not isinstance(rest, str) or (kind == STORED and not rest.isdecimal()):
        raise _wrong_cursor()
    return kind, rest[:4_096] if kind == DERIVED else rest[:9]


def _wrong_cursor() -> InvalidArgument:
    return InvalidArgument(
        "cursor is not one that get_documentation_set gave for this set: call it without cursor to start again"
    )
