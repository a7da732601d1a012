"""What every engine promises of dropping an index: all of it goes, nothing else does, and it can be made anew."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engines import test_keyword_conformance as keyword
from engines import test_vector_conformance as vector
from engines.entries import HANDBOOK, OTHER, hash_of, id_of, vector_item, whole_item, word_item
from engines.test_vector_conformance import EAST, MODEL
from refdesk.search.engines.interface import IndexName, KeywordIndex, VectorIndex
from refdesk.search.engines.tantivy_index import TantivyIndex

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant:UserWarning"),
]
LATER = IndexName(HANDBOOK.project, "model.c2")


@pytest.fixture(params=keyword.ENGINES)
async def words(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KeywordIndex]:
    async with keyword.ENGINES[request.param](request).running(tmp_path) as engine:
        yield engine


@pytest.fixture(params=vector.ENGINES)
async def points(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VectorIndex]:
    row = vector.ENGINES[request.param]
    engine = row.open(tmp_path)
    await engine.start()
    yield engine
    await engine.close()
    if row.clean is not None:
        await row.clean(tmp_path)


async def test_a_dropped_keyword_index_is_empty_and_every_other_one_is_left_alone(words: KeywordIndex) -> None:
    for index in (HANDBOOK, OTHER, LATER):
        await words.write(index, [word_item("a1", "alpha"), whole_item("a", "alpha")])
        assert await keyword.find(words, "alpha", index=index) == [id_of("a1")]
    assert await words.drop(HANDBOOK)
    assert await keyword.find(words, "alpha") == []
    assert await words.list_entries(HANDBOOK, ("", ""), 100) == []
    assert await words.list_languages(HANDBOOK) == frozenset()
    for index in (OTHER, LATER):
        assert await keyword.find(words, "alpha", index=index) == [id_of("a1")]
        assert len(await words.list_entries(index, ("", ""), 100)) == 2


async def test_a_keyword_index_that_is_not_there_is_dropped_all_the_same(words: KeywordIndex) -> None:
    assert not await words.drop(HANDBOOK)
    await words.write(HANDBOOK, [word_item("a1", "alpha")])
    assert await words.drop(HANDBOOK)
    assert not await words.drop(HANDBOOK)


async def test_a_dropped_keyword_index_is_made_anew_without_the_stamps_that_it_had(words: KeywordIndex) -> None:
    await words.write(HANDBOOK, [word_item("a1", "alpha", stamp=9), word_item("a2", "alpha", stamp=9)])
    assert await keyword.find(words, "alpha") != []
    await words.drop(HANDBOOK)
    await words.write(HANDBOOK, [word_item("a1", "beta", stamp=2)])
    assert await keyword.find(words, "beta") == [id_of("a1")]
    assert await keyword.find(words, "alpha") == []
    assert [entry.stamp for entry in await words.list_entries(HANDBOOK, ("", ""), 100)] == [2]


async def test_a_dropped_vector_index_is_empty_and_every_other_one_is_left_alone(points: VectorIndex) -> None:
    for index in (HANDBOOK, OTHER, LATER):  # ids hold the project, as real ones do
        await points.write(index, MODEL, [vector_item(f"{index.project}-a1", EAST)])
    assert await points.drop(HANDBOOK)
    assert await vector.find(points, EAST) == []
    assert await vector.list_all(points) == []
    assert await points.find_vectors(HANDBOOK, [hash_of("handbook-a1")]) == {}
    for index in (OTHER, LATER):
        assert await vector.find(points, EAST, index=index) == [id_of(f"{index.project}-a1")]


async def test_a_vector_index_that_is_not_there_is_dropped_all_the_same(points: VectorIndex) -> None:
    assert not await points.drop(HANDBOOK)
    await points.write(HANDBOOK, MODEL, [vector_item("a1", EAST)])
    assert await points.drop(HANDBOOK)
    assert not await points.drop(HANDBOOK)


async def test_a_dropped_vector_index_is_made_anew_without_the_stamps_that_it_had(points: VectorIndex) -> None:
    await points.write(HANDBOOK, MODEL, [vector_item("a1", EAST, stamp=9), vector_item("a2", EAST, stamp=9)])
    await points.drop(HANDBOOK)
    await points.write(HANDBOOK, MODEL, [vector_item("a1", EAST, stamp=2)])
    assert [entry.stamp for entry in await vector.list_all(points)] == [2]


async def test_a_drop_of_embedded_engines_leaves_no_file_behind(tmp_path: Path) -> None:
    words = TantivyIndex(tmp_path / "words")
    points = vector.ENGINES["edge"].open(tmp_path / "vectors")
    for engine in (words, points):
        await engine.start()
    await words.write(HANDBOOK, [word_item("a1", "alpha")])
    await points.write(HANDBOOK, MODEL, [vector_item("a1", EAST)])
    # As a process leaves it that dies while it deletes.
    (tmp_path / "words" / "x.dropped" / "old").mkdir(parents=True)
    for engine in (words, points):
        await engine.drop(HANDBOOK)
        await engine.close()
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")) == ["vectors", "words"]
