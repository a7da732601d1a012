"""A big index on Qdrant Edge is optimised at start, and says so while it is."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from engines.entries import EVERYWHERE, HANDBOOK, USUAL, vector_item, vector_of
from refdesk.errors import Unavailable
from refdesk.search.engines.edge_index import EdgeIndex

pytestmark = pytest.mark.anyio
EAST = vector_of(1, 0, 0)


async def fill(folder: Path) -> None:
    engine = EdgeIndex(folder)
    await engine.write(
        HANDBOOK, "model", [vector_item(f"a{n}", vector_of(1, n, 0), document=f"d{n}") for n in range(30)]
    )
    await engine.close()


async def test_a_big_index_is_optimised_at_start_and_searchable_afterwards(tmp_path: Path) -> None:
    await fill(tmp_path)
    engine = EdgeIndex(tmp_path, scanned_points=10)
    await engine.start()
    assert engine.not_ready_reason(HANDBOOK) == "vector_optimizing"
    with pytest.raises(Unavailable, match="being optimised"):
        await engine.search(HANDBOOK, EAST, EVERYWHERE, USUAL)
    async with asyncio.timeout(30):
        await engine.settled()
    assert engine.not_ready_reason(HANDBOOK) == ""
    assert len((await engine.search(HANDBOOK, EAST, EVERYWHERE, USUAL)).chunks) == 30
    await engine.close()


async def test_a_small_index_is_not_optimised(tmp_path: Path) -> None:
    await fill(tmp_path)
    engine = EdgeIndex(tmp_path, scanned_points=30)
    await engine.start()
    assert engine.not_ready_reason(HANDBOOK) == ""
    await engine.close()
