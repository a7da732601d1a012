"""Qdrant Edge does one call at a time: what is written or looked up in bulk goes in parts, and a search has its turn between them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from engines.entries import EVERYWHERE, HANDBOOK, USUAL, hash_of, id_of, sweep_item, vector_item, vector_of
from refdesk.search.engines import edge_shard
from refdesk.search.engines.edge_index import PART, EdgeIndex
from refdesk.search.engines.edge_process import VectorProcess
from refdesk.search.engines.interface import Entry, Grain

pytestmark = pytest.mark.anyio
MANY = 10 * PART


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[EdgeIndex]:
    engine = EdgeIndex(tmp_path)
    await engine.start()
    await engine.write(HANDBOOK, "model", [vector_item("first", vector_of(1, 0, 0))])
    yield engine
    await engine.close()


def items(count: int) -> list[Any]:
    return [vector_item(f"a{n}", vector_of(1, n, 0), document=f"d{n}") for n in range(count)]


async def test_a_search_is_answered_before_a_large_write_has_ended(engine: EdgeIndex) -> None:
    writing = asyncio.create_task(engine.write(HANDBOOK, "model", items(MANY)))
    await asyncio.sleep(0)
    assert (await engine.search(HANDBOOK, vector_of(1, 0, 0), EVERYWHERE, USUAL)).chunks
    assert not writing.done()
    assert (await writing).written_count == MANY


async def test_what_goes_in_parts_is_answered_whole(engine: EdgeIndex) -> None:
    await engine.write(HANDBOOK, "model", items(MANY))
    late = [vector_item(f"a{n}", vector_of(1, n, 0), document=f"d{n}", stamp=n % 2 * 2) for n in range(MANY)]
    again = await engine.write(HANDBOOK, "model", late)
    assert (again.written_count, len(again.superseded_ids)) == (MANY // 2, MANY // 2)
    hashes = [hash_of(f"a{n}") for n in range(MANY)]
    assert (await engine.find_vectors(HANDBOOK, hashes)).keys() == set(hashes)
    swept = await engine.sweep(HANDBOOK, [sweep_item(f"d{n}", 1) for n in range(MANY)])
    assert [one.deleted_count for one in swept] == [1, 0] * (MANY // 2)


def test_a_listing_is_read_in_parts_and_answered_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_shard, "LISTED_ENTRIES", 4)
    process = VectorProcess(tmp_path)
    process.write(HANDBOOK, "model", items(10))
    pages = [process.list_entries(HANDBOOK, ("", ""), 6, anew=True)]
    while pages[-1] is None:
        pages.append(process.list_entries(HANDBOOK, ("", ""), 6, anew=False))
    assert len(pages) == 3  # ten entries, four at a time
    rest = process.list_entries(HANDBOOK, pages[-1][-1][:2], 6, anew=False)
    entries = [Entry(id_of(f"d{n}"), id_of(f"a{n}"), Grain.CHUNK, 1) for n in range(10)]
    assert [*pages[-1], *(rest or [])] == sorted(entries)
    process.close()
