"""A backup of one store makes another one say the same: projects with pins and contexts, records and specs, menus, keys as hashes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engines.stores import StoreEngine
from fakes.records import GENERATION, PROJECT, make_record
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.service import DocstoreService
from refdesk.docstore.settings import DocstoreSettings
from refdesk.gateway.backup import Restored, pack, read_backup, restore_backup, unpack
from refdesk.keys import make_key, secret_of

pytestmark = pytest.mark.anyio
MENU = pb.Menu(
    nodes=[pb.MenuNode(title="Z", children=[pb.MenuNode(page="z.md")]), pb.MenuNode(page="a.md")], content_hash="1"
)
SPEC = "openapi: 3.0.3\ninfo: {title: Shop, version: '1'}\npaths: {}\n"


@pytest.fixture
async def desks(store_engine: StoreEngine, tmp_path: Path) -> AsyncIterator[tuple[DocstoreService, DocstoreService]]:
    """Two docstores of one kind, both empty."""
    settings = [store_engine.settings(), store_engine.settings()]
    stores = [
        await store_engine.open(one, tmp_path / name) for one, name in zip(settings, ("first", "second"), strict=True)
    ]
    services = [DocstoreService(DocstoreSettings(), store) for store in stores]
    yield services[0], services[1]
    for one, store in zip(settings, stores, strict=True):
        await store.close()
        await store_engine.forget(one)


def make_project() -> pb.Project:
    return pb.Project(
        slug=PROJECT,
        title="Handbook",
        model_id="tiny",
        live_generation=GENERATION,
        followed_generations=[GENERATION],
        pins=["ops/keys.md"],
        sources=[
            pb.Source(
                name="ops",
                kind="folder",
                type="documentation",
                contexts=[pb.PathContext(prefix="keys", text="About keys")],
            ),
            pb.Source(name="shop", kind="folder", type="api"),
        ],
    )


def make_spec() -> pb.Document:
    record = make_record("shop/shop.yaml", SPEC)
    record.kind = "spec"
    del record.heads[:]
    return record


async def fill(desk: DocstoreService) -> pb.AccessKey:
    """One of everything; the key that was made."""
    await desk.put_project(pb.PutProjectRequest(project=make_project()))
    for record in (make_record("ops/keys.md", "# Keys\n\nRotate them.\n"), make_spec()):
        await desk.put_documents(pb.PutDocumentsRequest(items=[pb.PutDocumentsItem(document=record)]))
    await desk.put_menu(pb.PutMenuRequest(project=PROJECT, source="ops", menu=MENU))
    key = make_key()
    known = pb.AccessKey(key_id=key.key_id, project=PROJECT, scope=pb.KEY_SCOPE_READ, secrets=[secret_of(key)])
    return (await desk.put_key(pb.PutKeyRequest(key=known))).key


async def backup_of(desk: DocstoreService) -> bytes:
    return b"".join([pack(item) async for item in read_backup(desk)])


async def give_back(desk: DocstoreService, data: bytes) -> Restored:
    async def whole() -> AsyncIterator[bytes]:
        yield data

    return await restore_backup(desk, unpack(whole()))


async def text_of(desk: DocstoreService, path: str) -> tuple[str, str]:
    """Kind and text of a document."""
    request = pb.GetDocumentsRequest(project=PROJECT, paths=[path], include_text=True)
    [item] = (await desk.get_documents(request)).items
    return item.document.kind, item.document.text


async def test_a_restored_store_has_projects_documents_specs_menus_and_keys(
    desks: tuple[DocstoreService, DocstoreService],
) -> None:
    first, second = desks
    key = await fill(first)
    done = await give_back(second, await backup_of(first))
    assert (done.document_count, done.menu_count, done.key_count, done.present_count) == (2, 1, 1, 0)
    project = (await second.get_project(pb.GetProjectRequest(project=PROJECT))).project
    assert project.pins == ["ops/keys.md"]
    assert [(one.prefix, one.text) for one in project.sources[0].contexts] == [("keys", "About keys")]
    menus = await second.get_menus(pb.GetMenusRequest(project=PROJECT, sources=["ops", "shop"]))
    assert list(menus.menus) == [MENU, pb.Menu()]
    assert await text_of(second, "shop/shop.yaml") == ("spec", SPEC)
    assert (await second.list_keys(pb.ListKeysRequest())).keys == [key]


async def test_restoring_again_changes_nothing_and_a_key_that_was_revoked_since_stays_revoked(
    desks: tuple[DocstoreService, DocstoreService],
) -> None:
    first, _ = desks
    key = await fill(first)
    data = await backup_of(first)
    key.revoked_at_milliseconds = 5
    await first.put_key(pb.PutKeyRequest(key=key, expected_revision=key.revision))
    other = pb.Menu(nodes=[pb.MenuNode(page="a.md")], content_hash="2")
    await first.put_menu(pb.PutMenuRequest(project=PROJECT, source="ops", menu=other))
    done = await give_back(first, data)
    assert (done.document_count, done.menu_count, done.key_count, done.present_count) == (0, 0, 0, 5)
    assert [one.revoked_at_milliseconds for one in (await first.list_keys(pb.ListKeysRequest())).keys] == [5]
    menus = await first.get_menus(pb.GetMenusRequest(project=PROJECT, sources=["ops"]))
    assert list(menus.menus) == [other]


async def test_a_backup_holds_no_secret_of_a_key(desks: tuple[DocstoreService, DocstoreService]) -> None:
    first, _ = desks
    await fill(first)
    key = make_key()
    known = pb.AccessKey(key_id=key.key_id, project=PROJECT, scope=pb.KEY_SCOPE_READ, secrets=[secret_of(key)])
    await first.put_key(pb.PutKeyRequest(key=known))
    data = await backup_of(first)
    assert key.key_id.encode() in data
    assert key.secret.encode() not in data
