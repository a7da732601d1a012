"""What the commands of notes make of a text, and how answers are written out: read back by other readers of the formats."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.commands.notes import read_searches
from refdesk.commands.notes_formats import Format, write_collections, write_documents, write_results
from refdesk.errors import InvalidArgument
from refdesk.gateway.surfaces.notes.lines import best_line, number_lines, slice_lines, snippet, words_of

LINE = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029\x85"), max_size=12)
BODY = st.lists(LINE, max_size=4).map("\n".join)


def result(snippet: str, title: str = "Keys", context: str | None = None) -> dict[str, object]:
    return {"docid": "#abc123", "score": 0.92, "file": "a/k.md", "title": title, "context": context, "snippet": snippet}


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("how do I rotate", {"query": "how do I rotate"}),
        ("see vec: here", {"query": "see vec: here"}),
        ("lex: a -b", {"searches": [{"type": "lex", "query": "a -b"}]}),
        (
            "vec: why\n\n hyde: because \nintent: keys",
            {"searches": [{"type": "vec", "query": "why"}, {"type": "hyde", "query": "because"}], "intent": "keys"},
        ),
    ],
)
def test_a_text_is_plain_or_typed_lines(text: str, arguments: dict[str, object]) -> None:
    assert read_searches(text) == arguments


def test_typed_and_plain_lines_together_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="a query is plain, or every line of it begins with lex:"):
        read_searches("lex: a\nb")


@given(BODY, LINE, st.none() | LINE)
def test_what_is_written_is_read_back(body: str, title: str, context: str | None) -> None:
    row = result(body, title, context)
    assert json.loads(write_results([row], Format.json)) == [row]
    (read,) = csv.DictReader(io.StringIO(write_results([row], Format.csv), newline=""))
    assert (read["snippet"], read["title"], read["context"]) == (body, title, context or "")
    (item,) = ElementTree.fromstring(write_results([row], Format.xml))
    kept = re.sub("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", body)
    assert (item.text or "") == kept
    (line,) = csv.reader(io.StringIO(write_results([row], Format.files), newline=""))
    assert line == ["#abc123", "0.92", "a/k.md", context or ""]


def test_markdown_fences_are_longer_than_those_inside() -> None:
    assert write_results([result("```\ncode\n```")], Format.md).endswith("\n````\n```\ncode\n```\n````")


def test_the_terminal_shows_percent_file_title_context_and_lines() -> None:
    assert write_results([result("1: a", context="About keys")], Format.cli) == (
        "#abc123 92% a/k.md - Keys\nContext: About keys\n1: a"
    )
    assert write_results([], Format.cli) == "No results found."
    assert write_documents([], Format.files) == ""
    assert write_collections([{"name": "a", "documents": 2, "description": ""}], Format.csv) == (
        "name,documents,description\na,2,"
    )


@given(st.lists(LINE, max_size=8), st.integers(1, 10), st.none() | st.integers(1, 10))
def test_slices_are_the_lines_of_the_text(lines: list[str], first: int, most: int | None) -> None:
    text = "\n".join(lines).rstrip("\n")
    everything = text.split("\n") if text.strip("\n") else []
    part = slice_lines(text, first, most)
    assert list(part.lines) == everything[first - 1 :][: most if most is not None else None]
    assert part.total == len(everything)
    assert part.is_whole == (list(part.lines) == everything)
    numbered = part.text(numbered=True)
    assert numbered == "\n".join(f"{first + place}: {line}" for place, line in enumerate(part.lines))


@given(st.lists(LINE, min_size=1, max_size=8), LINE)
def test_a_snippet_holds_the_best_line_and_is_no_longer_than_it_may_be(lines: list[str], asked: str) -> None:
    best = best_line(lines, words_of(asked))
    shown = snippet(lines, 1, best, 300)
    assert number_lines([lines[best]], best + 1) in shown.split("\n")
    assert sum(len(line.partition(": ")[2]) + 1 for line in shown.split("\n")) <= 301


def test_a_line_that_is_too_long_is_cut_with_a_mark() -> None:
    assert snippet(["x" * 500], 7, 0, 300) == f"7: {'x' * 299}…"
