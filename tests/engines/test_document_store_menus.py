"""What every DocumentStore promises of menus: what was put last is read, in its order, and nothing of another source or project."""

from __future__ import annotations

import pytest

from engines.conftest import Open
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import DocumentStore
from refdesk.docstore.validation import check_menu
from refdesk.errors import InvalidArgument

pytestmark = pytest.mark.anyio
FIRST = pb.Menu(
    nodes=[
        pb.MenuNode(
            title="Zebra", children=[pb.MenuNode(page="z.md"), pb.MenuNode(title="A", href="https://a.example")]
        ),
        pb.MenuNode(page="a.md"),
    ],
    content_hash="1",
)


async def read(
    store: DocumentStore, *sources: str, project: str = "handbook", with_nodes: bool = True
) -> list[pb.Menu]:
    return await store.get_menus(project, sources, with_nodes=with_nodes)


async def test_a_menu_is_read_as_it_was_put_and_stays_with_its_source_and_project(reopen_store: Open) -> None:
    store = await reopen_store()
    assert await store.put_menu("handbook", "ops", FIRST)
    store = await reopen_store()
    assert await read(store, "wiki", "ops") == [pb.Menu(), FIRST]
    assert await read(store, "ops", project="other") == [pb.Menu()]


async def test_a_menu_put_again_as_it_stands_changes_nothing_and_another_one_replaces_it(store: DocumentStore) -> None:
    await store.put_menu("handbook", "ops", FIRST)
    assert not await store.put_menu("handbook", "ops", FIRST)
    second = pb.Menu(nodes=[pb.MenuNode(page="a.md")], content_hash="2")
    assert await store.put_menu("handbook", "ops", second)
    assert await read(store, "ops") == [second]


async def test_a_menu_without_nodes_is_none(store: DocumentStore) -> None:
    assert not await store.put_menu("handbook", "ops", pb.Menu())
    await store.put_menu("handbook", "ops", FIRST)
    assert await store.put_menu("handbook", "ops", pb.Menu())
    assert await read(store, "ops") == [pb.Menu()]


async def test_hashes_alone_can_be_read(store: DocumentStore) -> None:
    await store.put_menu("handbook", "ops", FIRST)
    assert await read(store, "ops", with_nodes=False) == [pb.Menu(content_hash="1")]


async def test_a_menu_of_100_000_characters_is_kept(store: DocumentStore) -> None:
    large = pb.Menu(nodes=[pb.MenuNode(page=f"page-{number:05}.md") for number in range(10_000)], content_hash="3")
    await store.put_menu("handbook", "ops", large)
    assert await read(store, "ops") == [large]


def nested(levels: int) -> pb.Menu:
    node = pb.MenuNode(page="a.md")
    for _ in range(levels - 1):
        node = pb.MenuNode(title="f", children=[node])
    return pb.Menu(nodes=[node])


@pytest.mark.parametrize(
    ("menu", "message"),
    [
        (pb.Menu(nodes=[pb.MenuNode(page="a")] * 20_001), "menu has more than 20000 nodes or 20 levels"),
        (nested(21), "menu has more than 20000 nodes or 20 levels"),
        (pb.Menu(nodes=[pb.MenuNode(title="x" * 2_100_000)]), "menu has 2,100,010 bytes; at most 2,097,152"),
    ],
)
async def test_a_menu_that_is_too_large_is_refused(menu: pb.Menu, message: str) -> None:
    check_menu(nested(20))
    with pytest.raises(InvalidArgument) as refusal:
        check_menu(menu)
    assert refusal.value.message == message
