"""Reads documents of a project as outlines; knows nothing of how they are shown."""

from __future__ import annotations

from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import InvalidArgument, NotFound
from refdesk.gateway.surfaces.docs.wording import listed, one_line, quoted
from refdesk.gateway.surfaces.procedures.outline import Outline, OutlineSection, find_section, outline

PAGE_SIZE = 1000
MOST_LISTED = 5_000
"""Titles that a map looks at; a project with more is shown as an overview in any case."""
READ_TOGETHER = 200


class Library:
    """Documents within their project."""

    def __init__(self, docstore: Docstore) -> None:
        self._docstore = docstore

    async def titles(self, project: docstore_api.Project) -> list[docstore_api.DocumentSummary]:
        """Every document, in order of folder and path; at most 5,000. Raises: Unavailable."""
        found: list[docstore_api.DocumentSummary] = []
        token = ""
        while len(found) < MOST_LISTED:
            request = docstore_api.ListDocumentsRequest(
                project=project.slug, generation=project.live_generation, page_token=token, page_size=PAGE_SIZE
            )
            page = await self._docstore.list_documents(request)
            found += page.documents
            token = page.next_page_token
            if not token:
                break
        return found

    async def read(
        self, project: docstore_api.Project, *, ids: Sequence[str] = (), paths: Sequence[str] = ()
    ) -> list[Outline]:
        """Outlines by id or by path, in that order; what is gone is left out. Raises: Unavailable."""
        names = list(ids or paths)
        found: list[Outline] = []
        for first in range(0, len(names), READ_TOGETHER):
            some = names[first : first + READ_TOGETHER]
            request = docstore_api.GetDocumentsRequest(
                project=project.slug,
                document_ids=some if ids else (),
                paths=() if ids else some,
                include_text=True,
                generations=[project.live_generation],
            )
            for item in (await self._docstore.get_documents(request)).items:
                if item.HasField("document") and not item.document.deleted:
                    found.append(outline(item.document))
        return found

    async def find_document(self, project: docstore_api.Project, given: str) -> Outline:
        """The document of an id or its beginning. Raises: NotFound; InvalidArgument naming the paths that a beginning fits."""
        candidate = await self._resolve(project, docstore_api.ID_KIND_DOCUMENT, given)
        found = await self.read(project, ids=[candidate.document_id]) if candidate else []
        if not found:
            raise NotFound(f"no document {quoted(one_line(given, 64))}; get_toc shows the ids of all")
        return found[0]

    async def find_section(self, project: docstore_api.Project, given: str) -> tuple[Outline, OutlineSection] | None:
        """The section of an id or its beginning, with its document.

        Raises: InvalidArgument naming the paths that a beginning fits.
        """
        candidate = await self._resolve(project, docstore_api.ID_KIND_SECTION, given)
        found = await self.read(project, ids=[candidate.document_id]) if candidate else []
        if not found or candidate is None:
            return None
        section = find_section(found[0], candidate.section_id)
        return (found[0], section) if section else None

    async def _resolve(
        self, project: docstore_api.Project, kind: docstore_api.IdKind, given: str
    ) -> docstore_api.IdCandidate | None:
        prefix = given.strip().lower()
        query = docstore_api.IdQuery(kind=kind, prefix=prefix)
        request = docstore_api.ResolveIdsRequest(project=project.slug, queries=[query])
        [item] = (await self._docstore.resolve_ids(request)).items
        if len(item.candidates) > 1:
            paths = listed([candidate.path for candidate in item.candidates], 1_000)
            raise InvalidArgument(f"{quoted(one_line(given, 64))} fits several: {paths}; give more of the id")
        return item.candidates[0] if item.candidates else None
