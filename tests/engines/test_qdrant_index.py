"""The vector index on Qdrant where things are many or half done; a given server, or qdrant-client's memory, stands behind it."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from engines.qdrant import clean_qdrant, open_qdrant
from refdesk import failpoints
from refdesk.errors import Unavailable
from refdesk.search.engines import qdrant_points, qdrant_reads
from refdesk.search.engines.interface import Candidates, Entry, Grain, VectorItem
from refdesk.search.engines.qdrant_index import QdrantIndex
from refdesk.search.engines.qdrant_points import list_doomed, part_batches, part_newest
from refdesk.search.engines.qdrant_scope import ORDERS, order_of

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local Qdrant:UserWarning"),
]
MODEL = "model"
EAST, NORTH = vector_of(1, 0, 0), vector_of(0, 1, 0)


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[QdrantIndex]:
    index = open_qdrant(tmp_path)
    await index.start()
    yield index
    await index.close()
    await clean_qdrant(tmp_path)


@pytest.fixture
def disarmed() -> Iterator[None]:
    yield
    failpoints.arm("")


async def list_pages(index: QdrantIndex, limit: int) -> list[Entry]:
    listed: list[Entry] = []
    while page := await index.list_entries(HANDBOOK, listed[-1][:2] if listed else ("", ""), limit):
        assert len(page) <= limit
        listed += page
    return listed


@pytest.mark.parametrize("limit", [3, 50])
async def test_a_listing_of_many_pages_has_every_entry_once_in_order(
    index: QdrantIndex, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    shuffled = random.Random(7)
    items = [vector_item(f"{d}-{n}", EAST, document=f"d{d}") for d in range(40) for n in range(shuffled.randint(0, 4))]
    items += [vector_item(f"big-{n}", EAST, document="big") for n in range(17)]
    shuffled.shuffle(items)
    await index.write(HANDBOOK, MODEL, items)
    await index.write(OTHER, MODEL, [vector_item("theirs", EAST, document="d1x")])
    monkeypatch.setattr(qdrant_reads, "MOST_HITS", 5)
    expected = sorted(Entry(item.document_id, item.id, Grain.CHUNK, 1) for item in items)
    assert await list_pages(index, limit) == expected


def test_the_order_of_documents_is_that_of_their_ids_and_fits_a_float() -> None:
    ids = sorted(id_of(str(number)) for number in range(500))
    orders = [order_of(id) for id in ids]
    assert orders == sorted(orders)
    assert order_of("ffffffff-ffff-ffff-ffff-ffffffffffff") == ORDERS - 1
    assert float(ORDERS - 1) != float(ORDERS - 2)


async def test_a_text_that_many_chunks_share_hides_no_other(
    index: QdrantIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [vector_item(f"a{n}", EAST, document=f"d{n}", text_hash=hash_of("licence")) for n in range(12)]
    items += [vector_item(f"b{n}", NORTH, text_hash=hash_of(f"own {n}")) for n in range(5)]
    await index.write(HANDBOOK, MODEL, items)
    monkeypatch.setattr(qdrant_reads, "VECTORS_PAGE", 3)
    monkeypatch.setattr(qdrant_reads, "HASHES_AT_ONCE", 4)
    wanted = [hash_of("licence"), *(hash_of(f"own {n}") for n in range(5))]
    assert (await index.find_vectors(HANDBOOK, wanted)).keys() == set(wanted)


async def test_a_batch_of_many_documents_and_stamps_is_written_whole(
    index: QdrantIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qdrant_points, "BATCH_POINTS", 7)
    old = [vector_item(f"{d}-{n}", EAST, document=f"d{d}", stamp=5) for d in range(6) for n in range(5)]
    assert (await index.write(HANDBOOK, MODEL, old)).written_count == 30
    new = [item._replace(stamp=4 + position % 3, vector=NORTH) for position, item in enumerate(old)]
    written = await index.write(HANDBOOK, MODEL, new)
    assert set(written.superseded_ids) == {item.id for item in new if item.stamp == 4}
    found = await index.search(HANDBOOK, NORTH, EVERYWHERE, Candidates(30, 30, 1))
    assert {hit.chunk_id for hit in found.chunks if hit.score > 0.5} == {item.id for item in new if item.stamp > 4}


async def test_a_creation_that_was_cut_off_is_empty_until_a_write_finishes_it(
    index: QdrantIndex, disarmed: None
) -> None:
    failpoints.arm("vectors_created=fail")
    with pytest.raises(Unavailable):
        await index.write(HANDBOOK, MODEL, [vector_item("a1", EAST)])
    failpoints.arm("")
    await index.start()
    assert (await index.search(HANDBOOK, EAST, EVERYWHERE, USUAL)).chunks == ()
    assert await list_pages(index, 10) == []
    assert (await index.write(HANDBOOK, MODEL, [vector_item("a1", EAST)])).written_count == 1


async def test_two_desks_on_one_server_share_nothing(index: QdrantIndex, tmp_path: Path) -> None:
    other = open_qdrant(tmp_path / "other")
    await index.write(HANDBOOK, MODEL, [vector_item("a1", EAST)])
    assert await other.list_entries(HANDBOOK, ("", ""), 10) == []
    await other.close()
    await clean_qdrant(tmp_path / "other")


async def test_a_project_cannot_write_over_a_point_of_another(index: QdrantIndex) -> None:
    await index.write(HANDBOOK, MODEL, [vector_item("a1", EAST)])
    written = await index.write(OTHER, MODEL, [vector_item("a1", NORTH, stamp=9)])
    assert tuple(written) == (0, (id_of("a1"),))
    assert await index.measure(HANDBOOK, EAST, [id_of("a1")]) == {id_of("a1"): pytest.approx(1)}
    assert await index.measure(OTHER, EAST, [id_of("a1")]) == {}


async def test_facets_are_those_of_the_latest_write(index: QdrantIndex) -> None:
    await index.write(HANDBOOK, MODEL, [vector_item("a1", EAST, where=facets(version="v1"))])
    await index.write(HANDBOOK, MODEL, [vector_item("a1", EAST, where=facets(version="v2"), stamp=2)])
    for version, count in (("v1", 0), ("v2", 1)):
        found = await index.search(HANDBOOK, EAST, EVERYWHERE._replace(versions=(version,)), USUAL)
        assert len(found.chunks) == count


items_of_few = st.builds(
    lambda name, document, stamp: vector_item(f"{document}{name}", EAST, document=document, stamp=stamp),
    st.sampled_from("123"),
    st.sampled_from("ab"),
    st.integers(1, 4),
)


@given(st.lists(items_of_few, max_size=20))
def test_no_batch_holds_two_stamps_of_a_document_and_none_loses_a_point(items: list[VectorItem]) -> None:
    newest, outdone = part_newest(items)
    batches = list(part_batches(newest))
    assert sorted(item for batch in batches for item in batch) == sorted(newest)
    assert set(outdone) <= {item.id for item in newest}
    for batch in batches:
        assert len({item.document_id for item in batch}) == len({(item.document_id, item.stamp) for item in batch})
    for id in {item.id for item in items}:
        assert max(item.stamp for item in items if item.id == id) == next(i.stamp for i in newest if i.id == id)


moves = st.one_of(
    st.lists(items_of_few, min_size=1, max_size=4),
    st.builds(
        lambda document, stamp, kept: sweep_item(document, stamp, *(f"{document}{name}" for name in kept)),
        st.sampled_from("ab"),
        st.integers(0, 4),
        st.sets(st.sampled_from("123")),
    ),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(moves, max_size=8))
async def test_writes_and_sweeps_in_any_order_leave_what_the_stamps_say(plan: list[object]) -> None:
    index = open_qdrant(Path(f"plan-{id_of(repr(plan))}"))
    model: dict[str, Entry] = {}
    try:
        for move in plan:
            if isinstance(move, list):
                await index.write(HANDBOOK, MODEL, move)
                for item in move:
                    if item.id not in model or model[item.id].stamp <= item.stamp:
                        model[item.id] = Entry(item.document_id, item.id, item.grain, item.stamp)
                continue
            await index.sweep(HANDBOOK, [move])
            of_document = [entry for entry in model.values() if entry.document_id == move.document_id]
            for id in list_doomed(move, of_document)[0]:
                del model[id]
        assert await index.list_entries(HANDBOOK, ("", ""), 100) == sorted(model.values())
    finally:
        await index.close()
        await clean_qdrant(Path(f"plan-{id_of(repr(plan))}"))
