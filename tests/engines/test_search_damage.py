"""Damaged index folders stop the start with a line that names the folder and says what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engines.entries import HANDBOOK, vector_item, vector_of, word_item
from refdesk.errors import Unavailable
from refdesk.search.engines.edge_index import EdgeIndex
from refdesk.search.engines.tantivy_index import TantivyIndex

pytestmark = pytest.mark.anyio


def fill_with_garbage(path: Path) -> None:
    path.write_bytes(b"\x00garbage" * 100)


def remove(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("pattern", ["*.term", "*.idx", "*.fast"])
@pytest.mark.parametrize("damage", [fill_with_garbage, remove])
async def test_a_damaged_segment_of_words_is_named(
    tmp_path: Path, pattern: str, damage: Callable[[Path], None]
) -> None:
    engine = TantivyIndex(tmp_path)
    await engine.write(HANDBOOK, [word_item("a1", "alpha")])
    await engine.close()
    for file in tmp_path.rglob(pattern):
        damage(file)
    await expect_refusal(TantivyIndex(tmp_path))


@pytest.mark.parametrize("damage", [fill_with_garbage, remove])
async def test_a_damaged_list_of_segments_is_named(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    engine = TantivyIndex(tmp_path)
    await engine.write(HANDBOOK, [word_item("a1", "alpha")])
    await engine.close()
    for file in tmp_path.rglob("meta.json"):
        damage(file)
    await expect_refusal(TantivyIndex(tmp_path))


@pytest.mark.parametrize("pattern", ["vectors.json", "edge_config.json", "segment.json"])
async def test_a_damaged_vector_index_is_named(tmp_path: Path, pattern: str) -> None:
    engine = EdgeIndex(tmp_path)
    await engine.write(HANDBOOK, "model", [vector_item("a1", vector_of(1, 0))])
    await engine.close()
    damaged = list(tmp_path.rglob(pattern))
    assert damaged
    for file in damaged:
        fill_with_garbage(file)
    await expect_refusal(EdgeIndex(tmp_path))


async def expect_refusal(engine: TantivyIndex | EdgeIndex) -> None:
    with pytest.raises(Unavailable, match=r"index in .*handbook.* delete this folder and index again"):
        await engine.start()
    await engine.close()
