"""The engines that index words, each opened on what belongs to one folder; a new engine is one more row in ENGINES."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest

from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.settings import OpenSearchSettings
from refdesk.search.engines.interface import KeywordIndex
from refdesk.search.engines.opensearch_index import NAMES, OpenSearchIndex
from refdesk.search.engines.tantivy_index import TantivyIndex
from refdesk.search.settings import SearchSettings
from servers.opensearch import OpenSearchServer

REFRESH_SECONDS = 0.03


@dataclass(frozen=True)
class Row:
    """How an engine is opened on a folder, how its process is killed, and how what it left elsewhere is removed."""

    open: Callable[[Path], KeywordIndex]
    mid_write: str
    """Fail point in that process, before anything of a write is there for good."""
    clean: Callable[[Path], Awaitable[None]]

    def crash(self, engine: KeywordIndex) -> None:
        """Kills the process that is at work for it."""
        assert isinstance(engine, TantivyIndex | OpenSearchIndex)
        assert engine.pid is not None
        os.kill(engine.pid, signal.SIGKILL)

    @contextlib.asynccontextmanager
    async def running(self, folder: Path) -> AsyncIterator[KeywordIndex]:
        """The engine between start and close, then cleaned."""
        engine = self.open(folder)
        await engine.start()
        yield engine
        await engine.close()
        await self.clean(folder)


def settings_for(server: OpenSearchServer, folder: Path, **more: object) -> SearchSettings:
    """Settings of an index that no other test's folder shares."""
    prefix = f"t{sha256(str(folder).encode()).hexdigest()[:16]}"
    own = OpenSearchSettings.model_validate({"index_prefix": prefix, "retry_seconds": 2, **more})
    return SearchSettings(keyword_url=server.url, opensearch=own)


@contextlib.asynccontextmanager
async def connect(settings: SearchSettings) -> AsyncIterator[OpenSearchClient]:
    """A client beside the engine's own."""
    client = OpenSearchClient(settings.keyword_url, settings.opensearch, NAMES)
    await client.start()
    try:
        yield client
    finally:
        await client.close()


async def drop_all(settings: SearchSettings) -> None:
    """Deletes every index under these settings' prefix."""
    async with connect(settings) as client:
        found = await client.read("GET", f"/{settings.opensearch.index_prefix}-*", params={"expand_wildcards": "all"})
        for name in found:
            await client.write("DELETE", f"/{name}")


class HastyIndex(OpenSearchIndex):
    """Refreshes come more often than once a second, for the sake of the tests' time; writes wait for them all the same."""

    def __init__(self, settings: SearchSettings) -> None:
        super().__init__(settings)
        self._settings = settings
        self._refreshing: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Starts, and begins to refresh."""
        await super().start()
        self._refreshing = asyncio.create_task(self._refresh())

    async def close(self) -> None:
        """Ends refreshing, and closes."""
        if self._refreshing:
            self._refreshing.cancel()
            await asyncio.gather(self._refreshing, return_exceptions=True)
        await super().close()

    async def _refresh(self) -> None:
        async with connect(self._settings) as client:
            while True:
                await client.write("POST", f"/{self._settings.opensearch.index_prefix}-*/_refresh")
                await asyncio.sleep(REFRESH_SECONDS)


async def _leave(folder: Path) -> None:
    """What is in a test's folder goes with it."""


def _tantivy(request: pytest.FixtureRequest) -> Row:
    return Row(TantivyIndex, "words_commit", _leave)


def _opensearch(request: pytest.FixtureRequest) -> Row:
    server: OpenSearchServer = request.getfixturevalue("opensearch_server")
    return Row(
        lambda folder: HastyIndex(settings_for(server, folder)),
        "words_encoded",
        lambda folder: drop_all(settings_for(server, folder)),
    )


ENGINES: dict[str, Callable[[pytest.FixtureRequest], Row]] = {"tantivy": _tantivy, "opensearch": _opensearch}
