import pytest

from refdesk.errors import InvalidArgument
from refdesk.ingest.chunks import Chunk, ChunkSettings, cut, embedded_text
from refdesk.ingest.formats.markdown import parse
from refdesk.ingest.heads import HEAD_TOKENS, head_line, head_path
from refdesk.ingest.tokens import estimate_tokens

WORDS = "one two three four five six seven eight nine ten. "
LONG = WORDS * 12  # about 130 tokens


def chunks_of(page: str, **sizes: float) -> tuple[Chunk, ...]:
    return cut(parse(page, "page.md"), ChunkSettings(**sizes))


@pytest.mark.parametrize("page", ["", "\n \n", "---\ntitle: T\n---\n", "<!-- x -->\n"])
def test_a_document_without_text_has_no_chunks(page):
    assert chunks_of(page) == ()


def test_every_heading_down_to_the_third_level_starts_a_chunk_with_its_breadcrumb():
    page = f"# A\n\n{LONG}\n\n## B\n\n{LONG}\n\n### C\n\n{LONG}\n\n## D\n\n{LONG}"
    assert [(chunk.breadcrumb, chunk.text.split("\n")[0]) for chunk in chunks_of(page)] == [
        (("A",), "# A"),
        (("A", "B"), "## B"),
        (("A", "B", "C"), "### C"),
        (("A", "D"), "## D"),
    ]


def test_deeper_headings_stay_in_their_sections_chunk_while_it_fits():
    chunks = chunks_of(f"# A\n\n{WORDS * 3}\n\n#### B\n\n{WORDS}\n\n#### C\n\n{WORDS}")
    assert [chunk.breadcrumb for chunk in chunks] == [("A",)]
    assert "#### C" in chunks[0].text


def test_deeper_headings_start_a_chunk_of_their_own_where_it_does_not_fit():
    chunks = chunks_of(f"# A\n\n{LONG}\n\n#### B\n\n{LONG}\n\n##### C\n\n{LONG}")
    assert [chunk.breadcrumb for chunk in chunks] == [("A",), ("A", "B"), ("A", "B", "C")]


def test_a_chunk_over_two_deep_sections_bears_the_breadcrumb_that_holds_for_both():
    chunks = chunks_of(f"# A\n\n{WORDS * 16}\n\n#### B\n\n{WORDS * 4}\n\n#### C\n\n{WORDS * 4}")
    assert [chunk.breadcrumb for chunk in chunks] == [("A",), ("A",)]
    assert chunks[1].text.startswith("#### B")


def test_a_heading_alone_goes_with_its_first_subsection():
    chunks = chunks_of(f"# A\n\n## B\n\n{LONG}\n\n## C\n\n{LONG}")
    assert [chunk.breadcrumb for chunk in chunks] == [("A", "B"), ("A", "C")]
    assert chunks[0].text.startswith("# A\n\n## B\n")


def test_a_tiny_section_never_goes_with_its_sibling():
    chunks = chunks_of("# A\n\n## B\n\nshort.\n\n## C\n\nshort too.")
    assert [chunk.breadcrumb for chunk in chunks] == [("A", "B"), ("A", "C")]


def test_a_tiny_beginning_of_the_page_goes_with_the_first_section():
    assert [chunk.breadcrumb for chunk in chunks_of(f"badge\n\n# A\n\n{LONG}")] == [("A",)]
    assert [chunk.breadcrumb for chunk in chunks_of(f"{LONG}\n\n# A\n\n{LONG}")] == [(), ("A",)]


def test_a_long_section_is_cut_between_paragraphs():
    chunks = chunks_of("\n\n".join(["# A", LONG, LONG, LONG]))
    assert [chunk.breadcrumb for chunk in chunks] == [("A",)] * 3
    assert all(chunk.text.rstrip().endswith("ten.") for chunk in chunks)


def test_a_long_paragraph_is_cut_between_sentences():
    chunks = chunks_of(f"# A\n\n{WORDS * 60}")
    assert len(chunks) > 3
    assert all(chunk.text.endswith("ten.") for chunk in chunks)


def test_chinese_and_japanese_are_cut_after_their_own_full_stops():
    chunks = chunks_of("# 鍵\n\n" + "署名鍵は毎月回します。" * 100)
    assert len(chunks) > 4
    assert all(chunk.text.endswith("。") for chunk in chunks)
    assert all(chunk.token_estimate <= 250 for chunk in chunks)


def test_a_heading_does_not_end_a_chunk():
    chunks = chunks_of(f"# A\n\n{LONG}\n\n{WORDS * 4}\n\n#### B\n\n{LONG}")
    assert not any(chunk.text.rstrip().endswith("#### B") for chunk in chunks)


def test_a_line_that_announces_a_block_goes_with_it():
    code = "\n".join(f"step {number}" for number in range(40))
    chunks = chunks_of(f"# A\n\n{LONG}\n\nRun the following:\n\n```sh\n{code}\n```\n")
    assert [chunk.text.startswith("Run the following:") for chunk in chunks] == [False, True]


def test_every_piece_of_a_table_starts_with_its_head():
    head = "| Name | Meaning |\n| :--- | :--- |\n"
    chunks = chunks_of("# A\n\n" + head + "".join(f"| key{n} | value {n} |\n" for n in range(200)))
    assert len(chunks) > 5
    assert chunks[0].text.startswith("# A\n\n" + head + "| key0 |")
    assert all(chunk.lead == head and chunk.text.startswith(head + "| key") for chunk in chunks[1:])
    rows = [line for chunk in chunks for line in chunk.text.split("\n") if line.startswith("| key")]
    assert rows == [f"| key{n} | value {n} |" for n in range(200)]


def test_a_tables_head_that_is_too_long_is_not_repeated():
    head = "| " + WORDS * 8 + " | b |\n|---|---|\n"
    chunks = chunks_of("# A\n\n" + head + "".join(f"| key{n} | value {n} |\n" for n in range(100)))
    assert {chunk.lead for chunk in chunks} == {""}


@pytest.mark.parametrize(
    ("opening", "closing", "margin"),
    [("```yaml", "```", ""), ("~~~~ js {a=1}", "~~~~", ""), ("  ```", "  ```", "  "), ("> ```sh", "> ```", "> ")],
)
def test_every_piece_of_a_fence_is_a_fence(opening, closing, margin):
    lines = [f"{margin}line {number}" for number in range(200)]
    chunks = chunks_of("\n".join(["# A", "", opening, *lines, closing]))
    assert len(chunks) > 2
    assert [chunk.lead for chunk in chunks] == ["", *[f"{opening}\n"] * (len(chunks) - 1)]
    assert [chunk.tail for chunk in chunks] == [*[f"\n{closing}"] * (len(chunks) - 1), ""]
    assert chunks[-1].text.endswith(f"line 199\n{closing}")
    shown = [line for chunk in chunks for line in chunk.text.split("\n") if line.startswith(f"{margin}line")]
    assert shown == lines


def test_a_fence_behind_a_list_marker_is_reopened_without_the_marker():
    lines = [f"  line {number}" for number in range(200)]
    chunks = chunks_of("\n".join(["- ```sh", *lines, "  ```"]))
    assert {chunk.lead for chunk in chunks[1:]} == {"  ```sh\n"}


def test_a_fence_that_never_closes_is_closed_in_every_piece_but_the_last():
    chunks = chunks_of("```sh\n" + "\n".join(f"line {number}" for number in range(200)))
    assert all(chunk.text.endswith("\n```") for chunk in chunks[:-1])
    assert chunks[-1].text.endswith("line 199")


def test_the_first_line_of_a_piece_keeps_its_indentation():
    code = "\n".join(f"    indented {number}" for number in range(200))
    assert all(chunk.text.startswith("    indented") for chunk in chunks_of(code))


def test_a_tiny_end_is_given_back_to_the_chunk_before():
    page = "# A\n\n" + "\n\n".join([WORDS * 16, "Last words."])
    sizes = {"chunk_tokens": estimate_tokens("A\n# A\n\n" + WORDS * 16), "max_tokens": 250}
    assert len(chunks_of(page, **sizes)) == 1
    assert len(chunks_of(page, **sizes | {"max_tokens": sizes["chunk_tokens"]})) == 2


def test_lines_and_offsets_point_into_the_stored_text():
    document = parse(f"---\ntitle: T\n---\n# A\n\n{LONG}\n\n## B\n\n{LONG}\n", "page.md")
    second = cut(document, ChunkSettings())[1]
    lines = document.text.split("\n")
    assert "\n".join(lines[second.first_line : second.last_line + 1]).startswith("## B\n\none")
    assert document.text[second.start : second.end] == second.text


def test_cutting_is_deterministic():
    document = parse(f"# A\n\n{LONG * 5}\n\n| a |\n|---|\n" + "| b |\n" * 300, "page.md")
    assert cut(document, ChunkSettings()) == cut(document, ChunkSettings())


def test_the_embedded_text_starts_with_title_and_breadcrumb():
    assert embedded_text("Keys", ("Keys", "Rotation"), "text") == "Keys > Rotation\ntext"
    assert embedded_text("Keys", ("Rotation",), "text") == "Keys > Rotation\ntext"
    assert embedded_text("Keys", (), "text") == "Keys\ntext"
    assert embedded_text("", (), "text") == "text"


def test_a_head_never_grows_beyond_its_share():
    deep = tuple(f"Section {number} about {WORDS}" for number in range(6))
    line = head_line(head_path("A title " + WORDS * 5, deep))
    assert estimate_tokens(line) <= HEAD_TOKENS
    assert line.startswith("A title")
    assert line.split(" > ")[-1].startswith("Section 5")
    assert estimate_tokens(head_line(("漢" * 500, "字" * 500))) <= HEAD_TOKENS


def test_long_headings_do_not_eat_the_chunk():
    page = "".join(f"{'#' * level} {WORDS * 20}\n\n" for level in (1, 2, 3)) + LONG * 4
    assert all(chunk.token_estimate <= 250 for chunk in chunks_of(page))


def test_a_scale_makes_chunks_smaller():
    usual = chunks_of(f"# A\n\n{LONG * 10}")
    scaled = chunks_of(f"# A\n\n{LONG * 10}", token_scale=1.5)
    assert len(scaled) > 1.3 * len(usual)
    assert all(chunk.token_estimate <= 250 for chunk in scaled)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"chunk_tokens": 50}, "chunk_tokens 50 is too small: use 96 or more"),
        ({"chunk_tokens": 120, "token_scale": 2.0}, "chunk_tokens 120 is too small: use 192 or more"),
        ({"max_tokens": 150}, "max_tokens 150 is below chunk_tokens 200: raise it"),
        ({"token_scale": 0.0}, "token_scale 0.0 is out of range: use 0.1 to 10"),
    ],
)
def test_sizes_that_leave_no_room_for_text_are_refused(sizes, message):
    with pytest.raises(InvalidArgument) as refused:
        ChunkSettings(**sizes)
    assert str(refused.value) == message
