"""The DocumentStore on one SQLite file: every method is one read or one transaction of the module that knows how."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.cuts import CutCache
from refdesk.docstore.engines.interface import Unfinished, UnfinishedKey, View
from refdesk.docstore.engines.sqlite import (
    calls,
    catalog,
    dropping,
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
from refdesk.docstore.engines.sqlite.connections import Connections
from refdesk.docstore.engines.sqlite.raw import SqliteRawStore
from refdesk.docstore.settings import DocstoreSettings


class SqliteStore(SqliteRawStore):
    """Records in one file; what each method promises stands in `DocumentStore`."""

    def __init__(self, path: Path, settings: DocstoreSettings) -> None:
        self._cache = CutCache(settings.text_cache_bytes)
        self._connections = Connections(
            path,
            readers=settings.reader_threads,
            busy_timeout_seconds=settings.busy_timeout_seconds,
            check_max_bytes=settings.start_check_max_bytes,
        )

    async def open(self) -> None:
        """Opens or makes the file."""
        await self._connections.open()

    async def close(self) -> None:
        """Closes the file."""
        await self._connections.close()

    async def get_by_id(self, project: str, document_ids: Sequence[str], view: View) -> list[pb.GetDocumentsItem]:
        """One item an id."""
        return await self._connections.read(
            lambda connection: records.get_by_id(connection, project, document_ids, view)
        )

    async def get_by_path(self, project: str, paths: Sequence[str], view: View) -> list[pb.GetDocumentsItem]:
        """One item a path."""
        return await self._connections.read(lambda connection: records.get_by_path(connection, project, paths, view))

    async def put_documents(
        self, items: Sequence[pb.PutDocumentsItem], put_at_milliseconds: int
    ) -> list[pb.PutDocumentsOutcome]:
        """An outcome for each."""
        return await self._connections.write(
            lambda connection: putting.put_documents(connection, items, put_at_milliseconds)
        )

    async def note_documents(self, notes: Sequence[pb.NoteDocumentsItem]) -> list[bool]:
        """Whether each was noted."""
        return await self._connections.write(lambda connection: noting.note_documents(connection, notes))

    async def list_documents(
        self, project: str, generation: str, source: str, after_path: str, limit: int
    ) -> list[pb.DocumentSummary]:
        """Current documents by folder, then path."""
        return await self._connections.read(
            lambda connection: listing.list_documents(connection, project, generation, source, after_path, limit)
        )

    async def list_records(
        self, project: str, source: str, after_id: str, limit: int, *, with_heads: bool
    ) -> list[pb.Document]:
        """All records by id."""
        return await self._connections.read(
            lambda connection: listing.list_records(connection, project, source, after_id, limit, with_heads=with_heads)
        )

    async def list_unfinished(
        self, project: str, generation: str, after: UnfinishedKey | None, limit: int
    ) -> list[Unfinished]:
        """Heads with work left."""
        return await self._connections.read(
            lambda connection: listing.list_unfinished(connection, project, generation, after, limit)
        )

    async def hydrate_chunks(
        self, project: str, generation: str, chunk_ids: Sequence[str], *, with_neighbors: bool
    ) -> list[pb.HydratedChunk]:
        """Current chunks in the order that was asked."""
        return await self._connections.read(
            lambda connection: hydration.hydrate_chunks(
                connection, self._cache, project, generation, chunk_ids, with_neighbors=with_neighbors
            )
        )

    async def suggest_paths(self, project: str, path: str, limit: int) -> list[str]:
        """Current paths, nearest first."""
        return await self._connections.read(
            lambda connection: suggestions.suggest_paths(connection, project, path, limit)
        )

    async def resolve_ids(self, project: str, queries: Sequence[pb.IdQuery]) -> list[pb.ResolvedId]:
        """What each prefix fits."""
        return await self._connections.read(lambda connection: naming.resolve_ids(connection, project, queries))

    async def get_stats(self, project: str, generation: str) -> pb.GetStatsResponse:
        """Counts."""
        return await self._connections.read(lambda connection: tallies.read_stats(connection, project, generation))

    async def report_documents(
        self, project: str, source: str, noted: Sequence[pb.Report], cleared_paths: Sequence[str], now_milliseconds: int
    ) -> int:
        """Reports of the source now."""
        return await self._connections.write(
            lambda connection: reports.report_documents(
                connection, project, source, noted, cleared_paths, now_milliseconds
            )
        )

    async def list_reports(self, project: str, source: str, limit: int) -> tuple[list[pb.Report], int]:
        """The first reports by path, and how many there are."""
        return await self._connections.read(lambda connection: reports.list_reports(connection, project, source, limit))

    async def purge_documents(self, project: str, deleted_before_milliseconds: int) -> int:
        """Texts dropped."""
        return await self._connections.write(
            lambda connection: noting.purge_documents(connection, project, deleted_before_milliseconds)
        )

    async def drop_heads(self, project: str, generation: str, limit: int) -> int:
        """Heads dropped."""
        return await self._connections.write(
            lambda connection: dropping.drop_heads(connection, project, generation, limit)
        )

    async def get_menus(self, project: str, sources: Sequence[str], *, with_nodes: bool) -> list[pb.Menu]:
        """One item a source."""
        return await self._connections.read(
            lambda connection: menus.get_menus(connection, project, sources, with_nodes=with_nodes)
        )

    async def put_menu(self, project: str, source: str, menu: pb.Menu) -> bool:
        """Whether it stood there otherwise."""
        return await self._connections.write(lambda connection: menus.put_menu(connection, project, source, menu))

    async def get_project(self, slug: str) -> pb.Project | None:
        """One project, or None."""
        return await self._connections.read(lambda connection: catalog.get_project(connection, slug))

    async def list_projects(self) -> list[pb.Project]:
        """All projects by slug."""
        return await self._connections.read(catalog.list_projects)

    async def put_project(self, project: pb.Project, expected_revision: int) -> pb.Project | None:
        """The project as it is now, or None at a conflict."""
        return await self._connections.write(
            lambda connection: catalog.put_project(connection, project, expected_revision)
        )

    async def put_calls(self, noted: Sequence[pb.CallRecord]) -> None:
        """Notes each once."""
        await self._connections.write(lambda connection: calls.put_calls(connection, noted))

    async def list_calls(
        self, project: str, selection: pb.CallSelection, since_milliseconds: int, limit: int
    ) -> list[pb.CallRecord]:
        """The newest first."""
        return await self._connections.read(
            lambda connection: calls.list_calls(connection, project, selection, since_milliseconds, limit)
        )

    async def purge_calls(self, project: str, before_milliseconds: int) -> int:
        """Rows dropped."""
        return await self._connections.write(
            lambda connection: calls.purge_calls(connection, project, before_milliseconds)
        )

    async def get_keys(self, key_ids: Sequence[str]) -> list[pb.AccessKey | None]:
        """One item an id."""
        return await self._connections.read(lambda connection: keys.get_keys(connection, key_ids))

    async def list_keys(self) -> list[pb.AccessKey]:
        """All keys by id."""
        return await self._connections.read(keys.list_keys)

    async def put_key(self, key: pb.AccessKey, expected_revision: int) -> pb.AccessKey | None:
        """The key as it is now, or None at a conflict."""
        return await self._connections.write(lambda connection: keys.put_key(connection, key, expected_revision))
