"""The engines that keep records, opened in a folder of the test's own; a new engine is one more row in ENGINES."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from engines import qdrant
from refdesk.docstore.engines.interface import DocumentStore
from refdesk.docstore.engines.table import document_store
from refdesk.docstore.settings import DocstoreSettings

Open = Callable[[], Awaitable[DocumentStore]]
ENGINES: dict[str, Callable[[Path], DocumentStore]] = {"file": lambda data: document_store(DocstoreSettings(), data)}


@pytest.fixture(params=sorted(ENGINES))
async def reopen_store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Open]:
    """Opens the store; called again, closes it first and opens it on what it kept."""
    opened: list[DocumentStore] = []

    async def again() -> DocumentStore:
        for store in opened:
            await store.close()
        opened[:] = [ENGINES[request.param](tmp_path)]
        await opened[0].open()
        return opened[0]

    yield again
    for store in opened:
        await store.close()


@pytest.fixture
async def store(reopen_store: Open) -> DocumentStore:
    """An empty store."""
    return await reopen_store()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says what stood behind the vector index on Qdrant: a green run on a stand-in is no proof."""
    terminalreporter.write_line(qdrant.WHERE)
