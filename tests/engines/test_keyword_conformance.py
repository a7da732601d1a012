"""What every KeywordIndex promises."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engines.entries import EVERYWHERE, HANDBOOK, OTHER, USUAL, asking, facets, id_of, sweep_item, whole_item, word_item
from engines.words import ENGINES, Row
from refdesk.errors import Unavailable
from refdesk.search.engines.interface import Candidates, Entry, Filter, Grain, IndexName, KeywordIndex, WordDocument

pytestmark = pytest.mark.anyio


@pytest.fixture(params=ENGINES)
def row(request: pytest.FixtureRequest) -> Row:
    return ENGINES[request.param](request)


@pytest.fixture
async def engine(row: Row, tmp_path: Path) -> AsyncIterator[KeywordIndex]:
    async with row.running(tmp_path) as engine:
        yield engine


async def find(
    engine: KeywordIndex, text: str, narrowed: Filter = EVERYWHERE, index: IndexName = HANDBOOK
) -> list[str]:
    languages = await engine.list_languages(index)
    found = await engine.search(index, asking(text, *languages), narrowed, USUAL)
    return [hit.chunk_id for hit in found.chunks]


async def list_all(engine: KeywordIndex, index: IndexName = HANDBOOK) -> list[Entry]:
    return await engine.list_entries(index, ("", ""), 10_000)


async def test_an_index_that_does_not_exist_is_empty(engine: KeywordIndex) -> None:
    assert await find(engine, "anything") == []
    assert await list_all(engine) == []
    assert await engine.list_languages(HANDBOOK) == frozenset()
    assert await engine.weigh(HANDBOOK, asking("anything"), [id_of("a1")], []) == {}
    assert [tuple(o) for o in await engine.sweep(HANDBOOK, [sweep_item("a", 5)])] == [(0, False)]


async def test_what_was_written_is_found_when_write_returns(engine: KeywordIndex) -> None:
    written = await engine.write(HANDBOOK, [word_item("a1", "rotate the signing key"), word_item("a2", "bake a cake")])
    assert tuple(written) == (2, ())
    assert await find(engine, "rotating keys") == [id_of("a1")]


async def test_path_and_headings_are_searched_too(engine: KeywordIndex) -> None:
    item = word_item(
        "k1", "text", where=facets("runbooks/credential-rotation.md"), headings=("Signing keys", "Emergencies")
    )
    await engine.write(HANDBOOK, [item])
    assert await find(engine, "emergency") == [id_of("k1")]
    assert await find(engine, "credentials") == [id_of("k1")]


async def test_scores_are_those_of_bm25(engine: KeywordIndex) -> None:
    """By hand: k1 1.2, b 0.75; every text starts with its path's two words, and lengths are small enough to be kept exactly."""
    texts = {"a": "alpha alpha beta", "b": "alpha gamma", "c": "delta delta delta delta"}
    await engine.write(
        HANDBOOK, [word_item(name, text, document=name, where=facets("x/y.md")) for name, text in texts.items()]
    )
    found = await engine.search(HANDBOOK, asking("alpha"), EVERYWHERE, USUAL)
    lengths = {"a": 5, "b": 4, "c": 6}
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    expected = {}
    for name, frequency in (("a", 2), ("b", 1)):
        norm = 1.2 * (1 - 0.75 + 0.75 * lengths[name] / 5)
        expected[id_of(name)] = idf * frequency * 2.2 / (frequency + norm)
    assert {hit.chunk_id: hit.score for hit in found.chunks} == pytest.approx(expected, rel=1e-4)


async def test_each_grain_has_its_own_statistics(engine: KeywordIndex) -> None:
    items = [word_item(f"a{n}", "alpha", document="x") for n in range(9)] + [
        whole_item("x", "alpha"),
        whole_item("y", "beta"),
    ]
    await engine.write(HANDBOOK, items)
    found = await engine.search(HANDBOOK, asking("alpha"), EVERYWHERE, Candidates(5, 5, 5))
    assert list(found.documents) == [id_of("x")]
    idf_of_documents, idf_of_chunks = math.log(1 + 1.5 / 1.5), math.log(1 + 0.5 / 9.5)
    assert found.documents[id_of("x")] / found.chunks[0].score == pytest.approx(
        idf_of_documents / idf_of_chunks, rel=0.05
    )


async def test_whole_documents_are_never_chunks(engine: KeywordIndex) -> None:
    await engine.write(HANDBOOK, [whole_item("a", "alpha")])
    assert await find(engine, "alpha") == []


async def test_filters_narrow_and_prefixes_match_whole_segments(engine: KeywordIndex) -> None:
    paths = ["docs/api/a.md", "docs/api-v2/b.md", "docs/c.md", "more/api/d.md"]
    items = [
        word_item(
            path, "alpha", document=path, where=facets(path, version=f"v{n}", kind="api" if n == 2 else "documentation")
        )
        for n, path in enumerate(paths)
    ]
    await engine.write(HANDBOOK, items)

    async def paths_found(narrowed: Filter) -> set[str]:
        return {path for path in paths if id_of(path) in await find(engine, "alpha", narrowed)}

    assert await paths_found(Filter(path_prefix="docs/api")) == {"docs/api/a.md"}
    assert await paths_found(Filter(path_prefix="docs")) == set(paths[:3])
    assert await paths_found(Filter(path_prefix="docs/c.md")) == {"docs/c.md"}
    assert await paths_found(Filter(path_prefix="doc")) == set()
    assert await paths_found(Filter(sources=("more", "none"))) == {"more/api/d.md"}
    assert await paths_found(Filter(versions=("v0", "v1"))) == set(paths[:2])
    assert await paths_found(Filter(kinds=("api",))) == {"docs/c.md"}
    assert await paths_found(Filter(sources=("docs",), versions=("v3",))) == set()


async def test_a_filter_does_not_change_scores(engine: KeywordIndex) -> None:
    await engine.write(
        HANDBOOK, [word_item("a1", "alpha beta"), word_item("b1", "beta", document="b", where=facets("more/b.md"))]
    )
    free = await engine.search(HANDBOOK, asking("alpha"), EVERYWHERE, USUAL)
    narrowed = await engine.search(HANDBOOK, asking("alpha"), Filter(sources=("docs",)), USUAL)
    assert narrowed.chunks == free.chunks


async def test_one_document_does_not_fill_the_list(engine: KeywordIndex) -> None:
    items = [word_item(f"a{n}", "alpha alpha alpha", document="a") for n in range(60)]
    await engine.write(HANDBOOK, [*items, word_item("b1", "alpha and other words of no concern", document="b")])
    found = await engine.search(HANDBOOK, asking("alpha"), EVERYWHERE, Candidates(10, 3, 5))
    assert [hit.document_id for hit in found.chunks] == [id_of("a")] * 3 + [id_of("b")]


async def test_an_earlier_stamp_never_replaces_a_later_one(engine: KeywordIndex) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "newer", stamp=4)])
    written = await engine.write(HANDBOOK, [word_item("a1", "older", stamp=2), word_item("a2", "fresh", stamp=2)])
    assert tuple(written) == (1, (id_of("a1"),))
    assert (await find(engine, "newer"), await find(engine, "older")) == ([id_of("a1")], [])


async def test_an_equal_or_later_stamp_replaces(engine: KeywordIndex) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "first", stamp=2)])
    assert (await engine.write(HANDBOOK, [word_item("a1", "second", stamp=2)])).written_count == 1
    assert (await engine.write(HANDBOOK, [word_item("a1", "third", stamp=3)])).written_count == 1
    assert (await find(engine, "first second"), await find(engine, "third")) == ([], [id_of("a1")])
    assert [entry.stamp for entry in await list_all(engine)] == [3]


async def test_the_latest_stamp_wins_within_a_batch(engine: KeywordIndex) -> None:
    written = await engine.write(HANDBOOK, [word_item("a1", "newer", stamp=3), word_item("a1", "older", stamp=2)])
    assert tuple(written) == (1, (id_of("a1"),))
    assert await find(engine, "newer") == [id_of("a1")]


async def test_writes_at_once_leave_the_latest_stamp(engine: KeywordIndex) -> None:
    writes = (engine.write(HANDBOOK, [word_item("a1", f"word{stamp}", stamp=stamp)]) for stamp in (3, 5, 1, 4, 2))
    await asyncio.gather(*writes)
    assert [entry.stamp for entry in await list_all(engine)] == [5]
    assert await find(engine, "word5") == [id_of("a1")]


async def test_a_sweep_takes_what_is_unlisted_and_not_later(engine: KeywordIndex) -> None:
    await engine.write(
        HANDBOOK,
        [
            word_item("kept", "alpha", stamp=2),
            word_item("old", "alpha", stamp=2),
            word_item("later", "alpha", stamp=4),
            word_item("others", "alpha", document="b", stamp=1),
            whole_item("a", "alpha", stamp=2),
        ],
    )
    outcomes = await engine.sweep(HANDBOOK, [sweep_item("a", 3, "kept"), sweep_item("none", 9)])
    assert [tuple(outcome) for outcome in outcomes] == [(1, True), (0, False)]
    assert set(await find(engine, "alpha")) == {id_of("kept"), id_of("later"), id_of("others")}
    assert (id_of("a"), Grain.DOCUMENT) in {(entry.id, entry.grain) for entry in await list_all(engine)}


async def test_an_entry_with_the_stamp_of_the_sweep_goes(engine: KeywordIndex) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "alpha", stamp=3)])
    assert [tuple(o) for o in await engine.sweep(HANDBOOK, [sweep_item("a", 3)])] == [(1, False)]


async def test_a_listed_entry_with_a_later_stamp_is_no_news(engine: KeywordIndex) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "alpha", stamp=9)])
    assert [tuple(o) for o in await engine.sweep(HANDBOOK, [sweep_item("a", 3, "a1")])] == [(0, False)]


async def test_a_whole_document_goes_when_the_document_is_removed(engine: KeywordIndex) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "alpha"), whole_item("a", "alpha"), whole_item("b", "alpha")])
    outcomes = await engine.sweep(HANDBOOK, [sweep_item("a", 1, remove=True)])
    assert [tuple(outcome) for outcome in outcomes] == [(2, False)]
    assert [entry.document_id for entry in await list_all(engine)] == [id_of("b")]


async def test_pages_list_every_entry_once_in_order(engine: KeywordIndex) -> None:
    items = [word_item(f"{d}{n}", "alpha", document=d, stamp=n + 1) for d in "abcde" for n in range(7)]
    await engine.write(HANDBOOK, [*items, whole_item("c", "alpha")])
    written = [Entry(item.document_id, item.chunks[0].id, Grain.CHUNK, item.stamp) for item in items]
    written.append(Entry(id_of("c"), id_of("c"), Grain.DOCUMENT, 1))
    listed: list[Entry] = []
    while page := await engine.list_entries(HANDBOOK, listed[-1][:2] if listed else ("", ""), 4):
        assert len(page) <= 4
        listed += page
    assert listed == sorted(written)


async def test_languages_of_entries_are_known(engine: KeywordIndex) -> None:
    items = [
        word_item("a1", "the keys", where=facets(language="en")),
        word_item("b1", "die Schlüssel", where=facets(language="de")),
    ]
    await engine.write(HANDBOOK, items)
    assert await engine.list_languages(HANDBOOK) == {"en", "de"}
    assert await find(engine, "schlussel") == [id_of("b1")]


@pytest.mark.parametrize(
    ("text", "language", "query"),
    [
        ("クラスタの設定方法", "ja", "設定"),
        ("Überprüfung der Zertifikate", "de", "zertifikat überprüfung"),
        ("проверка сертификатов", "ru", "сертификаты"),
        ("emoji 🔑 and \u202e marks", "en", "marks"),
    ],
)
async def test_any_script_is_found(engine: KeywordIndex, text: str, language: str, query: str) -> None:
    await engine.write(HANDBOOK, [word_item("a1", text, where=facets("docs/ü/設定.md", language=language))])
    assert await find(engine, query, Filter(path_prefix="docs/ü")) == [id_of("a1")]


async def test_evidence_tells_what_of_a_query_a_chunk_holds(engine: KeywordIndex) -> None:
    filler = [word_item(f"f{n}", "filler words", document=f"f{n}") for n in range(8)]
    await engine.write(HANDBOOK, [*filler, word_item("a1", "alpha beta"), word_item("a2", "alpha MAX_CONNECTIONS")])
    query = asking("alpha beta unheard max_connections")
    evidence = await engine.weigh(HANDBOOK, query, [id_of("a1"), id_of("a2")], [id_of("a2"), id_of("a1"), id_of("f1")])

    def idf(frequency: int) -> float:
        return math.log(1 + (10 - frequency + 0.5) / (frequency + 0.5))

    total = idf(2) + idf(1) + idf(0) + idf(1) + idf(1)  # alpha, beta, unheard, max, connect
    assert evidence[id_of("a1")].coverage == pytest.approx((idf(2) + idf(1)) / total)
    assert evidence[id_of("a2")].coverage == pytest.approx((idf(2) + idf(1) + idf(1)) / total)
    assert evidence[id_of("f1")].coverage is None
    assert {id for id, seen in evidence.items() if seen.identifier_match} == {id_of("a2")}


async def test_coverage_is_exact_for_long_queries(engine: KeywordIndex) -> None:
    words = [f"word{chr(97 + n // 26)}{chr(97 + n % 26)}z" for n in range(70)]
    await engine.write(HANDBOOK, [word_item("a1", " ".join(words[::2]))])
    evidence = await engine.weigh(HANDBOOK, asking(" ".join(words)), [id_of("a1")], [])
    present, absent = math.log(1 + 0.5 / 1.5), math.log(1 + 1.5 / 0.5)
    assert evidence[id_of("a1")].coverage == pytest.approx(35 * present / (35 * present + 35 * absent))


async def test_a_name_that_stands_everywhere_identifies_nothing(engine: KeywordIndex) -> None:
    items = [
        word_item(f"a{n}", "OpenSearch and DashBoards2" if n < 9 else "OpenSearch", document=f"a{n}") for n in range(30)
    ]
    await engine.write(HANDBOOK, items)
    common, rare = asking("OpenSearch pizza"), asking("DashBoards2 pizza")
    assert not (await engine.weigh(HANDBOOK, common, [], [id_of("a1")]))[id_of("a1")].identifier_match
    assert (await engine.weigh(HANDBOOK, rare, [], [id_of("a1")]))[id_of("a1")].identifier_match


async def test_query_syntax_is_only_words(engine: KeywordIndex) -> None:
    await engine.write(HANDBOOK, [word_item("a1", "alpha")])
    for text in ("alpha AND (", "terms:alpha OR *", '"alpha', "alpha^5 ~ -beta", "[a TO z] alpha"):
        assert await find(engine, text) == [id_of("a1")]


async def test_projects_and_generations_share_nothing(engine: KeywordIndex) -> None:
    later = IndexName(HANDBOOK.project, "model.c2")
    await engine.write(HANDBOOK, [word_item("a1", "alpha", stamp=7)])
    await engine.write(OTHER, [word_item("a1", "beta", stamp=1), word_item("a2", "alpha", where=facets(language="de"))])
    assert await find(engine, "alpha") == [id_of("a1")]
    assert await find(engine, "alpha", index=OTHER) == [id_of("a2")]
    assert await find(engine, "alpha", index=later) == []
    assert await engine.list_languages(HANDBOOK) == {"en"}
    await engine.sweep(OTHER, [sweep_item("a", 9)])
    assert [entry.stamp for entry in await list_all(engine)] == [7]


async def test_everything_is_there_after_a_close(row: Row, tmp_path: Path) -> None:
    first = row.open(tmp_path)
    await first.start()
    await first.write(HANDBOOK, [word_item("a1", "alpha")])
    await first.close()
    second = row.open(tmp_path)
    await second.start()
    assert await find(second, "alpha") == [id_of("a1")]
    assert (await second.write(HANDBOOK, [word_item("a2", "alpha")])).written_count == 1
    await second.close()
    await row.clean(tmp_path)


async def test_a_kill_loses_nothing_that_was_answered_and_leaves_no_lock(row: Row, engine: KeywordIndex) -> None:
    for round in range(3):
        await engine.write(HANDBOOK, [word_item(f"a{round}", "alpha")])
        row.crash(engine)
        with pytest.raises(Unavailable):
            await engine.write(HANDBOOK, [word_item("lost", "alpha")])
        assert len(await list_all(engine)) == round + 1
    await engine.write(HANDBOOK, [word_item("lost", "alpha")])
    assert len(await find(engine, "alpha")) == 4


async def test_a_kill_in_the_middle_of_a_write_leaves_all_or_nothing(
    row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFDESK_TEST_FAILPOINT", f"{row.mid_write}=kill@2")
    engine = row.open(tmp_path)
    await engine.start()
    items: list[WordDocument] = [word_item(f"a{n}", "alpha") for n in range(50)]
    await engine.write(HANDBOOK, items[:25])
    with pytest.raises(Unavailable):
        await engine.write(HANDBOOK, items[25:])
    assert len(await list_all(engine)) == 25
    monkeypatch.delenv("REFDESK_TEST_FAILPOINT")
    await engine.close()
    again = row.open(tmp_path)
    await again.start()
    assert (await again.write(HANDBOOK, items)).written_count == 50
    assert len(await list_all(again)) == 50
    await again.close()
    await row.clean(tmp_path)
