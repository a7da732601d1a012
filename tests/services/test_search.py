"""SearchService as its callers hold it, near and far, over the real embedded engines and an embedder that knows four directions."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from engines.entries import hash_of, id_of, vector_of
from refdesk.api.embedder.v1 import embedder_pb2 as embedder_pb
from refdesk.api.search.v1 import search_pb2 as pb
from refdesk.api.search.v1.search_protocol import Search
from refdesk.errors import InvalidArgument, NotFound
from refdesk.rpc.boundary import Near
from refdesk.rpc.channel import open_channel
from refdesk.rpc.contract import CONTRACTS
from refdesk.rpc.far import Far
from refdesk.rpc.server import Server
from refdesk.search.engines.table import keyword_index, vector_index
from refdesk.search.service import SearchService
from refdesk.search.settings import SearchSettings

pytestmark = pytest.mark.anyio
CONTRACT = CONTRACTS["search"]
MODEL = "made"
DIRECTIONS = {"keys": (1, 0, 0, 0), "cake": (0, 1, 0, 0), "both": (1, 1, 0, 0), "far": (0, 0, 1, 0)}
LEXICAL, SEMANTIC, HYDE = pb.LEG_KIND_LEXICAL, pb.LEG_KIND_SEMANTIC, pb.LEG_KIND_HYDE


class Compass:
    """Embeds a text in the direction of the first word that it knows; remembers what for."""

    def __init__(self) -> None:
        self.purposes: list[int] = []

    async def list_models(self, request: embedder_pb.ListModelsRequest) -> embedder_pb.ListModelsResponse:
        return embedder_pb.ListModelsResponse(models=[embedder_pb.Model(model_id=MODEL, dimension=4, languages=["en"])])

    async def embed_texts(self, request: embedder_pb.EmbedTextsRequest) -> embedder_pb.EmbedTextsResponse:
        if request.model_id != MODEL:
            raise NotFound(f"model {request.model_id} is not hosted")
        self.purposes.append(request.purpose)
        response = embedder_pb.EmbedTextsResponse(model_id=MODEL)
        for text in request.texts:
            if len(text) > 1000:
                response.items.add(over_window=embedder_pb.OverWindow(window_tokens=250))
            else:
                known = next((direction for word, direction in DIRECTIONS.items() if word in text), (0, 0, 0, 1))
                response.items.add(vector=vector_of(*known))
        return response

    async def count_tokens(self, request: embedder_pb.CountTokensRequest) -> embedder_pb.CountTokensResponse:
        return embedder_pb.CountTokensResponse(token_counts=[len(text.split()) for text in request.texts])


@pytest.fixture
def compass() -> Compass:
    return Compass()


@pytest.fixture
async def service(tmp_path: Path, compass: Compass) -> AsyncIterator[SearchService]:
    settings = SearchSettings()
    service = SearchService(settings, keyword_index(settings, tmp_path), vector_index(settings, tmp_path), compass)
    assert service.not_ready_reason() != ""
    await service.start()
    assert service.not_ready_reason() == ""
    yield service
    await service.close()


@pytest.fixture(params=["near", "far"])
async def search(request: pytest.FixtureRequest, service: SearchService) -> AsyncIterator[Search]:
    if request.param == "near":
        yield Near(service, CONTRACT)  # type: ignore[misc]
        return
    server = Server({"search": service}, "127.0.0.1:0")
    await server.start()
    async with open_channel(f"127.0.0.1:{server.port}") as channel:
        yield Far(channel, CONTRACT)  # type: ignore[misc]
    await server.close()


def facets(path: str, kind: str = "documentation") -> pb.Facets:
    return pb.Facets(source=path.partition("/")[0], path=path, kind=kind, language="en")


def word_entry(name: str, document: str, text: str, *, stamp: int = 1) -> pb.WordDocument:
    """A chunk alone: its text is all lead, so its document has none."""
    return whole_entry(document, "", pb.WordChunk(id=id_of(name), lead=text), stamp=stamp)


def whole_entry(document: str, text: str, *chunks: pb.WordChunk, stamp: int = 1) -> pb.WordDocument:
    where = facets(f"docs/{document}.md")
    return pb.WordDocument(document_id=id_of(document), stamp=stamp, facets=where, text=text, chunks=chunks)


def vector_entry(
    name: str, document: str, direction: Sequence[float], *, stamp: int = 1, grain: int = pb.GRAIN_CHUNK
) -> pb.VectorEntry:
    return pb.VectorEntry(
        id=id_of(name),
        document_id=id_of(document),
        grain=grain,  # type: ignore[arg-type]
        stamp=stamp,
        facets=facets(f"docs/{document}.md"),
        text_hash=hash_of(name),
        vector=vector_of(*direction),
    )


async def write_words(search: Search, *documents: pb.WordDocument, project: str = "handbook") -> pb.WriteWordsResponse:
    return await search.write_words(pb.WriteWordsRequest(project=project, generation="made.c1", documents=documents))


async def write_vectors(search: Search, *entries: pb.VectorEntry, project: str = "handbook") -> pb.WriteVectorsResponse:
    request = pb.WriteVectorsRequest(project=project, generation="made.c1", model_id=MODEL, entries=entries)
    return await search.write_vectors(request)


def ask(*legs: tuple[int, str], project: str = "handbook", model_id: str = MODEL, **rest: object) -> pb.RetrieveRequest:
    wanted = [pb.Leg(kind=kind, text=text) for kind, text in legs]  # type: ignore[arg-type]
    return pb.RetrieveRequest(project=project, generation="made.c1", model_id=model_id, legs=wanted, **rest)  # type: ignore[arg-type]


async def fill(search: Search) -> None:
    """Two documents of two chunks: one on keys, one on cakes; b2 has no vector yet."""
    texts = {
        "a1": "rotate the keys",
        "a2": "store the keys in SAFE_DEPOSIT",
        "b1": "bake a cake",
        "b2": "rotate the cake",
    }
    chunks = [word_entry(name, name[0], text) for name, text in texts.items()]
    whole = [whole_entry(name, text) for name, text in (("a", "keys keys"), ("b", "cake"))]
    assert (await write_words(search, *chunks, *whole)).written_count == 6
    directions = {"a1": (1, 0, 0, 0), "a2": (3, 4, 0, 0), "b1": (0, 1, 0, 0)}
    points = [vector_entry(name, name[0], direction) for name, direction in directions.items()]
    points += [
        vector_entry("a", "a", (1, 0.5, 0, 0), grain=pb.GRAIN_DOCUMENT),
        vector_entry("b", "b", (0, 1, 0, 0), grain=pb.GRAIN_DOCUMENT),
    ]
    assert (await write_vectors(search, *points)).written_count == 5


async def test_an_index_that_does_not_exist_answers_empty_lists(search: Search) -> None:
    response = await search.retrieve(ask((LEXICAL, "keys"), (SEMANTIC, "keys")))
    assert [(leg.kind, leg.status, len(leg.hits)) for leg in response.legs] == [
        (LEXICAL, pb.LEG_STATUS_RAN, 0),
        (SEMANTIC, pb.LEG_STATUS_RAN, 0),
    ]


async def test_every_leg_answers_one_ranked_list_in_the_order_of_the_request(search: Search, compass: Compass) -> None:
    await fill(search)
    response = await search.retrieve(ask((SEMANTIC, "keys"), (LEXICAL, "rotate keys"), (HYDE, "cake")))
    names = {id_of(name): name for name in ("a1", "a2", "b1", "b2")}
    found = [[names[hit.chunk_id] for hit in leg.hits] for leg in response.legs]
    assert found[0] == ["a1", "a2", "b1"]
    assert found[1][0] == "a1"
    assert set(found[1]) == {"a1", "a2", "b2"}
    assert found[2] == ["b1", "a2", "a1"]
    assert sorted(compass.purposes) == [embedder_pb.PURPOSE_QUERY, embedder_pb.PURPOSE_PASSAGE]
    assert all(leg.elapsed_microseconds > 0 and leg.reason == "" for leg in response.legs)


async def test_a_semantic_score_is_the_chunks_cosine_and_a_part_of_its_documents(search: Search) -> None:
    await fill(search)
    (leg,) = (await search.retrieve(ask((SEMANTIC, "keys")))).legs
    of_document = 1 / 1.25**0.5
    scores = {hit.chunk_id: (hit.score, hit.cosine) for hit in leg.hits}
    assert scores[id_of("a1")] == pytest.approx((1 + 0.4 * of_document, 1), abs=1e-5)
    assert scores[id_of("a2")] == pytest.approx((0.6 + 0.4 * of_document, 0.6), abs=1e-5)
    assert scores[id_of("b1")] == pytest.approx((0, 0), abs=1e-5)


async def test_chunks_alone_are_ranked_by_their_own_score_where_that_is_asked(search: Search) -> None:
    await fill(search)
    semantic, lexical = (await search.retrieve(ask((SEMANTIC, "keys"), (LEXICAL, "cake"), chunks_only=True))).legs
    assert {hit.chunk_id: hit.score for hit in semantic.hits}[id_of("a2")] == pytest.approx(0.6, abs=1e-5)
    both = (await search.retrieve(ask((LEXICAL, "cake")))).legs[0]
    assert lexical.hits[0].score < both.hits[0].score


async def test_a_document_outside_the_list_counts_as_its_last(search: Search) -> None:
    await fill(search)
    (leg,) = (await search.retrieve(ask((SEMANTIC, "both"), document_candidates=1))).legs
    last = (1 + 0.5) / 2**0.5 / 1.25**0.5
    scores = {hit.chunk_id: hit.score for hit in leg.hits}
    assert scores[id_of("b1")] == pytest.approx(0.5**0.5 + 0.4 * last, abs=1e-5)


async def test_hits_of_words_bear_the_cosine_of_their_stored_vector(search: Search) -> None:
    await fill(search)
    words, _ = (await search.retrieve(ask((LEXICAL, "rotate keys"), (SEMANTIC, "keys"), chunk_candidates=100))).legs
    cosines = {hit.chunk_id: hit.cosine if hit.HasField("cosine") else None for hit in words.hits}
    assert cosines == {id_of("a1"): pytest.approx(1), id_of("a2"): pytest.approx(0.6), id_of("b2"): None}
    (alone,) = (await search.retrieve(ask((LEXICAL, "rotate keys")))).legs
    assert not any(hit.HasField("cosine") for hit in alone.hits)


async def test_a_word_hit_outside_the_semantic_list_is_measured_too(search: Search) -> None:
    await fill(search)
    words, meaning = (await search.retrieve(ask((LEXICAL, "bake cake"), (SEMANTIC, "keys"), chunk_candidates=1))).legs
    assert [hit.chunk_id for hit in meaning.hits] == [id_of("a1")]
    assert [(hit.chunk_id, hit.cosine) for hit in words.hits] == [(id_of("b1"), pytest.approx(0, abs=1e-6))]


async def test_coverage_is_told_for_the_best_twenty_hits_of_words_only(search: Search) -> None:
    await write_words(search, *(word_entry(f"c{n}", f"d{n}", f"alpha {'beta ' * (n < 5)}") for n in range(30)))
    (leg,) = (await search.retrieve(ask((LEXICAL, "alpha beta")))).legs
    assert [hit.HasField("coverage") for hit in leg.hits] == [True] * 20 + [False] * 10
    assert [hit.coverage for hit in leg.hits[:5]] == pytest.approx([1.0] * 5)
    assert 0 < leg.hits[7].coverage < 0.2


@pytest.mark.parametrize(
    ("meant", "floor_cosine", "told"),
    [
        ((), 2.0, False),  # by words alone: no floor looks at it
        ("keys", 1.1, True),
        ("keys", 0.9, False),
        ("far", 0.5, True),
        ("far", -1.0, False),
    ],
)
async def test_evidence_of_words_is_told_only_where_meaning_ran_and_does_not_reach_the_floor(
    search: Search, meant: str, floor_cosine: float, told: bool
) -> None:
    await fill(search)
    legs = [(LEXICAL, "rotate SAFE_DEPOSIT keys"), *([(SEMANTIC, meant)] if meant else [])]
    words = (await search.retrieve(ask(*legs, floor_cosine=floor_cosine))).legs[0]
    everything = (await search.retrieve(ask(*legs))).legs[0]
    assert [hit.HasField("coverage") for hit in words.hits] == [told] * 3
    assert any(hit.identifier_match for hit in words.hits) is told
    assert any(hit.identifier_match for hit in everything.hits)
    assert [(hit.chunk_id, hit.score) for hit in words.hits] == [(hit.chunk_id, hit.score) for hit in everything.hits]


async def test_an_identifier_of_the_query_marks_its_chunk_in_every_leg(search: Search) -> None:
    await fill(search)
    response = await search.retrieve(ask((LEXICAL, "what is safe_deposit, the keys"), (SEMANTIC, "keys")))
    assert [{hit.chunk_id for hit in leg.hits if hit.identifier_match} for leg in response.legs] == [{id_of("a2")}] * 2


async def test_a_query_without_words_skips_the_lexical_leg(search: Search) -> None:
    await fill(search)
    (leg,) = (await search.retrieve(ask((LEXICAL, "what is it?")))).legs
    assert (leg.status, leg.reason, len(leg.hits)) == (pb.LEG_STATUS_SKIPPED, "no_searchable_words", 0)


async def test_a_language_that_the_model_does_not_speak_skips_the_semantic_leg(
    search: Search, compass: Compass
) -> None:
    await fill(search)
    words, meaning = (await search.retrieve(ask((LEXICAL, "鍵の設定"), (SEMANTIC, "鍵の設定方法")))).legs
    assert (meaning.status, meaning.reason) == (pb.LEG_STATUS_SKIPPED, "language_unsupported")
    assert words.status == pb.LEG_STATUS_RAN
    assert compass.purposes == []


async def test_a_query_over_the_models_window_skips_the_semantic_leg_and_says_so(search: Search) -> None:
    (leg,) = (await search.retrieve(ask((SEMANTIC, "keys " * 300)))).legs
    assert (leg.status, leg.reason) == (pb.LEG_STATUS_SKIPPED, "over_window")


async def test_a_model_mismatch_is_an_error_not_a_degradation(search: Search) -> None:
    await fill(search)
    with pytest.raises(NotFound, match="is not hosted"):
        await search.retrieve(ask((LEXICAL, "keys"), (SEMANTIC, "keys"), model_id="other"))


async def test_filters_hold_in_both_legs(search: Search) -> None:
    await fill(search)
    narrowed = pb.Filter(path_prefix="docs/b.md")
    response = await search.retrieve(ask((LEXICAL, "rotate keys cake"), (SEMANTIC, "keys"), filter=narrowed))
    assert [{hit.document_id for hit in leg.hits} for leg in response.legs] == [{id_of("b")}] * 2


async def test_projects_see_nothing_of_each_other(search: Search) -> None:
    await fill(search)
    response = await search.retrieve(ask((LEXICAL, "keys"), (SEMANTIC, "keys"), project="other"))
    assert [list(leg.hits) for leg in response.legs] == [[], []]
    hashes = pb.GetVectorsRequest(project="other", generation="made.c1", text_hashes=[hash_of("a1")])
    assert list((await search.get_vectors(hashes)).vectors) == []


async def test_vectors_are_found_again_by_hash(search: Search) -> None:
    await fill(search)
    asked = pb.GetVectorsRequest(project="handbook", generation="made.c1", text_hashes=[hash_of("a2"), hash_of("none")])
    (found,) = (await search.get_vectors(asked)).vectors
    assert (found.text_hash, found.vector) == (hash_of("a2"), vector_of(3, 4, 0, 0))


async def test_an_earlier_stamp_is_reported_as_superseded(search: Search) -> None:
    await write_words(search, word_entry("a1", "a", "new", stamp=5))
    await write_vectors(search, vector_entry("a1", "a", (1, 0, 0, 0), stamp=5))
    words = await write_words(search, word_entry("a1", "a", "old", stamp=4))
    vectors = await write_vectors(search, vector_entry("a1", "a", (0, 1, 0, 0), stamp=4))
    assert (words.written_count, list(words.superseded_ids)) == (0, [id_of("a1")])
    assert (vectors.written_count, list(vectors.superseded_ids)) == (0, [id_of("a1")])


async def test_a_sweep_reports_both_engines_and_later_stamps(search: Search) -> None:
    await fill(search)
    await write_words(search, word_entry("a9", "a", "later", stamp=9))
    items = [
        pb.SweepDocumentsItem(document_id=id_of("a"), up_to_stamp=1, keep_chunk_ids=[id_of("a1")]),
        pb.SweepDocumentsItem(document_id=id_of("b"), up_to_stamp=1, remove_document=True),
    ]
    swept = await search.sweep_documents(
        pb.SweepDocumentsRequest(project="handbook", generation="made.c1", items=items)
    )
    assert [(o.deleted_words, o.deleted_vectors, o.later_stamp) for o in swept.outcomes] == [
        (1, 1, True),
        (3, 2, False),
    ]


async def test_a_dropped_generation_is_gone_from_both_engines(search: Search) -> None:
    await fill(search)
    request = pb.DropGenerationRequest(project="handbook", generation="made.c1")
    for was_there in (True, False):
        dropped = await search.drop_generation(request)
        assert (dropped.dropped_words, dropped.dropped_vectors) == (was_there, was_there)
        for engine in (pb.ENGINE_WORDS, pb.ENGINE_VECTORS):
            listing = pb.ListEntriesRequest(project="handbook", generation="made.c1", engine=engine)
            assert list((await search.list_entries(listing)).entries) == []


@pytest.mark.parametrize(("engine", "count"), [(pb.ENGINE_WORDS, 6), (pb.ENGINE_VECTORS, 5)])
async def test_pages_of_a_listing_hold_everything_once(search: Search, engine: pb.Engine, count: int) -> None:
    await fill(search)
    request = pb.ListEntriesRequest(project="handbook", generation="made.c1", engine=engine, page_size=2)
    listed: list[tuple[str, str]] = []
    while True:
        page = await search.list_entries(request)
        assert 1 <= len(page.entries) <= 2
        listed += [(entry.document_id, entry.id) for entry in page.entries]
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token
    assert listed == sorted(set(listed))
    assert len(listed) == count
    request.project = "other"
    with pytest.raises(InvalidArgument, match="another listing"):
        await search.list_entries(request)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (ask(), "0 legs"),
        (ask((LEXICAL, "")), "characters"),
        (ask((LEXICAL, "  ")), "blank"),
        (ask((LEXICAL, "x" * 2001)), "2001 characters"),
        (ask((pb.LEG_KIND_UNSPECIFIED, "x")), "no known kind"),
        (ask((LEXICAL, "x"), project=""), "slug"),
        (ask((LEXICAL, "x"), project="../up"), "slug"),
        (ask((LEXICAL, "x"), model_id=""), "model_id"),
        (ask((LEXICAL, "x"), chunk_candidates=100_000), "most is 1000"),
    ],
)
async def test_a_wrong_retrieval_is_refused_with_what_is_wrong(
    search: Search, request_: pb.RetrieveRequest, message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        await search.retrieve(request_)


def broken(name: str, **fields: object) -> pb.VectorEntry:
    entry = vector_entry(name, "a", (1, 0, 0, 0))
    for field, value in fields.items():
        setattr(entry, field, value)
    return entry


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (broken("a1", id="a1"), "not a UUID"),
        (broken("a1", document_id=""), "document_id"),
        (broken("a1", stamp=0), "stamp 0"),
        (broken("a1", grain=0), "no grain"),
        (broken("a1", vector=b""), "0 bytes"),
        (broken("a1", vector=array("f", [3, 4, 0, 0]).tobytes()), "length 5.000"),
        (broken("a1", vector=array("f", [float("nan")] * 4).tobytes()), "length nan"),
    ],
)
async def test_a_wrong_entry_is_refused_and_nothing_is_written(
    search: Search, entry: pb.VectorEntry, message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        await write_vectors(search, vector_entry("good", "a", (1, 0, 0, 0)), entry)
    listed = await search.list_entries(
        pb.ListEntriesRequest(project="handbook", generation="made.c1", engine=pb.ENGINE_VECTORS)
    )
    assert list(listed.entries) == []


async def test_another_dimension_is_refused(search: Search) -> None:
    await fill(search)
    with pytest.raises(InvalidArgument, match="holds 4"):
        await write_vectors(search, vector_entry("a8", "a", (1, 0)))


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a\x00"])
async def test_a_generation_that_is_no_plain_name_is_refused(search: Search, name: str) -> None:
    with pytest.raises(InvalidArgument, match="generation"):
        await search.get_vectors(pb.GetVectorsRequest(project="handbook", generation=name, text_hashes=["x"]))


async def test_a_leg_of_the_lex_grammar_finds_documents_that_fit_and_a_plain_one_what_it_ever_found(
    search: Search,
) -> None:
    text = "Rotate the signing key.\n\nAuthentication needs a token."
    chunks = [pb.WordChunk(id=id_of("a1"), start=0, end=23), pb.WordChunk(id=id_of("a2"), start=25, end=len(text))]
    await search.write_words(
        pb.WriteWordsRequest(project="handbook", generation="made.c1", documents=[whole_entry("a", text, *chunks)])
    )

    async def found(text: str, syntax: pb.LegSyntax) -> list[str]:
        leg = pb.Leg(kind=LEXICAL, text=text, syntax=syntax)
        request = pb.RetrieveRequest(project="handbook", generation="made.c1", model_id=MODEL, legs=[leg])
        (result,) = (await search.retrieve(request)).legs
        assert result.status == pb.LEG_STATUS_RAN
        return [hit.chunk_id for hit in result.hits]

    assert set(await found('auth "signing key"', pb.LEG_SYNTAX_LEX)) == {id_of("a1"), id_of("a2")}
    assert await found("auth -token", pb.LEG_SYNTAX_LEX) == []
    assert await found("authenticate -token", pb.LEG_SYNTAX_UNSPECIFIED) == [id_of("a2")]


@pytest.mark.parametrize(
    ("leg", "says"),
    [
        (pb.Leg(kind=LEXICAL, text="-token", syntax=pb.LEG_SYNTAX_LEX), "only excludes"),
        (pb.Leg(kind=LEXICAL, text='"token', syntax=pb.LEG_SYNTAX_LEX), "odd quote"),
        (pb.Leg(kind=SEMANTIC, text="token", syntax=pb.LEG_SYNTAX_LEX), "syntax is not one of its kind"),
    ],
)
async def test_a_leg_that_is_not_of_its_syntax_is_refused(search: Search, leg: pb.Leg, says: str) -> None:
    request = pb.RetrieveRequest(project="handbook", generation="made.c1", model_id=MODEL, legs=[leg])
    with pytest.raises(InvalidArgument, match=says):
        await search.retrieve(request)
