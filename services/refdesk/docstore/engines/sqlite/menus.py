"""Menus of sources, the last writer wins; knows nothing of what stands in one."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from refdesk.api.docstore.v1 import docstore_pb2 as pb


def get_menus(
    connection: sqlite3.Connection, project: str, sources: Sequence[str], *, with_nodes: bool
) -> list[pb.Menu]:
    """One item a source, in the order of the sources; an empty menu where there is none."""
    columns = "content_hash, menu" if with_nodes else "content_hash, x''"
    menus = []
    for source in sources:
        query = f"SELECT {columns} FROM menus WHERE project = ? AND source = ?"
        found = connection.execute(query, (project, source)).fetchone()
        menu = pb.Menu.FromString(found[1]) if found else pb.Menu()
        menu.content_hash = found[0] if found else ""
        menus.append(menu)
    return menus


def put_menu(connection: sqlite3.Connection, project: str, source: str, menu: pb.Menu) -> bool:
    """Whether it stood there otherwise."""
    [standing] = get_menus(connection, project, [source], with_nodes=True)
    if standing == menu:
        return False
    if not menu.nodes:
        connection.execute("DELETE FROM menus WHERE project = ? AND source = ?", (project, source))
        return True
    connection.execute(
        "INSERT OR REPLACE INTO menus (project, source, content_hash, menu) VALUES (?, ?, ?, ?)",
        (project, source, menu.content_hash, menu.SerializeToString()),
    )
    return True
