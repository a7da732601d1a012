"""Configuration: defaults, file, environment, aliases, and one clear line for whatever is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from refdesk.errors import InvalidArgument
from refdesk.settings import load


def write(folder: Path, text: str) -> str:
    path = folder / "refdesk.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_defaults_need_no_file() -> None:
    assert load("", {}, {}).projects == {}


def test_environment_wins_over_file_and_overrides_win_over_both(tmp_path: Path) -> None:
    file = write(tmp_path, "rpc: {listen: '127.0.0.1:1', search: '127.0.0.1:2', docstore: '127.0.0.1:3'}")
    environment = {"REFDESK_RPC__SEARCH": "127.0.0.1:22", "REFDESK_RPC__DOCSTORE": "127.0.0.1:33"}
    rpc = load(file, environment, {"rpc": {"docstore": "127.0.0.1:333"}}).rpc
    assert (rpc.listen, rpc.search, rpc.docstore) == ("127.0.0.1:1", "127.0.0.1:22", "127.0.0.1:333")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "rpc: {lisen: x}",
            "rpc.lisen is not a setting; valid here: docstore, embedder, health_listen, ingest, listen, search",
        ),
        ("projects: {docs: {}}", "projects: docs is a reserved name; call the project something else"),
        ("projects: {UPPER: {}}", "projects.UPPER.[key]: string should match pattern"),
        (
            "projects: {a: {sources: [{name: x, paht: /d}]}}",
            "projects.a.sources.0.paht is not a setting; valid here: base_url, chunk_tokens, contexts",
        ),
        (
            "projects: {a: {sources: [{name: x, path: /d}, {name: x, kind: push}]}}",
            "two sources have the same name; give each a name of its own",
        ),
        (
            "projects: {a: {sources: [{name: x, kind: folder}]}}",
            "projects.a.sources.0: a source of kind folder needs path, the folder that it follows",
        ),
        ("projects: {a: {sources: [{name: x, path: ' '}]}}", "needs path"),
        ("projects: {a: {surfaces: [sites]}}", "projects.a.surfaces: no surface sites is served; valid: docs"),
        ("[1, 2]", "must hold keys such as projects:"),
        ("a: [", "is not YAML at line"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, line: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        load(write(tmp_path, text), {}, {})
    assert line in caught.value.message
    assert "\n" not in caught.value.message
    assert "pydantic" not in caught.value.message


def test_an_unknown_variable_stops_the_start() -> None:
    with pytest.raises(InvalidArgument, match="serach is not a setting"):
        load("", {"REFDESK_SERACH__X": "1"}, {})


def test_variables_of_commands_and_tests_are_no_settings() -> None:
    environment = {"REFDESK_URL": "http://x", "REFDESK_TEST_FAILPOINT": "a=kill", "REFDESK_CORPORA": "/c"}
    assert load("", environment, {}) == load("", {}, {})


@pytest.mark.promise("docs.8")
@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("SEARCH_MAX_RESULT_CHARS", "9000", "search_max_result_chars", 9000),
        ("MCP_STRUCTURED_OUTPUT", "1", "structured_output", True),
        ("MCP_STRUCTURED_OUTPUT", "0", "structured_output", False),
    ],
)
def test_the_known_names_are_aliases(name: str, text: str, key: str, value: Any) -> None:
    assert getattr(load("", {name: text}, {}).gateway, key) == value


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(InvalidArgument, match=r"nowhere\.yaml cannot be read"):
        load("nowhere.yaml", {}, {})
