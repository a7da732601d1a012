"""What every VectorIndex promises; a new engine is one more row in ENGINES."""

from __future__ import annotations

import asyncio
import math
import os
import signal
from array import array
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines.entries import (
    EVERYWHERE,
    HANDBOOK,
    OTHER,
    USUAL,
    facets,
    hash_of,
    id_of,
    sweep_item,
    vector_item,
    vector_of,
)
from engines.qdrant import IS_SERVER, clean_qdrant, open_qdrant
from refdesk.errors import InvalidArgument, Unavailable
from refdesk.search.engines.edge_index import EdgeIndex
from refdesk.search.engines.interface import Candidates, Entry, Filter, Found, Grain, IndexName, VectorIndex

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant:UserWarning"),
]
MODEL = "model"
EAST, NORTH, UP = vector_of(1, 0, 0), vector_of(0, 1, 0), vector_of(0, 0, 1)


@dataclass(frozen=True)
class Row:
    """How an engine is opened on a folder, what it keeps, how a child of ours is killed, and what cleans up."""

    open: Callable[[Path], VectorIndex]
    keeps: bool = True  # what was written, after a close
    keeps_bits: bool = True  # of a vector of length 1; qdrant-client's memory scales it once more, by a last bit
    crash: Callable[[VectorIndex], None] | None = None
    clean: Callable[[Path], Awaitable[None]] | None = None


def crash_edge(engine: VectorIndex) -> None:
    assert isinstance(engine, EdgeIndex)
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGKILL)


ENGINES = {
    "edge": Row(EdgeIndex, crash=crash_edge),
    "qdrant": Row(open_qdrant, keeps=IS_SERVER, keeps_bits=IS_SERVER, clean=clean_qdrant),
}
keeping = pytest.mark.parametrize("row", [name for name in ENGINES if ENGINES[name].keeps], indirect=True)
killable = pytest.mark.parametrize("row", [name for name in ENGINES if ENGINES[name].crash], indirect=True)


@pytest.fixture(params=ENGINES)
async def row(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Row]:
    row = ENGINES[request.param]
    yield row
    if row.clean is not None:
        await row.clean(tmp_path)


@pytest.fixture
async def engine(row: Row, tmp_path: Path) -> AsyncIterator[VectorIndex]:
    engine = row.open(tmp_path)
    await engine.start()
    yield engine
    await engine.close()


async def look(
    engine: VectorIndex,
    vector: bytes,
    narrowed: Filter = EVERYWHERE,
    candidates: Candidates = USUAL,
    index: IndexName = HANDBOOK,
) -> Found:
    return await engine.search(index, vector, narrowed, candidates)


async def find(
    engine: VectorIndex, vector: bytes, narrowed: Filter = EVERYWHERE, index: IndexName = HANDBOOK
) -> list[str]:
    return [hit.chunk_id for hit in (await look(engine, vector, narrowed, index=index)).chunks]


async def list_all(engine: VectorIndex, index: IndexName = HANDBOOK) -> list[Entry]:
    return await engine.list_entries(index, ("", ""), 10_000)


async def test_an_index_that_does_not_exist_is_empty(engine: VectorIndex) -> None:
    assert await find(engine, EAST) == []
    assert await list_all(engine) == []
    assert await engine.find_vectors(HANDBOOK, [hash_of("a1")]) == {}
    assert [tuple(o) for o in await engine.sweep(HANDBOOK, [sweep_item("a", 5)])] == [(0, False)]
    assert engine.not_ready_reason(HANDBOOK) == ""


async def test_scores_are_cosines_best_first(engine: VectorIndex) -> None:
    written = await engine.write(
        HANDBOOK, MODEL, [vector_item("a1", NORTH), vector_item("a2", vector_of(1, 1, 0)), vector_item("a3", EAST)]
    )
    assert tuple(written) == (3, ())
    found = await look(engine, vector_of(2, 0, 0))
    assert [hit.chunk_id for hit in found.chunks] == [id_of("a3"), id_of("a2"), id_of("a1")]
    assert [hit.score for hit in found.chunks] == pytest.approx([1, math.sqrt(0.5), 0], abs=1e-6)
    assert {hit.document_id for hit in found.chunks} == {id_of("a")}


async def test_both_grains_are_found_apart(engine: VectorIndex) -> None:
    items = [
        vector_item("a1", EAST),
        vector_item("a", NORTH, grain=Grain.DOCUMENT),
        vector_item("b", EAST, document="b", grain=Grain.DOCUMENT),
    ]
    await engine.write(HANDBOOK, MODEL, items)
    found = await look(engine, EAST, candidates=Candidates(5, 5, 2))
    assert [hit.chunk_id for hit in found.chunks] == [id_of("a1")]
    assert found.documents == {id_of("b"): pytest.approx(1), id_of("a"): pytest.approx(0, abs=1e-6)}
    assert list((await look(engine, EAST, candidates=Candidates(5, 5, 1))).documents) == [id_of("b")]


async def test_chunks_are_measured_by_name(engine: VectorIndex) -> None:
    await engine.write(
        HANDBOOK, MODEL, [vector_item("a1", EAST), vector_item("a2", vector_of(3, 4, 0)), vector_item("a3", UP)]
    )
    cosines = await engine.measure(HANDBOOK, EAST, [id_of("a2"), id_of("a3"), id_of("unknown")])
    assert cosines == {id_of("a2"): pytest.approx(0.6), id_of("a3"): pytest.approx(0, abs=1e-6)}
    assert await engine.measure(OTHER, EAST, [id_of("a2")]) == {}


async def test_filters_narrow_and_prefixes_match_whole_segments(engine: VectorIndex) -> None:
    paths = ["docs/api/a.md", "docs/api-v2/b.md", "docs/c.md", "more/api/d.md"]
    items = [
        vector_item(
            path, EAST, document=path, where=facets(path, version=f"v{n}", kind="api" if n == 2 else "documentation")
        )
        for n, path in enumerate(paths)
    ]
    await engine.write(HANDBOOK, MODEL, items)

    async def paths_found(narrowed: Filter) -> set[str]:
        return {path for path in paths if id_of(path) in await find(engine, EAST, narrowed)}

    assert await paths_found(Filter(path_prefix="docs/api")) == {"docs/api/a.md"}
    assert await paths_found(Filter(path_prefix="docs")) == set(paths[:3])
    assert await paths_found(Filter(path_prefix="docs/c.md")) == {"docs/c.md"}
    assert await paths_found(Filter(path_prefix="doc")) == set()
    assert await paths_found(Filter(sources=("more", "none"))) == {"more/api/d.md"}
    assert await paths_found(Filter(versions=("v0", "v1"))) == set(paths[:2])
    assert await paths_found(Filter(kinds=("api",))) == {"docs/c.md"}
    assert await paths_found(Filter(sources=("docs",), versions=("v3",))) == set()


async def test_one_document_does_not_fill_the_list(engine: VectorIndex) -> None:
    items = [vector_item(f"a{n}", EAST, document="a") for n in range(60)]
    await engine.write(HANDBOOK, MODEL, [*items, vector_item("b1", NORTH, document="b")])
    found = await look(engine, EAST, candidates=Candidates(10, 3, 5))
    assert [hit.document_id for hit in found.chunks] == [id_of("a")] * 3 + [id_of("b")]


async def test_an_earlier_stamp_never_replaces_a_later_one(engine: VectorIndex) -> None:
    await engine.write(HANDBOOK, MODEL, [vector_item("a1", EAST, stamp=4)])
    written = await engine.write(HANDBOOK, MODEL, [vector_item("a1", NORTH, stamp=2), vector_item("a2", UP, stamp=2)])
    assert tuple(written) == (1, (id_of("a1"),))
    assert (await look(engine, EAST)).chunks[0][::2] == (id_of("a1"), pytest.approx(1))


async def test_an_equal_or_later_stamp_replaces(engine: VectorIndex) -> None:
    for stamp, vector in ((2, EAST), (2, NORTH), (3, UP)):
        assert (await engine.write(HANDBOOK, MODEL, [vector_item("a1", vector, stamp=stamp)])).written_count == 1
        assert [(hit.chunk_id, hit.score) for hit in (await look(engine, vector)).chunks] == [
            (id_of("a1"), pytest.approx(1))
        ]
    assert [entry.stamp for entry in await list_all(engine)] == [3]


async def test_the_latest_stamp_wins_within_a_batch(engine: VectorIndex) -> None:
    written = await engine.write(HANDBOOK, MODEL, [vector_item("a1", EAST, stamp=3), vector_item("a1", NORTH, stamp=2)])
    assert tuple(written) == (1, (id_of("a1"),))
    assert (await look(engine, EAST)).chunks[0].score == pytest.approx(1)


async def test_writes_at_once_leave_the_latest_stamp(engine: VectorIndex) -> None:
    writes = (engine.write(HANDBOOK, MODEL, [vector_item("a1", EAST, stamp=stamp)]) for stamp in (3, 5, 1, 4, 2))
    await asyncio.gather(*writes)
    assert [entry.stamp for entry in await list_all(engine)] == [5]


async def test_a_sweep_takes_what_is_unlisted_and_not_later(engine: VectorIndex) -> None:
    items = [
        vector_item("kept", EAST, stamp=2),
        vector_item("old", EAST, stamp=2),
        vector_item("later", EAST, stamp=4),
        vector_item("others", EAST, document="b", stamp=1),
        vector_item("a", EAST, stamp=2, grain=Grain.DOCUMENT),
    ]
    await engine.write(HANDBOOK, MODEL, items)
    outcomes = await engine.sweep(HANDBOOK, [sweep_item("a", 3, "kept"), sweep_item("none", 9)])
    assert [tuple(outcome) for outcome in outcomes] == [(1, True), (0, False)]
    assert set(await find(engine, EAST)) == {id_of("kept"), id_of("later"), id_of("others")}
    assert (id_of("a"), Grain.DOCUMENT) in {(entry.id, entry.grain) for entry in await list_all(engine)}


async def test_an_entry_with_the_stamp_of_the_sweep_goes(engine: VectorIndex) -> None:
    await engine.write(HANDBOOK, MODEL, [vector_item("a1", EAST, stamp=3)])
    assert [tuple(o) for o in await engine.sweep(HANDBOOK, [sweep_item("a", 3)])] == [(1, False)]


async def test_a_listed_entry_with_a_later_stamp_is_no_news(engine: VectorIndex) -> None:
    await engine.write(HANDBOOK, MODEL, [vector_item("a1", EAST, stamp=9)])
    assert [tuple(o) for o in await engine.sweep(HANDBOOK, [sweep_item("a", 3, "a1")])] == [(0, False)]


async def test_a_whole_document_goes_when_the_document_is_removed(engine: VectorIndex) -> None:
    whole = [vector_item(name, EAST, document=name, grain=Grain.DOCUMENT) for name in "ab"]
    await engine.write(HANDBOOK, MODEL, [vector_item("a1", EAST), *whole])
    assert [tuple(o) for o in await engine.sweep(HANDBOOK, [sweep_item("a", 1, remove=True)])] == [(2, False)]
    assert [entry.document_id for entry in await list_all(engine)] == [id_of("b")]


async def test_pages_list_every_entry_once_in_order(engine: VectorIndex) -> None:
    items = [vector_item(f"{d}{n}", EAST, document=d, stamp=n + 1) for d in "abcde" for n in range(7)]
    items.append(vector_item("c", EAST, document="c", grain=Grain.DOCUMENT))
    await engine.write(HANDBOOK, MODEL, items)
    listed: list[Entry] = []
    while page := await engine.list_entries(HANDBOOK, listed[-1][:2] if listed else ("", ""), 4):
        assert len(page) <= 4
        listed += page
    assert listed == sorted(Entry(item.document_id, item.id, item.grain, item.stamp) for item in items)


async def test_vectors_are_found_by_the_hash_of_their_text_with_every_bit(row: Row, engine: VectorIndex) -> None:
    odd = vector_of(0.1, 0.7, -0.3)
    items = [
        vector_item("a1", odd, text_hash=hash_of("same")),
        vector_item("b1", odd, document="b", text_hash=hash_of("same")),
    ]
    await engine.write(
        HANDBOOK, MODEL, [*items, vector_item("a", EAST, grain=Grain.DOCUMENT, text_hash=hash_of("whole"))]
    )
    hashes = [hash_of("same"), hash_of("unknown"), hash_of("whole")]
    found = await engine.find_vectors(HANDBOOK, hashes)
    assert found.keys() == {hash_of("same")}
    assert array("f", found[hash_of("same")]) == pytest.approx(
        array("f", odd), rel=0, abs=0 if row.keeps_bits else 1e-7
    )
    assert await engine.find_vectors(OTHER, hashes) == {}


async def test_another_dimension_is_refused_and_names_both(engine: VectorIndex) -> None:
    await engine.write(HANDBOOK, MODEL, [vector_item("a1", EAST)])
    with pytest.raises(InvalidArgument, match=r"2 numbers.*holds 3: embedder\.model .* name the former one"):
        await engine.write(HANDBOOK, MODEL, [vector_item("a2", vector_of(1, 0))])
    with pytest.raises(InvalidArgument, match=r"2 numbers.*holds 3"):
        await find(engine, vector_of(1, 0))
    assert len(await list_all(engine)) == 1


async def test_another_model_is_refused_and_names_both(engine: VectorIndex) -> None:
    await engine.write(HANDBOOK, MODEL, [vector_item("a1", EAST)])
    with pytest.raises(InvalidArgument, match=r"vectors of model, not of another"):
        await engine.write(HANDBOOK, "another", [vector_item("a2", EAST)])


async def test_projects_and_generations_share_nothing(engine: VectorIndex) -> None:
    later = IndexName(HANDBOOK.project, "model.c2")
    await engine.write(HANDBOOK, MODEL, [vector_item("a1", EAST, stamp=7)])
    await engine.write(OTHER, MODEL, [vector_item("o1", EAST, document="o")])
    await engine.write(later, "another", [vector_item("l1", vector_of(1, 0))])
    assert await find(engine, EAST) == [id_of("a1")]
    assert await find(engine, EAST, index=OTHER) == [id_of("o1")]
    assert await engine.measure(OTHER, EAST, [id_of("a1")]) == {}
    assert await engine.find_vectors(OTHER, [hash_of("a1")]) == {}
    await engine.sweep(OTHER, [sweep_item("a", 9, remove=True)])
    assert [entry.stamp for entry in await list_all(engine)] == [7]


@keeping
async def test_everything_is_there_after_a_close(row: Row, tmp_path: Path) -> None:
    first = row.open(tmp_path)
    await first.write(HANDBOOK, MODEL, [vector_item("a1", EAST)])
    await first.close()
    second = row.open(tmp_path)
    assert await find(second, EAST) == [id_of("a1")]
    assert (await second.write(HANDBOOK, MODEL, [vector_item("a2", EAST)])).written_count == 1
    await second.close()


@killable
async def test_a_kill_loses_nothing_that_was_answered_and_leaves_no_lock(row: Row, engine: VectorIndex) -> None:
    for round in range(3):
        await engine.write(
            HANDBOOK, MODEL, [vector_item(f"{round}-{n}", EAST, document=f"d{round}") for n in range(20)]
        )
        assert row.crash is not None
        row.crash(engine)
        with pytest.raises(Unavailable):
            await engine.write(HANDBOOK, MODEL, [vector_item("lost", EAST)])
        assert len(await list_all(engine)) == 20 * (round + 1)
    await engine.write(HANDBOOK, MODEL, [vector_item("lost", EAST)])
    assert len(await find(engine, EAST)) == 3 * 8 + 1


@killable
@pytest.mark.parametrize("place", ["vectors_write=kill@2", "vectors_written=kill@2", "vectors_created=kill"])
async def test_a_kill_around_a_write_leaves_whole_points_that_filters_find(
    row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("REFDESK_TEST_FAILPOINT", place)
    engine = row.open(tmp_path)
    items = [vector_item(f"a{n}", EAST, document=f"d{n % 5}", where=facets(f"docs/d{n % 5}.md")) for n in range(40)]
    writes = [engine.write(HANDBOOK, MODEL, items[start : start + 20]) for start in (0, 20)]
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert any(isinstance(outcome, Unavailable) for outcome in outcomes)
    await engine.close()
    monkeypatch.delenv("REFDESK_TEST_FAILPOINT")
    again = row.open(tmp_path)
    listed = await list_all(again)
    assert set(await find(again, EAST)) == {entry.id for entry in listed}
    assert (await again.write(HANDBOOK, MODEL, items)).written_count == 40
    assert len(await list_all(again)) == 40
    assert len(await find(again, EAST, Filter(path_prefix="docs/d3.md"))) == 8
    assert [
        o.deleted_count for o in await again.sweep(HANDBOOK, [sweep_item(f"d{n}", 1, remove=True) for n in range(5)])
    ] == [8] * 5
    await again.close()
