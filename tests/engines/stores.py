"""The engines that keep records, each giving new and empty stores; a new engine is one more row in ENGINES."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import uuid4

import pytest

from refdesk.docstore.engines.interface import DocumentStore
from refdesk.docstore.engines.opensearch.layout import INDICES
from refdesk.docstore.engines.opensearch.store import NAMES
from refdesk.docstore.engines.table import document_store
from refdesk.docstore.settings import DocstoreSettings
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.indices import drop_index
from refdesk.engines.opensearch.settings import OpenSearchSettings
from servers.opensearch import OpenSearchServer


class StoreEngine(Protocol):
    """Where a test gets its store."""

    @property
    def examples(self) -> int:
        """How many a property test tries: what one costs differs."""

    def settings(self) -> DocstoreSettings:
        """Of a store that is empty as long as nobody else is given them; the data folder is the test's own."""

    async def open(self, settings: DocstoreSettings, data: Path) -> DocumentStore:
        """The store of these settings."""

    async def forget(self, settings: DocstoreSettings) -> None:
        """Drops what that store holds outside the data folder."""


class FileEngine:
    """SQLite."""

    examples = 25

    def settings(self) -> DocstoreSettings:
        return DocstoreSettings()

    async def open(self, settings: DocstoreSettings, data: Path) -> DocumentStore:
        store = document_store(settings, data)
        await store.open()
        return store

    async def forget(self, settings: DocstoreSettings) -> None:
        pass


@dataclass(frozen=True)
class OpenSearchEngine:
    """A prefix of its own on the session's node."""

    server: OpenSearchServer
    examples: int = 8

    def settings(self) -> DocstoreSettings:
        own = OpenSearchSettings(index_prefix=f"t{uuid4().hex}", retry_seconds=2)
        return DocstoreSettings(url=self.server.url, opensearch=own)

    async def open(self, settings: DocstoreSettings, data: Path) -> DocumentStore:
        """Without refreshes of its own accord: a read that needs luck to see a write fails."""
        store = document_store(settings, data)
        await store.open()
        async with connect(settings) as client:
            for index in INDICES:
                await client.write("PUT", f"/{index.name(client)}/_settings", {"index.refresh_interval": "-1"})
        return store

    async def forget(self, settings: DocstoreSettings) -> None:
        async with connect(settings) as client:
            for index in INDICES:
                await drop_index(client, index)


@contextlib.asynccontextmanager
async def connect(settings: DocstoreSettings) -> AsyncIterator[OpenSearchClient]:
    """A client beside the store's own."""
    client = OpenSearchClient(settings.url, settings.opensearch, NAMES)
    await client.start()
    try:
        yield client
    finally:
        await client.close()


ENGINES: dict[str, Callable[[pytest.FixtureRequest], StoreEngine]] = {
    "file": lambda _: FileEngine(),
    "opensearch": lambda request: OpenSearchEngine(request.getfixturevalue("opensearch_server")),
}
