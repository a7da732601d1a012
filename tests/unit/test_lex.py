"""The lex grammar, and the words that it is looked up by."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from refdesk.errors import InvalidArgument
from refdesk.lex import MOST_PARTS, Part, parse
from refdesk.search.words import BREAK, join_words, list_words, read_wanted

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60) | st.text('a9-" “x\n', max_size=20)
WORD = st.from_regex(r"[a-z0-9]{1,8}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("auth", [Part("auth")]),
        ("auth token", [Part("auth"), Part("token")]),
        ('"signing  key" rot', [Part("signing key", is_phrase=True), Part("rot")]),
        ("auth -draft", [Part("auth"), Part("draft", is_excluded=True)]),
        ('auth -"old way"', [Part("auth"), Part("old way", is_phrase=True, is_excluded=True)]),
        ("long-lived --set-file", [Part("long-lived"), Part("--set-file")]),
        ("“smart quotes”", [Part("smart quotes", is_phrase=True)]),
        ('auth auth "auth"', [Part("auth"), Part("auth", is_phrase=True)]),
        ('foo"bar baz"', [Part("foo"), Part("bar baz", is_phrase=True)]),
    ],
)
def test_terms_phrases_and_exclusions_are_told_apart(text: str, parts: list[Part]) -> None:
    assert list(parse(text).parts) == parts


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("-draft", "lex: -draft only excludes: a negation needs something to look for beside it, so add a term"),
        ('-"a b" -c', 'lex: -"a b" -c only excludes: a negation needs something to look for'),
        ('"signing key', 'lex: odd quote in "signing key: a phrase needs a quote on both sides'),
        ('a "b" c"', 'lex: odd quote in a "b" c"'),
        ("", "lex: nothing to look for"),
        ("  \n", "lex: nothing to look for"),
        ("foo - bar", "lex: a - with nothing behind it: put the term right behind it, as in -draft"),
        ('foo -""', "lex: a - with nothing behind it"),
        ('foo ""', 'lex: "" has no letter and no digit to look for'),
        ("foo ***", "lex: *** has no letter and no digit to look for"),
        (" ".join(f"a{n}" for n in range(33)), "lex: 33 terms and phrases; give at most 32"),
    ],
)
def test_what_cannot_be_meant_is_said_on_one_line(text: str, says: str) -> None:
    with pytest.raises(InvalidArgument, match=f"^{re.escape(says)}") as refusal:
        parse(text)
    assert "\n" not in refusal.value.message
    assert len(refusal.value.message) < 200


@given(ANY_TEXT)
def test_any_text_is_read_or_refused_in_our_own_words(text: str) -> None:
    try:
        query = parse(text)
    except InvalidArgument as refusal:
        assert refusal.message.startswith("lex: ")
        return
    assert 1 <= len(query.parts) <= MOST_PARTS
    assert query.wanted
    assert len(set(query.parts)) == len(query.parts)
    assert {*query.wanted, *query.excluded} == set(query.parts)
    for sought in (*read_wanted(query).held, *read_wanted(query).excluded):
        assert sought.words
        assert all(word == "".join(list_words(word)) or len(list_words(word)) == 1 for word in sought.words)


@given(st.lists(st.tuples(st.booleans(), st.lists(WORD, min_size=1, max_size=3)), min_size=1, max_size=8), WORD)
def test_what_is_written_out_is_read_back(parts: list[tuple[bool, list[str]]], wanted: str) -> None:
    written = {Part(" ".join(words), is_phrase=True, is_excluded=excluded) for excluded, words in parts}
    text = " ".join(f'{"-" if part.is_excluded else ""}"{part.text}"' for part in sorted(written, key=str))
    assert set(parse(f"{text} {wanted}").parts) == {*written, Part(wanted)}


@given(ANY_TEXT)
@example("\U0001d468")  # a mathematical A, which has no lower case of its own
def test_words_are_letters_and_digits_and_the_same_when_they_are_cut_again(text: str) -> None:
    words = list_words(text)
    assert all(word and BREAK not in word and not word.isspace() and "_" not in word for word in words)
    assert list_words(" ".join(words)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Rotate the signing-key_v2, now!", ["rotate", "the", "signing", "key", "v2", "now"]),
        ("Überprüfung déjà vu", ["uberprufung", "deja", "vu"]),
        ("設定 is 方法", ["設", "定", "is", "方", "法"]),
        ("a" * 100, ["a" * 64]),
        ("“don’t” — wait…", ["don", "t", "wait"]),
        ("1\u05c0Z b\u034fc", ["1z", "bc"]),  # marks that are left out part no words
        ("½ ™ ①", ["1", "2", "tm", "1"]),
        ("प्रमाण पत्र", ["प्रमाण", "पत्र"]),
    ],
)
def test_words_stand_as_they_are_written(text: str, words: list[str]) -> None:
    assert list_words(text) == words


def test_no_phrase_reaches_over_a_break() -> None:
    assert join_words("docs keys", "Title", "The text") == "docs keys | title | the text"
