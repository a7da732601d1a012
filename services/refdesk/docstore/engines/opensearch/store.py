"""The DocumentStore on OpenSearch: every method is one question or change of the module that knows how."""

from __future__ import annotations

from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.cuts import CutCache
from refdesk.docstore.engines.interface import Unfinished, UnfinishedKey, View
from refdesk.docstore.engines.opensearch import (
    calls,
    catalog,
    hydration,
    keys,
    listing,
    menus,
    naming,
    noting,
    putting,
    records,
    reports,
    suggestions,
    tallies,
)
from refdesk.docstore.engines.opensearch.layout import CALLS, INDICES, KEYS, MENUS, PROJECTS, RECORDS, REPORTS
from refdesk.docstore.engines.opensearch.raw import OpenSearchRawStore
from refdesk.docstore.settings import DocstoreSettings
from refdesk.engines.opensearch.address import Names
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.indices import ensure_index

NAMES = Names(url="docstore.url", group="docstore.opensearch")


class OpenSearchStore(OpenSearchRawStore):
    """Records in a few indices of a cluster; what each method promises stands in `DocumentStore`."""

    def __init__(self, settings: DocstoreSettings) -> None:
        self._client = OpenSearchClient(settings.url, settings.opensearch, NAMES)
        self._cache = CutCache(settings.text_cache_bytes)
        self._records, self._reports, self._projects, self._keys = (
            index.alias(self._client) for index in (RECORDS, REPORTS, PROJECTS, KEYS)
        )

    async def open(self) -> None:
        """Connects, and makes the indices that are not there."""
        await self._client.start()
        try:
            for index in INDICES:
                await ensure_index(self._client, index)
        except BaseException:
            await self._client.close()
            raise

    async def close(self) -> None:
        """Lets go of the connections."""
        await self._client.close()

    async def get_by_id(self, project: str, document_ids: Sequence[str], view: View) -> list[pb.GetDocumentsItem]:
        """One item an id."""
        return await records.get_by_id(self._client, self._records, project, document_ids, view)

    async def get_by_path(self, project: str, paths: Sequence[str], view: View) -> list[pb.GetDocumentsItem]:
        """One item a path."""
        return await records.get_by_path(self._client, self._records, project, paths, view)

    async def put_documents(
        self, items: Sequence[pb.PutDocumentsItem], put_at_milliseconds: int
    ) -> list[pb.PutDocumentsOutcome]:
        """An outcome for each."""
        return await putting.put_documents(self._client, self._records, items, put_at_milliseconds)

    async def note_documents(self, notes: Sequence[pb.NoteDocumentsItem]) -> list[bool]:
        """Whether each was noted."""
        return await noting.note_documents(self._client, self._records, notes)

    async def list_documents(
        self, project: str, generation: str, source: str, after_path: str, limit: int
    ) -> list[pb.DocumentSummary]:
        """Current documents by folder, then path."""
        return await listing.list_documents(self._client, self._records, project, generation, source, after_path, limit)

    async def list_records(
        self, project: str, source: str, after_id: str, limit: int, *, with_heads: bool
    ) -> list[pb.Document]:
        """All records by id."""
        return await listing.list_records(
            self._client, self._records, project, source, after_id, limit, with_heads=with_heads
        )

    async def list_unfinished(
        self, project: str, generation: str, after: UnfinishedKey | None, limit: int
    ) -> list[Unfinished]:
        """Heads with work left."""
        return await listing.list_unfinished(self._client, self._records, project, generation, after, limit)

    async def hydrate_chunks(
        self, project: str, generation: str, chunk_ids: Sequence[str], *, with_neighbors: bool
    ) -> list[pb.HydratedChunk]:
        """Current chunks in the order that was asked."""
        return await hydration.hydrate_chunks(
            self._client, self._records, self._cache, project, generation, chunk_ids, with_neighbors=with_neighbors
        )

    async def suggest_paths(self, project: str, path: str, limit: int) -> list[str]:
        """Current paths, nearest first."""
        return await suggestions.suggest_paths(self._client, self._records, project, path, limit)

    async def resolve_ids(self, project: str, queries: Sequence[pb.IdQuery]) -> list[pb.ResolvedId]:
        """What each prefix fits."""
        return await naming.resolve_ids(self._client, self._records, project, queries)

    async def get_stats(self, project: str, generation: str) -> pb.GetStatsResponse:
        """Counts."""
        return await tallies.read_stats(self._client, self._records, project, generation)

    async def report_documents(
        self, project: str, source: str, noted: Sequence[pb.Report], cleared_paths: Sequence[str], now_milliseconds: int
    ) -> int:
        """Reports of the source now."""
        return await reports.report_documents(
            self._client, self._reports, project, source, noted, cleared_paths, now_milliseconds
        )

    async def list_reports(self, project: str, source: str, limit: int) -> tuple[list[pb.Report], int]:
        """The first reports by path, and how many there are."""
        return await reports.list_reports(self._client, self._reports, project, source, limit)

    async def purge_documents(self, project: str, deleted_before_milliseconds: int) -> int:
        """Texts dropped."""
        return await noting.purge_documents(self._client, self._records, project, deleted_before_milliseconds)

    async def drop_heads(self, project: str, generation: str, limit: int) -> int:
        """Heads dropped."""
        return await noting.drop_heads(self._client, self._records, project, generation, limit)

    async def get_menus(self, project: str, sources: Sequence[str], *, with_nodes: bool) -> list[pb.Menu]:
        """One item a source."""
        return await menus.get_menus(self._client, MENUS.alias(self._client), project, sources, with_nodes=with_nodes)

    async def put_menu(self, project: str, source: str, menu: pb.Menu) -> bool:
        """Whether it stood there otherwise."""
        return await menus.put_menu(self._client, MENUS.alias(self._client), project, source, menu)

    async def get_project(self, slug: str) -> pb.Project | None:
        """One project, or None."""
        return await catalog.get_project(self._client, self._projects, slug)

    async def list_projects(self) -> list[pb.Project]:
        """All projects by slug."""
        return await catalog.list_projects(self._client, self._projects)

    async def put_project(self, project: pb.Project, expected_revision: int) -> pb.Project | None:
        """The project as it is now, or None at a conflict."""
        return await catalog.put_project(self._client, self._projects, project, expected_revision)

    async def put_calls(self, noted: Sequence[pb.CallRecord]) -> None:
        """Notes each once."""
        await calls.put_calls(self._client, CALLS.alias(self._client), noted)

    async def list_calls(
        self, project: str, selection: pb.CallSelection, since_milliseconds: int, limit: int
    ) -> list[pb.CallRecord]:
        """The newest first."""
        return await calls.list_calls(
            self._client, CALLS.alias(self._client), project, selection, since_milliseconds, limit
        )

    async def purge_calls(self, project: str, before_milliseconds: int) -> int:
        """Rows dropped."""
        return await calls.purge_calls(self._client, CALLS.alias(self._client), project, before_milliseconds)

    async def get_keys(self, key_ids: Sequence[str]) -> list[pb.AccessKey | None]:
        """One item an id."""
        return await keys.get_keys(self._client, self._keys, key_ids)

    async def list_keys(self) -> list[pb.AccessKey]:
        """All keys by id."""
        return await keys.list_keys(self._client, self._keys)

    async def put_key(self, key: pb.AccessKey, expected_revision: int) -> pb.AccessKey | None:
        """The key as it is now, or None at a conflict."""
        return await keys.put_key(self._client, self._keys, key, expected_revision)
