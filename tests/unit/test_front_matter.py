import pytest

from refdesk.ingest.formats.front_matter import MAX_CHARACTERS, flag_value, read_front_matter, text_value


def test_values_are_read_and_the_body_starts_after_the_closing_line():
    matter = read_front_matter("---\ntitle: Keys\nnav_order: 5\ntags: [a, b]\n---\n# Keys\n")
    assert matter.values == {"title": "Keys", "nav_order": 5, "tags": ["a", "b"]}
    assert matter.body == "# Keys\n"
    assert matter.warning == ""


def test_dots_close_the_block_too():
    assert read_front_matter("---\ntitle: Keys\n...\nbody").body == "body"


@pytest.mark.parametrize(
    "text", ["", "# Keys\n", "text\n---\ntitle: no\n---\n", "----\ntitle: no\n----\n", "---\nopen: 1"]
)
def test_a_page_without_front_matter_is_all_body(text):
    matter = read_front_matter(text)
    assert (matter.values, matter.body, matter.warning) == ({}, text, "")


def test_text_between_thematic_breaks_is_not_front_matter():
    text = "---\njust a sentence\n---\nmore"
    assert read_front_matter(text).body == text


def test_an_empty_block_is_dropped():
    assert read_front_matter("---\n---\nbody").body == "body"


def test_a_block_that_is_not_yaml_stays_as_a_fence_and_the_warning_names_the_line():
    matter = read_front_matter("---\ntitle: Keys\nbad: a: b\n---\nbody")
    assert matter.body == "```yaml\ntitle: Keys\nbad: a: b\n```\nbody"
    assert matter.values == {}
    assert "line 3" in matter.warning


@pytest.mark.parametrize(
    "source",
    [
        "a: 2024-13-45",
        "a: " + "9" * 5000,
        "? {a: b}\n: c",
        "a: !!python/object/apply:os.system [ls]",
        "a: b\n\ta: c",
        "[" * 3000,
    ],
)
def test_nothing_that_an_author_writes_there_raises(source):
    matter = read_front_matter(f"---\n{source}\n---\nbody")
    assert matter.body.endswith("body")
    assert matter.values == {} or matter.warning == ""


def test_dates_and_infinities_become_text():
    values = read_front_matter("---\nday: 2024-01-31\nat: 2024-01-31 10:00:00\nmost: .inf\n7: seven\n---\n").values
    assert values == {"day": "2024-01-31", "at": "2024-01-31T10:00:00", "most": "inf", "7": "seven"}


def test_a_few_aliases_are_read():
    assert read_front_matter("---\na: &x [1]\nb: *x\n---\n").values == {"a": [1], "b": [1]}


def test_many_aliases_are_refused():
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 30)]
    matter = read_front_matter("---\n" + "\n".join(lines) + "\n---\n")
    assert matter.values == {}
    assert "58 aliases" in matter.warning


def test_eight_aliases_cannot_multiply_beyond_the_bound():
    wide = ", ".join("x" * 1 for _ in range(1000))
    source = f"a: &a [{wide}]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]"
    assert "5000 values" in read_front_matter(f"---\n{source}\n---\n").warning


def test_a_value_that_holds_itself_is_refused():
    assert "deep" in read_front_matter("---\na: &a [*a]\n---\n").warning


def test_a_block_that_never_closes_within_its_bound_is_text():
    text = "---\n" + "a: b\n" * MAX_CHARACTERS + "---\n"
    assert read_front_matter(text).body == text


def test_text_value_takes_the_first_name_that_says_something():
    values = read_front_matter("---\ntitle:\nname: ' two  words '\nversion: 3.10\nflag: true\n---\n").values
    assert text_value(values, "title", "name") == "two words"
    assert text_value(values, "version") == "3.1"
    assert text_value(values, "flag") == ""


@pytest.mark.parametrize(("source", "expected"), [("true", True), ("'no'", False), ("2024-01-01", True), ("[1]", True)])
def test_flag_value_reads_yes_and_no_and_takes_the_default_for_the_rest(source, expected):
    values = read_front_matter(f"---\npublished: {source}\n---\n").values
    assert flag_value(values, "published", True) is expected
