from hypothesis import given
from hypothesis import strategies as st

from refdesk.ingest.tokens import WORD_RESTART_UNITS, count_units, estimate_tokens, running_units

# Counted by the WordPiece tokenizer of all-MiniLM-L6-v2, special tokens left out.
COUNTED = {
    "The quick brown fox jumps over the lazy dog.": 10,
    "In the `aggs` property, define any number of aggregations.": 15,
    "GET /_cat/indices?v&s=index": 12,
    '{"size": 0, "aggs": {"hits_per_day": {}}}': 25,
    "HALYARD_DISPATCH_TIMEOUT": 7,
    "8ec7c0f2f6860037": 12,
    "2024": 2,
    "署名鍵を回します。": 9,
}


def test_estimates_are_near_what_a_real_tokenizer_counts():
    for text, counted in COUNTED.items():
        assert abs(estimate_tokens(text) - counted) <= max(2, 0.3 * counted), text


def test_nothing_costs_nothing_and_blanks_cost_next_to_nothing():
    assert estimate_tokens("") == 0
    assert estimate_tokens(" " * 64) == 1


def test_punctuation_and_ideographs_cost_a_token_each():
    assert 10 <= estimate_tokens("." * 10) <= 11
    assert 10 <= estimate_tokens("漢" * 10) <= 11
    assert 10 <= estimate_tokens("😀" * 10) <= 11


def test_a_longer_word_never_costs_less():
    costs = [count_units("a" * length) for length in range(1, 40)]
    assert costs == sorted(costs)


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from("\n ."))
def test_texts_parted_by_a_sign_cost_the_sum_of_their_parts(first, second, sign):
    assert count_units(first + sign + second) == count_units(first) + count_units(sign) + count_units(second)


@given(st.text(alphabet="abXY09é漢 .", max_size=80), st.data())
def test_a_span_costs_at_most_a_words_start_more_on_its_own(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    sums = running_units(text)
    assert count_units(text[start:end]) <= int(sums[end] - sums[start]) + WORD_RESTART_UNITS


def test_a_text_longer_than_one_block_costs_what_its_words_cost():
    word = "Kubernetes v1.29 "
    assert count_units(word * 40_000) == 40_000 * count_units(word)
