"""The site surface with the official client: each promise of its manifest."""

from __future__ import annotations

from typing import Any

import httpx
import jsonschema
import pytest
from mcp import Client

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.gateway.surfaces.site import instructions, schemas
from surfaces.desks import served
from surfaces.fakes import count_words, leg
from surfaces.site_desk import PROJECT, call, make_desk, make_page, make_project, page_id, record_of, refusal

pytestmark = pytest.mark.anyio
AUTH = "docs/getting-started/authentication.md"
NAMES = [
    "get_site_overview",
    "list_documentation_sets",
    "describe_schema",
    "get_documentation_set",
    "search_docs",
    "search_api",
    "get_pages_by_id",
    "get_pages_by_path",
    "get_openapi_spec",
]


@pytest.mark.promise("site.1", "site.2")
async def test_the_server_has_the_references_name_and_opening_sentence_in_both_eras() -> None:
    opening = "Start with get_site_overview to learn what documentation sets this site publishes."
    async with served(make_desk().gateway()) as url:
        for mode in ("auto", "legacy"):
            async with Client(f"{url}/mcp/{PROJECT}/site", mode=mode) as client:  # type: ignore[arg-type]
                assert client.server_info.name == "leed-docs-mcp"
                assert (client.instructions or "").startswith(opening)
        for surface, name in (("site", "leed-docs-mcp"), ("docs", "refdesk")):
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
            headers = {
                "MCP-Protocol-Version": "2026-07-28",
                "Mcp-Method": "tools/list",
                "Accept": "application/json, text/event-stream",
            }
            async with httpx.AsyncClient() as plain:
                answer = await plain.post(f"{url}/mcp/{PROJECT}/{surface}", json=message, headers=headers)
            stamp = answer.json()["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]
            assert stamp["name"] == name


META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.mark.promise("site.3", "site.4", "site.6")
async def test_nine_tools_are_listed_in_order_and_their_answers_fit_their_schemas() -> None:
    calls: dict[str, dict[str, Any]] = {
        "get_documentation_set": {"setId": "docs"},
        "search_docs": {"query": "token"},
        "search_api": {"query": "users"},
        "get_pages_by_id": {"pageIds": [page_id(AUTH), "no-such"]},
        "get_pages_by_path": {"paths": ["/docs/index/", "/blog/why/"]},
        "get_openapi_spec": {"setId": "api-v1"},
    }
    desk = make_desk()
    async with served(desk.gateway()) as url, Client(f"{url}/mcp/{PROJECT}/site") as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == NAMES
        for tool in tools:
            assert tool.annotations and tool.annotations.read_only_hint and tool.title
            result = await client.call_tool(tool.name, calls.get(tool.name, {}))
            assert not result.is_error
            assert tool.output_schema
            jsonschema.validate(result.structured_content, tool.output_schema)
            assert bool(tool.input_schema["properties"]) == (tool.name in calls)
        described = (await client.call_tool("describe_schema", {})).structured_content
    assert described == schemas.SHAPES
    assert list(described) == ["DocResource", "DocumentationSet", "ContentItem", "SearchResult", "PagesEnvelope"]
    for shape in described.values():
        jsonschema.Draft202012Validator.check_schema(shape)


def menu_node(**values: Any) -> docstore_api.MenuNode:
    return docstore_api.MenuNode(**values)


@pytest.mark.promise("site.10", "site.11", "site.12", "site.13", "site.14", "site.15")
async def test_a_stored_menu_is_answered_in_its_order_with_its_pages_as_they_stand_now() -> None:
    menu = docstore_api.Menu(
        nodes=[
            menu_node(title="Status", href="https://status.example.com/?a=1&b=%20"),
            menu_node(
                title="Start",
                href="https://example.com/cleared",
                children=[
                    menu_node(title="Sign in", page="getting-started/authentication"),
                    menu_node(page="getting-started/install"),
                    menu_node(title="Gone", page="gone.md"),
                ],
            ),
            menu_node(page="index.md"),
        ]
    )
    found = await record_of(make_desk(menus={"docs": menu}), "get_documentation_set", setId="docs")
    at = "https://docs.example.com/docs"
    assert found == {
        "setId": "docs",
        "name": "Documentation",
        "items": [
            {"title": "Status", "href": "https://status.example.com/?a=1&b=%20"},
            {
                "name": "Start",
                "title": "Start",
                "children": [
                    {
                        "title": "Sign in",
                        "pageId": page_id(AUTH),
                        "path": "/docs/getting-started/authentication/",
                        "url": f"{at}/getting-started/authentication/",
                    },
                    {
                        "title": "Install",
                        "pageId": page_id("docs/getting-started/install.mdx"),
                        "path": "/docs/getting-started/install/",
                        "url": f"{at}/getting-started/install/",
                    },
                    {"title": "Gone", "pageId": page_id("docs/gone.md")},
                ],
            },
            {"title": "Welcome", "pageId": page_id("docs/index.md"), "path": "/docs/index/", "url": f"{at}/index/"},
        ],
    }


@pytest.mark.promise("site.12")
async def test_a_folder_that_is_a_page_too_has_that_page_as_its_first_entry() -> None:
    node = menu_node(title="Start", page="index.md", children=[menu_node(page="getting-started/install.mdx")])
    menu = docstore_api.Menu(nodes=[node, node])
    found = await record_of(make_desk(menus={"docs": menu}), "get_documentation_set", setId="docs")
    assert [folder["name"] for folder in found["items"]] == ["Start", "Start 2"]
    for folder in found["items"]:
        assert sorted(folder) == ["children", "name", "title"]
        assert [page["title"] for page in folder["children"]] == ["Start", "Install"]


@pytest.mark.promise("site.17")
async def test_a_place_of_a_derived_folder_is_filled_with_its_pages() -> None:
    menu = docstore_api.Menu(nodes=[menu_node(folder="getting-started", title="More"), menu_node(page="index.md")])
    found = await record_of(make_desk(menus={"docs": menu}), "get_documentation_set", setId="docs")
    folder, page = found["items"]
    assert (folder["title"], page["title"]) == ("More", "Welcome")
    assert [entry["title"] for entry in folder["children"]] == ["Authentication", "Install"]


@pytest.mark.promise("site.16", "site.17")
async def test_an_api_set_without_a_menu_shows_its_folders_and_methods_as_data() -> None:
    found = await record_of(make_desk(), "get_documentation_set", setId="api-v2")
    [folder] = found["items"]
    assert (folder["name"], folder["title"]) == ("users", "Users")
    shown = [(page["title"], page["method"]) for page in folder["children"]]
    assert shown == [("/users", "POST"), ("/users", "GET")]
    assert folder["children"][1]["url"].endswith("/p/example/api-v2/users/list.md")
    assert folder["children"][1]["url"].startswith("http://127.0.0.1:")


@pytest.mark.promise("site.16")
async def test_a_documentation_page_keeps_its_verb() -> None:
    desk = make_desk()
    desk.docstore.documents.append(make_page("docs/get.md", "GET started", "Now."))
    found = await record_of(desk, "get_documentation_set", setId="docs")
    shown = [entry for entry in found["items"] if entry["title"] == "GET started"]
    assert shown and "method" not in shown[0]


@pytest.mark.promise("site.18")
@pytest.mark.parametrize("stored", [True, False])
async def test_a_large_menu_is_answered_in_parts_that_together_are_the_whole(stored: bool) -> None:
    desk = make_desk()
    pages = [make_page(f"docs/part-{number // 50:02}/page-{number:03}.md", f"P {number}", "x") for number in range(450)]
    desk.docstore.documents = pages
    if stored:
        folders = [
            menu_node(title=f"Part {part}", children=[menu_node(page=one.path[5:]) for one in pages[at : at + 50]])
            for part, at in enumerate(range(0, 450, 50))
        ]
        desk.docstore.menus["docs"] = docstore_api.Menu(nodes=folders)  # type: ignore[attr-defined]
    seen: list[str] = []
    cursor = None
    async with served(desk.gateway()) as url, Client(f"{url}/mcp/{PROJECT}/site") as client:
        for _ in range(60):
            arguments = {"setId": "docs", "max_tokens": 2_000, **({"cursor": cursor} if cursor else {})}
            result = await client.call_tool("get_documentation_set", arguments)
            assert result.structured_content is not None
            assert count_words(result.content[0].text) <= 2_000  # type: ignore[union-attr]
            for folder in result.structured_content["items"]:
                seen += [page["pageId"] for page in folder["children"]]
            cursor = result.structured_content.get("nextCursor")
            if not cursor:
                break
    assert seen == [page.document_id for page in pages]


@pytest.mark.promise("site.21", "site.22")
@pytest.mark.parametrize(
    ("tool", "sets", "found"),
    [
        ("search_docs", [], {"docs"}),
        ("search_api", [], {"api-v1", "api-v2"}),
        ("search_api", ["api-v2"], {"api-v2"}),
        ("search_api", ["docs", "api-v2"], {"api-v2"}),
        ("search_api", ["docs"], set()),
        ("search_docs", ["api-v1", "api-v2"], set()),
    ],
)
async def test_a_search_stays_within_its_kind_and_page_type_ids_only_narrow(
    tool: str, sets: list[str], found: set[str]
) -> None:
    desk = make_desk()
    desk.docstore.documents = [one for one in desk.docstore.documents if one.source != "blog"]
    desk.search.paths = [one.path for one in desk.docstore.documents]  # type: ignore[attr-defined]
    answer = await record_of(desk, tool, query="users", pageTypeIds=sets)
    assert {result["setId"] for result in answer["results"]} == found


@pytest.mark.promise("site.20")
async def test_a_snippet_is_one_line_of_at_most_300_characters_and_scores_fall_from_1() -> None:
    desk = make_desk()
    for document in desk.docstore.documents:
        document.text += "word " * 200
        document.heads[0].chunks[0].end = len(document.text)
    results = (await record_of(desk, "search_docs", query="token"))["results"]
    assert results[0]["score"] == 1
    assert [one["score"] for one in results] == sorted((one["score"] for one in results), reverse=True)
    for one in results:
        assert len(one["snippet"]) <= 300
        assert one["snippet"].endswith("…")
        assert "\n" not in one["snippet"] and not one["snippet"].startswith("#")


@pytest.mark.promise("site.24")
@pytest.mark.parametrize(("asked", "ran"), [("hybrid", "hybrid"), ("keyword", "keyword"), ("semantic", "semantic")])
async def test_the_mode_that_is_answered_is_the_one_that_ran(asked: str, ran: str) -> None:
    assert (await record_of(make_desk(), "search_docs", query="x", mode=asked))["mode"] == ran


@pytest.mark.promise("site.24")
async def test_when_meaning_does_not_answer_the_mode_is_keyword_and_says_why() -> None:
    desk = make_desk()
    retrieve = desk.search.retrieve

    async def without_meaning(request: search_api.RetrieveRequest) -> search_api.RetrieveResponse:
        response = await retrieve(request)
        failed = search_api.LEG_STATUS_FAILED
        response.legs[-1].CopyFrom(leg(search_api.LEG_KIND_SEMANTIC, status=failed, reason="embedder_unavailable"))
        return response

    desk.search.retrieve = without_meaning  # type: ignore[method-assign]
    answer = await record_of(desk, "search_docs", query="x")
    assert answer["mode"] == "keyword"
    assert answer["message"] == "Mode: keyword (meaning not searched: embedder_unavailable)."


@pytest.mark.promise("site.30", "site.31", "site.35")
async def test_pages_come_in_the_order_that_was_asked_each_with_its_own_error() -> None:
    asked = [page_id("api-v1/users/list.md"), "nonsense", page_id("blog/why.md"), page_id(AUTH)]
    resources = (await record_of(make_desk(), "get_pages_by_id", pageIds=asked))["resources"]
    assert [one["pageId"] for one in resources] == asked
    assert ["content" in one for one in resources] == [True, False, False, True]
    assert resources[1] == {"pageId": "nonsense", "path": "", "url": "", "error": "page not found: nonsense"}
    assert resources[2]["error"] == f"page is not within a documentation set: {asked[2]}"
    assert resources[2]["url"] == ""
    assert resources[0]["content"].strip() == "# GET /users\n\nLists users of v1."
    for one in resources:
        assert ("content" in one) != ("error" in one)


@pytest.mark.promise("site.34")
@pytest.mark.parametrize(
    "path",
    [
        "/docs/../api-v1/users/list/",
        "..",
        "/docs/%2e%2e/secret",
        "/docs%2Findex",
        "/docs%5cindex",
        "/docs\\index",
        "/docs/\0index",
        "/docs/%00index",
        "/docs/%ff",
        "/" + "a" * 4_096,
    ],
)
async def test_a_path_that_could_lead_elsewhere_is_invalid_and_the_others_are_answered(path: str) -> None:
    resources = (await record_of(make_desk(), "get_pages_by_path", paths=[path, "/docs/index/"]))["resources"]
    assert resources[0]["error"] == "invalid path"
    assert resources[0]["url"] == ""
    assert resources[1]["title"] == "Welcome"


@pytest.mark.promise("site.34")
@pytest.mark.parametrize("path", ["/docs/index/", "docs/index", "/docs//./index/", "/docs/index.md", "/docs/%69ndex"])
async def test_what_survives_the_check_is_normalised(path: str) -> None:
    [resource] = (await record_of(make_desk(), "get_pages_by_path", paths=[path]))["resources"]
    assert resource["path"] == "/docs/index/"


@pytest.mark.promise("site.37")
async def test_a_page_that_has_moved_says_where_it_went() -> None:
    desk = make_desk()
    desk.docstore.moved["docs/auth.md"] = AUTH
    [resource] = (await record_of(desk, "get_pages_by_path", paths=["/docs/auth/"]))["resources"]
    assert resource["error"] == "page not found: /docs/auth/; it has moved to /docs/getting-started/authentication/"


@pytest.mark.promise("site.36")
async def test_a_batch_stays_within_its_tokens_and_a_cut_page_can_be_read_to_its_end() -> None:
    desk = make_desk()
    long = make_page("docs/long.md", "Long", "start")
    words = [f"w{number}" for number in range(3_000)]
    long.text = "\n\n".join(" ".join(words[at : at + 50]) for at in range(0, 3_000, 50))
    del long.heads[0].chunks[:]
    at = 0
    for place, paragraph in enumerate(long.text.split("\n\n")):
        long.heads[0].chunks.add(chunk_id=f"docs/long.md#{place}", start=at, end=at + len(paragraph))
        at += len(paragraph) + 2
    desk.docstore.documents.append(long)
    result = await call(desk, "get_pages_by_path", paths=["/docs/long/", "/docs/index/"], max_tokens=700)
    assert count_words(result.content[0].text) <= 700  # type: ignore[union-attr]
    assert result.structured_content is not None
    first, second = result.structured_content["resources"]
    assert second["error"] == "omitted: this answer is full at 700 tokens; ask for this page by itself"
    read = first["content"].split()
    following = first["next"]
    for _ in range(20):
        [part] = (await record_of(desk, "get_pages_by_path", **following, max_tokens=700))["resources"]
        read += part["content"].split()
        if "next" not in part:
            break
        following = part["next"]
    assert read == words


@pytest.mark.promise("site.23", "site.33")
async def test_limits_are_published() -> None:
    async with served(make_desk().gateway()) as url, Client(f"{url}/mcp/{PROJECT}/site") as client:
        tools = {tool.name: tool.input_schema["properties"] for tool in (await client.list_tools()).tools}
    for name in ("search_docs", "search_api"):
        assert list(tools[name]) == ["query", "mode", "limit", "pageTypeIds", "max_tokens"]
        assert (tools[name]["query"]["minLength"], tools[name]["query"]["maxLength"]) == (1, 2_000)
        assert [tools[name]["limit"][key] for key in ("minimum", "maximum", "default")] == [1, 25, 10]
        assert tools[name]["mode"]["enum"] == ["hybrid", "keyword", "semantic"]
        assert tools[name]["mode"]["default"] == "hybrid"
    assert tools["get_pages_by_id"]["pageIds"]["maxItems"] == 25
    assert tools["get_pages_by_path"]["paths"]["maxItems"] == 25


LIST = "a list of 1 to 25 texts"


@pytest.mark.promise("site.33", "site.50", "site.51")
@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("get_site_overview", {"a": 1}, "get_site_overview takes no arguments; call it without"),
        ("get_documentation_set", {}, "get_documentation_set needs setId: a text of 1 to 200 characters"),
        ("get_documentation_set", {"setId": "x"}, 'no documentation set "x"; its sets: docs, api-v1, api-v2'),
        ("get_openapi_spec", {"setId": "x"}, 'no documentation set "x"; its sets: docs, api-v1, api-v2'),
        (
            "get_documentation_set",
            {"setId": "docs", "cursor": "x"},
            "cursor is not one that get_documentation_set gave for this set: call it without cursor to start again",
        ),
        (
            "get_documentation_set",
            {"setId": "docs", "max_tokens": 1},
            "max_tokens must be an integer from 500 to 20000, not 1",
        ),
        ("search_docs", {"query": " "}, "query must be a text of 1 to 2,000 characters, not empty"),
        ("search_docs", {"query": "x" * 2_001}, "query must be a text of 1 to 2,000 characters, not 2,001 characters"),
        ("search_docs", {"query": "x", "limit": 26}, "limit must be an integer from 1 to 25, not 26"),
        ("search_api", {"query": "x", "mode": "all"}, 'mode must be one of hybrid, keyword, semantic, not "all"'),
        (
            "search_api",
            {"query": "x", "pageTypeIds": ["y"]},
            'pageTypeIds: no documentation set "y"; its sets: docs, api-v1, api-v2',
        ),
        ("get_pages_by_id", {"pageIds": ["x"] * 26}, f"pageIds must be {LIST}, not 26"),
        ("get_pages_by_id", {"pageIds": []}, f"pageIds must be {LIST}, not 0"),
        ("get_pages_by_path", {"paths": "/docs/"}, f'paths must be {LIST}, not "/docs/"'),
        (
            "get_pages_by_path",
            {"paths": ["/docs/index", "/a"], "from": 0},
            "from goes with one page: give one of paths",
        ),
        (
            "get_pages_by_path",
            {"paths": ["/docs/index/"], "from": 7},
            "from 7 is past the end: docs/index.md has chunks 0 to 0",
        ),
        (
            "get_pages_by_path",
            {"path": "/docs/"},
            'get_pages_by_path takes no argument "path" (did you mean paths?); valid: paths, max_tokens, from',
        ),
    ],
)
async def test_bad_input_is_refused_in_one_line_that_says_what_is_valid(
    tool: str, arguments: dict[str, Any], message: str
) -> None:
    assert await refusal(make_desk(), tool, **arguments) == message


@pytest.mark.promise("site.52")
async def test_instructions_and_descriptions_fit_where_clients_cut() -> None:
    project = make_project()
    for number in range(200):
        project.sources.add(name=f"a-rather-long-name-of-a-source-{number}")
    text = instructions.compose(project)
    assert len(text) <= 2_048
    assert "more" in text
    async with served(make_desk().gateway()) as url, Client(f"{url}/mcp/{PROJECT}/site") as client:
        assert all(len(tool.description or "") <= 2_048 for tool in (await client.list_tools()).tools)
