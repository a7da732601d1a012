"""Backup of the catalog, all texts, menus and keys as one stream of messages, and its restoring; knows nothing of HTTP or of files."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.rpc import deadline

FORMAT = 2
BATCH_ITEMS = 64
BATCH_BYTES = 8 * 1024 * 1024
CALL_SECONDS = 30.0
LENGTH_BYTES = 4
LISTING_PATH = ""
"""Where docstore keeps what a source says exists."""
MOST_ITEM_BYTES = 64 * 1024 * 1024


def pack(item: pb.BackupItem) -> bytes:
    """A message behind its length, 4 bytes big-endian."""
    body = item.SerializeToString()
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


async def unpack(pieces: AsyncIterator[bytes]) -> AsyncIterator[pb.BackupItem]:
    """The messages of a stream that comes in pieces. Raises: InvalidArgument where it is no backup or was cut off."""
    rest = bytearray()
    async for piece in pieces:
        rest += piece
        while len(rest) >= LENGTH_BYTES:
            end = LENGTH_BYTES + int.from_bytes(rest[:LENGTH_BYTES], "big")
            if end > MOST_ITEM_BYTES:
                raise errors.InvalidArgument("this is not a backup of refdesk: it holds something far too long")
            if len(rest) < end:
                break
            try:
                yield pb.BackupItem.FromString(bytes(rest[LENGTH_BYTES:end]))
            except ValueError:
                raise errors.InvalidArgument("this is not a backup of refdesk, or it is damaged") from None
            del rest[:end]
    if rest:
        raise errors.InvalidArgument("this backup was cut off: take another one")


async def read_backup(docstore: Docstore) -> AsyncIterator[pb.BackupItem]:
    """Projects, records with texts, menus, pushes, keys as hashes. Each is whole; together they are of no one moment."""
    yield pb.BackupItem(head=pb.BackupHead(format=FORMAT, made_at_milliseconds=time.time_ns() // 1_000_000))
    count = 0
    with deadline.limit(CALL_SECONDS):
        projects = (await docstore.list_projects(pb.ListProjectsRequest())).projects
    for project in projects:
        yield pb.BackupItem(project=project)
        count += 1
        async for document in _read_documents(docstore, project.slug):
            yield pb.BackupItem(document=document)
            count += 1
        for menu in await _read_menus(docstore, project):
            yield pb.BackupItem(menu=menu)
            count += 1
        for source in project.sources:
            async for pushed in _read_pushes(docstore, project.slug, source.name):
                yield pb.BackupItem(raw_document=pushed)
                count += 1
    with deadline.limit(CALL_SECONDS):
        keys = (await docstore.list_keys(pb.ListKeysRequest())).keys
    for key in keys:
        yield pb.BackupItem(key=key)
    yield pb.BackupItem(end=pb.BackupEnd(item_count=count + len(keys)))


@dataclass
class Restored:
    """What a restoring did; what was there already was left alone."""

    projects: set[str] = field(default_factory=set)
    document_count: int = 0
    push_count: int = 0
    menu_count: int = 0
    key_count: int = 0
    present_count: int = 0


async def restore_backup(docstore: Docstore, items: AsyncIterator[pb.BackupItem]) -> Restored:
    """Puts what is not there. Raises: InvalidArgument for something that is no whole backup; what came before it is kept then."""
    restoring = _Restoring(docstore)
    number, ended = 0, False
    async for item in items:
        kind = item.WhichOneof("item")
        if (number == 0) != (kind == "head") or ended:
            raise errors.InvalidArgument("this is not a backup of refdesk: its parts are not in order")
        if kind == "head" and item.head.format > FORMAT:
            raise errors.InvalidArgument(f"this backup has format {item.head.format}: restore it with a newer release")
        if kind == "end":
            ended = item.end.item_count == number - 1
            if not ended:
                raise errors.InvalidArgument(f"this backup lacks {item.end.item_count - number + 1} of its parts")
        await restoring.add(item)
        number += 1
    await restoring.flush()
    if not ended:
        raise errors.InvalidArgument("this backup was cut off: take another one")
    return restoring.done


class _Restoring:
    """Gathers records and pushes into batches."""

    def __init__(self, docstore: Docstore) -> None:
        self.done = Restored()
        self._docstore = docstore
        self._documents: list[pb.Document] = []
        self._pushes: list[pb.RawDocument] = []
        self._bytes = 0

    async def add(self, item: pb.BackupItem) -> None:
        kind = item.WhichOneof("item")
        if kind == "project":
            await self.flush()
            await self._put_project(item.project)
        elif kind == "document":
            self._documents.append(item.document)
        elif kind == "raw_document":
            self._pushes.append(item.raw_document)
        elif kind == "menu":
            await self._put_menu(item.menu)
        elif kind == "key":
            await self._put_key(item.key)
        self._bytes += item.ByteSize()
        if len(self._documents) + len(self._pushes) >= BATCH_ITEMS or self._bytes >= BATCH_BYTES:
            await self.flush()

    async def flush(self) -> None:
        """Puts what was gathered."""
        documents, self._documents = self._documents, []
        pushes, self._pushes = self._pushes, []
        self._bytes = 0
        if not documents and not pushes:
            return
        request = pb.RestoreDocumentsRequest(documents=documents, raw_documents=pushes)
        with deadline.limit(CALL_SECONDS):
            answer = await self._docstore.restore_documents(request)
        committed, pushed = sum(outcome.committed for outcome in answer.outcomes), sum(answer.restored_raw)
        self.done.document_count += committed
        self.done.push_count += pushed
        self.done.present_count += len(documents) + len(pushes) - committed - pushed

    async def _put_project(self, project: pb.Project) -> None:
        self.done.projects.add(project.slug)
        fresh = pb.Project()
        fresh.CopyFrom(project)
        fresh.revision = 0
        try:
            with deadline.limit(CALL_SECONDS):
                await self._docstore.put_project(pb.PutProjectRequest(project=fresh, expected_revision=0))
        except errors.AlreadyExists:
            self.done.present_count += 1

    async def _put_menu(self, kept: pb.BackupMenu) -> None:
        """Where the source has none: one that it has is of its navigation file as it is now."""
        asked = pb.GetMenusRequest(project=kept.project, sources=[kept.source])
        with deadline.limit(CALL_SECONDS):
            [standing] = (await self._docstore.get_menus(asked)).menus
            if standing.nodes:
                self.done.present_count += 1
                return
            await self._docstore.put_menu(pb.PutMenuRequest(project=kept.project, source=kept.source, menu=kept.menu))
        self.done.menu_count += 1

    async def _put_key(self, key: pb.AccessKey) -> None:
        """One that is there stands as it is, so that what was revoked since stays revoked."""
        fresh = pb.AccessKey()
        fresh.CopyFrom(key)
        fresh.revision = 0
        try:
            with deadline.limit(CALL_SECONDS):
                await self._docstore.put_key(pb.PutKeyRequest(key=fresh, expected_revision=0))
        except errors.AlreadyExists:
            self.done.present_count += 1
            return
        self.done.key_count += 1


async def _read_menus(docstore: Docstore, project: pb.Project) -> list[pb.BackupMenu]:
    names = [source.name for source in project.sources]
    found: list[pb.BackupMenu] = []
    for name in names:  # one by one: a menu may have two megabytes
        with deadline.limit(CALL_SECONDS):
            [menu] = (await docstore.get_menus(pb.GetMenusRequest(project=project.slug, sources=[name]))).menus
        if menu.nodes:
            found.append(pb.BackupMenu(project=project.slug, source=name, menu=menu))
    return found


async def _read_documents(docstore: Docstore, project: str) -> AsyncIterator[pb.Document]:
    token = ""
    while True:
        with deadline.limit(CALL_SECONDS):
            page = await docstore.list_records(
                pb.ListRecordsRequest(project=project, page_token=token, page_size=BATCH_ITEMS, without_heads=True)
            )
        ids = [record.document_id for record in page.documents]
        if ids:
            request = pb.GetDocumentsRequest(project=project, document_ids=ids, include_text=True)
            with deadline.limit(CALL_SECONDS):
                found = await docstore.get_documents(request)
            for item in found.items:
                if item.HasField("document"):
                    yield item.document
        token = page.next_page_token
        if not token:
            return


async def _read_pushes(docstore: Docstore, project: str, source: str) -> AsyncIterator[pb.RawDocument]:
    """The source's listing, then its documents; contents come as many at once as fit into an answer."""
    paths, token = [LISTING_PATH], ""
    while True:
        while paths:
            request = pb.GetRawDocumentsRequest(project=project, source=source, paths=paths, include_content=True)
            with deadline.limit(CALL_SECONDS):
                items = (await docstore.get_raw_documents(request)).items
            for item in items:
                if item.HasField("document") and not item.deferred:
                    yield item.document
            paths = [item.document.path for item in items if item.deferred]
        with deadline.limit(CALL_SECONDS):
            page = await docstore.list_raw_documents(
                pb.ListRawDocumentsRequest(project=project, source=source, page_token=token, page_size=BATCH_ITEMS)
            )
        paths, token = [item.document.path for item in page.items], page.next_page_token
        if not token and not paths:
            return
