"""Pages of specs of each version: what they show, where they stand, and what they cost."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from refdesk.errors import InvalidArgument
from refdesk.ingest.formats import markdown
from refdesk.openapi.pages import make_pages, slug

SHOP = """
openapi: 3.1.0
info: {title: Shop, version: "2.1", description: "# Welcome\\n\\nSells things."}
servers: [{url: "https://api.example.com/v2/"}]
security: [{key: []}]
tags: [{name: Orders, description: What was bought}]
paths:
  /orders/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: integer}}
      - $ref: "#/components/parameters/trace"
    get:
      tags: [Orders, Reading]
      summary: Get an order
      operationId: getOrder
      deprecated: true
      description: "One order.\\n\\n# Notes\\n\\n```\\nopen"
      parameters:
        - {name: id, in: path, required: true, description: Its number, schema: {type: [integer, "null"], minimum: 1}}
      security: [{oauth: [read, write], key: []}, {}]
      responses:
        200:
          description: Found
          headers: {X-Left: {description: Calls left, schema: {type: integer}}}
          content:
            application/json:
              schema: {$ref: "#/components/schemas/Order", description: The order that was asked for}
              examples: {small: {summary: A small one, value: {y: 1, no: 2}}}
        default: {$ref: "#/components/responses/Problem"}
    put:
      tags: [Orders]
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: "#/components/schemas/Order"}}}
      responses: {"204": {description: Done}}
      callbacks: {done: {"{$request.body#/url}": {post: {summary: Tells that it is done}}}}
  /orders/id: {get: {tags: [Orders], responses: {}}}
  /elsewhere: {get: {responses: {200: {$ref: "other.yaml#/Found"}}, parameters: [{$ref: "#/components/parameters/none"}]}}
webhooks:
  orderPlaced:
    post: {summary: An order was placed, requestBody: {content: {application/json: {schema: {type: string}}}}}
components:
  securitySchemes: {key: {type: apiKey, in: header, name: X-Key, description: From the console}}
  parameters: {trace: {name: trace, in: header, deprecated: true, schema: {type: string, default: "no"}}}
  responses: {Problem: {description: It failed, content: {text/plain: {schema: {type: string}}}}}
  schemas:
    Order:
      allOf:
        - {$ref: "#/components/schemas/Thing"}
        - type: object
          required: [lines]
          properties:
            lines: {type: array, minItems: 1, items: {$ref: "#/components/schemas/Line"}}
            parent: {$ref: "#/components/schemas/Order"}
            state: {enum: [open, 200, null], readOnly: true}
    Thing: {type: object, properties: {number: {type: integer, format: int64}}}
    Line:
      type: object
      properties:
        order: {$ref: "#/components/schemas/Order"}
        price: {oneOf: [{type: number}, {$ref: "far.yaml#/Money"}]}
      additionalProperties: {type: string}
"""
OLD = """
swagger: "2.0"
info: {title: Old shop, version: "1"}
host: old.example.com
basePath: /v1
schemes: [https, http]
consumes: [application/json]
produces: [application/json]
paths:
  /pets:
    post:
      tags: [pets]
      parameters:
        - {in: body, name: pet, required: true, description: The pet, schema: {$ref: "#/definitions/Pet"}}
        - {in: query, name: limit, type: integer, maximum: 9}
      responses:
        200: {description: Made, schema: {$ref: "#/definitions/Pet"}, examples: {application/json: {name: Rex}}}
  /photos: {put: {parameters: [{in: formData, name: photo, type: file}], responses: {}}}
securityDefinitions: {basic: {type: basic}}
definitions:
  Pet: {type: object, required: [name], properties: {name: {type: string}, friend: {$ref: "#/definitions/Pet"}}}
"""


def pages_of(text: str | bytes) -> dict[str, str]:
    made = make_pages(text.encode() if isinstance(text, str) else text)
    return {page.path: page.text for page in made.pages}


def test_each_operation_has_a_page_below_its_first_tag_and_webhooks_have_theirs() -> None:
    made = make_pages(SHOP.encode())
    assert (made.title, made.version) == ("Shop", "3.1.0")
    assert {page.path: page.title for page in made.pages} == {
        "get-elsewhere.md": "GET /elsewhere",
        "orders/get-orders-id.md": "GET /orders/id",
        # Two would have the same: the one that comes later by its name bears a digest of it.
        "orders/get-orders-id-ea614192.md": "GET /orders/{id}",
        "orders/put-orders-id.md": "PUT /orders/{id}",
        "overview.md": "Shop",
        "webhooks/post-orderplaced.md": "POST orderPlaced",
    }


GET_ORDER = """\
# GET /orders/{id}

Get an order

**Deprecated.**

One order.

### Notes

```
open
```

- URL: `https://api.example.com/v2/orders/{id}`
- Operation id: `getOrder`
- Tags: Orders, Reading
- Security: `oauth` (read, write) and `key` or none

## Parameters

- `id` (path, required, integer or null, at least `1`): Its number
- `trace` (header, deprecated, string, default `no`)

## Responses

### 200

Found

- `X-Left` (header, integer): Calls left

#### application/json

- `Order`: The order that was asked for
  - `number` (integer, format `int64`)
  - `lines` (array of `Line`, required, fewest items `1`)
    - `order` (`Order`, this one again, within itself)
    - `price`
      - One of:
        - number
        - `Money`, defined elsewhere, in far.yaml#/Money
    - `*` (any other name, string)
  - `parent` (`Order`, this one again, within itself)
  - `state` (read only, one of `open`, `200`, `null`)

Example (A small one):

```json
{
  "y": 1,
  "no": 2
}
```

### default

It failed

#### text/plain

- string
"""


def test_a_page_shows_all_of_an_operation_with_its_references_resolved_and_cycles_by_name() -> None:
    assert pages_of(SHOP)["orders/get-orders-id-ea614192.md"] == GET_ORDER


def test_a_page_chunks_by_its_headings() -> None:
    document = markdown.parse(GET_ORDER.encode(), "a.md")
    assert [section.breadcrumb[1:] for section in document.sections if section.level in (2, 3)] == [
        ("Notes",),
        ("Parameters",),
        ("Responses",),
        ("Responses", "200"),
        ("Responses", "default"),
    ]
    assert document.title == "GET /orders/{id}"
    assert document.summary == "Get an order"
    assert "`https://api.example.com/v2/orders/{id}`" in document.text


def test_bodies_callbacks_webhooks_and_what_is_not_here_are_shown() -> None:
    pages = pages_of(SHOP)
    put = pages["orders/put-orders-id.md"]
    assert "## Request body\n\nRequired.\n\n### application/json\n\n- `Order`\n" in put
    assert "## Callbacks\n\n- `done`: POST `{$request.body#/url}` Tells that it is done" in put
    assert "- Webhook: the API sends `POST` for `orderPlaced`" in pages["webhooks/post-orderplaced.md"]
    elsewhere = pages["get-elsewhere.md"]
    assert "(Found: defined elsewhere, in other.yaml#/Found)" in elsewhere
    assert "- `none` (not defined in this spec" in elsewhere
    assert "- Security: `key`" in elsewhere


def test_the_overview_says_what_the_api_is() -> None:
    overview = pages_of(SHOP)["overview.md"]
    for part in (
        "# Shop\n\n## Welcome\n\nSells things.",
        "- Version: `2.1`\n- OpenAPI: 3.1.0\n- Server: `https://api.example.com/v2/`",
        "- `key` (apiKey, X-Key in header): From the console",
        "- Orders: What was bought",
        "- `GET /orders/{id}`: Get an order (deprecated)",
    ):
        assert part in overview


def test_a_spec_of_version_2_is_shown_in_the_words_of_version_3() -> None:
    pages = pages_of(OLD)
    post = pages["pets/post-pets.md"]
    assert "- URL: `https://old.example.com/v1/pets`\n- URL: `http://old.example.com/v1/pets`" in post
    assert "## Parameters\n\n- `limit` (query, integer, at most `9`)" in post
    body = post.partition("## Request body")[2].partition("## Responses")[0]
    assert body.strip() == (
        "Media types: `application/json`\n\nRequired.\n\nThe pet\n\n"
        "- `Pet`\n  - `name` (string, required)\n  - `friend` (`Pet`, this one again, within itself)"
    )
    assert "### 200\n\nMade\n\nMedia types: `application/json`\n\n- `Pet`, as shown above\n" in post
    assert '"name": "Rex"' in post
    assert "- `photo` (formData, file)" in pages["put-photos.md"]
    assert "- `basic` (basic)" in pages["overview.md"]


def test_json_and_yaml_of_one_spec_make_the_same_pages() -> None:
    as_json = json.dumps(yaml.load(SHOP.replace("200:", '"200":'), yaml.BaseLoader))
    assert {*pages_of(as_json)} == {*pages_of(SHOP)}
    old = yaml.safe_load(OLD.replace("200:", '"200":'))
    assert pages_of(json.dumps(old)) == pages_of(OLD)


def test_an_edit_of_one_operation_is_an_edit_of_its_page_alone() -> None:
    before = {page.path: page.revision for page in make_pages(SHOP.encode()).pages}
    after = {page.path: page.revision for page in make_pages(SHOP.replace("Found\n", "Here it is\n").encode()).pages}
    assert {path for path in before if before[path] != after[path]} == {"orders/get-orders-id-ea614192.md"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("/users/{id}", "users-id"),
        ("Pets & Co", "pets-co"),
        ("../..", ""),
        ("Bestellungen für Ämter", "bestellungen-für-ämter"),
        ("注文", "注文"),
    ],
)
def test_names_of_folders_and_files_hold_letters_and_digits_alone(text: str, name: str) -> None:
    assert slug(text) == name


def test_long_names_are_cut_and_stay_apart() -> None:
    one, two = slug("a" * 150 + "1"), slug("a" * 150 + "2")
    assert one != two
    assert len(one) == len(two) == 100


def wide(operations: int, properties: int) -> bytes:
    """One shared schema in every operation."""
    return json.dumps(
        {
            "openapi": "3.0.0",
            "paths": {
                f"/p{n}": {
                    "get": {"responses": {"200": {"content": {"a/b": {"schema": {"$ref": "#/components/schemas/S"}}}}}}
                }
                for n in range(operations)
            },
            "components": {
                "schemas": {
                    "S": {
                        "properties": {
                            f"f{n}": {
                                "type": "object",
                                "properties": {"s": {"$ref": "#/components/schemas/S"}, "x": {}},
                            }
                            for n in range(properties)
                        }
                    }
                }
            },
        }
    ).encode()


def test_a_page_is_bounded_however_wide_its_schemas_are() -> None:
    (page,) = (text for path, text in pages_of(wide(1, 5_000)).items() if path != "overview.md")
    assert len(page.splitlines()) < 450
    assert "more is left out here: this page is full" in page


NESTED_ALL_OF = {f"A{n}": {"allOf": [{"$ref": f"#/components/schemas/A{n + 1}"}] * 50} for n in range(30)}
WHAT_COSTS: dict[str, Any] = {
    "allOf in allOf": NESTED_ALL_OF,
    "anyOf in anyOf": {f"A{n}": {"anyOf": [{"$ref": f"#/components/schemas/A{n + 1}"}] * 50} for n in range(30)},
    "references round": {"A0": {"$ref": "#/components/schemas/A1"}, "A1": {"$ref": "#/components/schemas/A0"}},
    "allOf of itself": {"A0": {"allOf": [{"$ref": "#/components/schemas/A0"}] * 50, "properties": {"a": {}}}},
    "items in items": {"A0": {"type": "array", "items": {"$ref": "#/components/schemas/A0"}}},
    "a name as pattern": {"A0": {"properties": {"`" * 5_000: {"pattern": "`" * 100_000}}}},
}


@pytest.mark.parametrize("name", WHAT_COSTS)
def test_schemas_that_multiply_cost_a_bounded_time(name: str) -> None:
    schema = {"$ref": "#/components/schemas/A0"}
    operation = {"responses": {"200": {"content": {"a/b": {"schema": schema}}}}}
    spec = {"openapi": "3.0.0", "paths": {"/a": {"get": operation}}, "components": {"schemas": WHAT_COSTS[name]}}
    started = time.process_time()
    (page,) = (text for path, text in pages_of(json.dumps(spec)).items() if path != "overview.md")
    assert time.process_time() - started < 2
    assert len(page) < 500_000


def test_too_many_operations_and_too_much_text_are_refused() -> None:
    paths = {f"/p{n}": {"get": {}} for n in range(5_001)}
    with pytest.raises(InvalidArgument, match="more than 5,000 operations"):
        make_pages(json.dumps({"openapi": "3.0.0", "paths": paths}).encode())


_WORDS = st.text(max_size=12)
_ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), _WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_WORDS, inner, max_size=3)),
    max_leaves=8,
)
_REFERENCES = st.sampled_from(
    [
        "#/components/schemas/A",
        "#/components/schemas/B",
        "#",
        "#/",
        "#/paths",
        "#a",
        "x.yaml#/A",
        "",
        "#/components/%41/~2",
    ]
)
_KEYS = st.sampled_from(
    ["type", "properties", "items", "allOf", "oneOf", "anyOf", "not", "enum", "required", "description", "example", "examples",
     "additionalProperties", "prefixItems", "patternProperties", "discriminator", "const", "default", "nullable", "format"]
)  # fmt: skip
_SCHEMAS = st.recursive(
    st.one_of(_ANYTHING, st.builds(lambda one: {"$ref": one}, _REFERENCES)),
    lambda inner: st.one_of(st.dictionaries(_KEYS, inner, max_size=4), st.dictionaries(_WORDS, inner, max_size=3)),
    max_leaves=12,
)
_PARTS = st.sampled_from(
    ["summary", "description", "parameters", "requestBody", "responses", "tags", "callbacks", "security", "servers",
     "operationId", "externalDocs", "deprecated", "consumes", "produces"]
)  # fmt: skip
_OPERATIONS = st.dictionaries(
    _PARTS,
    st.one_of(
        _ANYTHING,
        st.builds(lambda schema: {"content": {"a/b": {"schema": schema}}}, _SCHEMAS),
        st.builds(lambda schema: {"200": {"content": {"a/b": {"schema": schema}}, "schema": schema}}, _SCHEMAS),
        st.builds(lambda schema: [{"name": "a", "in": "body", "schema": schema}, schema], _SCHEMAS),
    ),
    max_size=5,
)
_SPECS = st.fixed_dictionaries(
    {
        "paths": st.one_of(
            _ANYTHING,
            st.dictionaries(
                _WORDS, st.dictionaries(st.sampled_from(["get", "post", "parameters"]), _OPERATIONS), max_size=3
            ),
        ),
        "components": st.fixed_dictionaries({"schemas": st.fixed_dictionaries({"A": _SCHEMAS, "B": _SCHEMAS})}),
    },
    optional=dict.fromkeys(
        ("info", "servers", "tags", "security", "webhooks", "definitions", "securityDefinitions"), _ANYTHING
    ),
)


@settings(max_examples=200, deadline=None)
@given(_SPECS, st.sampled_from([{"openapi": "3.0.3"}, {"openapi": "3.1.0"}, {"swagger": "2.0"}]))
def test_any_spec_makes_pages_that_are_headed_by_their_operations(
    spec: dict[str, Any], version: dict[str, str]
) -> None:
    made = make_pages(json.dumps({**version, **spec}).encode())
    paths = [page.path for page in made.pages]
    assert paths == sorted(set(paths))
    for page in made.pages:
        page.text.encode()
        assert page.text.startswith(f"# {page.title}\n")
        assert all(part not in ("", ".", "..") and part.isprintable() for part in page.path.split("/"))
        markdown.parse(page.text.encode(), page.path)
