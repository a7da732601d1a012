"""Bad input for every argument of every tool: one line that says what is wrong and what is valid.

What each argument may not be is made from the tables of arguments, so that a new one is tested by being there. What only its meaning can
tell stands in rows by hand, and an argument without a row fails.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from refdesk.gateway.arguments import RECORDS, TEXT, TEXTS, Argument, Tool, input_schema
from surfaces.bad_desk import ALL, DOCUMENTS, TABLES, ask, assert_one_line, call, make_bad_desk
from surfaces.bad_values import make_bad, right_arguments, right_value
from system.desks import DeskProcess, running

pytestmark = pytest.mark.slow
Json = dict[str, Any]
KEYS, TRAVEL = "handbook/ops/keys.md", "handbook/travel.md"
UP = "../../etc/passwd"
ODD = "a\x00b"
SURFACES = {**TABLES, "all": ALL}

WORDS = {
    ("search_docs", "query"),
    ("search_api", "query"),
    ("search_instructions", "plan"),
    ("get_toc", "query"),
    ("search", "query"),
    ("query", "query"),
    ("query", "intent"),
}
"""Arguments that any words are right for."""

Row = tuple[str, str, str, Json, tuple[str, ...]]
NO_SET = ('no documentation set "', "its sets: handbook, shop, wiki")
ROWS: list[Row] = [
    # surface, tool, argument, arguments, what the refusal says
    (
        "docs",
        "search_docs",
        "source",
        {"query": "k", "source": "nope"},
        ('"nope"', "its sources: handbook, shop, wiki"),
    ),
    ("docs", "search_docs", "source", {"query": "k", "source": UP}, (UP, "its sources: handbook, shop, wiki")),
    ("docs", "search_docs", "version", {"query": "k", "version": "v9"}, ('"v9"', "its versions: v1")),
    ("docs", "search_docs", "path_prefix", {"query": "k", "path_prefix": UP}, (UP, "list_topics")),
    ("docs", "search_docs", "path_prefix", {"query": "k", "path_prefix": "handbook\\ops"}, ("whole segments with /",)),
    ("all", "search_docs", "pageTypeIds", {"query": "k", "pageTypeIds": ["nope"]}, ("nope", "handbook, shop, wiki")),
    (
        "all",
        "search_docs",
        "pageTypeIds",
        {"query": "k", "source": "shop", "pageTypeIds": ["handbook"]},
        ("shop", "none of pageTypeIds", "leave one of the two out"),
    ),
    ("docs", "list_topics", "cursor", {"cursor": "abc"}, ("cursor is not one that list_topics gave", "without cursor")),
    ("docs", "list_topics", "cursor", {"cursor": UP}, ("cursor is not one that list_topics gave", "without cursor")),
    ("docs", "read_document", "path", {"path": UP}, (UP, "list_topics shows every path")),
    ("docs", "read_document", "path", {"path": "/handbook/../x\ny"}, ("no document", "nearest: handbook/")),
    ("docs", "read_document", "path", {"path": "x" * 5_000}, ("path has more than 4096 characters",)),
    ("docs", "read_document", "path", {"path": "x" * 4_000}, ("no document", "list_topics shows every path")),
    ("docs", "read_document", "heading", {"path": KEYS, "heading": "Nope"}, ('"Nope"', '"Keys > Rotation"')),
    ("docs", "read_document", "heading", {"path": KEYS, "heading": "x\ny" * 5_000}, ('"Keys > Rotation"',)),
    ("docs", "read_document", "heading", {"path": KEYS, "heading": "Keys", "to": 0}, ("heading, or from and to",)),
    ("docs", "read_document", "from", {"path": KEYS, "from": 99}, ("from 99 is past the end", "chunks 0 to ")),
    ("docs", "read_document", "to", {"path": KEYS, "from": 1, "to": 0}, ("from 1 is",)),
    ("site", "get_documentation_set", "setId", {"setId": f"{UP}\nx"}, NO_SET),
    (
        "site",
        "get_documentation_set",
        "cursor",
        {"setId": "handbook", "cursor": UP},
        ("cursor is not", "without cursor"),
    ),
    ("site", "search_docs", "pageTypeIds", {"query": "k", "pageTypeIds": ["x\ny"]}, ("pageTypeIds: ", *NO_SET)),
    ("site", "search_api", "pageTypeIds", {"query": "k", "pageTypeIds": ["shop", UP]}, ("pageTypeIds: ", *NO_SET)),
    ("site", "get_pages_by_id", "from", {"pageIds": ["a", "b"], "from": 1}, ("from goes with one page", "pageIds")),
    ("site", "get_pages_by_path", "from", {"paths": ["/a/", "/b/"], "from": 1}, ("from goes with one page", "paths")),
    (
        "site",
        "get_pages_by_path",
        "from",
        {"paths": ["/handbook/travel/"], "from": 9},
        ("past the end", "chunks 0 to 0"),
    ),
    ("site", "get_openapi_spec", "setId", {"setId": "nope"}, NO_SET),
    ("notes", "query", "searches", {}, ("query needs searches", "or query", "one of the two")),
    ("notes", "query", "searches", {"searches": [{"type": "lex", "query": "-a"}]}, ("searches[0]", "add a term")),
    ("notes", "query", "searches", {"searches": [{"type": "lex", "query": '"a'}]}, ("odd quote", "both sides")),
    ("notes", "query", "collections", {"query": "k", "collections": ["nope"]}, ("nope", "valid: handbook, shop, wiki")),
    ("notes", "get", "file", {"file": UP}, ("document not found", UP, "status the collections")),
    ("notes", "get", "file", {"file": f"qmd://{UP}"}, ("document not found", UP)),
    ("notes", "get", "file", {"file": "handbook/tarvel.md"}, ("did you mean handbook/travel.md",)),
    ("notes", "get", "file", {"file": "#abcdef"}, ("no document has the docid #abcdef", "query again")),
    ("notes", "multi_get", "pattern", {"pattern": "../**"}, ('no files match "../**"',)),
    ("notes", "multi_get", "pattern", {"pattern": ","}, ("pattern must name 1 to 200",)),
    ("notes", "multi_get", "pattern", {"pattern": "[a"}, ('no files match "[a"',)),
    ("procedures", "get_toc", "document_id", {"document_id": UP}, (UP, "get_toc shows the ids of all")),
    ("procedures", "get_toc", "document_id", {"document_id": "a", "query": "b"}, ("document_id or query, not both",)),
    ("connector", "fetch", "id", {"id": UP}, (UP, "search gives ids")),
    ("connector", "fetch", "id", {"id": "x\n#9"}, ("no page has the id", "search gives ids")),
]
ITEMS: list[Row] = [
    # the same, where the answer is no error as a whole: each item says what is wrong with it
    ("site", "get_pages_by_id", "pageIds", {"pageIds": ["nope", ODD]}, ("page not found: nope",)),
    ("site", "get_pages_by_path", "paths", {"paths": [UP, "/%2e%2e/", ODD, "a\\b"]}, ("invalid path",)),
    ("site", "get_pages_by_path", "paths", {"paths": ["/nope/"]}, ("path is not within a documentation set: /nope/",)),
    ("site", "get_openapi_spec", "setId", {"setId": "handbook"}, ("this is no API set", "API sets: shop")),
    ("site", "get_openapi_spec", "operation", {"setId": "shop", "operation": "GET /nope"}, ("similar: GET /orders",)),
    ("site", "get_openapi_spec", "schema", {"setId": "shop", "schema": "zzz"}, ('no schema "zzz"', "it has: Order")),
    ("site", "get_openapi_spec", "diff", {"setId": "shop", "diff": UP}, NO_SET),
    ("site", "get_openapi_spec", "diff", {"setId": "shop", "diff": "handbook"}, ("diff: no OpenAPI spec is kept",)),
    ("notes", "multi_get", "pattern", {"pattern": f"nope.md,{UP}"}, ("document not found", "nope.md")),
    ("procedures", "get_section", "section_id", {"section_id": UP}, ("No such section",)),
]
"""The reference's own words, where they are not ours to choose."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskProcess]:
    with running(make_bad_desk(tmp_path_factory.mktemp("bad"))) as desk:
        desk.wait_until_settled(DOCUMENTS)
        yield desk


@pytest.mark.parametrize("surface", SURFACES)
def test_the_tables_are_all_that_a_surface_lists(desk: DeskProcess, surface: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    headers = {"Content-Type": "application/json", "Accept": "application/json", "MCP-Protocol-Version": "2025-11-25"}
    listed = json.loads(ask(desk, f"/mcp/default/{surface}", body, headers)[1])["result"]["tools"]
    assert {one["name"]: one["inputSchema"] for one in listed} == {
        tool.name: input_schema(tool.arguments) for tool in SURFACES[surface]
    }


@pytest.mark.promise("docs.5")
@pytest.mark.parametrize(
    ("surface", "tool"),
    [(surface, tool) for surface, tools in SURFACES.items() for tool in tools],
    ids=lambda one: getattr(one, "name", one),
)
def test_what_an_argument_does_not_take_is_refused_in_one_line_that_says_what_it_takes(
    desk: DeskProcess, surface: str, tool: Tool
) -> None:
    for argument in tool.arguments:
        rows = list(make_bad(argument))
        assert len(rows) >= 5, f"{tool.name} {argument.name}: nothing is made for its kind"
        for bad in rows:
            is_error, text = call(desk, surface, tool.name, {**right_arguments(tool), argument.name: bad.value})
            assert is_error, (tool.name, bad, text[:200])
            assert_one_line(text, *bad.says)
    if not tool.arguments:
        is_error, text = call(desk, surface, tool.name, {"setId": "handbook"})
        assert is_error
        assert_one_line(text, f"{tool.name} takes no arguments")


@pytest.mark.promise("docs.5")
@pytest.mark.parametrize("surface", SURFACES)
def test_an_unknown_argument_and_an_unknown_tool_are_refused_with_those_there_are(
    desk: DeskProcess, surface: str
) -> None:
    for tool in SURFACES[surface]:
        names = [one.name for one in tool.arguments]
        for name in ("nonsense", "x\ny\u2028\x00z" * 20, f"{names[0]}s" if names else "id"):
            is_error, text = call(desk, surface, tool.name, {**right_arguments(tool), name: 1})
            assert is_error
            assert_one_line(text, f"{tool.name} takes no argument", *names)
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a\nb\x00", "arguments": {}}}
    headers = {"Content-Type": "application/json", "Accept": "application/json", "MCP-Protocol-Version": "2025-11-25"}
    error = json.loads(ask(desk, f"/mcp/default/{surface}", body, headers)[1])["error"]
    assert_one_line(error["message"], "no tool", *(tool.name for tool in SURFACES[surface]))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[1]} {row[2]}")
def test_a_value_that_means_nothing_is_refused_in_one_line_that_says_what_there_is(desk: DeskProcess, row: Row) -> None:
    surface, tool, _, arguments, says = row
    for where in dict.fromkeys((surface, "all")):
        if where == "all" and (surface, tool) == ("site", "search_docs"):
            continue  # there it is the docs form of the tool
        is_error, text = call(desk, where, tool, arguments)
        assert is_error
        assert_one_line(text, *says)


@pytest.mark.parametrize("row", ITEMS, ids=lambda row: f"{row[1]} {row[2]}")
def test_an_item_that_means_nothing_says_so_by_itself(desk: DeskProcess, row: Row) -> None:
    surface, tool, argument, arguments, says = row
    is_error, text = call(desk, surface, tool, arguments)
    assert not is_error
    if surface == "site":
        answer = json.loads(text)
        for one in answer.get("resources", [answer]):
            assert one["url"] == ""
            error = one["error"]
            assert len(error.splitlines()) == 1
        text = answer.get("resources", [answer])[0]["error"]
    for one in says:
        assert one in text, argument


def test_no_argument_that_means_something_is_without_a_row_by_hand() -> None:
    named = {(tool, argument) for _, tool, argument, _, _ in (*ROWS, *ITEMS)} | WORDS
    meaning = {
        (tool.name, argument.name) for tools in SURFACES.values() for tool in tools for argument in with_meaning(tool)
    }
    assert meaning - named == set()
    assert (
        named
        - meaning
        - {(tool.name, one.name) for tools in SURFACES.values() for tool in tools for one in tool.arguments}
        == set()
    )


def with_meaning(tool: Tool) -> list[Argument]:
    """Those whose kind and bounds do not say all."""
    return [one for one in tool.arguments if one.kind in (TEXT, TEXTS, RECORDS) and not one.options]


def test_what_is_made_as_right_is_right(desk: DeskProcess) -> None:
    """Else the wrong values above would be refused for what stands beside them."""
    for surface, tools in TABLES.items():
        for tool in tools:
            for argument in tool.arguments:
                arguments = {**right_arguments(tool), argument.name: right_value(argument)}
                text = call(desk, surface, tool.name, arguments)[1]
                assert "must be" not in text and " needs " not in text.replace("query needs searches", ""), text
