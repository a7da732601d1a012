"""Menus of sources, the last writer wins; knows nothing of what stands in one."""

from __future__ import annotations

from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.opensearch.changing import Change, change_documents
from refdesk.docstore.engines.opensearch.rows import decode, encode
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import Hit, get_many
from refdesk.errors import InvalidArgument


async def get_menus(
    client: OpenSearchClient, alias: str, project: str, sources: Sequence[str], *, with_nodes: bool
) -> list[pb.Menu]:
    """One item a source, in the order of the sources; an empty menu where there is none."""
    hits = await get_many(client, alias, [_id(project, source) for source in sources])
    return [_menu(hit, with_nodes) if hit else pb.Menu() for hit in hits]


async def put_menu(client: OpenSearchClient, alias: str, project: str, source: str, menu: pb.Menu) -> bool:
    """Whether it stood there otherwise. Raises: InvalidArgument; Unavailable."""
    changed = False

    def decide(_: str, standing: Hit | None) -> Change | None:
        nonlocal changed
        changed = (_menu(standing, True) if standing else pb.Menu()) != menu
        blob = encode(menu.SerializeToString())
        return Change({"project": project, "source": source, "menu": blob}) if changed else None

    if await change_documents(client, alias, [_id(project, source)], decide, only=["menu"]):
        raise InvalidArgument(f"the menu of source {source} cannot be kept by OpenSearch")
    return changed


def _menu(hit: Hit, with_nodes: bool) -> pb.Menu:
    menu = pb.Menu.FromString(decode(hit.source["menu"]))
    if not with_nodes:
        del menu.nodes[:]
    return menu


def _id(project: str, source: str) -> str:
    """A slug has no slash."""
    return f"{project}/{source}"
