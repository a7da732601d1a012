"""A backup gives back what docstore held, and nothing that was cut off, damaged or of a newer format passes for one."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.errors import InvalidArgument
from refdesk.gateway.backup import pack, restore_backup, unpack

pytestmark = pytest.mark.anyio

HEAD = pb.BackupItem(head=pb.BackupHead(format=1))


def end(count: int) -> pb.BackupItem:
    return pb.BackupItem(end=pb.BackupEnd(item_count=count))


def document(name: str) -> pb.BackupItem:
    return pb.BackupItem(document=pb.Document(document_id=name, project="default", revision=3, text=name))


class Taking:
    """A docstore that notes what it is given."""

    def __init__(self) -> None:
        self.documents: list[pb.Document] = []

    async def restore_documents(self, request: pb.RestoreDocumentsRequest) -> pb.RestoreDocumentsResponse:
        self.documents += request.documents
        return pb.RestoreDocumentsResponse(outcomes=[pb.PutDocumentsOutcome(committed=True)] * len(request.documents))


async def in_pieces(data: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


async def restore(*items: pb.BackupItem, cut: int = 0, size: int = 7) -> Taking:
    data = b"".join(map(pack, items))
    docstore = Taking()
    await restore_backup(docstore, unpack(in_pieces(data[: len(data) - cut], size)))  # type: ignore[arg-type]
    return docstore


@pytest.mark.parametrize("size", [1, 5, 4096])
async def test_pieces_of_any_size_give_every_document_once_in_order(size: int) -> None:
    docstore = await restore(HEAD, *(document(f"d{n}") for n in range(150)), end(150), size=size)
    assert [one.text for one in docstore.documents] == [f"d{n}" for n in range(150)]


async def test_a_backup_that_was_cut_off_is_told() -> None:
    for items, cut in (
        ((HEAD, document("a"), end(1)), 2),
        ((HEAD, document("a")), 0),
        ((HEAD, document("a"), end(2)), 0),
    ):
        with pytest.raises(InvalidArgument, match="cut off|lacks 1 of its parts"):
            await restore(*items, cut=cut)


async def test_what_is_no_backup_is_refused_and_a_newer_one_names_the_remedy() -> None:
    with pytest.raises(InvalidArgument, match="not a backup"):
        await restore_backup(Taking(), unpack(in_pieces(b"\xff" * 64, 64)))  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="not in order"):
        await restore(document("a"), end(1))
    with pytest.raises(InvalidArgument, match="newer release"):
        await restore(pb.BackupItem(head=pb.BackupHead(format=3)), end(0))
