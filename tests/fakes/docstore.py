"""A docstore in memory that does what the contract says; `conditional=False` is a broken one."""

from __future__ import annotations

import time
from collections.abc import Iterable

from fakes.weather import Weather
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.names import choose_candidates, find_candidates, read_digits
from refdesk.errors import AlreadyExists, InvalidArgument, NotFound


def copy(record: pb.Document, *, text: bool = True, heads: bool = True) -> pb.Document:
    """A record of one's own, without what was not asked for."""
    mine = pb.Document()
    mine.CopyFrom(record)
    if not text:
        mine.text = ""
        del mine.sections[:]
    if not heads:
        del mine.heads[:]
    return mine


def resolve_ids(records: Iterable[pb.Document], request: pb.ResolveIdsRequest) -> pb.ResolveIdsResponse:
    """What the prefixes fit among records of the project."""
    records = list(records)
    return pb.ResolveIdsResponse(
        items=[
            choose_candidates(
                candidate
                for record in records
                if (digits := read_digits(query.prefix))
                for candidate in find_candidates(record, query.kind, digits)
            )
            for query in request.queries
        ]
    )


class FakeDocstore:
    """Records, catalog and reports of all projects."""

    def __init__(self, weather: Weather | None = None, *, conditional: bool = True) -> None:
        self.weather = weather or Weather()
        self.conditional = conditional
        self.records: dict[str, pb.Document] = {}
        self.projects: dict[str, pb.Project] = {}
        self.reports: dict[str, pb.Report] = {}
        self.refused_ids: set[str] = set()
        self.menus: dict[tuple[str, str], pb.Menu] = {}
        self.puts = 0

    async def get_menus(self, request: pb.GetMenusRequest) -> pb.GetMenusResponse:
        await self.weather.before("docstore")
        menus = [self.menus.get((request.project, source), pb.Menu()) for source in request.sources]
        return pb.GetMenusResponse(menus=menus)

    async def put_menu(self, request: pb.PutMenuRequest) -> pb.PutMenuResponse:
        await self.weather.before("docstore")
        self.menus[request.project, request.source] = request.menu
        return pb.PutMenuResponse(changed=True)

    async def get_documents(self, request: pb.GetDocumentsRequest) -> pb.GetDocumentsResponse:
        await self.weather.before("docstore")
        by_path = {record.path: record for record in self.records.values() if not record.deleted}
        found = (
            [by_path.get(path) for path in request.paths]
            if request.paths
            else [self.records.get(one) for one in request.document_ids]
        )
        response = pb.GetDocumentsResponse()
        for record in found:
            if record is None or record.project != request.project:
                response.items.add(unknown=pb.Unknown())
            else:
                response.items.add(document=copy(record, text=request.include_text))
        await self.weather.after("docstore")
        return response

    async def put_documents(self, request: pb.PutDocumentsRequest) -> pb.PutDocumentsResponse:
        await self.weather.before("docstore")
        for item in request.items:
            record = item.document
            if not (record.document_id and record.path and record.source and record.project):
                raise InvalidArgument("record without id, path, source or project")
            if record.revision != item.expected_revision + 1 or record.document_id in self.refused_ids:
                raise InvalidArgument("record is refused")
        response = pb.PutDocumentsResponse()
        for item in request.items:
            self.puts += 1
            now = self.records[item.document.document_id].revision if item.document.document_id in self.records else 0
            committed = now == item.expected_revision or not self.conditional
            if committed:
                record = copy(item.document)
                record.put_at_milliseconds = int(time.time() * 1000)
                self.records[record.document_id] = record
            response.outcomes.add(committed=committed, revision=item.document.revision if committed else now)
        await self.weather.after("docstore")
        return response

    async def note_documents(self, request: pb.NoteDocumentsRequest) -> pb.NoteDocumentsResponse:
        await self.weather.before("docstore")
        response = pb.NoteDocumentsResponse()
        for item in request.items:
            response.outcomes.add(noted=self._note(item))
        await self.weather.after("docstore")
        return response

    def _note(self, item: pb.NoteDocumentsItem) -> bool:
        record = self.records.get(item.document_id)
        if record is None or record.revision != item.revision:
            return False
        head = next((head for head in record.heads if head.generation == item.generation), None)
        if head is None:
            return False
        done = set(item.embedded_chunk_ids)
        head.missing_vectors[:] = [one for one in head.missing_vectors if one not in done]
        head.swept = head.swept or item.swept
        counts = dict(zip(item.embedded_chunk_ids, item.token_counts, strict=True)) if item.token_counts else {}
        for span in head.chunks:
            span.token_count = counts.get(span.chunk_id, span.token_count)
        return True

    async def list_records(self, request: pb.ListRecordsRequest) -> pb.ListRecordsResponse:
        await self.weather.before("docstore")
        ids = sorted(
            one
            for one, record in self.records.items()
            if one > request.page_token and record.project == request.project and request.source in ("", record.source)
        )
        size = request.page_size or 200
        response = pb.ListRecordsResponse(next_page_token=ids[size - 1] if len(ids) > size else "")
        heads = not request.without_heads
        response.documents.extend(copy(self.records[one], text=False, heads=heads) for one in ids[:size])
        await self.weather.after("docstore")
        return response

    async def list_unfinished(self, request: pb.ListUnfinishedRequest) -> pb.ListUnfinishedResponse:
        await self.weather.before("docstore")
        found = []
        for record in self.records.values():
            for head in record.heads:
                if head.generation == request.generation and (head.missing_vectors or not head.swept):
                    found.append((record.bulk, record.put_at_milliseconds, record, head))
        found.sort(key=lambda row: (row[0], row[1], row[2].document_id))
        start, size = int(request.page_token or 0), request.page_size or 200
        response = pb.ListUnfinishedResponse()
        for _, _, record, head in found[start : start + size]:
            if record.project == request.project:
                response.documents.add(
                    document_id=record.document_id,
                    revision=record.revision,
                    missing_count=len(head.missing_vectors),
                    swept=head.swept,
                )
        response.next_page_token = str(start + size) if len(found) > start + size else ""
        await self.weather.after("docstore")
        return response

    async def report_documents(self, request: pb.ReportDocumentsRequest) -> pb.ReportDocumentsResponse:
        await self.weather.before("docstore")
        for report in request.reports:
            self.reports[report.path] = report
        for path in request.cleared_paths:
            self.reports.pop(path, None)
        return pb.ReportDocumentsResponse(report_count=len(self.reports))

    async def list_reports(self, request: pb.ListReportsRequest) -> pb.ListReportsResponse:
        return pb.ListReportsResponse(reports=[self.reports[path] for path in sorted(self.reports)])

    async def purge_documents(self, request: pb.PurgeDocumentsRequest) -> pb.PurgeDocumentsResponse:
        await self.weather.before("docstore")
        purged = 0
        for record in self.records.values():
            if record.deleted and record.text and record.put_at_milliseconds < request.deleted_before_milliseconds:
                record.text = ""
                purged += 1
        return pb.PurgeDocumentsResponse(purged_count=purged)

    async def resolve_ids(self, request: pb.ResolveIdsRequest) -> pb.ResolveIdsResponse:
        await self.weather.before("docstore")
        records = [record for record in self.records.values() if record.project == request.project]
        await self.weather.after("docstore")
        return resolve_ids(records, request)

    async def get_stats(self, request: pb.GetStatsRequest) -> pb.GetStatsResponse:
        await self.weather.before("docstore")
        stats = pb.GetStatsResponse()
        for record in self.records.values():
            if record.deleted or record.project != request.project:
                continue
            stats.document_count += 1
            head = next((one for one in record.heads if one.generation == request.generation), None)
            if head is None:
                stats.other_generation_count += 1
                continue
            stats.chunk_count += len(head.chunks)
            stats.missing_vector_count += len(head.missing_vectors)
            stats.embeddable_count += bool(head.embeddable and head.chunks)
            stats.embedded_count += bool(head.embeddable and head.chunks and not head.missing_vectors)
        await self.weather.after("docstore")
        return stats

    async def drop_heads(self, request: pb.DropHeadsRequest) -> pb.DropHeadsResponse:
        await self.weather.before("docstore")
        project = self.projects.get(request.project)
        if project and request.generation in project.followed_generations:
            raise InvalidArgument(f"generation {request.generation} is followed")
        dropped = 0
        for record in self.records.values():
            kept = [head for head in record.heads if head.generation != request.generation]
            if len(kept) < len(record.heads) and dropped < 2:  # few at a time, so that others come between
                dropped += 1
                mine = copy(record)
                del record.heads[:]
                record.heads.extend(head for head in mine.heads if head.generation != request.generation)
        await self.weather.after("docstore")
        return pb.DropHeadsResponse(dropped_count=dropped)

    async def get_project(self, request: pb.GetProjectRequest) -> pb.GetProjectResponse:
        await self.weather.before("docstore")
        if request.project not in self.projects:
            raise NotFound(f"project {request.project} does not exist")
        await self.weather.after("docstore")
        return pb.GetProjectResponse(project=self.projects[request.project])

    async def list_projects(self, request: pb.ListProjectsRequest) -> pb.ListProjectsResponse:
        return pb.ListProjectsResponse(projects=[self.projects[slug] for slug in sorted(self.projects)])

    async def put_project(self, request: pb.PutProjectRequest) -> pb.PutProjectResponse:
        await self.weather.before("docstore")
        slug = request.project.slug
        now = self.projects[slug].revision if slug in self.projects else 0
        if now != request.expected_revision:
            raise AlreadyExists(f"project {slug} has revision {now}")
        project = pb.Project()
        project.CopyFrom(request.project)
        project.revision = now + 1
        self.projects[slug] = project
        await self.weather.after("docstore")
        return pb.PutProjectResponse(project=project)
