"""Combining of grains, word statistics, folders and ids, the breaker, page tokens and engine URLs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.entries import id_of
from refdesk.api.search.v1 import search_pb2 as pb
from refdesk.errors import InvalidArgument
from refdesk.search import messages
from refdesk.search.breaker import Breaker
from refdesk.search.engines.interface import Candidates, Found, ScoredChunk
from refdesk.search.engines.paths import join_id, list_folders, split_id
from refdesk.search.engines.table import keyword_index, vector_index
from refdesk.search.grains import cap_documents, combine_lexical, combine_semantic
from refdesk.search.settings import SearchSettings
from refdesk.search.statistics import coverage, identifies, inverse_document_frequency

DOCUMENTS = st.sampled_from("abcdef")
CHUNKS = st.lists(
    st.builds(ScoredChunk, st.uuids().map(str), DOCUMENTS, st.floats(0, 50)),
    max_size=40,
    unique_by=lambda hit: hit.chunk_id,
)
SCORES = st.dictionaries(DOCUMENTS, st.floats(0, 50), max_size=6)


def test_grains_are_added_with_their_weights() -> None:
    chunks = (ScoredChunk("1", "a", 10.0), ScoredChunk("2", "b", 9.0), ScoredChunk("3", "c", 8.0))
    found = Found(chunks, {"b": 20.0, "a": 5.0})
    assert combine_lexical(found) == [("2", "b", 15.0), ("1", "a", 11.5), ("3", "c", 8.0)]
    assert combine_semantic(found) == [("2", "b", 17.0), ("1", "a", 12.0), ("3", "c", 10.0)]


@given(CHUNKS, SCORES)
def test_combining_keeps_every_chunk_once_and_ranks_by_score_then_id(
    chunks: list[ScoredChunk], scores: dict[str, float]
) -> None:
    for combine in (combine_lexical, combine_semantic):
        combined = combine(Found(tuple(chunks), scores))
        assert sorted(hit.chunk_id for hit in combined) == sorted(hit.chunk_id for hit in chunks)
        assert combined == sorted(combined, key=lambda hit: (-hit.score, hit.chunk_id))
        assert combined == combine(Found(tuple(reversed(chunks)), scores))


@given(CHUNKS, SCORES, st.floats(0.001, 10))
def test_a_better_document_never_lowers_its_chunks(
    chunks: list[ScoredChunk], scores: dict[str, float], more: float
) -> None:
    if "a" not in scores:
        scores["a"] = 1.0
    before = [hit.chunk_id for hit in combine_lexical(Found(tuple(chunks), scores))]
    after = [hit.chunk_id for hit in combine_lexical(Found(tuple(chunks), scores | {"a": scores["a"] + more}))]
    of_a = {hit.chunk_id for hit in chunks if hit.document_id == "a"}
    assert all(after.index(id) <= before.index(id) + len(of_a) for id in of_a)
    assert all(after.index(id) >= before.index(id) for id in before if id not in of_a)


@given(st.lists(DOCUMENTS, max_size=40), st.integers(1, 20), st.integers(1, 5))
def test_the_cap_keeps_the_first_of_each_document(documents: list[str], most: int, each: int) -> None:
    kept = cap_documents(documents, Candidates(most, each, 5))
    assert kept == sorted(set(kept))
    assert len(kept) <= most
    counts = Counter(documents[position] for position in kept)
    assert max(counts.values(), default=0) <= each
    end = kept[-1] + 1 if len(kept) == most else len(documents)
    for position in range(end):
        assert position in kept or documents[:position].count(documents[position]) >= each


def test_idf_is_bm25s() -> None:
    assert inverse_document_frequency(10, 0) == pytest.approx(3.0910424534)  # ln(22)
    assert inverse_document_frequency(10, 10) == pytest.approx(0.0465200156)  # ln(11 / 10.5)
    assert inverse_document_frequency(0, 0) == pytest.approx(0.6931471806)  # ln(2)


@given(st.lists(st.tuples(st.floats(0.01, 20), st.booleans()), max_size=50))
def test_coverage_is_a_share_and_grows_with_what_is_held(words: list[tuple[float, bool]]) -> None:
    masses, held = [mass for mass, _ in words], [is_held for _, is_held in words]
    share = coverage(masses, held)
    assert 0 <= share <= 1 + 1e-9
    assert share <= coverage(masses, [True] * len(held)) + 1e-9
    assert coverage(masses, [False] * len(held)) == 0


def test_a_plain_name_must_be_rare_to_identify() -> None:
    assert identifies(10_000, 100, True)
    assert not identifies(10_000, 101, True)
    assert identifies(10_000, 500, False)
    assert not identifies(10_000, 501, False)
    assert identifies(5, 3, True)
    assert not identifies(5, 0, False)


def test_folders_are_every_prefix_by_whole_segments() -> None:
    assert list_folders("docs/api/a.md") == ["docs", "docs/api", "docs/api/a.md"]


@given(st.uuids(), st.uuids())
def test_ids_as_numbers_keep_their_text_and_order(one: UUID, other: UUID) -> None:
    assert join_id(*split_id(str(one))) == str(one)
    assert (split_id(str(one)) < split_id(str(other))) == (str(one) < str(other))


class Clock:
    """A clock that is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_breaker_lets_one_probe_through_in_each_interval() -> None:
    clock = Clock()
    breaker = Breaker(3, 1.0, clock)
    for _ in range(2):
        breaker.time_out()
    breaker.succeed()
    for _ in range(3):
        assert breaker.allows()
        breaker.time_out()
    assert not breaker.allows()
    clock.now = 1.0
    assert [breaker.allows(), breaker.allows()] == [True, False]
    breaker.time_out()
    clock.now = 1.9
    assert not breaker.allows()
    clock.now = 2.0
    assert breaker.allows()
    breaker.succeed()
    assert [breaker.allows(), breaker.allows()] == [True, True]


def test_a_page_token_is_good_for_its_own_listing_only() -> None:
    request = pb.ListEntriesRequest(engine=pb.ENGINE_WORDS, project="p", generation="g")
    request.page_token = messages.write_page_token(request, id_of("a"), id_of("a1"))
    assert messages.read_page_token(request) == (id_of("a"), id_of("a1"))
    request.engine = pb.ENGINE_VECTORS
    with pytest.raises(InvalidArgument, match="another listing"):
        messages.read_page_token(request)


@given(st.text(max_size=60))
def test_any_other_page_token_is_refused(token: str) -> None:
    request = pb.ListEntriesRequest(engine=pb.ENGINE_WORDS, project="p", generation="g", page_token=token)
    if token:
        with pytest.raises(InvalidArgument, match="page_token"):
            messages.read_page_token(request)


@pytest.mark.parametrize("url", ["milvus://host:6334", "nothing", "", "file://host/path"])
def test_a_url_that_names_no_engine_is_refused_by_its_setting(url: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"search\.vector_url"):
        vector_index(SearchSettings(vector_url=url), tmp_path)
    with pytest.raises(InvalidArgument, match=r"search\.keyword_url"):
        keyword_index(SearchSettings(keyword_url=url), tmp_path)
