"""The chunkers that are shipped: what each promises of any document, and what the second does otherwise."""

import pytest
from hypothesis import given, settings

from refdesk.errors import InvalidArgument
from refdesk.ingest import chunks
from refdesk.ingest.chunkers import CHUNKERS, DEFAULT_CHUNKER, find_chunker
from refdesk.ingest.chunks import Chunk, ChunkSettings
from refdesk.ingest.formats.markdown import parse, structure
from unit.test_chunks_properties import PAGE, SIZES, check_chunks

WORDS = "one two three four five six seven eight nine ten. "
LONG = WORDS * 17  # about 190 tokens: hardly anything fits beside it


def packed(page: str, **sizes: float) -> tuple[Chunk, ...]:
    return CHUNKERS[2].cut(parse(page, "page.md"), ChunkSettings(**sizes))


def test_a_release_ships_two_chunkers_and_new_projects_are_cut_with_the_first():
    assert list(CHUNKERS) == [1, 2]
    assert DEFAULT_CHUNKER == 1
    assert CHUNKERS[1].cut is chunks.cut
    with pytest.raises(InvalidArgument, match=r"no chunker 3; it has 1: at headings; 2: "):
        find_chunker(3)


@pytest.mark.parametrize("number", CHUNKERS)
@given(page=PAGE, sizes=SIZES)
@settings(max_examples=60, deadline=None)
def test_every_character_lies_in_one_chunk_in_order_and_no_chunk_is_too_large(number, page, sizes):
    document = parse(page.encode("utf-8", "replace"), "page.md")
    check_chunks(document, CHUNKERS[number].cut(document, sizes), sizes)


@pytest.mark.parametrize("number", CHUNKERS)
@given(page=PAGE)
@settings(max_examples=60, deadline=None)
def test_stored_text_is_cut_as_the_page_was(number, page):
    document = parse(page.encode("utf-8", "replace"), "page.md")
    again = structure(document.text, title=document.title)
    assert CHUNKERS[number].cut(again, ChunkSettings()) == CHUNKERS[number].cut(document, ChunkSettings())


def test_small_sections_of_one_parent_are_one_chunk_under_its_breadcrumb():
    found = packed(f"# A\n\n{LONG}\n\n## B\n\n{WORDS * 2}\n\n## C\n\n{WORDS}\n\n## D\n\n{WORDS}")
    assert [chunk.breadcrumb for chunk in found] == [("A",), ("A",)]
    assert found[1].text.startswith("## B\n")
    assert "\n## C\n" in found[1].text
    assert "\n## D\n" in found[1].text


def test_a_parents_own_beginning_goes_with_its_small_sections():
    found = packed(f"# A\n\n{WORDS * 4}\n\n## B\n\n{WORDS}\n\n## C\n\n{WORDS}")
    assert [chunk.breadcrumb for chunk in found] == [("A",)]


def test_sections_are_packed_only_as_long_as_they_stay_within_the_size_aimed_at():
    page = "# A\n\n" + "\n\n".join(f"## {name}\n\n{WORDS * 6}" for name in "BCDEF")
    found = packed(page)
    assert [chunk.text.count("## ") for chunk in found] == [2, 2, 1]
    assert all(chunk.token_estimate <= 200 for chunk in found)


def test_sections_of_different_parents_are_not_packed():
    small = f"{WORDS * 3}\n\n"
    found = packed(f"# A\n\n{LONG}\n\n## B\n\n{LONG}\n\n### X\n\n{small}## C\n\n{LONG}\n\n### Y\n\n{small}")
    assert [chunk.breadcrumb for chunk in found][2::2] == [("A", "B", "X"), ("A", "C", "Y")]


def test_a_piece_of_a_section_that_was_cut_is_not_packed_with_the_next():
    found = packed(f"# A\n\n{LONG}\n\n## B\n\n{WORDS * 24}\n\n## C\n\n{WORDS}")
    assert [chunk.breadcrumb for chunk in found] == [("A",), ("A", "B"), ("A", "B"), ("A", "C")]
