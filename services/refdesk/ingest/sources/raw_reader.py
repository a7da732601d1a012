"""Reads the pushed documents of one source out of docstore, in requests that are bounded; knows nothing of what is indexed of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.rpc import deadline

PATHS = 256
"""Most documents that are asked for at once."""
PAGE_SIZE = 1000


class RawReader:
    """Every method raises what docstore raises."""

    def __init__(self, docstore: Docstore, project: str, source: str, call_seconds: float) -> None:
        self._docstore = docstore
        self._project = project
        self._source = source
        self._call_seconds = call_seconds
        self._asked: dict[str, asyncio.Future[pb.RawItem]] = {}
        self._asking: set[asyncio.Task[None]] = set()

    async def look_at(self, paths: Sequence[str]) -> list[pb.RawItem]:
        """Documents without content, in order."""
        return [item for group in _groups(paths) for item in await self._get(group, content=False)]

    async def read(self, path: str) -> pb.RawItem:
        """One document with content; what is asked for side by side goes in one request."""
        if path not in self._asked:
            if not self._asked:
                task = asyncio.create_task(self._answer(), name=f"read pushed documents of {self._source}")
                self._asking.add(task)
                task.add_done_callback(self._asking.discard)
            self._asked[path] = asyncio.get_running_loop().create_future()
        return await asyncio.shield(self._asked[path])  # one reader that gives up must not take it from the others

    async def pages(self, since_milliseconds: int = 0) -> AsyncIterator[pb.ListRawDocumentsResponse]:
        """Everything that was ever pushed, or put since a time, by path and without content; at least one page."""
        token = ""
        while True:
            request = pb.ListRawDocumentsRequest(
                project=self._project,
                source=self._source,
                page_token=token,
                page_size=PAGE_SIZE,
                put_since_milliseconds=since_milliseconds,
            )
            with deadline.limit(self._call_seconds):
                page = await self._docstore.list_raw_documents(request)
            yield page
            token = page.next_page_token
            if not token:
                return

    async def _get(self, paths: Sequence[str], *, content: bool) -> list[pb.RawItem]:
        request = pb.GetRawDocumentsRequest(
            project=self._project, source=self._source, paths=paths, include_content=content
        )
        with deadline.limit(self._call_seconds):
            return list((await self._docstore.get_raw_documents(request)).items)

    async def _answer(self) -> None:
        asked, self._asked = self._asked, {}
        for group in _groups(list(asked)):
            waiting: Sequence[str] = group
            while waiting:
                waiting = await self._answer_some(waiting, asked)

    async def _answer_some(self, paths: Sequence[str], asked: dict[str, asyncio.Future[pb.RawItem]]) -> list[str]:
        """Answers what fits into one answer; what does not comes back, to be asked for again."""
        try:
            items = await self._get(paths, content=True)
        except Exception as error:  # it belongs to those who wait
            for path in paths:
                asked[path].set_exception(error)
                asked[path].exception()  # looked at here: every reader may have given up by now
            return []
        for path, item in zip(paths, items, strict=True):
            if not item.deferred:
                asked[path].set_result(item)
        return [path for path, item in zip(paths, items, strict=True) if item.deferred]


def _groups(paths: Sequence[str]) -> Iterable[Sequence[str]]:
    return (paths[start : start + PATHS] for start in range(0, len(paths), PATHS))
