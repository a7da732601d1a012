"""A keyword index stops within bounds, also while its writing process hangs."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from engines.entries import HANDBOOK, word_item
from refdesk import children
from refdesk.errors import Unavailable
from refdesk.search.engines import tantivy_index

pytestmark = pytest.mark.anyio


async def test_a_hanging_writer_holds_up_no_stop_and_its_write_is_not_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tantivy_index, "CLOSE_SECONDS", 0.2)
    monkeypatch.setattr(children, "CLOSE_TIMEOUT_SECONDS", 0.2)
    engine = tantivy_index.TantivyIndex(tmp_path)
    await engine.write(HANDBOOK, [word_item("a1", "alpha")])
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGSTOP)
    writing = asyncio.create_task(engine.write(HANDBOOK, [word_item("a2", "beta")]))
    await asyncio.sleep(0)  # it is under way
    async with asyncio.timeout(20):
        await engine.close()
        with pytest.raises(Unavailable):
            await writing
