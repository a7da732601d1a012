"""What every KeywordIndex promises of the lex grammar: whole documents decide what fits, their chunks are what is found."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engines.entries import EVERYWHERE, HANDBOOK, OTHER, USUAL, asking, facets, id_of, page_item, sweep_item
from engines.words import ENGINES
from refdesk.lex import parse
from refdesk.search.engines.interface import Candidates, Filter, Found, IndexName, KeywordIndex
from refdesk.search.words import read_wanted

pytestmark = pytest.mark.anyio

PAGES = {
    "keys": ["Rotate the signing key every month.", "Authentication needs a token."],
    "pager": ["The pager goes round; keys are signing in turn.", "Rotation is by the week."],
    "sports": ["Performance of a long-lived sports team.", "The art of the key signing."],
    "umlaut": ["Die Überprüfung der Schlüssel — der Wörter.", "クラスタの設定方法"],
}


@pytest.fixture(params=ENGINES)
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KeywordIndex]:
    async with ENGINES[request.param](request).running(tmp_path) as engine:
        await engine.write(HANDBOOK, [page_item(name, *chunks) for name, chunks in PAGES.items()])
        yield engine


async def look(
    engine: KeywordIndex,
    text: str,
    narrowed: Filter = EVERYWHERE,
    candidates: Candidates = USUAL,
    index: IndexName = HANDBOOK,
) -> Found:
    query = parse(text)
    return await engine.search(index, asking(query.wanted_text), narrowed, candidates, read_wanted(query))


async def find(engine: KeywordIndex, text: str, narrowed: Filter = EVERYWHERE) -> set[str]:
    found = await look(engine, text, narrowed)
    assert set(found.documents) == {hit.document_id for hit in found.chunks}
    return {name for name in PAGES if id_of(name) in found.documents}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("auth", {"keys"}),
        ("authenticat", {"keys"}),
        ("AUTH Tok", {"keys"}),
        ("rot", {"keys", "pager"}),
        ("rotate", {"keys"}),
        ("rotation", {"pager"}),
        ("signing rotat", {"keys", "pager"}),
        ("signing token", {"keys"}),
        ("signing unheard", set()),
        ('"signing key"', {"keys"}),
        ('"signing keys"', set()),
        ('"the signing key"', {"keys"}),
        ('"key signing"', {"sports"}),
        ('"Rotate, the SIGNING-key"', {"keys"}),
        ('"of the"', {"sports"}),
        ('"month authentication"', {"keys"}),
        ('"keys rotate"', set()),
        ("signing -sport", {"keys", "pager"}),
        ("signing -sports -pager", {"keys"}),
        ("signing -art", {"keys", "pager"}),
        ('signing -"art"', {"keys", "pager"}),
        ('signing -"ar"', {"keys", "pager", "sports"}),
        ('signing -"signing key"', {"pager", "sports"}),
        ("long-liv", {"sports"}),
        ("long-lived perf", {"sports"}),
        ("lived-long", set()),
        ("uberpruf", {"umlaut"}),
        ("Überprüfung -pager", {"umlaut"}),
        ("設定", {"umlaut"}),
        ('"設定方"', {"umlaut"}),
        ("方設", set()),
        ("docs", {"keys", "pager", "sports", "umlaut"}),
    ],
)
async def test_documents_fit_that_hold_all_terms_and_phrases_and_nothing_excluded(
    engine: KeywordIndex, text: str, expected: set[str]
) -> None:
    assert await find(engine, text) == expected


async def test_the_chunks_that_hold_the_words_come_first_and_others_of_the_document_after(engine: KeywordIndex) -> None:
    for text, best in (("authenticat", "keys1"), ("rotate sign", "keys0"), ('"art of"', "sports1")):
        found = await look(engine, text)
        assert len(found.chunks) == 2, text
        if text != "authenticat":  # an unfinished word that no stem begins with tells the document, not the chunk
            assert found.chunks[0].chunk_id == id_of(best), text
            assert found.chunks[0].score > found.chunks[1].score


async def test_filters_narrow_what_fits(engine: KeywordIndex) -> None:
    await engine.write(HANDBOOK, [page_item("far", "signing", where=facets("more/api/d.md", version="v3"))])
    assert await find(engine, "signing", Filter(path_prefix="docs/keys.md")) == {"keys"}
    for narrowed in (Filter(sources=("more",)), Filter(versions=("v3",)), Filter(path_prefix="more/api")):
        assert set((await look(engine, "signing", narrowed)).documents) == {id_of("far")}
    assert set((await look(engine, "signing", Filter(sources=("none",)))).documents) == set()


async def test_no_more_chunks_of_a_document_than_asked(engine: KeywordIndex) -> None:
    await engine.write(HANDBOOK, [page_item("long", *(f"signing {number}" for number in range(40)))])
    found = await look(engine, "signing", candidates=Candidates(10, 1, 5))
    assert len(found.chunks) == len({hit.document_id for hit in found.chunks}) == 4


async def test_what_was_written_anew_or_removed_fits_as_it_is_now(engine: KeywordIndex) -> None:
    await engine.write(HANDBOOK, [page_item("keys", "A secret.", stamp=2)])
    assert await find(engine, "secret") == {"keys"}
    assert await find(engine, '"signing key"') == set()
    await engine.sweep(HANDBOOK, [sweep_item("keys", 2, remove=True)])
    assert await find(engine, "secret") == set()


async def test_nothing_of_another_index_fits(engine: KeywordIndex) -> None:
    assert (await look(engine, "signing", index=OTHER)).documents == {}
    await engine.write(OTHER, [page_item("theirs", "signing")])
    assert set((await look(engine, "signing", index=OTHER)).documents) == {id_of("theirs")}
