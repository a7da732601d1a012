"""get_openapi_spec: a set's spec whole, a part of it, and what has changed since another set's."""

from __future__ import annotations

from typing import Any

import pytest

from refdesk.openapi.reader import read_spec
from surfaces.desks import Desk
from surfaces.fakes import GENERATION
from surfaces.site_desk import make_desk, make_page, record_of, refusal

pytestmark = pytest.mark.anyio

OLD = """openapi: 3.0.0
info: {title: Users, version: "1"}
paths:
  /users:
    get: {operationId: listUsers, responses: {200: {description: "{200}", content: {a/b: {schema: {$ref: "#/components/schemas/User"}}}}}}
  /old: {get: {responses: {}}}
components: {schemas: {User: {properties: {y: {type: string}, team: {$ref: "#/components/schemas/Team"}}}, Team: {type: object}}}
"""
NEW = OLD.replace('"1"', '"2"').replace("/old", "/new").replace("Team: {type: object}", "Team: {type: string}")


def desk_with_specs() -> Desk:
    desk = make_desk()
    for path, text in (("api-v1/users.yaml", OLD), ("api-v2/users.yaml", NEW)):
        page = make_page(path, "Users", text, kind="spec")
        page.text = text
        del page.heads[:]
        page.heads.add(generation=GENERATION, swept=True)
        del page.sections[:]
        desk.docstore.documents.append(page)
    return desk


async def asked(**arguments: Any) -> Any:
    return await record_of(desk_with_specs(), "get_openapi_spec", **{"setId": "api-v2", **arguments})


@pytest.mark.promise("site.45")
async def test_a_spec_is_answered_whole_as_it_was_published() -> None:
    found = await asked()
    assert (found["content"], found["path"], found["title"]) == (NEW, "/api-v2/users.yaml", "Users")
    assert found["setId"] == "api-v2"


@pytest.mark.promise("site.45")
async def test_a_set_without_a_spec_says_so() -> None:
    assert (await record_of(make_desk(), "get_openapi_spec", setId="api-v1"))[
        "error"
    ] == "no OpenAPI spec is kept for this set"
    assert (await record_of(make_desk(), "get_openapi_spec", setId="docs"))[
        "error"
    ] == "this is no API set; API sets: api-v1, api-v2"


@pytest.mark.promise("site.46")
async def test_an_operation_and_a_schema_are_answered_as_specs_by_themselves() -> None:
    whole = read_spec(NEW.encode())
    found = read_spec((await asked(operation="listUsers"))["content"].encode())
    assert found["paths"] == {"/users": whole["paths"]["/users"]}
    assert found["components"] == whole["components"]
    found = read_spec((await asked(schema="Team"))["content"].encode())
    assert found["components"]["schemas"] == {"Team": {"type": "string"}}


@pytest.mark.promise("site.46")
async def test_what_does_not_fit_into_max_tokens_is_named() -> None:
    desk = desk_with_specs()
    spec = desk.docstore.documents[-1]
    spec.text = NEW.replace("Team: {type: string}", f"Team: {{type: string, description: {'many words ' * 900}}}")
    found = (await record_of(desk, "get_openapi_spec", setId="api-v2", operation="GET /users", max_tokens=900))[
        "content"
    ]
    assert "listUsers" in found
    assert "many words" not in found
    assert found.endswith("# left out, as it does not fit: Team; ask for one with schema, or raise max_tokens\n")


@pytest.mark.promise("site.47")
async def test_what_has_changed_since_another_set_is_told() -> None:
    told = (await asked(diff="api-v1"))["content"]
    assert "# From Users 1 to Users 2\n" in told
    assert "1 added, 1 removed, 1 changed, 0 unchanged" in told
    assert "- `GET /users`: response 200; through `Team`" in told


@pytest.mark.promise("site.46", "site.47")
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"operation": "GET /user"}, 'no operation "GET /user" in this spec; similar: GET /users'),
        ({"schema": "Usr"}, 'no schema "Usr" in this spec; similar: User'),
        ({"diff": "docs"}, "diff: no OpenAPI spec is kept for this set"),
        ({"diff": "none"}, 'no documentation set "none"; its sets: docs, api-v1, api-v2'),
    ],
)
async def test_what_is_not_there_is_an_error_of_the_resource(arguments: dict[str, Any], error: str) -> None:
    found = await asked(**arguments)
    assert found["error"].startswith(error)
    assert ("content" in found, found["url"]) == (False, "")


@pytest.mark.promise("site.50")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"operation": "x" * 601}, "operation must be a text of 1 to 600 characters, not 601 characters"),
        ({"schema": 1}, "schema must be a text of 1 to 200 characters, not 1"),
        ({"diff": "x" * 201}, "diff must be a text of 1 to 200 characters, not 201 characters"),
        ({"max_tokens": 499}, "max_tokens must be an integer from 500 to 20000, not 499"),
        ({"operation": "a", "schema": "b"}, "give one of operation, schema: each is an answer of its own"),
    ],
)
async def test_bad_arguments_are_refused_in_one_line(arguments: dict[str, Any], message: str) -> None:
    assert (await refusal(desk_with_specs(), "get_openapi_spec", setId="api-v2", **arguments)) == message
