"""What entries of words are indexed by."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from engines.entries import facets, id_of, word_item
from refdesk.search.analysis import analyze
from refdesk.search.engines.interface import WordChunk, WordDocument
from refdesk.search.entries import analyze_document


def chunk(name: str, start: int, end: int, *, lead: str = "", tail: str = "") -> WordChunk:
    return WordChunk(id_of(name), (), start, end, lead, tail)


def document(text: str, *chunks: WordChunk, headings: tuple[str, ...] = (), language: str = "en") -> WordDocument:
    return WordDocument(id_of("a"), 1, facets("", language=language), headings, text, chunks)


def test_an_entry_is_its_path_without_ending_its_headings_twice_and_its_text() -> None:
    item = word_item("a1", "text body", where=facets("runbooks/key-rotation.md"), headings=("Signing", "Safes"))
    terms = Counter(analyze_document(item).chunks[0].analysis.terms.split())
    assert terms == {"runbook": 1, "key": 1, "rotat": 1, "key-rotation": 1, "sign": 2, "safe": 2, "text": 1, "bodi": 1}


def test_a_chunk_is_its_span_between_lead_and_tail_and_the_document_is_all_of_its_text_once() -> None:
    text = "alpha beta\n\ngamma MAX_SIZE\n\ndelta"
    analyzed = analyze_document(document(text, chunk("a1", 0, 10), chunk("a2", 12, 26, lead="head", tail="end")))
    assert [one.id for one in analyzed.chunks] == [id_of("a1"), id_of("a2")]
    assert [one.analysis.terms for one in analyzed.chunks] == ["alpha beta", "head gamma max size max_size end"]
    assert [one.analysis.identifiers for one in analyzed.chunks] == ["", "max_size"]
    assert analyzed.whole == analyze(text, "en")


def test_a_document_without_text_is_no_entry() -> None:
    assert analyze_document(word_item("a1", "alpha")).whole is None


def test_chunks_that_overlap_each_have_all_of_their_span() -> None:
    analyzed = analyze_document(document("alpha beta gamma", chunk("a1", 0, 10), chunk("a2", 6, 16)))
    assert [one.analysis.terms for one in analyzed.chunks] == ["alpha beta", "beta gamma"]


@given(st.lists(st.text(max_size=60), min_size=1, max_size=6), st.sampled_from(["en", "de", "ja", "tr"]))
def test_pieces_that_are_cut_together_give_what_each_gives_alone(pieces: list[str], language: str) -> None:
    text, chunks = "", []
    for place, piece in enumerate(pieces):
        chunks.append(chunk(f"a{place}", len(text), len(text) + len(piece)))
        text += f"{piece}\n"
    analyzed = analyze_document(document(text, *chunks, language=language))
    assert [one.analysis for one in analyzed.chunks] == [analyze(piece, language) for piece in pieces]
    assert analyzed.whole is None or Counter(analyzed.whole.terms.split()) == Counter(
        analyze(text, language).terms.split()
    )
