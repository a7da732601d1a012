import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import InvalidArgument
from refdesk.ingest.formats.document import BlockKind
from refdesk.ingest.formats.markdown import parse, readable_name, structure, summarise_section


def headings(text):
    return [(section.level, section.heading) for section in parse(text, "page.md").sections if section.level]


def test_breadcrumbs_are_the_headings_above():
    document = parse("# Runbooks\n\n## Signing keys\n\n### Rotation\n\ntext\n\n## Other\n", "runbooks/keys.md")
    assert [" > ".join(section.breadcrumb) for section in document.sections] == [
        "Runbooks",
        "Runbooks > Signing keys",
        "Runbooks > Signing keys > Rotation",
        "Runbooks > Other",
    ]


def test_a_section_ends_where_the_next_of_its_level_starts_and_its_body_at_its_first_subsection():
    document = parse("# A\none\n## B\ntwo\n# C\nthree", "page.md")
    first, second, third = document.sections
    assert document.text[first.start : first.end] == "# A\none\n## B\ntwo\n"
    assert document.text[first.start : first.body_end] == "# A\none\n"
    assert (first.start_line, first.body_end_line, first.end_line) == (0, 2, 4)
    assert document.text[second.start : second.end] == "## B\ntwo\n"
    assert document.text[third.start : third.end] == "# C\nthree"
    assert (third.start_line, third.end_line) == (4, 6)


def test_text_before_the_first_heading_is_a_section_of_level_0_without_breadcrumb():
    section = parse("intro\n\n# A\n", "page.md").sections[0]
    assert (section.level, section.heading, section.breadcrumb) == (0, "", ())
    assert (section.start, section.body_end, section.end) == (0, 7, 7)


def test_a_level_that_skips_hangs_under_the_last_one_above_it():
    document = parse("# A\n#### D\n## B\n", "page.md")
    assert [section.breadcrumb for section in document.sections] == [("A",), ("A", "D"), ("A", "B")]


def test_equal_headings_get_ordinals():
    document = parse("# A\n## X\n## X\n# B\n## X\n## X\n", "page.md")
    assert [(section.breadcrumb[-1], section.ordinal) for section in document.sections] == [
        ("A", 0),
        ("X", 0),
        ("X", 1),
        ("B", 0),
        ("X", 0),
        ("X", 1),
    ]


def test_headings_of_all_six_levels_are_found():
    assert headings("".join(f"{'#' * level} h{level}\n" for level in range(1, 8))) == [
        (level, f"h{level}") for level in range(1, 7)
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("# Plain", "Plain"),
        ("   # Indented", "Indented"),
        ("#\tTab", "Tab"),
        ("# Closed ##", "Closed"),
        ("# C#", "C#"),
        ("# Use `__init__` and *stars*", "Use __init__ and stars"),
        ("# **Bold** and __lines__ and snake_case_name", "Bold and lines and snake_case_name"),
        ("# [Link](https://example.com/a_(b)) and [ref][x]", "Link and ref"),
        ("# ![Logo](logo.png) Name", "Logo Name"),
        ("# Anchored {#anchor}", "Anchored"),
        ("# Classed {: .no_toc }", "Classed"),
        ("# AT&amp;T \\*literal\\*", "AT&T *literal*"),
        ("# <a name='x'></a>Named", "Named"),
        ("# GET /_cat/{index}/<name>", "GET /_cat/{index}/<name>"),
        ("# 日本語の見出し", "日本語の見出し"),
    ],
)
def test_a_headings_text_is_what_a_reader_sees(line, expected):
    assert headings(line) == [(1, expected)]


@pytest.mark.parametrize("line", ["#no space", "    # code", "\\# escaped", "#", "# #", "####### seven", "> # quoted"])
def test_what_is_no_heading_is_not_taken_for_one(line):
    assert headings(line) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Title\n=====\n", [(1, "Title")]),
        ("Title\n-\n", [(2, "Title")]),
        ("two\nlines\n---\n", [(2, "two lines")]),
        ("para\n\n---\n", []),
        ("---\n\npara\n", []),
        ("- item\n---\n", []),
        ("- item\n\n  inner\n  ---\n", []),
        ("> quote\n---\n", []),
        ("> quote\nlazy\n---\n", []),
        ("| a | b |\n| - | - |\n| c | d |\n---\n", []),
        ("a | b\n--- | ---\nc | d\n", []),
        ("# A\n---\n", [(1, "A")]),
        ("    code\n---\n", []),
        ("Title\n= =\n", []),
    ],
)
def test_setext_headings_are_told_from_breaks_tables_lists_and_quotes(text, expected):
    assert headings(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```\n",
        "~~~\n# no\n~~~\n",
        "````\n```\n# no\n```\n# no\n````\n",
        "~~~\n```\n# no\n~~~\n",
        "```\n# no\n`````\n",
        "```sh\n# no\n```sh\n# no\n```\n",
        "- item\n\n  ```\n# no, outdented\n  ```\n",
        "1. item\n\n   ~~~\n   # no\n   ~~~\n",
        "- ```\n  # no\n  ```\n",
        "  - deep\n    - deeper\n\n      ```\n      # no\n      ```\n",
        "> ```\n> # no\n> ```\n",
        "```\n# no\n",
        "``` js {a=1}\n# no\n",
        "<pre>\n# no\n</pre>\n",
        "<pre class='x'><code>\n# no\n</code></pre>\n",
        "<!--\n# no\n-->\n",
        "text <!-- a\n# no\n--> text\n",
        "<!-- never closed\n# no\n",
        "text\n\n    # no\n",
    ],
)
def test_there_are_no_headings_in_code_and_comments(text):
    assert headings(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "```\ncode\n```\n# yes\n",
        "````\n```\n````\n# yes\n",
        "~~~\n```\n~~~\n# yes\n",
        "> ```\n> code\n# yes\n",
        "`` ``` ``\n# yes\n",
        "```not a fence``` at all\n# yes\n",
        "<!-- a --><!-- b -->\n# yes\n",
        "`<!--` is how a comment starts\n# yes\n",
        "`<pre>` is a tag\n# yes\n",
        "- ```\n  code\n  ```\n# yes\n",
    ],
)
def test_headings_after_code_and_comments_count_again(text):
    assert headings(text) == [(1, "yes")]


def test_blocks_are_told_apart():
    text = (
        "para\nmore\n\n- item\n- item\n\n| a |\n|---|\n| b |\n\n> quote\n\n```\ncode\n```\n\n    code\n\n***\n\n# H\n"
    )
    assert [(block.kind, block.start, block.end) for block in parse(text, "p.md").blocks] == [
        (BlockKind.PARAGRAPH, 0, 2),
        (BlockKind.ITEM, 3, 4),
        (BlockKind.ITEM, 4, 5),
        (BlockKind.TABLE, 6, 9),
        (BlockKind.QUOTE, 10, 11),
        (BlockKind.FENCE, 12, 15),
        (BlockKind.CODE, 16, 17),
        (BlockKind.BREAK, 18, 19),
        (BlockKind.HEADING, 20, 21),
    ]


def test_title_comes_from_front_matter_then_the_first_h1_then_the_name():
    assert parse("---\ntitle: Front\n---\n# Head\n", "file-name.md").title == "Front"
    assert parse("## Sub\n\n# Head\n\n# Second\n", "file-name.md").title == "Head"
    assert parse("## Sub\n", "guide/file-name.md").title == "File name"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("getting-started.md", "Getting started"),
        ("a/b/how_to_rotate.mdx", "How to rotate"),
        ("guides/install/index.md", "Install"),
        ("operators/README.md", "Operators"),
        ("README.md", "README"),
        ("v1.2-notes", "V1.2 notes"),
    ],
)
def test_a_file_name_reads_as_words(path, expected):
    assert readable_name(path) == expected


def test_summary_comes_from_front_matter_else_the_first_sentence_of_prose():
    assert parse("---\ndescription: Said so.\n---\nText.", "p.md").summary == "Said so."
    text = "# H\n\n![img](x.png)\n\n- item\n\nUse **keys**, e.g. `k1`, with [care](x). Second sentence.\n"
    assert parse(text, "p.md").summary == "Use keys, e.g. k1, with care."
    assert parse("鍵を回します。次の文。", "p.md").summary == "鍵を回します。"
    assert parse("word " * 200, "p.md").summary.endswith("word…")
    assert parse("# H\n", "p.md").summary == ""


def test_a_sections_summary_is_the_first_sentence_of_its_own_body():
    document = parse("# A\n\nOne. Two.\n\n## B\n\nThree! Four.\n\n## C\n", "p.md")
    assert [summarise_section(document, section) for section in document.sections] == ["One.", "Three!", ""]


def test_what_front_matter_says_of_a_page_is_kept():
    document = parse(
        "---\nversion: v3\nkind: api\nlang: de\nurl: https://example.com/x\ndraft: true\npublished: false\n---\ntext",
        "p.md",
    )
    assert (document.version, document.kind, document.language) == ("v3", "api", "de")
    assert (document.url, document.draft, document.published) == ("https://example.com/x", True, False)


def test_broken_front_matter_is_a_warning_and_no_heading():
    document = parse("---\ntitle: a: b\n---\n# H\n", "p.md")
    assert [section.heading for section in document.sections if section.level] == ["H"]
    assert len(document.warnings) == 1


@pytest.mark.parametrize(
    "raw",
    [
        "# Schlüssel\n\nä".encode(),
        "\ufeff# Schlüssel\n\nä".encode(),
        "\ufeff# Schlüssel\n\nä".encode("utf-16-le"),
        "\ufeff# Schlüssel\n\nä".encode("utf-16-be"),
        "# Schlüssel\r\n\r\nä\r\n".encode(),
        "# Schlüssel\r\rä".encode(),
        "# Schl\x00üssel\n\nä\n\n\n".encode(),
        "\n\n# Schlüssel\n\nä".encode(),
    ],
)
def test_byte_order_marks_line_ends_and_nul_leave_no_trace(raw):
    document = parse(raw, "p.md")
    assert document.text == "# Schlüssel\n\nä"
    assert document.title == "Schlüssel"


def test_front_matter_is_found_behind_a_byte_order_mark_and_windows_line_ends():
    assert parse(b"\xef\xbb\xbf---\r\ntitle: T\r\n---\r\nbody\r\n", "p.md").title == "T"


def test_latin_1_is_refused_with_the_byte_and_what_to_do():
    with pytest.raises(InvalidArgument) as refused:
        parse("# Schl\u00fcssel".encode("latin-1"), "p.md")
    assert str(refused.value) == "byte 6 is not UTF-8: save the file as UTF-8"


def test_half_a_utf_16_character_is_refused():
    with pytest.raises(InvalidArgument, match="UTF-16"):
        parse(b"\xff\xfea", "p.md")


@pytest.mark.parametrize("text", ["", " \n\t\n", "---\ntitle: T\n---\n", "---\ntitle: T\n---\n\n  \n", "<!-- x -->"])
def test_a_page_without_text_has_neither_sections_nor_blocks(text):
    document = parse(text, "p.md")
    assert (document.text, document.sections, document.blocks) == ("", (), ())


LINES = """# A|## B|text|- item|  more|    code|```|~~~|> q|---|===||a: b|<div>|</div>|<!--|-->|<pre>|</pre>|{: .x}|:::note|1. one"""
PAGE = st.lists(
    st.sampled_from([*LINES.split("|"), "| a | b |", "| - | - |", "import X from 'y'", "\tx"]), max_size=30
).map("\n".join)


@given(PAGE)
def test_stored_text_has_the_structure_that_parsing_found(text):
    document = parse(text, "p.md")
    again = structure(document.text, title=document.title)
    assert (again.sections, again.blocks) == (document.sections, document.blocks)


@given(PAGE)
def test_sections_lie_one_after_another_and_cover_the_text(text):
    document = parse(text, "p.md")
    end = 0
    for section in document.sections:
        assert section.start == end
        assert section.start <= section.body_end <= section.end <= len(document.text)
        end = section.body_end
    assert end == len(document.text)


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_no_text_makes_parsing_fail(text):
    document = parse(text.encode(), "p.md")
    assert "\r" not in document.text
    assert "\x00" not in document.text
