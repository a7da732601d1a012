"""Packing excerpts: where neighbours are cut, what shrinks first, and what is dropped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.gateway.packing import Excerpt, cut_end, cut_start, pack, render_body, split_heading

TEXTS = st.text(st.sampled_from("ab .\n`#|é。"), max_size=900)
EXCERPTS = st.lists(st.builds(Excerpt, st.just("### 1. a.md"), TEXTS, TEXTS, TEXTS), min_size=1, max_size=8)


@pytest.mark.promise("docs.16")
def test_a_neighbour_that_fits_is_shown_whole_and_unmarked() -> None:
    assert render_body(Excerpt("", "chunk", "before", "after"), 400) == "before\n\nchunk\n\nafter"


def test_an_end_is_cut_at_the_last_sentence_or_line_that_fits() -> None:
    text = "One sentence. Another one.\nA new line that is far too long to fit"
    assert cut_end(text, 40) == ("One sentence. Another one.", True)
    assert cut_end(text, 20) == ("One sentence.", True)


def test_a_start_is_cut_at_the_first_sentence_or_line_that_fits() -> None:
    text = "A line that is too long to fit here\nOne sentence. Another one."
    assert cut_start(text, 30) == ("One sentence. Another one.", True)
    assert cut_start(text, 20) == ("Another one.", True)


def test_a_text_without_lines_or_sentences_is_cut_at_a_word() -> None:
    assert cut_end("alpha beta gamma delta", 12) == ("alpha beta", True)
    assert cut_start("alpha beta gamma delta", 12) == ("gamma delta", True)


def test_a_word_longer_than_the_room_is_cut_inside() -> None:
    assert cut_end("x" * 50, 10) == ("x" * 10, True)
    assert cut_start("x" * 50, 10) == ("x" * 10, True)


@pytest.mark.promise("docs.16")
def test_cut_sides_bear_a_mark_and_whole_sides_none() -> None:
    body = render_body(Excerpt("", "chunk", "x " * 300 + "end.", "short"), 100)
    assert body.startswith("…x x")
    assert body.endswith("chunk\n\nshort")
    body = render_body(Excerpt("", "chunk", "", "Start. " + "x " * 300), 100)
    assert body == "chunk\n\nStart.…"


def test_a_neighbour_that_is_left_out_still_leaves_its_mark() -> None:
    assert render_body(Excerpt("", "chunk", "before", "after"), 0) == "…chunk…"


def test_a_mark_stands_on_a_line_of_its_own_beside_markdown_that_begins_or_ends_a_line() -> None:
    assert render_body(Excerpt("", "| a | b |\n|---|---|", "x", "y"), 0) == "…\n| a | b |\n|---|---|\n…"


def test_the_own_heading_parts_a_text_from_the_one_before_and_is_not_said_twice() -> None:
    assert render_body(Excerpt("", "text", "before", heading="## Own"), 400) == "before\n\n## Own\n\ntext"
    assert render_body(Excerpt("", "text", "before", heading="## Own"), 0) == "…text"


@pytest.mark.parametrize(
    ("text", "breadcrumb", "parts"),
    [
        ("## Key `rotation`\n\nRotate.", ("Keys", "Key rotation"), ("## Key `rotation`", "Rotate.")),
        ("Rotation\n========\nRotate.", ("Rotation",), ("Rotation\n========", "Rotate.")),
        ("## Other\n\nRotate.", ("Rotation",), ("", "## Other\n\nRotate.")),
        ("## Rotation\n", ("Rotation",), ("", "## Rotation\n")),
        ("Rotate.", ("Rotation",), ("", "Rotate.")),
        ("## Rotation\nRotate.", (), ("", "## Rotation\nRotate.")),
    ],
)
def test_a_heading_is_split_off_only_where_the_breadcrumb_names_it(
    text: str, breadcrumb: tuple[str, ...], parts: tuple[str, str]
) -> None:
    assert split_heading(text, breadcrumb) == parts


def test_no_cut_ends_in_a_heading_without_its_text() -> None:
    assert cut_end("Text.\n\n## Next\n\n" + "word " * 100, 40) == ("Text.", True)
    assert cut_end("## Next\n\n" + "word " * 100, 20) == ("", True)


def test_a_fence_that_a_cut_leaves_open_is_closed_and_one_that_it_enters_is_opened() -> None:
    code = "```\n" + "line\n" * 100 + "```"
    after, _ = cut_end("Text.\n\n" + code, 100)
    before, _ = cut_start(code + "\n\nText.", 100)
    assert after.startswith("Text.\n\n```\nline")
    assert after.endswith("line\n```")
    assert before.startswith("```\nline")
    assert before.endswith("```\n\nText.")


@given(TEXTS, st.integers(0, 500))
def test_no_cut_is_longer_than_asked_or_loses_text_in_silence(text: str, most: int) -> None:
    for cut in (cut_end, cut_start):
        kept, was_cut = cut(text, most)
        assert len(kept) <= most
        assert was_cut or kept == text


@pytest.mark.promise("docs.18")
def test_neighbours_shrink_before_an_excerpt_is_dropped() -> None:
    excerpts = [Excerpt(f"### {rank}.", "x" * 100, "b. " * 200, "a. " * 200) for rank in (1, 2, 3)]
    packed = pack(excerpts, 1000, 0)
    assert packed.left_out == 0
    assert len("\n\n".join(packed.blocks)) <= 1000
    assert "b." in packed.blocks[2]


@pytest.mark.promise("docs.18")
def test_whole_excerpts_are_dropped_from_the_end_and_the_notice_counts() -> None:
    excerpts = [Excerpt(f"### {rank}.", "x" * 400) for rank in (1, 2, 3)]
    packed = pack(excerpts, 1000, 50, lambda shown: f"{3 - shown} left out")
    assert packed.left_out == 1
    assert [block.split("\n")[0] for block in packed.blocks] == ["### 1.", "### 2."]
    assert packed.bodies == ("x" * 400, "x" * 400)


def test_one_excerpt_is_always_shown_even_if_it_has_to_be_cut() -> None:
    packed = pack([Excerpt("### 1. a.md", "Line one.\n" * 500)], 1000, 100)
    assert len(packed.blocks) == 1
    assert len(packed.blocks[0]) <= 900
    assert packed.blocks[0].endswith("Line one.…")


@given(EXCERPTS, st.integers(300, 6000))
def test_an_answer_never_exceeds_its_cap_and_never_splits_an_excerpt_but_the_first(
    excerpts: list[Excerpt], most: int
) -> None:
    def notice(shown: int) -> str:
        return f"{len(excerpts) - shown} more"

    packed = pack(excerpts, most, 100, notice)
    text = "\n\n".join([*packed.blocks, *([notice(len(packed.blocks))] if packed.left_out else [])])
    assert len(text) + 100 <= most
    assert len(packed.blocks) + packed.left_out == len(excerpts)
    for excerpt, body in zip(excerpts, packed.bodies, strict=False):
        assert excerpt.text.strip("\n") in body or len(packed.bodies) == 1
