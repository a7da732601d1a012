"""DocstoreService: checks what is asked, then asks the engine; knows nothing of how records are kept, and of no caller."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore import cursor, metrics, validation
from refdesk.docstore.engines.interface import DocumentStore, UnfinishedKey, View
from refdesk.docstore.engines.raw_interface import RawPut
from refdesk.docstore.raw_documents import RawDocuments
from refdesk.docstore.restoring import restored, restored_push
from refdesk.docstore.settings import DocstoreSettings
from refdesk.engines.late import waiting_reason
from refdesk.errors import AlreadyExists, InvalidArgument, NotFound
from refdesk.ids import UNRECORDED

PAGE_SIZE, MAX_PAGE_SIZE = 200, 1000
SUGGESTIONS, MAX_SUGGESTIONS = 5, 20
REPORTS, MAX_REPORTS = 1000, 10_000
DROPPED, MAX_DROPPED = 256, 1024
MAX_CALLS = 10_000
MAX_ID_QUERIES = 64
RESTORE_ATTEMPTS = 8


def read_clock() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class DocstoreService:
    """Owns the records and the catalog; each method is one RPC, whose errors stand in the proto."""

    def __init__(
        self, settings: DocstoreSettings, store: DocumentStore, *, clock: Callable[[], int] = read_clock
    ) -> None:
        self._settings = settings
        self._store = store
        self._clock = clock
        self._raw = RawDocuments(store, clock)
        self._not_ready_reason = "docstore has not started"

    async def start(self) -> None:
        """Opens the engine.

        Raises: InvalidArgument where it can never open as it is set; Unavailable.
        """
        await self._store.open()
        self._not_ready_reason = ""

    async def close(self) -> None:
        """Lets calls of the engine finish and closes it."""
        self._not_ready_reason = "docstore is closed"
        await self._store.close()

    def not_ready_reason(self) -> str:
        """ "" when it can serve."""
        return self._not_ready_reason or waiting_reason(self._store)

    async def get_documents(self, request: pb.GetDocumentsRequest) -> pb.GetDocumentsResponse:
        """Records by id or by path, an item for each."""
        project = validation.require(request.project, "project")
        view = View(request.include_text, frozenset(request.generations))
        if request.paths:
            validation.check_count(request.paths, "paths")
            return pb.GetDocumentsResponse(items=await self._store.get_by_path(project, list(request.paths), view))
        validation.check_count(request.document_ids, "document_ids")
        return pb.GetDocumentsResponse(items=await self._store.get_by_id(project, list(request.document_ids), view))

    async def put_documents(self, request: pb.PutDocumentsRequest) -> pb.PutDocumentsResponse:
        """Conditional puts, an outcome for each."""
        validation.check_count(request.items, "items", least=1)
        for item in request.items:
            validation.check_put(item, self._settings.max_text_characters)
        outcomes = await self._store.put_documents(list(request.items), self._clock())
        committed = sum(outcome.committed for outcome in outcomes)
        metrics.count_outcomes(metrics.DOCUMENTS_PUT, ("committed", committed), ("conflict", len(outcomes) - committed))
        return pb.PutDocumentsResponse(outcomes=outcomes)

    async def restore_documents(self, request: pb.RestoreDocumentsRequest) -> pb.RestoreDocumentsResponse:
        """Puts what a backup has where there is nothing, an outcome for each."""
        validation.check_count([*request.documents, *request.raw_documents], "documents", least=1)
        records = [restored(one) for one in request.documents]
        for record in records:
            validation.check_record(record, self._settings.max_text_characters)
        puts = [RawPut(restored_push(one), 0) for one in request.raw_documents]
        return pb.RestoreDocumentsResponse(
            outcomes=await self._restore(records) if records else [],
            restored_raw=await self._store.put_raw(puts, self._clock()) if puts else [],
        )

    async def _restore(self, records: Sequence[pb.Document]) -> list[pb.PutDocumentsOutcome]:
        """Over nothing, or over the tombstone that reconciling made, and may be changing now, of entries without a record."""
        outcomes: dict[str, pb.PutDocumentsOutcome] = {}
        expected = {record.document_id: 0 for record in records}
        for _ in range(RESTORE_ATTEMPTS):
            open_records = [record for record in records if record.document_id in expected]
            items = [
                pb.PutDocumentsItem(document=one, expected_revision=expected[one.document_id]) for one in open_records
            ]
            if not items:
                break
            for record, outcome in zip(
                open_records, await self._store.put_documents(items, self._clock()), strict=True
            ):
                outcomes[record.document_id] = outcome
            lost = [record for record in open_records if not outcomes[record.document_id].committed]
            expected = await self._find_unrecorded(lost)
        return [outcomes[record.document_id] for record in records]

    async def _find_unrecorded(self, records: Sequence[pb.Document]) -> dict[str, int]:
        """Revisions of the tombstones that stand in the place of records, by document."""
        found: dict[str, int] = {}
        for project in dict.fromkeys(record.project for record in records):
            ids = [record.document_id for record in records if record.project == project]
            items = await self._store.get_by_id(project, ids, View())
            standing = [item.document for item in items if item.HasField("document")]
            found |= {one.document_id: one.revision for one in standing if one.source == UNRECORDED}
        return found

    async def note_documents(self, request: pb.NoteDocumentsRequest) -> pb.NoteDocumentsResponse:
        """Conditional notes, an outcome for each."""
        validation.check_count(request.items, "items", least=1)
        for note in request.items:
            validation.check_note(note)
        noted = await self._store.note_documents(list(request.items))
        metrics.count_outcomes(metrics.DOCUMENTS_NOTED, ("noted", sum(noted)), ("conflict", len(noted) - sum(noted)))
        return pb.NoteDocumentsResponse(outcomes=[pb.NoteDocumentsOutcome(noted=each) for each in noted])

    async def list_documents(self, request: pb.ListDocumentsRequest) -> pb.ListDocumentsResponse:
        """A page of current documents."""
        project = validation.require(request.project, "project")
        size = _page_size(request.page_size)
        scope = ("documents", project, request.generation, request.source)
        key = cursor.decode(request.page_token, scope, (str,))
        documents = await self._store.list_documents(
            project, request.generation, request.source, str(key[0]) if key else "", size + 1
        )
        token = cursor.encode(scope, (documents[size - 1].path,)) if len(documents) > size else ""
        return pb.ListDocumentsResponse(documents=documents[:size], next_page_token=token)

    async def list_records(self, request: pb.ListRecordsRequest) -> pb.ListRecordsResponse:
        """A page of all records."""
        project = validation.require(request.project, "project")
        size = _page_size(request.page_size)
        scope = ("records", project, request.source)
        key = cursor.decode(request.page_token, scope, (str,))
        documents = await self._store.list_records(
            project, request.source, str(key[0]) if key else "", size + 1, with_heads=not request.without_heads
        )
        token = cursor.encode(scope, (documents[size - 1].document_id,)) if len(documents) > size else ""
        return pb.ListRecordsResponse(documents=documents[:size], next_page_token=token)

    async def list_unfinished(self, request: pb.ListUnfinishedRequest) -> pb.ListUnfinishedResponse:
        """A page of heads with work left."""
        project = validation.require(request.project, "project")
        generation = validation.require(request.generation, "generation")
        size = _page_size(request.page_size)
        scope = ("unfinished", project, generation)
        key = cursor.decode(request.page_token, scope, (bool, int, str))
        after = UnfinishedKey(bool(key[0]), int(key[1]), str(key[2])) if key else None
        found = await self._store.list_unfinished(project, generation, after, size + 1)
        token = ""
        if len(found) > size:
            last = found[size - 1].key
            token = cursor.encode(scope, (last.bulk, last.put_at_milliseconds, last.document_id))
        return pb.ListUnfinishedResponse(documents=[each.document for each in found[:size]], next_page_token=token)

    async def hydrate_chunks(self, request: pb.HydrateChunksRequest) -> pb.HydrateChunksResponse:
        """Chunks with text and place, if they are current."""
        project = validation.require(request.project, "project")
        generation = validation.require(request.generation, "generation")
        validation.check_count(request.chunk_ids, "chunk_ids")
        chunks = await self._store.hydrate_chunks(
            project, generation, list(request.chunk_ids), with_neighbors=request.include_neighbors
        )
        metrics.count_outcomes(
            metrics.CHUNKS_HYDRATED, ("current", len(chunks)), ("dropped", len(request.chunk_ids) - len(chunks))
        )
        return pb.HydrateChunksResponse(chunks=chunks)

    async def suggest_paths(self, request: pb.SuggestPathsRequest) -> pb.SuggestPathsResponse:
        """Current paths like one that is not known."""
        project = validation.require(request.project, "project")
        if len(request.path) > validation.MAX_PATH_CHARACTERS:
            raise InvalidArgument(f"path has more than {validation.MAX_PATH_CHARACTERS} characters; send a shorter one")
        limit = validation.choose_limit(request.limit, "limit", default=SUGGESTIONS, most=MAX_SUGGESTIONS)
        return pb.SuggestPathsResponse(paths=await self._store.suggest_paths(project, request.path, limit))

    async def resolve_ids(self, request: pb.ResolveIdsRequest) -> pb.ResolveIdsResponse:
        """What prefixes of ids and content hashes fit, an item for each."""
        project = validation.require(request.project, "project")
        validation.check_count(request.queries, "queries", least=1, most=MAX_ID_QUERIES)
        for query in request.queries:
            validation.check_id_query(query)
        return pb.ResolveIdsResponse(items=await self._store.resolve_ids(project, list(request.queries)))

    async def get_stats(self, request: pb.GetStatsRequest) -> pb.GetStatsResponse:
        """Counts of a project."""
        return await self._store.get_stats(validation.require(request.project, "project"), request.generation)

    async def report_documents(self, request: pb.ReportDocumentsRequest) -> pb.ReportDocumentsResponse:
        """Notes and clears what was not indexed."""
        project = validation.require(request.project, "project")
        source = validation.require(request.source, "source")
        for report in request.reports:
            validation.check_report(source, report)
        count = await self._store.report_documents(
            project, source, list(request.reports), list(request.cleared_paths), self._clock()
        )
        return pb.ReportDocumentsResponse(report_count=count)

    async def list_reports(self, request: pb.ListReportsRequest) -> pb.ListReportsResponse:
        """What is not indexed and why."""
        project = validation.require(request.project, "project")
        limit = validation.choose_limit(request.limit, "limit", default=REPORTS, most=MAX_REPORTS)
        reports, count = await self._store.list_reports(project, request.source, limit)
        return pb.ListReportsResponse(reports=reports, report_count=count)

    async def purge_documents(self, request: pb.PurgeDocumentsRequest) -> pb.PurgeDocumentsResponse:
        """Drops texts of documents deleted before a time."""
        project = validation.require(request.project, "project")
        count = await self._store.purge_documents(project, request.deleted_before_milliseconds)
        metrics.TEXTS_PURGED.inc(count)
        await self._raw.purge_documents(project, request.deleted_before_milliseconds)
        return pb.PurgeDocumentsResponse(purged_count=count)

    async def drop_heads(self, request: pb.DropHeadsRequest) -> pb.DropHeadsResponse:
        """Drops some heads of a generation that nobody follows."""
        slug = validation.require(request.project, "project")
        generation = validation.require(request.generation, "generation")
        limit = validation.choose_limit(request.limit, "limit", default=DROPPED, most=MAX_DROPPED)
        project = await self._store.get_project(slug)
        if project is not None and generation in project.followed_generations:
            raise InvalidArgument(f"generation {generation} of project {slug} is followed; stop following it first")
        count = await self._store.drop_heads(slug, generation, limit)
        metrics.HEADS_DROPPED.inc(count)
        return pb.DropHeadsResponse(dropped_count=count)

    async def put_raw_documents(self, request: pb.PutRawDocumentsRequest) -> pb.PutRawDocumentsResponse:
        """What was pushed, an outcome for each."""
        return await self._raw.put_documents(request)

    async def get_raw_documents(self, request: pb.GetRawDocumentsRequest) -> pb.GetRawDocumentsResponse:
        """Pushed documents by path, an item for each."""
        return await self._raw.get_documents(request)

    async def list_raw_documents(self, request: pb.ListRawDocumentsRequest) -> pb.ListRawDocumentsResponse:
        """A page of what was pushed."""
        return await self._raw.list_documents(request)

    async def put_menu(self, request: pb.PutMenuRequest) -> pb.PutMenuResponse:
        """The menu of a source, as it shall be."""
        project, source = validation.require(request.project, "project"), validation.require(request.source, "source")
        validation.check_menu(request.menu)
        return pb.PutMenuResponse(changed=await self._store.put_menu(project, source, request.menu))

    async def get_menus(self, request: pb.GetMenusRequest) -> pb.GetMenusResponse:
        """Menus of sources, an item for each."""
        project = validation.require(request.project, "project")
        validation.check_count(request.sources, "sources", least=1)
        with_nodes = not request.without_nodes
        return pb.GetMenusResponse(
            menus=await self._store.get_menus(project, list(request.sources), with_nodes=with_nodes)
        )

    async def get_project(self, request: pb.GetProjectRequest) -> pb.GetProjectResponse:
        """One project of the catalog."""
        project = await self._store.get_project(validation.require(request.project, "project"))
        if project is None:
            raise NotFound(f"project {request.project[:80]} does not exist")
        return pb.GetProjectResponse(project=project)

    async def list_projects(self, request: pb.ListProjectsRequest) -> pb.ListProjectsResponse:
        """The catalog."""
        return pb.ListProjectsResponse(projects=await self._store.list_projects())

    async def put_project(self, request: pb.PutProjectRequest) -> pb.PutProjectResponse:
        """A conditional put of a project."""
        validation.check_project(request.project, request.expected_revision)
        project = await self._store.put_project(request.project, request.expected_revision)
        if project is None:
            raise AlreadyExists(
                f"project {request.project.slug} does not have revision {request.expected_revision} any more; read it again"
            )
        return pb.PutProjectResponse(project=project)

    async def put_key(self, request: pb.PutKeyRequest) -> pb.PutKeyResponse:
        """A conditional put of an access key."""
        validation.check_key(request.key, request.expected_revision)
        key = await self._store.put_key(request.key, request.expected_revision)
        if key is None:
            raise AlreadyExists(
                f"key {request.key.key_id} does not have revision {request.expected_revision} any more; read it again"
            )
        return pb.PutKeyResponse(key=key)

    async def get_keys(self, request: pb.GetKeysRequest) -> pb.GetKeysResponse:
        """Access keys by id, an item for each."""
        validation.check_count(request.key_ids, "key_ids", least=1)
        found = await self._store.get_keys(list(request.key_ids))
        return pb.GetKeysResponse(items=[pb.GetKeysItem(key=key) for key in found])

    async def list_keys(self, request: pb.ListKeysRequest) -> pb.ListKeysResponse:
        """All access keys."""
        return pb.ListKeysResponse(keys=await self._store.list_keys())

    async def put_calls(self, request: pb.PutCallsRequest) -> pb.PutCallsResponse:
        """Notes calls, each once."""
        validation.check_count(request.calls, "calls", least=1)
        for call in request.calls:
            validation.require(call.call_id, "call_id")
        await self._store.put_calls(request.calls)
        return pb.PutCallsResponse()

    async def list_calls(self, request: pb.ListCallsRequest) -> pb.ListCallsResponse:
        """What was noted, the newest first."""
        limit = validation.choose_limit(request.limit, "limit", default=1000, most=MAX_CALLS)
        if request.selection not in pb.CallSelection.values():
            raise InvalidArgument(f"selection {request.selection} is not known")
        since = request.since_milliseconds
        calls = await self._store.list_calls(request.project, request.selection, since, limit)
        return pb.ListCallsResponse(calls=calls)

    async def purge_calls(self, request: pb.PurgeCallsRequest) -> pb.PurgeCallsResponse:
        """Drops old rows."""
        purged = await self._store.purge_calls(request.project, request.before_milliseconds)
        return pb.PurgeCallsResponse(purged_count=purged)


def _page_size(asked: int) -> int:
    return validation.choose_limit(asked, "page_size", default=PAGE_SIZE, most=MAX_PAGE_SIZE)
