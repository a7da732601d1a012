"""What is particular to words on OpenSearch: refusals, blocks, want of room, races at the server, shards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engines.entries import (
    EVERYWHERE,
    HANDBOOK,
    USUAL,
    asking,
    facets,
    id_of,
    page_item,
    sweep_item,
    whole_item,
    word_item,
)
from engines.words import HastyIndex, connect, drop_all, settings_for
from fakes.waiting import until
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.faults import WriteBlocked
from refdesk.engines.opensearch.indices import ensure_index
from refdesk.engines.opensearch.reading import refresh
from refdesk.errors import InvalidArgument, Unavailable
from refdesk.lex import parse
from refdesk.search.analysis import QueryAnalysis, QueryWord
from refdesk.search.engines.interface import Candidates, Entry, Grain, IndexName, KeywordIndex, WordDocument
from refdesk.search.engines.opensearch_entries import encode_documents
from refdesk.search.engines.opensearch_index import OpenSearchIndex
from refdesk.search.engines.opensearch_queries import MOST_WORDS
from refdesk.search.engines.opensearch_schema import VERSION, build_index, name_indices
from refdesk.search.engines.table import KEYWORD_ENGINES, keyword_index
from refdesk.search.settings import SearchSettings
from refdesk.search.words import read_wanted
from servers.gate import Gate, bulk_answer, open_gate
from servers.opensearch import OpenSearchServer

pytestmark = pytest.mark.anyio


@pytest.fixture
async def gate(opensearch_server: OpenSearchServer) -> AsyncIterator[Gate]:
    async with open_gate(opensearch_server.address) as opened:
        yield opened


@pytest.fixture
async def settings(opensearch_server: OpenSearchServer, gate: Gate, tmp_path: Path) -> AsyncIterator[SearchSettings]:
    """Through the gate, under a prefix of the test's own."""
    own = settings_for(opensearch_server, tmp_path)
    yield own.model_copy(update={"keyword_url": f"opensearch://{gate.address}"})
    gate.answers.clear()
    await drop_all(own)


@pytest.fixture
async def engine(settings: SearchSettings) -> AsyncIterator[KeywordIndex]:
    """Its refreshes come once a second, as anywhere."""
    opened = OpenSearchIndex(settings)
    await opened.start()
    yield opened
    await opened.close()


@pytest.fixture
async def client(settings: SearchSettings) -> AsyncIterator[OpenSearchClient]:
    """Beside the engine, for what another process or an operator may do."""
    async with connect(settings) as opened:
        yield opened


async def find(engine: KeywordIndex, text: str, index: IndexName = HANDBOOK) -> set[str]:
    found = await engine.search(index, asking(text), EVERYWHERE, USUAL)
    return {hit.chunk_id for hit in found.chunks}


async def list_all(engine: KeywordIndex) -> list[Entry]:
    return await engine.list_entries(HANDBOOK, ("", ""), 100)


async def write_unseen(client: OpenSearchClient, document: WordDocument) -> None:
    """As another process writes it: no search sees it before the next refresh."""
    encoded = encode_documents(name_indices(client, HANDBOOK).aliases, [document])
    assert len(encoded) == 1
    await client.write("POST", "/_bulk", encoded[0].lines)


async def set_index(client: OpenSearchClient, grain: Grain, **values: object) -> None:
    await client.write("PUT", f"/{build_index(HANDBOOK, grain).name(client)}/_settings", values)


# Refusals


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"mappings": {"_meta": {"refdesk": {"version": 9, "min_reader": 8}}}}, "was written by a newer release"),
        (
            {"mappings": {"_meta": {"refdesk": {"version": VERSION, "min_reader": 1}}}},
            "was not made by refdesk, or only in",
        ),
        ({}, "was not made by refdesk, or only in part"),
    ],
)
async def test_an_index_that_this_release_cannot_use_stops_the_start_or_holds_and_is_left_as_it_is(
    client: OpenSearchClient, settings: SearchSettings, engine: KeywordIndex, body: dict[str, Any], why: str
) -> None:
    index = build_index(HANDBOOK, Grain.CHUNK)
    await client.write("PUT", f"/{index.name(client)}", {**body, "aliases": {index.alias(client): {}}})
    before = await client.read("GET", f"/{index.name(client)}")
    with pytest.raises(InvalidArgument, match=why) as stopped:
        await OpenSearchIndex(settings).start()
    assert "search.opensearch.index_prefix" in stopped.value.message
    assert "\n" not in stopped.value.message
    # A desk that runs already blames no document for it.
    for call in (engine.write(HANDBOOK, [word_item("a1", "alpha")]), find(engine, "alpha"), list_all(engine)):
        with pytest.raises(Unavailable, match=why):
            await call
    assert await client.read("GET", f"/{index.name(client)}") == before


async def test_an_index_from_before_the_words_in_their_order_is_given_them_and_fits_what_is_written_from_then_on(
    client: OpenSearchClient, settings: SearchSettings
) -> None:
    for grain in Grain:
        index = build_index(HANDBOOK, grain)
        older = {name: field for name, field in index.properties.items() if name != "words"}
        await ensure_index(client, replace(index, properties=older, version=1))
    opened = OpenSearchIndex(settings)
    await opened.start()
    await opened.write(HANDBOOK, [page_item("a", "Rotate the signing key.")])
    wanted = parse('"signing key"')
    found = await opened.search(HANDBOOK, asking("signing key"), EVERYWHERE, USUAL, read_wanted(wanted))
    await opened.close()
    assert list(found.documents) == [id_of("a")]


async def test_an_index_without_its_alias_stops_the_start(client: OpenSearchClient, settings: SearchSettings) -> None:
    index = build_index(HANDBOOK, Grain.DOCUMENT)
    await client.write("PUT", f"/{index.name(client)}")
    with pytest.raises(InvalidArgument, match=f"index {index.name(client)} was not made by refdesk, or only in part"):
        await OpenSearchIndex(settings).start()


async def test_a_wrong_password_stops_the_start_by_the_settings_name(
    gate: Gate, settings: SearchSettings, tmp_path: Path
) -> None:
    gate.password, file = "desk:right", tmp_path / "password"
    file.write_text("wrong", encoding="utf-8")
    own = settings.opensearch.model_copy(update={"user": "desk", "password_file": str(file)})
    with pytest.raises(InvalidArgument, match=r"check search\.opensearch\.user and search\.opensearch\.password_file"):
        await OpenSearchIndex(settings.model_copy(update={"opensearch": own})).start()
    gate.password = None


async def test_a_closed_index_is_not_taken_for_an_empty_one(client: OpenSearchClient, engine: KeywordIndex) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "alpha")])
    place = f"/{build_index(HANDBOOK, Grain.CHUNK).name(client)}"
    await client.write("POST", f"{place}/_close")
    for call in (find(engine, "alpha"), list_all(engine), engine.write(HANDBOOK, [word_item("a2", "alpha")])):
        with pytest.raises(Unavailable, match="is missing or closed"):
            await call
    await client.write("POST", f"{place}/_open", params={"wait_for_active_shards": "1"})
    assert await find(engine, "alpha") == {id_of("a1")}


async def test_a_url_chooses_the_cluster(settings: SearchSettings, tmp_path: Path) -> None:
    engine = keyword_index(settings, tmp_path)
    await engine.start()
    await engine.write(HANDBOOK, [word_item("a1", "alpha")])
    assert await find(engine, "alpha") == {id_of("a1")}
    await engine.close()
    async with connect(settings) as client:
        assert await client.read("GET", f"/{build_index(HANDBOOK, Grain.CHUNK).alias(client)}")
    assert KEYWORD_ENGINES.keys() == {"file", "opensearch", "opensearch+tls"}


def test_names_of_indices_are_lower_case_short_enough_and_differ_where_generations_do() -> None:
    long = "A" * 127
    generations = ("Model.c1", "model.c1", f"{long}B", f"{long}b")
    names = {build_index(IndexName("p" * 63, one), Grain.DOCUMENT).what for one in generations}
    assert len(names) == 4
    longest_prefix_bytes, version_bytes = 64, 4
    assert all(name == name.lower() and longest_prefix_bytes + len(name) + version_bytes <= 255 for name in names)


# Writing


async def test_two_processes_that_write_first_at_once_both_succeed(settings: SearchSettings) -> None:
    engines = [OpenSearchIndex(settings) for _ in range(2)]
    for engine in engines:
        await engine.start()
    await asyncio.gather(*(one.write(HANDBOOK, [word_item(f"a{n}", "alpha")]) for n, one in enumerate(engines)))
    for engine in engines:
        assert await find(engine, "alpha") == {id_of("a0"), id_of("a1")}
        await engine.close()


async def test_an_index_that_was_deleted_is_empty_until_a_write_makes_it_anew(
    client: OpenSearchClient, engine: KeywordIndex
) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "alpha", stamp=9)])
    await client.write("DELETE", f"/{build_index(HANDBOOK, Grain.CHUNK).name(client)}")
    assert await find(engine, "alpha") == set()
    await client.write("DELETE", f"/{build_index(HANDBOOK, Grain.DOCUMENT).name(client)}")
    assert (await engine.write(HANDBOOK, [word_item("a1", "alpha", stamp=2)])).written_count == 1
    assert await find(engine, "alpha") == {id_of("a1")}


async def test_a_write_block_holds_and_blames_no_document(client: OpenSearchClient, engine: KeywordIndex) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "alpha")])
    await set_index(client, Grain.CHUNK, **{"index.blocks.read_only_allow_delete": True})  # what a full disk leads to
    with pytest.raises(WriteBlocked):
        await engine.write(HANDBOOK, [word_item("a2", "alpha"), whole_item("b", "alpha")])
    assert await find(engine, "alpha") == {id_of("a1")}
    await set_index(client, Grain.CHUNK, **{"index.blocks.read_only_allow_delete": None})
    assert (await engine.write(HANDBOOK, [word_item("a2", "alpha")])).written_count == 1


async def test_entries_without_room_are_sent_again_and_hold_when_the_budget_is_over(
    gate: Gate, engine: KeywordIndex
) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "alpha")])
    gate.answers += [bulk_answer(201, 429)]
    await engine.write(HANDBOOK, [word_item("lost", "no such word"), word_item("a2", "alpha")])
    assert await find(engine, "alpha") == {id_of("a1"), id_of("a2")}
    gate.answers += [bulk_answer(429)] * 1000
    with pytest.raises(Unavailable, match="no room"):
        await engine.write(HANDBOOK, [word_item("a3", "alpha")])


async def test_a_document_that_cannot_be_taken_is_named_and_others_are_written(engine: KeywordIndex) -> None:
    too_long = word_item("bad", "alpha", document="bad", where=facets(version="v" * 40_000))
    with pytest.raises(InvalidArgument, match=id_of("bad")) as refused:
        await engine.write(HANDBOOK, [too_long, word_item("a1", "alpha")])
    assert "vvvv" not in refused.value.message
    assert await find(engine, "alpha") == {id_of("a1")}


async def test_a_write_in_several_requests_is_searchable_as_a_whole(
    opensearch_server: OpenSearchServer, tmp_path: Path
) -> None:
    small = settings_for(opensearch_server, tmp_path, bulk_bytes=65_536)
    engine = HastyIndex(small)
    await engine.start()
    items = [word_item(f"a{n}", "alpha " * 2000, document=f"d{n % 7}") for n in range(20)]
    assert (await engine.write(HANDBOOK, [*items, whole_item("b", "alpha " * 20_000)])).written_count == 21
    assert await find(engine, "alpha") == {id_of(f"a{n}") for n in range(20)}
    await engine.close()
    await drop_all(small)


# Sweeping while others write


async def test_a_sweep_leaves_an_entry_that_was_written_for_a_later_revision_meanwhile(
    client: OpenSearchClient, engine: KeywordIndex
) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "alpha", stamp=2)])
    await set_index(client, Grain.CHUNK, **{"index.refresh_interval": "-1"})
    await write_unseen(client, word_item("a1", "beta", stamp=5))
    assert [tuple(one) for one in await engine.sweep(HANDBOOK, [sweep_item("a", 3)])] == [(0, True)]
    await refresh(client, name_indices(client, HANDBOOK).aliases[Grain.CHUNK])
    assert [entry.stamp for entry in await list_all(engine)] == [5]


async def test_a_sweep_takes_an_entry_that_was_written_again_meanwhile(
    client: OpenSearchClient, engine: KeywordIndex, gate: Gate
) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "alpha", stamp=2)])
    await set_index(client, Grain.CHUNK, **{"index.refresh_interval": "-1"})
    await write_unseen(client, word_item("a1", "beta", stamp=3))
    gate.seen.clear()
    sweeping = asyncio.create_task(engine.sweep(HANDBOOK, [sweep_item("a", 3)]))
    # The first delete meets another write than it had read.
    await until(lambda: [path for _, path, _ in gate.seen].count("/_bulk") >= 2)

    async def is_over() -> bool:
        await refresh(client, name_indices(client, HANDBOOK).aliases[Grain.CHUNK])
        return sweeping.done()

    await until(is_over)
    assert [tuple(one) for one in await sweeping] == [(1, False)]
    assert await list_all(engine) == []


async def test_what_another_sweep_took_meanwhile_is_no_news(client: OpenSearchClient, engine: KeywordIndex) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "alpha", stamp=2)])
    await set_index(client, Grain.CHUNK, **{"index.refresh_interval": "-1"})
    place = f"/{name_indices(client, HANDBOOK).aliases[Grain.CHUNK]}/_doc/{id_of('a1')}"
    await client.write("DELETE", place)
    assert [tuple(one) for one in await engine.sweep(HANDBOOK, [sweep_item("a", 3)])] == [(0, False)]


async def test_a_sweep_reads_documents_of_any_size(engine: KeywordIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refdesk.search.engines.opensearch_reader.PAGE_ENTRIES", 7)
    items = [word_item(f"{document}{n}", "alpha", document=document) for document in "abc" for n in range(10)]
    await engine.write(HANDBOOK, items)
    outcomes = await engine.sweep(HANDBOOK, [sweep_item("a", 1, "a3"), sweep_item("b", 1), sweep_item("c", 1, "c0")])
    assert [tuple(one) for one in outcomes] == [(9, False), (10, False), (9, False)]
    assert {entry.id for entry in await list_all(engine)} == {id_of("a3"), id_of("c0")}


# Reading


async def test_an_entry_that_stays_is_listed_once_whatever_is_written_between_pages(engine: KeywordIndex) -> None:
    stay = [word_item(f"s{n}", "alpha", document=f"s{n}") for n in range(9)]
    await engine.write(HANDBOOK, stay)
    listed: list[str] = []
    after = ("", "")
    for round in range(100):
        page = await engine.list_entries(HANDBOOK, after, 4)
        if not page:
            break
        listed += [entry.id for entry in page]
        after = page[-1][:2]
        fresh = [word_item(f"n{round}{m}", "alpha", document=f"n{round}{m}") for m in range(2)]
        await engine.write(HANDBOOK, [*fresh, *(item._replace(stamp=round + 2) for item in stay)])
    assert sorted(set(listed) & {id_of(f"s{n}") for n in range(9)}) == sorted(id_of(f"s{n}") for n in range(9))
    assert len(listed) == len(set(listed))


async def test_a_search_without_room_is_tried_again(engine: KeywordIndex, gate: Gate) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "alpha")])
    full = {"status": 429, "error": {"type": "rejected_execution_exception"}}
    gate.answers += [(200, {"responses": [full, full]})]
    assert await find(engine, "alpha") == {id_of("a1")}
    gate.answers += [(200, {"responses": [full, full]})] * 1000
    with pytest.raises(Unavailable, match="no room"):
        await find(engine, "alpha")


async def test_long_questions_in_an_index_of_many_languages_are_answered(engine: KeywordIndex) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "alpha")])
    words = [QueryWord(("alpha", *(f"w{n}l{m}" for m in range(10)))) for n in range(MOST_WORDS)]
    query = QueryAnalysis(tuple(words), (), ())
    found = await engine.search(HANDBOOK, query, EVERYWHERE, Candidates(1000, 8, 1000))
    assert [hit.chunk_id for hit in found.chunks] == [id_of("a1")]
    evidence = await engine.weigh(HANDBOOK, query, [id_of("a1")], [id_of("a1")])
    assert evidence[id_of("a1")].coverage == 1.0


async def test_several_shards_give_the_scores_and_the_evidence_of_one(
    opensearch_server: OpenSearchServer, tmp_path: Path
) -> None:
    items = [word_item(f"a{n}", "alpha beta" if n % 3 else f"alpha x{n}_y", document=f"d{n}") for n in range(30)]
    answers = []
    for shard_count in (1, 3):
        settings = settings_for(opensearch_server, tmp_path / str(shard_count), shard_count=shard_count)
        engine = HastyIndex(settings)
        await engine.start()
        await engine.write(HANDBOOK, [*items, *(whole_item(f"d{n}", "alpha gamma") for n in range(10))])
        query, ids = asking("alpha beta x9_y"), [id_of(f"a{n}") for n in range(30)]
        found = await engine.search(HANDBOOK, query, EVERYWHERE, USUAL)
        scores = {hit.chunk_id: hit.score for hit in found.chunks} | found.documents
        answers.append((scores, await engine.weigh(HANDBOOK, query, ids, ids)))
        await engine.close()
        await drop_all(settings)
    assert answers[1][0] == pytest.approx(answers[0][0], rel=1e-6)
    assert answers[1][1] == answers[0][1]


async def test_an_entry_is_indexed_by_its_stamp_as_its_version(client: OpenSearchClient, engine: KeywordIndex) -> None:
    """What sweeps and late writes are refused by: a plain write of OpenSearch's own would count versions from 1."""
    await engine.write(HANDBOOK, [word_item("a1", "alpha", stamp=7)])
    place = f"/{name_indices(client, HANDBOOK).aliases[Grain.CHUNK]}/_doc/{id_of('a1')}"
    assert (await client.read("GET", place))["_version"] == 7
    old = encode_documents(name_indices(client, HANDBOOK).aliases, [word_item("a1", "alpha", stamp=6)])
    answer = await client.write("POST", "/_bulk", old[0].lines)
    assert answer["items"][0]["index"]["status"] == 409
