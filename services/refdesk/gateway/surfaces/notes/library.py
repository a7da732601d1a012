"""Finds documents of a project by path, address or docid; knows nothing of how they are shown."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import InvalidArgument, NotFound
from refdesk.gateway.surfaces.docs.wording import TITLE_CHARACTERS, listed, one_line, quoted
from refdesk.gateway.surfaces.notes.globs import Glob
from refdesk.gateway.surfaces.notes.wording import SCHEME
from refdesk.ids import docid

SIMILAR_PATHS = 5
PAGE_SIZE = 1000
MATCHED_AT_ONCE = 100
"""Paths that are compared with a glob between two turns of the event loop."""

_DOCID = re.compile(r"#([0-9A-Fa-f]{4,64})")
_BARE_DOCID = re.compile(r"[0-9a-f]{6,64}")
_AT_LINE = re.compile(r"(.+):([1-9]\d{0,6})")


@dataclass(frozen=True, slots=True)
class Found:
    """A document, with its text; `line` where it is to be read from, `note` what is to be said of how it was found."""

    document: docstore_api.Document
    line: int | None = None
    note: str = ""


class Library:
    """Reads documents out of docstore, each within its project."""

    def __init__(self, docstore: Docstore) -> None:
        self._docstore = docstore

    async def find(self, project: docstore_api.Project, name: str) -> Found:
        """The document of a path, `path:line`, qmd:// address or docid.

        Raises: NotFound with similar paths; InvalidArgument for a docid that fits several.
        """
        if digits := _DOCID.fullmatch(name):
            return await self._find_content(project, digits[1].lower())
        path = read_name(name)
        at_line = _AT_LINE.fullmatch(path)
        paths = [path, at_line[1]] if at_line else [path]
        items = (await self._read(project, paths, include_text=True)).items
        for item, line in zip(items, (None, int(at_line[2]) if at_line else None), strict=False):
            if is_there(item):
                return Found(item.document, line)
        if _BARE_DOCID.fullmatch(name):
            try:
                return await self._find_content(project, name)
            except NotFound:
                pass
        raise await self._not_found(project, name, paths[-1], next((one.moved_to for one in items if one.moved_to), ""))

    async def describe(self, project: docstore_api.Project, ids: Sequence[str]) -> dict[str, docstore_api.Document]:
        """Documents by id, without texts and with the live chunks; those that are gone are left out."""
        if not ids:
            return {}
        request = docstore_api.GetDocumentsRequest(
            project=project.slug, document_ids=ids, generations=[project.live_generation]
        )
        items = (await self._docstore.get_documents(request)).items
        return {item.document.document_id: item.document for item in items if is_there(item)}

    async def read_all(self, project: docstore_api.Project, paths: Sequence[str]) -> list[docstore_api.Document]:
        """Documents with their texts, in the order of the paths; those that are gone are left out."""
        if not paths:
            return []
        items = (await self._read(project, paths, include_text=True)).items
        return [item.document for item in items if is_there(item)]

    async def match(self, project: docstore_api.Project, glob: Glob, most: int) -> tuple[list[str], int]:
        """The first paths that fit, with their collection or within it, in order; and how many fit in all."""
        found: list[str] = []
        count = 0
        async for path in self._list(project):
            if glob.matches(path) or glob.matches(path.partition("/")[2]):
                count += 1
                if len(found) < most:
                    found.append(path)
        return found, count

    async def _list(self, project: docstore_api.Project) -> AsyncIterator[str]:
        token = ""
        while True:
            request = docstore_api.ListDocumentsRequest(
                project=project.slug, generation=project.live_generation, page_token=token, page_size=PAGE_SIZE
            )
            page = await self._docstore.list_documents(request)
            for place, document in enumerate(page.documents, start=1):
                yield document.path
                if place % MATCHED_AT_ONCE == 0:
                    await asyncio.sleep(0)
            if not (token := page.next_page_token):
                return

    async def _find_content(self, project: docstore_api.Project, digits: str) -> Found:
        query = docstore_api.IdQuery(kind=docstore_api.ID_KIND_CONTENT, prefix=digits)
        request = docstore_api.ResolveIdsRequest(project=project.slug, queries=[query])
        candidates = (await self._docstore.resolve_ids(request)).items[0].candidates
        fitting = [one for one in candidates if one.current] or list(candidates)
        paths = list(dict.fromkeys(one.path for one in fitting))
        if not paths:
            raise NotFound(f"no document has the docid #{digits}: query again, docids change with the content")
        if len(paths) > 1:
            raise InvalidArgument(
                f"docid #{digits} fits {len(paths)} documents: {listed(paths, 1_000)}; name one by its path"
            )
        documents = await self.read_all(project, paths)
        if not documents:
            raise NotFound(f"no document has the docid #{digits}: query again, docids change with the content")
        now = docid(documents[0].content_hash)
        return Found(documents[0], note="" if fitting[0].current else f"content changed, now {now}")

    async def _not_found(self, project: docstore_api.Project, name: str, path: str, moved_to: str) -> NotFound:
        if moved_to:
            return NotFound(f"{quoted(path)} has moved to {moved_to}: get that")
        near = docstore_api.SuggestPathsRequest(project=project.slug, path=path, limit=SIMILAR_PATHS)
        similar = list((await self._docstore.suggest_paths(near)).paths)
        hint = f"did you mean {', '.join(similar)}?" if similar else "query finds what there is, status the collections"
        return NotFound(f"document not found: {quoted(one_line(name, TITLE_CHARACTERS))}; {hint}")

    async def _read(
        self, project: docstore_api.Project, paths: Sequence[str], *, include_text: bool
    ) -> docstore_api.GetDocumentsResponse:
        request = docstore_api.GetDocumentsRequest(
            project=project.slug, paths=paths, include_text=include_text, generations=[project.live_generation]
        )
        return await self._docstore.get_documents(request)


def read_name(name: str) -> str:
    """The path that a name or a qmd:// address stands for."""
    start = f"{SCHEME}://"
    return unquote(name.removeprefix(start)) if name.startswith(start) else name.strip().removeprefix("/")


def is_there(item: docstore_api.GetDocumentsItem) -> bool:
    """Whether an item is a current document."""
    return item.HasField("document") and not item.document.deleted
