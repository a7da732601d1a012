"""Strict arguments: what is refused, and that every refusal is one line of our own that says what is valid."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import InvalidArgument
from refdesk.gateway.arguments import BOOLEAN, INTEGER, NUMBER, TEXT, TEXTS, Argument, Tool
from refdesk.gateway.surfaces.docs.tools import TOOLS

TOOL = Tool(
    "find",
    "Find",
    "Finds.",
    (
        Argument("query", TEXT, "What.", required=True, least=1, most=10),
        Argument("limit", INTEGER, "How many.", False, 1, 20, default=5),
        Argument("source", TEXT, "Where."),
        Argument("from", INTEGER, "First."),
    ),
    {},
)
KINDS = Tool(
    "choose",
    "Choose",
    "Chooses.",
    (
        Argument("ids", TEXTS, "Which.", required=True, least=1, most=3),
        Argument("sets", TEXTS, "Where.", most=2, options=("a", "b")),
        Argument("mode", TEXT, "How.", default="x", options=("x", "y")),
        Argument("share", NUMBER, "How good.", most=1),
        Argument("whole", BOOLEAN, "All of it.", default=False),
    ),
    {},
)
NOTHING = Tool("look", "Look", "Looks.", (), {})


def test_what_is_not_given_is_its_default_or_none() -> None:
    assert TOOL.read({"query": "a"}) == {"query": "a", "limit": 5, "source": None, "from": None}


def test_null_and_empty_count_as_not_given_where_an_argument_is_optional() -> None:
    assert TOOL.read({"query": "a", "limit": None, "source": ""})["limit"] == 5


def test_an_integral_number_is_an_integer() -> None:
    assert TOOL.read({"query": "a", "limit": 7.0})["limit"] == 7


@pytest.mark.parametrize(
    ("given_arguments", "message"),
    [
        ({}, "find needs query: a text of 1 to 10 characters"),
        (None, "find needs query: a text of 1 to 10 characters"),
        ({"query": None}, "find needs query: a text of 1 to 10 characters"),
        ({"query": "  "}, "query must be a text of 1 to 10 characters, not empty"),
        ({"query": "x" * 11}, "query must be a text of 1 to 10 characters, not 11 characters"),
        ({"query": 7}, "query must be a text of 1 to 10 characters, not 7"),
        ({"query": ["a"]}, "query must be a text of 1 to 10 characters, not a list"),
        ({"query": "a", "limit": 0}, "limit must be an integer from 1 to 20, not 0"),
        ({"query": "a", "limit": 21}, "limit must be an integer from 1 to 20, not 21"),
        ({"query": "a", "limit": "5"}, 'limit must be an integer from 1 to 20, not "5"'),
        ({"query": "a", "limit": True}, "limit must be an integer from 1 to 20, not true"),
        ({"query": "a", "limit": 2.5}, "limit must be an integer from 1 to 20, not 2.5"),
        ({"query": "a", "limit": {}}, "limit must be an integer from 1 to 20, not an object"),
        ({"query": "a", "from": -1}, "from must be an integer from 0, not -1"),
        ({"query": "a", "source": 1}, "source must be a text, not 1"),
        (
            {"query": "a", "limt": 3},
            'find takes no argument "limt" (did you mean limit?); valid: query, limit, source, from',
        ),
        ({"query": "a", "zzz": 3}, 'find takes no argument "zzz"; valid: query, limit, source, from'),
        ({"query": "a", "s" * 100: 3}, f'find takes no argument "{"s" * 60}"; valid: query, limit, source, from'),
        ({"query": "a", "source": "s" * 16_385}, "source has more than 16,384 characters; send a shorter one"),
        ({"query": "x" * 20_000}, "query must be a text of 1 to 10 characters, not 20,000 characters"),
        ({"query": "\ud800"}, "query holds half a character (a lone surrogate): send whole Unicode characters"),
    ],
)
def test_a_refusal_names_the_argument_and_what_is_valid(given_arguments: dict[str, Any] | None, message: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        TOOL.read(given_arguments)
    assert refusal.value.message == message


def test_lists_choices_numbers_and_yes_or_no_are_read() -> None:
    read = KINDS.read({"ids": ["1", "2"], "sets": [], "share": 0.5, "whole": True})
    assert read == {"ids": ["1", "2"], "sets": None, "mode": "x", "share": 0.5, "whole": True}


@pytest.mark.parametrize(
    ("given_arguments", "message"),
    [
        ({}, "choose needs ids: a list of 1 to 3 texts"),
        ({"ids": []}, "ids must be a list of 1 to 3 texts, not 0"),
        ({"ids": ["1"] * 4}, "ids must be a list of 1 to 3 texts, not 4"),
        ({"ids": "1"}, 'ids must be a list of 1 to 3 texts, not "1"'),
        ({"ids": [1]}, "ids must be a list of 1 to 3 texts; one of them is 1"),
        ({"ids": ["1", None]}, "ids must be a list of 1 to 3 texts; one of them is null"),
        ({"ids": ["\ud800"]}, "ids holds half a character (a lone surrogate): send whole Unicode characters"),
        ({"ids": ["1"], "sets": ["c"]}, 'sets must be a list of 0 to 2 texts among a, b; one of them is "c"'),
        ({"ids": ["1"], "mode": "z"}, 'mode must be one of x, y, not "z"'),
        ({"ids": ["1"], "mode": ["x"]}, "mode must be one of x, y, not a list"),
        ({"ids": ["1"], "share": 1.1}, "share must be a number from 0 to 1, not 1.1"),
        ({"ids": ["1"], "share": float("nan")}, "share must be a number from 0 to 1, not nan"),
        ({"ids": ["1"], "share": True}, "share must be a number from 0 to 1, not true"),
        ({"ids": ["1"], "whole": 1}, "whole must be true or false, not 1"),
        ({"ids": ["1"], "whole": "yes"}, 'whole must be true or false, not "yes"'),
    ],
)
def test_a_refusal_of_any_kind_says_what_is_valid(given_arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        KINDS.read(given_arguments)
    assert refusal.value.message == message


def test_a_tool_without_arguments_says_so() -> None:
    with pytest.raises(InvalidArgument) as refusal:
        NOTHING.read({"id": 1})
    assert refusal.value.message == "look takes no arguments; call it without"


def test_a_schema_bounds_lists_by_items_and_names_choices() -> None:
    properties = KINDS.definition(structured=False)["inputSchema"]["properties"]
    assert properties["ids"] == {
        "type": "array",
        "description": "Which.",
        "items": {"type": "string"},
        "minItems": 1,
        "maxItems": 3,
    }
    assert properties["sets"]["items"] == {"type": "string", "enum": ["a", "b"]}
    assert properties["mode"] == {"type": "string", "description": "How.", "enum": ["x", "y"], "default": "x"}
    assert properties["share"] == {"type": "number", "description": "How good.", "minimum": 0, "maximum": 1}
    assert properties["whole"] == {"type": "boolean", "description": "All of it.", "default": False}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30), st.lists, max_leaves=3
)


@given(st.dictionaries(st.sampled_from(["query", "limit", "source", "from", "other"]), JSON))
def test_whatever_comes_is_read_or_refused_in_one_line(given_arguments: dict[str, Any]) -> None:
    refusal = ""
    try:
        read = TOOL.read(given_arguments)
    except InvalidArgument as error:
        refusal = error.message
    if refusal:
        assert "\n" not in refusal
    else:
        assert 1 <= len(read["query"]) <= 10
        assert read["limit"] in range(1, 21)


def test_a_schema_says_the_same_bounds_and_closes_the_object() -> None:
    schema = TOOL.definition(structured=False)["inputSchema"]
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["query"]
    assert schema["properties"]["query"] == {
        "type": "string",
        "description": "What.",
        "minLength": 1,
        "maxLength": 10,
    }
    assert schema["properties"]["limit"] == {
        "type": "integer",
        "description": "How many.",
        "minimum": 1,
        "maximum": 20,
        "default": 5,
    }


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_is_read_only_and_fits_where_clients_cut(tool: Tool) -> None:
    definition = tool.definition(structured=False)
    assert len(definition["description"]) <= 2048
    assert len(definition["name"]) <= 40
    assert definition["title"]
    hints = definition["annotations"]
    assert (hints["readOnlyHint"], hints["destructiveHint"]) == (True, False)
    assert (hints["idempotentHint"], hints["openWorldHint"]) == (True, False)


def test_the_reference_limits_and_defaults_are_published() -> None:
    search, topics, read = (tool.definition(structured=False)["inputSchema"]["properties"] for tool in TOOLS)
    assert (search["query"]["minLength"], search["query"]["maxLength"]) == (1, 2000)
    assert (search["limit"]["minimum"], search["limit"]["maximum"], search["limit"]["default"]) == (1, 20, 5)
    assert (topics["limit"]["minimum"], topics["limit"]["maximum"], topics["limit"]["default"]) == (1, 1000, 200)
    tokens = read["max_tokens"]
    assert (tokens["minimum"], tokens["maximum"], tokens["default"]) == (200, 20000, 4000)
    assert list(search) == ["query", "limit", "source", "path_prefix", "version", "max_tokens"]
    assert list(read) == ["path", "heading", "from", "to", "max_tokens"]
