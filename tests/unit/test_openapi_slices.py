"""Slices of specs: whole in themselves, packed to a number of tokens; and what differs between two specs."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import NotFound
from refdesk.openapi.differences import Changed, compare_specs, show_difference
from refdesk.openapi.reader import read_spec, version_of
from refdesk.openapi.slices import Slice, slice_operation, slice_schema
from refdesk.openapi.spec import Spec

SHOP = """
openapi: 3.0.3
info: {title: Shop, version: "1", description: long}
servers: [{url: "https://api.example.com"}]
security: [{key: []}]
paths:
  /orders/{id}:
    parameters: [{$ref: "#/components/parameters/id"}]
    get: {operationId: getOrder, responses: {200: {$ref: "#/components/responses/Order"}}}
    put: {responses: {"204": {description: y}}}
  /pets: {get: {security: [], responses: {"200": {content: {a/b: {schema: {$ref: "#/components/schemas/Pet"}}}}}}}
components:
  securitySchemes: {key: {type: apiKey, in: header, name: no}}
  parameters: {id: {name: id, in: path, required: true, schema: {type: string}}}
  responses: {Order: {description: ok, content: {a/b: {schema: {$ref: "#/components/schemas/Order"}}}}}
  schemas:
    Order: {properties: {line: {$ref: "#/components/schemas/a~1b/properties/x"}, of: {$ref: "#/components/schemas/Order"}}}
    a/b: {properties: {x: {type: integer}}}
    Pet: {type: object}
"""


def spec_of(text: str) -> Spec:
    root = read_spec(text.encode())
    return Spec(root, version_of(root))


def whole(cut: Slice) -> dict[str, Any]:
    text = cut.pack([0] * len(cut.texts), 1_000_000)
    read = read_spec(text.encode())
    assert yaml.safe_load(text) is not None  # by a reader of YAML 1.1 too
    return read


@pytest.mark.parametrize("name", ["GET /orders/{id}", "get /orders/{id}", "getOrder", " getOrder "])
def test_an_operation_comes_as_a_spec_with_all_that_it_refers_to_and_nothing_else(name: str) -> None:
    source = read_spec(SHOP.encode())
    found = whole(slice_operation(spec_of(SHOP), name))
    item = source["paths"]["/orders/{id}"]
    assert found == {
        "openapi": "3.0.3",
        "info": {"title": "Shop", "version": "1"},
        "servers": source["servers"],
        "security": [{"key": []}],
        "paths": {"/orders/{id}": {"parameters": item["parameters"], "get": item["get"]}},
        "components": {
            "parameters": source["components"]["parameters"],
            "responses": source["components"]["responses"],
            "schemas": {name: source["components"]["schemas"][name] for name in ("Order", "a/b")},
            "securitySchemes": source["components"]["securitySchemes"],
        },
    }


def test_an_operation_that_needs_no_key_has_none() -> None:
    assert whole(slice_operation(spec_of(SHOP), "GET /pets"))["components"] == {"schemas": {"Pet": {"type": "object"}}}


def test_a_schema_comes_with_those_it_refers_to() -> None:
    found = whole(slice_schema(spec_of(SHOP), "Order"))
    assert {*found["components"]["schemas"]} == {"Order", "a/b"}
    assert "servers" not in found


def test_slices_of_version_2_stand_under_its_own_keys() -> None:
    old = spec_of(
        'swagger: "2.0"\nhost: a.example.com\npaths: {/a: {post: {parameters: [{in: body, schema: {$ref: "#/definitions/A"}}]}}}\n'
        'definitions: {A: {properties: {b: {$ref: "#/definitions/B"}}}, B: {}, C: {}}\n'
    )
    found = whole(slice_operation(old, "POST /a"))
    assert (found["swagger"], found["host"], {*found["definitions"]}) == ("2.0", "a.example.com", {"A", "B"})
    assert {*whole(slice_schema(old, "B"))["definitions"]} == {"B"}


@pytest.mark.parametrize(
    ("cut", "name", "message"),
    [
        (slice_operation, "GET /order/{id}", 'no operation "GET /order/{id}" in this spec; similar: GET /orders/{id}'),
        (slice_operation, "PATCH /pets", 'no operation "PATCH /pets" in this spec; similar: GET /pets'),
        (slice_schema, "Ordr", 'no schema "Ordr" in this spec; similar: Order'),
        (slice_schema, "\n\0", 'no schema "" in this spec'),
    ],
)
def test_what_is_not_there_is_answered_with_what_is_like_it(cut: Any, name: str, message: str) -> None:
    with pytest.raises(NotFound) as refused:
        cut(spec_of(SHOP), name)
    assert refused.value.message.startswith(message)


@given(st.integers(0, 3_000))
def test_a_slice_is_packed_within_its_room_and_names_what_is_left_out(room: int) -> None:
    """One token a character: nothing then hides what a key or a comment costs."""
    cut = slice_operation(spec_of(SHOP), "getOrder")
    text = cut.pack([len(one) for one in cut.texts], room)
    assert len(text) <= max(room, 100)
    left = [part.name for part in cut.parts if part.text not in text]
    if left:
        assert "raise max_tokens" in text
    if "the rest does not fit" not in text:
        assert all(name in text.rpartition("# left out")[2] for name in left)


def test_specs_are_compared_by_operation_with_all_that_they_refer_to() -> None:
    changed = (
        SHOP.replace("{type: integer}", "{type: number}")
        .replace("/pets", "/animals")
        .replace("put: {responses", "put: {deprecated: true, responses")
    )
    found = compare_specs(spec_of(SHOP), spec_of(changed))
    assert (found.added, found.removed, found.unchanged_count) == (("GET /animals",), ("GET /pets",), 0)
    assert found.changed == (
        Changed("GET /orders/{id}", ("response 200",), ("a/b",)),
        Changed("PUT /orders/{id}", ("deprecated",), ()),
    )
    assert (found.added_schemas, found.removed_schemas, found.changed_schemas) == ((), (), ("a/b",))


def test_a_spec_does_not_differ_from_itself_in_another_order_or_form() -> None:
    again = json.dumps(read_spec(SHOP.encode()), sort_keys=True)
    found = compare_specs(spec_of(SHOP), spec_of(again))
    assert (found.added, found.removed, found.changed, found.unchanged_count) == ((), (), (), 3)


def test_a_difference_is_told_in_lines_that_can_be_cut() -> None:
    newer = SHOP.replace('version: "1"', 'version: "2"').replace("put: {", "put: {operationId: place, ")
    assert "".join(show_difference(spec_of(SHOP), spec_of(newer)).head) == (
        "# From Shop 1 to Shop 2\n\nOperations: 0 added, 0 removed, 1 changed, 2 unchanged.\n"
        "\n## Changed operations\n\n- `PUT /orders/{id}`: operationId\n"
    )


def test_responses_that_come_and_go_are_named_as_such() -> None:
    newer = SHOP.replace('"204"', '"202"')
    (one,) = compare_specs(spec_of(SHOP), spec_of(newer)).changed
    assert one.aspects == ("response 204 removed", "response 202 added")
