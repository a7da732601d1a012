"""Pushed documents in memory, and a docstore that serves them with its own code."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from fakes.docstore import FakeDocstore
from fakes.weather import Weather
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import View
from refdesk.docstore.engines.raw_interface import RawPut
from refdesk.docstore.raw_documents import RawDocuments

Key = tuple[str, str, str]


class MemoryRawStore:
    """What pushes need of an engine; other tasks get their turn before and after everything it does."""

    def __init__(self, docstore: FakeDocstore, *, conditional: bool = True) -> None:
        self.records: dict[Key, pb.RawDocument] = {}
        self.conditional = conditional
        self.always_conflicts = False
        self._docstore = docstore

    async def get_project(self, slug: str) -> pb.Project | None:
        return self._docstore.projects.get(slug)

    async def list_projects(self) -> list[pb.Project]:
        return list(self._docstore.projects.values())

    async def get_by_id(self, project: str, document_ids: Sequence[str], view: View) -> list[pb.GetDocumentsItem]:
        request = pb.GetDocumentsRequest(project=project, document_ids=document_ids)
        return list((await self._docstore.get_documents(request)).items)

    async def get_raw(
        self, project: str, source: str, paths: Sequence[str], *, with_content: bool
    ) -> list[pb.RawDocument | None]:
        await asyncio.sleep(0)
        found = [self.records.get((project, source, path)) for path in paths]
        await asyncio.sleep(0)
        return [copy(record, content=with_content) if record else None for record in found]

    async def put_raw(self, puts: Sequence[RawPut], put_at_milliseconds: int) -> list[bool]:
        await asyncio.sleep(0)
        done = [self._put(put, put_at_milliseconds) for put in puts]
        await asyncio.sleep(0)
        return done

    async def list_raw(
        self, project: str, source: str, after_path: str, limit: int, *, put_since_milliseconds: int = 0
    ) -> list[pb.RawDocument]:
        await asyncio.sleep(0)
        found = [
            record
            for key, record in sorted(self.records.items())
            if key[:2] == (project, source) and key[2] > after_path
        ]
        recent = [record for record in found if record.put_at_milliseconds >= put_since_milliseconds]
        return [copy(record, content=False) for record in recent[:limit]]

    def _put(self, put: RawPut, put_at_milliseconds: int) -> bool:
        key = (put.record.project, put.record.source, put.record.path)
        standing = self.records[key].change_count if key in self.records else 0
        if self.always_conflicts or (self.conditional and standing != put.expected_change_count):
            return False
        self.records[key] = copy(put.record, content=True)
        self.records[key].put_at_milliseconds = put_at_milliseconds
        return True


class PushDocstore(FakeDocstore):
    """A docstore in memory that takes pushes; `clock` holds its milliseconds."""

    def __init__(self, weather: Weather | None = None, *, conditional: bool = True) -> None:
        super().__init__(weather)
        self.raw_store = MemoryRawStore(self, conditional=conditional)
        self.clock = 1_700_000_000_000
        self.asked: list[int] = []
        self._raw = RawDocuments(self.raw_store, lambda: self.clock)  # type: ignore[arg-type]

    async def put_raw_documents(self, request: pb.PutRawDocumentsRequest) -> pb.PutRawDocumentsResponse:
        await self.weather.before("docstore")
        self.clock += 1
        response = await self._raw.put_documents(request)
        await self.weather.after("docstore")
        return response

    async def get_raw_documents(self, request: pb.GetRawDocumentsRequest) -> pb.GetRawDocumentsResponse:
        await self.weather.before("docstore")
        self.asked.append(len(request.paths))
        return await self._raw.get_documents(request)

    async def list_raw_documents(self, request: pb.ListRawDocumentsRequest) -> pb.ListRawDocumentsResponse:
        await self.weather.before("docstore")
        return await self._raw.list_documents(request)


def copy(record: pb.RawDocument, *, content: bool) -> pb.RawDocument:
    """A record of one's own."""
    mine = pb.RawDocument()
    mine.CopyFrom(record)
    if not content:
        mine.content = b""
    return mine
