"""search_docs as an agent reads it: every special answer, and what is said when a part is down."""

from __future__ import annotations

import re

import pytest
from mcp import Client
from mcp.types import TextContent

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.gateway.settings import GatewaySettings
from surfaces.desks import Desk, ask, few_documents, handbook, served
from surfaces.fakes import FakeDocstore, FakeEmbedder, FakeIngest, FakeSearch, Part, hit, leg, make_document

LEXICAL, SEMANTIC = search_api.LEG_KIND_LEXICAL, search_api.LEG_KIND_SEMANTIC
TOKENS, ROTATION = "api/reference/auth.md#1", "api/reference/auth.md#2"


def found_by(lexical: list[search_api.Hit], semantic: list[search_api.Hit]) -> FakeSearch:
    return FakeSearch(leg(LEXICAL, lexical), leg(SEMANTIC, semantic))


def good() -> FakeSearch:
    return found_by([hit(TOKENS, cosine=0.7, coverage=0.9)], [hit(TOKENS, cosine=0.7)])


@pytest.mark.promise("docs.11", "docs.12")
@pytest.mark.anyio
async def test_one_result_is_singular_and_a_hit_without_a_vector_shows_no_score() -> None:
    desk = Desk(search=found_by([hit(TOKENS, coverage=0.9)], []))
    text = await ask(desk, "search_docs", query="token")
    assert text.startswith(
        'Found 1 result for "token" in project "handbook":\n\n### 1. api/reference/auth.md — Authentication > Tokens\n'
    )


@pytest.mark.promise("docs.12")
@pytest.mark.anyio
async def test_the_order_is_the_fused_rank_and_not_the_cosine() -> None:
    travel = "policies/travel.md#0"
    desk = Desk(
        search=found_by(
            [hit(travel, cosine=0.5, coverage=0.9), hit(TOKENS, cosine=0.9)],
            [hit("policies/onboarding.md#0", cosine=0.95), hit(travel, cosine=0.5)],
        )
    )
    text = await ask(desk, "search_docs", query="x")
    assert re.findall(r"^### \d.*", text, re.MULTILINE) == [
        "### 1. policies/travel.md — Travel policy (score 0.500)",
        "### 2. policies/onboarding.md — Onboarding (score 0.950)",
        "### 3. api/reference/auth.md — Authentication > Tokens (score 0.900)",
    ]


@pytest.mark.promise("docs.17")
@pytest.mark.anyio
async def test_at_most_two_excerpts_of_a_document_are_shown_and_the_limit_is_still_met() -> None:
    hits = [*(hit(f"policies/onboarding.md#{number}", cosine=0.9) for number in range(6)), hit(TOKENS, cosine=0.8)]
    text = await ask(Desk(search=found_by([], hits)), "search_docs", query="x", limit=3)
    assert text.count("policies/onboarding.md") == 2
    assert "api/reference/auth.md" in text


@pytest.mark.promise("docs.14")
@pytest.mark.anyio
async def test_filters_reach_the_search_and_the_prefix_is_of_whole_segments() -> None:
    desk = Desk(search=good())
    await ask(desk, "search_docs", query="x", source="api", path_prefix="/api/reference/", version="v3")
    asked = desk.search.requests[-1]
    assert list(asked.filter.sources) == ["api"]
    assert asked.filter.path_prefix == "api/reference"
    assert list(asked.filter.versions) == ["v3"]
    assert [one.kind for one in asked.legs] == [LEXICAL, SEMANTIC]
    assert asked.project == "handbook"


@pytest.mark.promise("docs.15")
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"source": "wiki"}, 'error: no source "wiki" in project "handbook"; its sources: policies, api, notion'),
        ({"version": "v9"}, 'error: no version "v9" in project "handbook"; its versions: v3'),
    ],
)
async def test_an_unknown_source_or_version_is_answered_with_the_real_ones(
    arguments: dict[str, str], answer: str
) -> None:
    assert await ask(Desk(search=good()), "search_docs", query="x", **arguments) == answer


@pytest.mark.promise("docs.19")
@pytest.mark.anyio
async def test_a_project_without_documents_says_that_nothing_is_indexed() -> None:
    desk = Desk(docstore=FakeDocstore([], handbook()))
    assert await ask(desk, "search_docs", query="x") == (
        'Nothing is indexed yet in project "handbook". Its operator has to index it first '
        "(refdesk up, with a folder of documents); then ask again."
    )
    desk.ingest.words_current = False
    assert "indexing is under way: ask again in a few seconds" in await ask(desk, "search_docs", query="x")
    desk.ingest.failed = True  # the folder is away: seconds will not bring it
    assert "under way" not in await ask(desk, "search_docs", query="x")


@pytest.mark.promise("docs.20")
@pytest.mark.anyio
async def test_an_index_of_another_model_is_an_error_that_names_both_and_asks_to_re_index() -> None:
    stats = docstore_api.GetStatsResponse(
        document_count=3, other_generation_count=3, other_generations=["multilingual-e5-small.c1"]
    )
    desk = Desk(docstore=FakeDocstore(few_documents(), handbook(), stats=stats))
    text = await ask(desk, "search_docs", query="x")
    assert text.startswith(
        'error: project "handbook" was indexed with multilingual-e5-small, but is set to all-MiniLM-L6-v2: '
    )
    assert "re-index" in text
    stats.other_generations[:] = ["all-MiniLM-L6-v2.c0"]
    text = await ask(desk, "search_docs", query="x")
    assert "with all-MiniLM-L6-v2.c0, but is set to all-MiniLM-L6-v2.c1: " in text


@pytest.mark.anyio
async def test_a_model_that_nothing_hosts_is_an_error_that_names_both_and_asks_to_re_index() -> None:
    search = FakeSearch(failure=errors.NotFound('model "all-MiniLM-L6-v2" is not hosted here; hosted: tiny'))
    assert await ask(Desk(search=search), "search_docs", query="x") == (
        'error: project "handbook" was indexed with all-MiniLM-L6-v2, but model "all-MiniLM-L6-v2" is not hosted here; '
        "hosted: tiny; its operator has to re-index it (refdesk generation build, or refdesk up --reindex)"
    )


@pytest.mark.promise("docs.21")
@pytest.mark.anyio
async def test_what_does_not_clear_the_floor_is_no_good_match_with_a_pointer_at_list_topics() -> None:
    poor = found_by([hit(TOKENS, cosine=0.3, coverage=0.2)], [hit(TOKENS, cosine=0.3)])
    assert await ask(Desk(search=poor), "search_docs", query="the weather") == (
        'No good match for "the weather" in project "handbook". '
        "Ask in other words, or call list_topics to see what is documented."
    )
    assert 'The search was narrowed to source "api"; it may be found without.' in await ask(
        Desk(search=poor), "search_docs", query="the weather", source="api"
    )


@pytest.mark.promise("docs.13")
@pytest.mark.anyio
async def test_an_identifier_that_stands_whole_in_a_hit_escapes_the_floor() -> None:
    whole = found_by([hit(TOKENS, cosine=0.3, coverage=0.2, whole=True)], [hit(TOKENS, cosine=0.3)])
    assert (await ask(Desk(search=whole), "search_docs", query="X_Y")).startswith("Found 1 result")


@pytest.mark.anyio
async def test_a_hit_by_words_whose_vector_is_still_missing_escapes_the_floor() -> None:
    desk = Desk(search=found_by([hit(TOKENS, coverage=0.2), hit(ROTATION, cosine=0.1, coverage=0.1)], []))
    desk.docstore.without_vector = {TOKENS}
    assert (await ask(desk, "search_docs", query="x")).startswith("Found 2 results")


@pytest.mark.anyio
async def test_words_decide_after_all_where_what_meaning_found_is_no_longer_there() -> None:
    gone = "api/reference/auth.md#0"
    search = found_by([hit(TOKENS, cosine=0.3, coverage=0.9)], [hit(gone, cosine=0.9), hit(TOKENS, cosine=0.3)])
    desk = Desk(search=search)
    desk.docstore.stale = {gone}
    async with served(desk.gateway()) as url, Client(f"{url}/mcp") as client:
        for _ in range(2):  # the floor is not known yet, then it is
            answer = await client.call_tool("search_docs", {"query": "token"})
            assert isinstance(answer.content[0], TextContent)
            assert answer.content[0].text.startswith("Found 1 result")
    asked_floors = [one.floor_cosine for one in search.requests if len(one.legs) == 2]
    assert 0.48 in asked_floors
    assert asked_floors[-1] > 1


@pytest.mark.promise("docs.22")
@pytest.mark.anyio
async def test_a_projects_own_floor_wins_over_its_models() -> None:
    desk = Desk(search=found_by([hit(TOKENS, cosine=0.3, coverage=0.2)], [hit(TOKENS, cosine=0.3)]))
    desk.docstore.project.floor_cosine = 0.25
    assert (await ask(desk, "search_docs", query="x")).startswith("Found 1 result")


@pytest.mark.promise("docs.23")
@pytest.mark.anyio
async def test_without_the_embedder_the_answer_is_lexical_says_so_and_has_no_floor() -> None:
    search = good()
    search.lexical = leg(LEXICAL, [hit(TOKENS, coverage=0.1)])
    search.semantic = leg(SEMANTIC, status=search_api.LEG_STATUS_FAILED, reason="embedder_unavailable")
    text = await ask(Desk(search=search, embedder=FakeEmbedder(down=True)), "search_docs", query="x")
    assert text.startswith("Found 1 result")
    assert text.endswith("\n\nMode: lexical (meaning not searched: embedder_unavailable).")


@pytest.mark.promise("docs.23")
@pytest.mark.anyio
async def test_without_the_keyword_index_the_answer_is_semantic_and_says_so() -> None:
    search = good()
    search.lexical = leg(LEXICAL, status=search_api.LEG_STATUS_FAILED, reason="lexical_timeout")
    text = await ask(Desk(search=search), "search_docs", query="x")
    assert text.endswith("\n\nMode: semantic (words not searched: lexical_timeout).")


@pytest.mark.promise("docs.23")
@pytest.mark.anyio
async def test_nothing_found_is_never_said_when_a_leg_did_not_answer() -> None:
    search = found_by([], [])
    search.semantic = leg(SEMANTIC, status=search_api.LEG_STATUS_FAILED, reason="vector_timeout")
    assert await ask(Desk(search=search), "search_docs", query="x") == (
        'No answer yet for "x" in project "handbook": meaning could not be searched, '
        "so this does not mean that nothing is there. Retry in a moment.\n"
        "Mode: lexical (meaning not searched: vector_timeout)."
    )


@pytest.mark.anyio
async def test_both_legs_down_is_an_error_that_says_to_retry() -> None:
    search = FakeSearch(
        leg(LEXICAL, status=search_api.LEG_STATUS_FAILED, reason="lexical_timeout"),
        leg(SEMANTIC, status=search_api.LEG_STATUS_FAILED, reason="embedder_unavailable"),
    )
    assert await ask(Desk(search=search), "search_docs", query="x") == (
        "error: temporarily unavailable, retry in 1 s: nothing was searched (lexical_timeout, embedder_unavailable), "
        "so nothing is known about this question"
    )


@pytest.mark.anyio
async def test_a_query_without_anything_to_search_for_is_refused_and_not_called_unavailable() -> None:
    search = FakeSearch(
        leg(LEXICAL, status=search_api.LEG_STATUS_SKIPPED, reason="no_searchable_words"),
        leg(SEMANTIC, status=search_api.LEG_STATUS_SKIPPED, reason="switched_off"),
    )
    assert await ask(Desk(search=search), "search_docs", query="the of") == (
        "error: nothing in this query can be searched (no_searchable_words, switched_off): ask with other words"
    )


@pytest.mark.anyio
async def test_docstore_down_is_said_as_temporarily_unavailable() -> None:
    desk = Desk(search=good())
    desk.docstore.down = True
    assert await ask(desk, "search_docs", query="x") == (
        "error: temporarily unavailable, retry in 1 s: docstore does not answer"
    )


@pytest.mark.anyio
async def test_while_vectors_are_still_coming_the_answer_says_how_many_there_are() -> None:
    stats = docstore_api.GetStatsResponse(
        document_count=1783, chunk_count=9000, embeddable_count=1783, embedded_count=1204
    )
    desk = Desk(docstore=FakeDocstore(few_documents(), handbook(), stats=stats), search=good())
    assert (await ask(desk, "search_docs", query="x")).endswith(
        "\n\nVectors: 1,204 of 1,783 documents; until theirs are there, the others are found by their words only."
    )


@pytest.mark.anyio
async def test_hits_that_no_record_lists_are_not_shown_and_the_query_runs_once_more() -> None:
    stale = hit("api/reference/auth.md#0", cosine=0.9, coverage=0.9)
    desk = Desk(search=good())
    desk.search.next_lexical = [leg(LEXICAL, [stale])]
    desk.search.semantic = leg(SEMANTIC)
    desk.docstore.stale = {"api/reference/auth.md#0"}
    text = await ask(desk, "search_docs", query="x")
    assert "Authentication > Tokens" in text
    assert len([one for one in desk.search.requests if len(one.legs) == 2]) == 2


@pytest.mark.anyio
async def test_a_query_is_run_once_more_at_most() -> None:
    desk = Desk(search=good())
    desk.docstore.stale = {TOKENS}
    await ask(desk, "search_docs", query="x")
    assert len([one for one in desk.search.requests if len(one.legs) == 2]) == 2


@pytest.mark.promise("docs.18")
@pytest.mark.anyio
async def test_an_answer_over_its_cap_says_so_and_names_the_call_for_what_it_left_out() -> None:
    parts = [Part((f"H{number}",), "word " * 100) for number in range(3)]
    documents = [make_document(f"policies/{name}.md", name, parts) for name in "abc"]
    desk = Desk(
        docstore=FakeDocstore(documents, handbook()),
        search=found_by([], [hit(f"policies/{name}.md#1", cosine=0.9) for name in "abc"]),
        settings=GatewaySettings(search_max_result_chars=1400),
    )
    text = await ask(desk, "search_docs", query="x")
    assert len(text) <= 1400
    assert text.startswith('Found 3 results for "x"')
    assert text.endswith(
        "1 result of 3 did not fit: an answer is capped at 1,400 characters. "
        'Next: read_document(path="policies/c.md", from=1, to=1), or search again with a narrower source or path_prefix.'
    )


@pytest.mark.anyio
async def test_a_defect_behind_the_gateway_shows_nothing_of_itself() -> None:
    search = good()
    search.failure = RuntimeError("secret path /srv/engine")  # type: ignore[assignment]
    text = await ask(Desk(search=search), "search_docs", query="x")
    assert text == "error: failed by a defect of the server, whose log says more: the call could not be answered"


@pytest.mark.anyio
async def test_ingest_that_is_away_does_not_keep_an_empty_project_from_saying_so() -> None:
    desk = Desk(docstore=FakeDocstore([], handbook()), ingest=FakeIngest(words_current=True))
    assert (await ask(desk, "search_docs", query="x")).startswith("Nothing is indexed yet")
