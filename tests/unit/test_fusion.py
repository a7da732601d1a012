"""Fusing ranked lists: the figures are worked out by hand from Σ weight/(10 + rank)."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from refdesk.gateway.fusion import Fused, RankedLeg, cap_groups, discount_sections, fuse

IDS = st.lists(st.sampled_from([f"c{number:02d}" for number in range(30)]), unique=True, max_size=30)
LEGS = st.lists(st.tuples(st.sampled_from([0.5, 1.0, 2.0]), IDS, st.booleans()), max_size=4)


def legs_of(drawn: list[tuple[float, list[str], bool]]) -> list[RankedLeg]:
    return [RankedLeg(weight, ids, semantic) for weight, ids, semantic in drawn]


def test_ranks_count_from_one_and_a_share_is_weight_over_ten_plus_rank() -> None:
    fused = fuse([RankedLeg(1, ["a", "b"]), RankedLeg(2, ["b"], semantic=True)])
    assert [hit.chunk_id for hit in fused] == ["b", "a"]
    assert fused[0].score == float(Fraction(1, 12) + Fraction(2, 11))
    assert fused[1].score == 1 / 11


def test_a_tie_goes_to_the_better_semantic_rank() -> None:
    lexical, semantic = RankedLeg(1, ["a", "b"]), RankedLeg(1, ["b", "a"], semantic=True)
    assert [hit.chunk_id for hit in fuse([lexical, semantic])] == ["b", "a"]
    assert [hit.chunk_id for hit in fuse([semantic, lexical])] == ["b", "a"]


def test_a_tie_without_a_semantic_rank_goes_to_the_smaller_id() -> None:
    assert [hit.chunk_id for hit in fuse([RankedLeg(1, ["z"]), RankedLeg(1, ["y"])])] == ["y", "z"]


@given(LEGS)
def test_every_listed_chunk_is_fused_once_and_nothing_else(drawn: list[tuple[float, list[str], bool]]) -> None:
    fused = fuse(legs_of(drawn))
    assert sorted(hit.chunk_id for hit in fused) == sorted({chunk for _, ids, _ in drawn for chunk in ids})


@given(LEGS)
def test_scores_are_the_exact_sums_and_never_rise(drawn: list[tuple[float, list[str], bool]]) -> None:
    fused = fuse(legs_of(drawn))
    exact = {hit.chunk_id: Fraction(0) for hit in fused}
    for weight, ids, _ in drawn:
        for rank, chunk in enumerate(ids, start=1):
            exact[chunk] += Fraction(weight) / (10 + rank)
    assert all(abs(Fraction(hit.score) - exact[hit.chunk_id]) < Fraction(1, 10**12) for hit in fused)
    assert [hit.score for hit in fused] == sorted((hit.score for hit in fused), reverse=True)


@given(LEGS, st.randoms())
def test_the_order_of_legs_does_not_matter(drawn: list[tuple[float, list[str], bool]], random: object) -> None:
    shuffled = list(drawn)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert fuse(legs_of(drawn)) == fuse(legs_of(shuffled))


@given(IDS)
def test_one_leg_alone_keeps_its_order(ids: list[str]) -> None:
    assert [hit.chunk_id for hit in fuse([RankedLeg(1, ids)])] == ids


def test_the_second_section_of_a_document_counts_seven_tenths_and_further_ones_half() -> None:
    fused = [Fused("a", 1.0), Fused("b", 0.9), Fused("c", 0.8), Fused("d", 0.7), Fused("e", 0.6)]
    places = {"a": ("one", "s1"), "b": ("one", "s2"), "c": ("one", "s3"), "d": ("one", "s4"), "e": ("two", "s1")}
    scores = {hit.chunk_id: hit.score for hit in discount_sections(fused, places)}
    assert scores == {"a": 1.0, "b": 0.9 * 0.7, "c": 0.8 * 0.5, "d": 0.7 * 0.5, "e": 0.6}


def test_a_second_chunk_of_the_same_section_is_not_discounted_again() -> None:
    fused = [Fused("a", 1.0), Fused("b", 0.9), Fused("c", 0.8)]
    places = {"a": ("one", "s1"), "b": ("one", "s1"), "c": ("one", "s2")}
    assert [hit.score for hit in discount_sections(fused, places)] == [1.0, 0.9, 0.8 * 0.7]


def test_a_discount_lets_another_document_pass() -> None:
    fused = [Fused("a", 1.0), Fused("b", 0.9), Fused("c", 0.8)]
    places = {"a": ("one", "s1"), "b": ("one", "s2"), "c": ("two", "s1")}
    assert [hit.chunk_id for hit in discount_sections(fused, places)] == ["a", "c", "b"]


@given(LEGS, st.integers(1, 4), st.integers(1, 4))
def test_discounts_keep_every_chunk_and_never_raise_a_score(
    drawn: list[tuple[float, list[str], bool]], documents: int, sections: int
) -> None:
    fused = fuse(legs_of(drawn))
    places = {hit.chunk_id: (int(hit.chunk_id[1:]) % documents, int(hit.chunk_id[1:]) % sections) for hit in fused}
    before = {hit.chunk_id: hit.score for hit in fused}
    after = discount_sections(fused, places)
    assert {hit.chunk_id for hit in after} == before.keys()
    assert all(before[hit.chunk_id] * 0.5 <= hit.score <= before[hit.chunk_id] for hit in after)
    assert after[:1] == fused[:1]


def test_a_third_chunk_of_a_document_makes_room_for_the_next_document() -> None:
    hits = [Fused(name, 1.0) for name in ("a1", "a2", "a3", "b1", "c1")]
    kept = cap_groups(hits, lambda chunk: chunk[0], most_per_group=2, limit=4)
    assert [hit.chunk_id for hit in kept] == ["a1", "a2", "b1", "c1"]


@given(IDS, st.integers(1, 3), st.integers(1, 20))
def test_the_limit_is_met_whenever_the_cap_allows_it(ids: list[str], most: int, limit: int) -> None:
    kept = cap_groups([Fused(name, 1.0) for name in ids], lambda chunk: int(chunk[1:]) % 5, most, limit)
    available = [min(most, sum(int(name[1:]) % 5 == document for name in ids)) for document in range(5)]
    assert len(kept) == min(limit, sum(available))
