"""Two projects with the same paths and words in one desk: nothing of one is in any answer of the other, whatever is asked."""

from __future__ import annotations

import json
import random
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from models import build_tiny_model
from refdesk import ids
from refdesk.projects import SURFACES
from system.desks import SETTLE_SECONDS, DeskProcess, running, ticks

pytestmark = pytest.mark.slow

CANARIES = {"alpha": "quokkalight", "beta": "narwhaldusk"}
CALLS = 2_000
"""Each way, over all surfaces and tools."""
PATHS = ("ops/keys.md", "ops/pager.md", "travel.md")
QUERIES = (
    "rotate the signing key",
    "pager",
    "travel policy",
    "key -pager",
    '"signing key"',
    "*",
    "no such thing at all",
    "k",
)
Json = dict[str, Any]


def page(path: str, canary: str) -> str:
    return (
        f"---\ntitle: About {path} {canary}\nversion: v1-{canary}\n---\n# About {path} {canary}\n\nThe signing key, the pager and the "
        f"travel policy {canary}.\n\n## Rotation {canary}\n\nRotate the signing key every month, says {canary}.\n"
    )


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskProcess]:
    """Both projects on every surface."""
    root = tmp_path_factory.mktemp("tenants")
    projects: Json = {}
    for project, canary in CANARIES.items():
        docs = root / project
        for path in (*PATHS, f"only-{canary}.md"):
            (docs / path).parent.mkdir(parents=True, exist_ok=True)
            (docs / path).write_text(page(path, canary), encoding="utf-8")
        source = {
            "name": "handbook",
            "path": str(docs),
            "description": f"pages {canary}",
            "contexts": {"ops": f"about {canary}"},
        }
        named = {"description": f"project {canary}", "surfaces": list(SURFACES), "pins": ["handbook/travel.md"]}
        projects[project] = {**named, "structured_output": True, "sources": [source]}
    config = root / "config.yaml"
    config.write_text(yaml.safe_dump({"projects": projects}), encoding="utf-8")
    arguments = ("--docs", "", "--config", str(config))
    desk = DeskProcess(root, root / "data", build_tiny_model(root / "model"), arguments=arguments)
    with running(desk):
        for _ in ticks(SETTLE_SECONDS, every=0.2):
            with urllib.request.urlopen(f"{desk.url}/api/operator/status", timeout=30) as answer:
                states = json.load(answer)["projects"]
            if len(states) == 2 and all(_is_whole(state) for state in states):
                break
        yield desk


def _is_whole(state: Mapping[str, Any]) -> bool:
    stats = state["stats"]
    return int(stats["document_count"]) == len(PATHS) + 1 and not int(stats["missing_vector_count"])


def send(desk: DeskProcess, path: str, method: str, params: Json) -> str:
    """The whole body of the answer, whatever it is."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json", "MCP-Protocol-Version": "2025-11-25"}
    try:
        with urllib.request.urlopen(urllib.request.Request(desk.url + path, body, headers), timeout=30) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as failure:
        with failure:
            return failure.read().decode()


def names_of(project: str) -> list[str]:
    """What only somebody who knows the other project could ask for; none of it bears its canary."""
    found = []
    for path in PATHS:
        document = ids.document_id(project, "handbook", path)
        content = ids.content_hash(page(path, CANARIES[project]))
        found += [
            document,
            document[:8],
            ids.section_id(document, [f"About {path} {CANARIES[project]}"], 0),
            ids.docid(content),
        ]
    return found


def make(rng: random.Random, schema: Mapping[str, Any], pool: list[str]) -> Any:
    """A value that a schema allows, as a rule, and one that it does not, now and then."""
    if rng.random() < 0.03:
        return rng.choice([None, -1, "", [], {}, "\0", "../" * 9])
    if options := schema.get("enum"):
        return rng.choice(options)
    match schema.get("type"):
        case "integer":
            return rng.randint(schema.get("minimum", 0), min(schema.get("maximum", 50), schema.get("minimum", 0) + 50))
        case "number":
            return round(rng.random(), 2)
        case "boolean":
            return rng.random() < 0.5
        case "array":
            return [make(rng, schema.get("items", {}), pool) for _ in range(rng.randint(1, 3))]
        case "object":
            return make_arguments(rng, schema, pool)
        case _:
            return rng.choice(pool)


def make_arguments(rng: random.Random, schema: Mapping[str, Any], pool: list[str]) -> Json:
    required = schema.get("required", [])
    properties: Mapping[str, Any] = schema.get("properties", {})
    return {name: make(rng, kind, pool) for name, kind in properties.items() if name in required or rng.random() < 0.4}


@pytest.mark.promise("docs.54")
@pytest.mark.parametrize(("mine", "theirs"), [("alpha", "beta"), ("beta", "alpha")])
def test_nothing_of_one_project_is_in_any_answer_of_another(desk: DeskProcess, mine: str, theirs: str) -> None:
    rng = random.Random(mine)
    paths = [form.format(path) for path in PATHS for form in ("handbook/{}", "{}", "/handbook/{}", "qmd://handbook/{}")]
    pool = [*QUERIES, *paths, *names_of(theirs), *names_of(mine), "handbook", "ops", "ops/*", "**"]
    tools = {surface: tools_of(desk, mine, surface) for surface in SURFACES}
    answered = 0
    for number in range(CALLS):
        surface = SURFACES[number % len(SURFACES)]
        tool = rng.choice(tools[surface])
        params = {"name": tool["name"], "arguments": make_arguments(rng, tool["inputSchema"], pool)}
        answer = send(desk, f"/mcp/{mine}/{surface}", "tools/call", params)
        assert CANARIES[theirs] not in answer, (surface, params)
        answered += CANARIES[mine] in answer
    assert answered > CALLS / 10, "most calls must find something, or nothing is shown"


@pytest.mark.parametrize(("mine", "theirs"), [("alpha", "beta"), ("beta", "alpha")])
def test_listings_instructions_and_resources_show_their_own_project_alone(
    desk: DeskProcess, mine: str, theirs: str
) -> None:
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    for surface in SURFACES:
        path = f"/mcp/{mine}/{surface}"
        calls: list[tuple[str, Json]] = [("initialize", client)]
        calls += [(f"{kind}/list", {}) for kind in ("tools", "resources", "resources/templates")]
        listed = json.loads(send(desk, f"/mcp/{theirs}/{surface}", "resources/list", {}))["result"]["resources"]
        calls += [("resources/read", {"uri": one["uri"]}) for one in listed if CANARIES[theirs] not in one["uri"]]
        for method, params in calls:
            assert CANARIES[theirs] not in send(desk, path, method, params), (surface, method, params)


def tools_of(desk: DeskProcess, project: str, surface: str) -> list[Json]:
    listed: list[Json] = json.loads(send(desk, f"/mcp/{project}/{surface}", "tools/list", {}))["result"]["tools"]
    return listed
