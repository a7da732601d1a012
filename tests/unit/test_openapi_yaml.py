"""YAML 1.2 as specs need it: values stay what they are, and what is hostile is refused before it costs anything."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from refdesk.errors import InvalidArgument
from refdesk.openapi.reader import NoSpec, may_be_spec, read_spec
from refdesk.openapi.yaml_text import read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("y: 1", {"y": 1}),
        ("no: off", {"no": "off"}),
        ("200: {on: yes}", {"200": {"on": "yes"}}),
        ("null: ~", {"null": None}),
        ("a: 12:30", {"a": "12:30"}),
        ("a: 2024-01-31", {"a": "2024-01-31"}),
        ("a: 0o17", {"a": 15}),
        ("a: 0x1F", {"a": 31}),
        ("a: 010", {"a": 10}),
        ("a: 1_000", {"a": "1_000"}),
        ("a: +1.5e3", {"a": 1500.0}),
        ("a: '1'", {"a": "1"}),
        ("a: True", {"a": True}),
        ("a:", {"a": None}),
        ("a: !!python/object:os.system x", {"a": "x"}),
        ("a: &b {c: 1}\nd: *b", {"a": {"c": 1}, "d": {"c": 1}}),
        ("a: &b {c: 1}\nd: {<<: *b, e: 2}", {"a": {"c": 1}, "d": {"c": 1, "e": 2}}),
        ("a: {'<<': {b: 1}}", {"a": {"<<": {"b": 1}}}),
    ],
)
def test_values_are_those_of_the_core_schema_of_yaml_1_2(text: str, value: Any) -> None:
    assert read_yaml(text) == value


_LETTERS = st.characters(
    categories=("L", "N", "P", "S", "Zs"), max_codepoint=0xFFFF
)  # JSON writes others as no YAML does
_SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.text(_LETTERS, max_size=12))
_TREES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(_LETTERS, max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)


_ONLY_NUMBERS_OF_1_2 = re.compile(r"""(?<!['"])\b[0-9.]*[0-9][0-9.]*[eE][-+]?[0-9]+\b|\b0o[0-7]+\b""")


@given(_TREES)
def test_json_is_read_as_json_reads_it(tree: Any) -> None:
    assert read_yaml(json.dumps({"a": tree})) == json.loads(json.dumps({"a": tree}))


@given(_TREES)
def test_what_another_writer_wrote_is_read_back(tree: Any) -> None:
    """PyYAML writes YAML 1.1, which quotes more than 1.2 needs, and less only for texts such as 1e5 and 0o7: no numbers to it."""
    written = yaml.safe_dump({"a": tree}, allow_unicode=True, default_flow_style=False)
    assume(not _ONLY_NUMBERS_OF_1_2.search(written))
    assert read_yaml(written) == {"a": tree}


def bomb(levels: int, width: int) -> bytes:
    lines = ["openapi: 3.0.0", "a0: &a0 [x]"]
    for level in range(1, levels):
        lines.append(f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]")
    return "\n".join(lines).encode()


def deep_aliases(count: int) -> bytes:
    lines = ["openapi: 3.0.0", "a0: &a0 [x]"]
    return "\n".join([*lines, *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, count))]).encode()


HOSTILE = {
    "aliases of aliases": (bomb(12, 9), "values, with what its aliases stand for"),
    "merges of merges": (
        b"openapi: 3.0.0\na0: &a0 {k: 1}\n"
        + b"\n".join(b"a%d: &a%d {x: [%s]}" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 20)) for n in range(1, 12)),
        "values, with what its aliases stand for",
    ),
    "a chain of aliases": (deep_aliases(500), "nested more than 100 deep"),
    "itself": (b"openapi: 3.0.0\npaths: &a {b: *a}", "line 2: anchor a stands within itself"),
    "no such anchor": (b"openapi: 3.0.0\npaths: *nowhere", "nowhere"),
    "deep flow": (b"openapi: 3.0.0\npaths: " + b"[" * 100_000, "nest"),
    "deep blocks": (
        b"openapi: 3.0.0\n" + b"".join(b" " * n + b"a:\n" for n in range(1500)),
        "nested more than 100 deep",
    ),
    "deep json": (
        b'{"openapi": "3.0.0", "paths": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        "nested more than 100 deep",
    ),
    "less deep json": (b'{"openapi": "3.0.0", "a": ' + b"[" * 300 + b"]" * 300 + b"}", "nested more than 100 deep"),
    "a key of keys": (b"openapi: 3.0.0\n? {a: 1}\n: b", "line 2: a key must be a text"),
    "not UTF-8": (b"openapi: 3.0.0\n\xff", "not UTF-8 at byte 15"),
    "a control character": (b"openapi: 3.0.0\na: \x00", "not valid YAML"),
    "half of it": (b"openapi: 3.0.0\npaths: {a: [", "not valid YAML"),
    "half of json": (b'{"openapi": "3.0.0", "paths": {', "not valid JSON: line 1"),
    "a version to come": (b"openapi: 4.0.0", "of version 4.0.0; 2.0 and 3.0 to 3.2 are read"),
    "a large file": (b"openapi: 3.0.0\n" + b"#" * 17_000_000, "at most 16,777,216 are read"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_hostile_or_broken_is_refused_within_a_second(name: str) -> None:
    content, reason = HOSTILE[name]
    started = time.process_time()
    with pytest.raises(InvalidArgument) as refused:
        read_spec(content)
    assert reason in refused.value.message
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("content", "may"),
    [
        (b"openapi: 3.1.0", True),
        (b"\xef\xbb\xbfopenapi: 3.1.0", True),
        (b"info: {}\r\nswagger : '2.0'", True),
        (b'{"info": {}, "openapi":"3.0.0"}', True),
        (b"name: openapi\n", False),
        (b"a:\n  openapi: 3.0.0\n", False),
        (b"", False),
    ],
)
def test_a_spec_is_told_by_its_content(content: bytes, may: bool) -> None:
    assert may_be_spec(content) is may


@pytest.mark.parametrize("content", [b'{"a": {"openapi": "3.0.0"}}', b'"openapi": {}', b"- openapi", b"openapi: true"])
def test_what_only_looks_like_a_spec_is_none(content: bytes) -> None:
    with pytest.raises(NoSpec):
        read_spec(content)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_in_our_own_words(content: bytes) -> None:
    try:
        read_spec(b"openapi: 3.0.0\n" + content)
    except InvalidArgument as refused:
        assert refused.message.isprintable()
