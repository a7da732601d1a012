"""Finds the OpenAPI spec of a set, as it is kept whole; knows nothing of what it says."""

from __future__ import annotations

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore

KIND = "spec"
ENDINGS = (".yaml", ".yml", ".json")
PAGE_SIZE = 1000


class Specs:
    """Specs are documents of a kind of their own, without chunks."""

    def __init__(self, docstore: Docstore) -> None:
        self._docstore = docstore

    async def find(self, project: docstore_api.Project, source: str) -> docstore_api.Document | None:
        """The first spec of a source in path order, with its text; None where it has none. Raises: Unavailable."""
        token = ""
        while True:
            page = await self._docstore.list_documents(
                docstore_api.ListDocumentsRequest(
                    project=project.slug,
                    generation=project.live_generation,
                    source=source,
                    page_token=token,
                    page_size=PAGE_SIZE,
                )
            )
            paths = [one.path for one in page.documents if not one.chunk_count and one.path.lower().endswith(ENDINGS)]
            if found := await self._first(project, sorted(paths)):
                return found
            token = page.next_page_token
            if not token:
                return None

    async def _first(self, project: docstore_api.Project, paths: list[str]) -> docstore_api.Document | None:
        for path in paths:
            request = docstore_api.GetDocumentsRequest(
                project=project.slug, paths=[path], include_text=True, generations=[project.live_generation]
            )
            [item] = (await self._docstore.get_documents(request)).items
            if item.HasField("document") and not item.document.deleted and item.document.kind == KIND:
                return item.document
        return None
