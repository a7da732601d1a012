"""What texts and queries are indexed and looked for by. Stems are Snowball's published ones, the rest is worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.search.analysis import analyze, analyze_query, guess_language


def terms_of(text: str, language: str = "en") -> set[str]:
    return set(analyze(text, language).terms.split())


def identifiers_of(text: str, language: str = "en") -> set[str]:
    return set(analyze(text, language).identifiers.split())


@pytest.mark.parametrize(
    ("text", "language", "term"),
    [
        ("rotating", "en", "rotat"),
        ("connections", "en", "connect"),
        ("Datenbanken", "de", "datenbank"),
        ("Schlüssel", "de", "schlussel"),
        ("continuellement", "fr", "continuel"),
        ("настройки", "ru", "настроик"),
        ("ışıklar", "tr", "isık".replace("ı", "i")),
        ("café", "en", "cafe"),
        ("naïve", "en", "naiv"),
        ("Kubernetes", "ru", "kubernet"),
        ("connections", "xx", "connect"),
        ("connections", "ja", "connect"),
    ],
)
def test_a_word_is_stemmed_in_its_language_and_loses_its_accents(text: str, language: str, term: str) -> None:
    assert term in terms_of(text, language)


@pytest.mark.parametrize(
    ("text", "parts", "whole"),
    [
        ("HALYARD_DISPATCH_TIMEOUT", {"halyard", "dispatch", "timeout"}, "halyard_dispatch_timeout"),
        ("max-connections", {"max", "connect"}, "max-connections"),
        ("kubernetes.io/tls", {"kubernet", "io", "tls"}, "kubernetes.io/tls"),
        ("refreshInterval", {"refresh", "interv"}, "refreshinterval"),
        ("index.refresh_interval", {"index", "refresh", "interv"}, "index.refresh_interval"),
        ("HTTPServerError", {"http", "server", "error"}, "httpservererror"),
        ("--set-file", {"set", "file"}, "set-file"),
        ("std::vector", {"std", "vector"}, "std::vector"),
    ],
)
def test_an_identifier_is_kept_whole_and_split(text: str, parts: set[str], whole: str) -> None:
    stems = {"interv": "interval"}  # Snowball's English keeps "interval"
    assert terms_of(text) == {stems.get(part, part) for part in parts} | {whole}
    assert whole in identifiers_of(text)


@pytest.mark.parametrize(
    "around", ["see {}.", "({})", "**{}**", "{}: text", "a, {}, b", '"{}"', "| {} |", "`{}`", "é {}…"]
)
def test_punctuation_around_an_identifier_changes_nothing(around: str) -> None:
    for name in ("max_connections", "--set-file", "v3.12.1"):
        assert name in identifiers_of(around.format(name))


def test_a_version_is_found_without_its_v_and_by_its_minor() -> None:
    assert identifiers_of("since v3.12.1") == {"v3.12.1", "3.12.1"}
    assert terms_of("v3.12.1") == {"3.12.1", "v3.12.1", "3.12"}


def test_a_call_is_found_with_and_without_its_parentheses() -> None:
    assert identifiers_of("use `foo()` here") == {"foo()", "foo"}
    assert identifiers_of("call foo() now") == {"foo()", "foo"}


def test_a_single_word_in_backticks_is_an_identifier_and_prose_is_not() -> None:
    assert identifiers_of("set `replicas` to three, please") == {"replicas"}
    assert identifiers_of("it's the cluster's own, e.g. and i.e. 42 times in 5m or 10GB, the 2nd") == set()


def test_segments_of_a_path_are_identifiers_too() -> None:
    assert identifiers_of("etc/max-connections/x") == {"etc/max-connections/x", "max-connections"}


def test_two_code_spans_with_a_slash_between_are_two() -> None:
    assert identifiers_of("`get`/`put`") == {"get", "put"}


@pytest.mark.parametrize(
    ("text", "language", "bigrams"),
    [
        ("設定方法", "zh", {"設定", "定方", "方法"}),
        ("クラスタ", "ja", {"クラ", "ラス", "スタ"}),
        ("설정하기", "ko", {"설정", "정하", "하기"}),
        ("東", "ja", {"東"}),
        ("Helmの使用", "ja", {"helm", "の使", "使用"}),
    ],
)
def test_scripts_without_spaces_are_cut_into_bigrams(text: str, language: str, bigrams: set[str]) -> None:
    assert terms_of(text, language) == bigrams


def test_vowel_signs_stay_with_their_word() -> None:
    assert len(terms_of("हिन्दी", "hi")) == 1


def test_stop_words_are_left_out_by_language() -> None:
    assert terms_of("what is the index") == {"index"}
    assert terms_of("was ist der Index", "de") == {"index"}


def test_data_is_not_words() -> None:
    assert terms_of("x" * 5000) == set()
    assert identifiers_of("a1" * 500) == set()


def test_order_and_counts_of_terms_stay() -> None:
    assert analyze("node node cluster", "en").terms == "node node cluster"


@given(st.text(max_size=400), st.sampled_from(["en", "de", "ja", "und", "ru", "tr"]))
def test_any_text_gives_short_words_without_spaces_or_control_characters(text: str, language: str) -> None:
    analysis = analyze(text, language)
    for word in (analysis.terms + " " + analysis.identifiers).split(" "):
        assert len(word) <= 3 * 128  # folding may lengthen a word
        assert "\x00" not in word
    assert "  " not in analysis.terms


@given(
    st.lists(
        st.sampled_from(["rotating", "max_connections", "naïve", "設定方法", "v1.2", "foo()", "--set-file", "über"]),
        min_size=1,
    )
)
def test_a_text_asked_as_a_query_finds_itself(words: list[str]) -> None:
    text = " ".join(words)
    terms, identifiers = terms_of(text), identifiers_of(text)
    query = analyze_query(text, ["en"])
    assert all(set(word.terms) & terms for word in query.words)
    assert set(query.wholes) <= terms
    assert all(set(identifier.spellings) & identifiers for identifier in query.identifiers)


def test_a_query_word_has_the_stems_of_every_language_once() -> None:
    (word,) = analyze_query("connections", ["en", "de", "xx"]).words
    assert word.terms == ("connection", "connect")


def test_a_query_drops_the_stop_words_of_its_own_language_only() -> None:
    languages = ["de", "en"]
    assert [word.terms[-1] for word in analyze_query("what is the die", languages).words] == ["die"]
    assert [word.terms[-1] for word in analyze_query("wie ist die Version", languages).words] == ["version"]


def test_a_query_of_stop_words_and_signs_has_no_words() -> None:
    for query in ("what is it?", "… !?", "()"):
        assert analyze_query(query, ["en"]).words == ()


@pytest.mark.parametrize(
    ("query", "spellings", "is_plain"),
    [
        ("the max_connections setting", ("max_connections",), False),
        ('the "replicas" setting', ("replicas",), False),
        ("the `replicas` setting", ("replicas",), False),
        ("about OpenSearch", ("opensearch",), True),
        ("a built-in one", ("built-in",), True),
        ("--set-file", ("--set-file", "set-file"), False),
    ],
)
def test_identifiers_of_a_query_are_told_from_what_may_be_a_common_word(
    query: str, spellings: tuple[str, ...], is_plain: bool
) -> None:
    (identifier,) = analyze_query(query, ["en"]).identifiers
    assert (identifier.spellings, identifier.is_plain) == (spellings, is_plain)


@pytest.mark.parametrize(
    ("text", "languages", "language"),
    [
        ("Wie rolle ich ein Release auf eine frühere Version zurück?", ("de", "en", "ja"), "de"),
        ("comment revenir à une version de la release", ("fr", "en"), "fr"),
        ("how do I roll back a release", ("de", "en"), "en"),
        ("what was in the die cast", ("de", "en"), "en"),
        ("helm rollback", ("de", "en"), ""),
        ("Wie rolle ich ein Release auf eine frühere Version zurück?", ("en",), ""),
        ("in was", ("de", "en"), ""),
        ("", ("de",), ""),
    ],
)
def test_small_words_tell_a_querys_language(text: str, languages: tuple[str, ...], language: str) -> None:
    assert guess_language(text, languages) == language
