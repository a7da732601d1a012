"""Follows the menus of a project's sources: reads each every few seconds and keeps it in docstore; knows no format."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Mapping

import structlog

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.errors import InvalidArgument, RefdeskError
from refdesk.ingest.formats.navigation import MAX_BYTES, Entry
from refdesk.ingest.formats.navigation_kinds import read_navigation
from refdesk.ingest.sources.interface import DocumentSource
from refdesk.ingest.stores import Stores
from refdesk.projects import SourceSettings
from refdesk.rpc import deadline

log = structlog.get_logger()

EVERY_SECONDS = 5.0
CALL_SECONDS = 10.0
FILE_MARK = "file:"
"""Begins the hash of a menu that was read from a file: one that came from elsewhere is left alone."""

Open = Callable[[SourceSettings], DocumentSource]


class Menus:
    """The menus of one project. One that cannot be read is said once, and the last good one stays."""

    def __init__(self, stores: Stores, declared: Mapping[str, SourceSettings], open_source: Open) -> None:
        self._stores = stores
        self._declared = declared
        self._readers = {
            name: open_source(menu_settings(settings)) for name, settings in declared.items() if settings.navigation
        }
        self._said: dict[str, str] = {}

    async def update(self) -> None:
        """Reads every declared menu and puts what has changed. Raises: Unavailable."""
        known = await self._known()
        for name, reader in self._readers.items():
            try:
                menu = await self._read(self._declared[name], reader, known[name])
            except RefdeskError as error:
                self._say(name, error.message)
                continue
            self._say(name, "")
            if menu is not None:
                await self._put(name, menu)

    async def drop_undeclared(self) -> None:
        """Drops menus of files that are declared no more. Raises: Unavailable."""
        for name, content_hash in (await self._known()).items():
            if content_hash.startswith(FILE_MARK) and not self._declared[name].navigation:
                await self._put(name, pb.Menu())

    async def _known(self) -> dict[str, str]:
        names = list(self._declared)
        known: dict[str, str] = {}
        for start in range(0, len(names), 1024):
            some = names[start : start + 1024]
            request = pb.GetMenusRequest(project=self._stores.project, sources=some, without_nodes=True)
            with deadline.limit(CALL_SECONDS):
                menus = (await self._stores.docstore.get_menus(request)).menus
            known |= {name: menu.content_hash for name, menu in zip(some, menus, strict=True)}
        return known

    async def _read(self, settings: SourceSettings, reader: DocumentSource, known: str) -> pb.Menu | None:
        """The menu as it is now; empty where its file is gone, None where it is the known one. Raises: InvalidArgument, Unavailable."""
        found = await reader.read(settings.navigation)
        if found is None:
            if known.startswith(FILE_MARK):
                return pb.Menu()
            raise InvalidArgument(f"menu {settings.navigation} of source {settings.name} is not there, or too large")
        root = settings.navigation_root
        named = f"{settings.navigation}\0{root}\0".encode() + found.content
        content_hash = FILE_MARK + hashlib.sha256(named).hexdigest()
        if content_hash == known:
            return None
        entries = await asyncio.to_thread(read_navigation, found.content, settings.navigation, root)
        return pb.Menu(nodes=map(menu_node, entries), content_hash=content_hash)

    async def _put(self, source: str, menu: pb.Menu) -> None:
        with deadline.limit(CALL_SECONDS):
            await self._stores.docstore.put_menu(
                pb.PutMenuRequest(project=self._stores.project, source=source, menu=menu)
            )
        log.info("menu changed", source=source, entries=len(menu.nodes))

    def _say(self, source: str, reason: str) -> None:
        if reason and self._said.get(source) != reason:
            log.warning("a menu cannot be read; the last good one stays", source=source, reason=reason)
        self._said[source] = reason


def menu_settings(settings: SourceSettings) -> SourceSettings:
    """A source that holds its menu alone; what is pushed is read as it is."""
    if settings.kind != "folder":
        return settings
    literal = "/" + re.sub(r"([\\*?\[\]!# ])", r"\\\1", settings.navigation)
    return settings.model_copy(update={"include": (literal,), "exclude": (), "max_bytes": MAX_BYTES})


def menu_node(entry: Entry) -> pb.MenuNode:
    """An entry as it is kept; the link of a folder is cleared, for folders never link."""
    return pb.MenuNode(
        title=entry.title,
        page=entry.page,
        href="" if entry.children else entry.href,
        method=entry.method,
        folder=entry.folder,
        children=map(menu_node, entry.children),
    )
