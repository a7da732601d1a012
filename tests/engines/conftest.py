"""Stores for the tests of every DocumentStore, each opened in a place of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from engines import qdrant
from engines.stores import ENGINES, StoreEngine
from refdesk.docstore.engines.interface import DocumentStore

Open = Callable[[], Awaitable[DocumentStore]]


@pytest.fixture(scope="session", params=sorted(ENGINES))
def store_engine(request: pytest.FixtureRequest) -> StoreEngine:
    """Each engine in turn."""
    return ENGINES[request.param](request)


@pytest.fixture
async def reopen_store(store_engine: StoreEngine, tmp_path: Path) -> AsyncIterator[Open]:
    """Opens the store; called again, closes it first and opens it on what it kept."""
    opened: list[DocumentStore] = []
    settings = store_engine.settings()

    async def again() -> DocumentStore:
        for store in opened:
            await store.close()
        opened[:] = [await store_engine.open(settings, tmp_path)]
        return opened[0]

    yield again
    for store in opened:
        await store.close()
    await store_engine.forget(settings)


@pytest.fixture
async def store(reopen_store: Open) -> DocumentStore:
    """An empty store."""
    return await reopen_store()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says what stood behind the vector index on Qdrant: a green run on a stand-in is no proof."""
    terminalreporter.write_line(qdrant.WHERE)
