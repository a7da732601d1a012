"""Globs of multi_get: by example, and against a translation to regular expressions as another implementation."""

from __future__ import annotations

import itertools
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import InvalidArgument
from refdesk.gateway.surfaces.notes.globs import Glob, expand_braces, is_glob, split_list

PIECES = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "[ab]": "[ab]", "[!a]": "(?!/)[^a]"} | {
    one: re.escape(one) for one in ("a", "b", "/", ".", "-")
}


@pytest.mark.parametrize(
    ("pattern", "fits", "others"),
    [
        ("journals/2025-05*.md", ["journals/2025-05-01.md"], ["journals/2025-06-01.md", "journals/2025-05/a.md"]),
        ("*.md", ["a.md"], ["a/b.md", "a.mdx"]),
        ("**/*.md", ["a.md", "a/b.md", "a/b/c.md"], ["a.txt"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/a"]),
        ("a/**/c.md", ["a/c.md", "a/b/c.md", "a/b/b/c.md"], ["ac.md", "a/bc.md"]),
        ("{ops,api}/*.{md,mdx}", ["ops/a.md", "api/a.mdx"], ["web/a.md", "ops/a.txt"]),
        ("a?c.md", ["abc.md"], ["ac.md", "a/c.md"]),
        ("[a-c]1", ["a1", "c1"], ["d1", "a2"]),
        ("[!a]1", ["b1"], ["a1", "/1"]),
        ("a[", ["a["], ["a"]),
        ("a.b+(c)", ["a.b+(c)"], ["aXb+(c)"]),
        ("{a,{b,c}}", ["a", "b", "c"], ["d"]),
    ],
)
def test_what_fits_a_glob(pattern: str, fits: list[str], others: list[str]) -> None:
    assert [path for path in (*fits, *others) if Glob(pattern).matches(path)] == fits


@given(
    st.lists(st.sampled_from(sorted(PIECES)), max_size=7).filter(
        lambda pieces: (
            all(not one.endswith("*") or not two.startswith("*") for one, two in itertools.pairwise(pieces))
            and ("**", "/") not in itertools.pairwise(pieces)  # written so, it is the one piece **/
            and all(one != "**/" or place == 0 or pieces[place - 1].endswith("/") for place, one in enumerate(pieces))
        )
    ),
    st.text("ab/.-", max_size=8),
)
def test_globs_match_as_their_translation_does(pieces: list[str], path: str) -> None:
    expected = re.fullmatch("".join(PIECES[piece] for piece in pieces), path) is not None
    assert Glob("".join(pieces)).matches(path) == expected


@given(st.text("a*?[]{},!^-/\\é", max_size=24), st.text("a/é\\-", max_size=8))
def test_any_pattern_is_taken_or_refused_in_our_own_words(pattern: str, path: str) -> None:
    try:
        Glob(pattern).matches(path)
    except InvalidArgument as refusal:
        assert refusal.message.startswith("pattern ")
    assert all(split_list(pattern))


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12).filter(lambda text: not is_glob(text)))
def test_a_name_matches_itself_alone(name: str) -> None:
    assert Glob(name).matches(name)
    assert not Glob(name).matches(f"{name}x")


def test_a_pattern_of_many_stars_takes_no_time() -> None:
    started = time.thread_time()
    assert not Glob("*a" * 30 + "b").matches("a" * 4000)
    assert time.thread_time() - started < 5


def test_a_list_is_parted_at_commas_outside_of_braces() -> None:
    assert split_list("a.md, {b,c}.md ,#abc123,, a.md,[,]x") == ["a.md", "{b,c}.md", "#abc123", "[,]x"]


def test_braces_that_make_too_many_patterns_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="more than 64 patterns"):
        expand_braces("{a,b}" * 7)
