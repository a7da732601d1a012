"""The connector surface and the pages that it cites, with the official client and a plain one."""

from __future__ import annotations

import json
from typing import Any

import httpx
import jsonschema
import pytest
from mcp import Client

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway.reading_pages import RENDERED_CHARACTERS, render_page, render_text
from refdesk.gateway.settings import GatewaySettings
from surfaces.desks import Desk, served
from surfaces.fakes import count_words
from surfaces.site_desk import PROJECT, call, make_desk, make_page, page_id, record_of, refusal

pytestmark = pytest.mark.anyio
LIST = "api-v1/users/list.md"


@pytest.mark.promise("connector.1", "connector.2", "connector.3")
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_what_search_gives_fetch_reads_and_both_always_have_an_address(era: Any) -> None:
    desk = make_desk()
    async with served(desk.gateway()) as url, Client(f"{url}/mcp/{PROJECT}/connector", mode=era) as client:
        search, fetch = (await client.list_tools()).tools
        assert (search.name, fetch.name) == ("search", "fetch")
        found = (await client.call_tool("search", {"query": "users"})).structured_content
        assert found and search.output_schema and fetch.output_schema
        jsonschema.validate(found, search.output_schema)
        assert len(found["results"]) == 7
        for result in found["results"]:
            assert list(result) == ["id", "title", "url"]
            page = await client.call_tool("fetch", {"id": result["id"]})
            jsonschema.validate(page.structured_content, fetch.output_schema)
            assert json.loads(page.content[0].text) == page.structured_content  # type: ignore[union-attr]
            assert page.structured_content
            assert list(page.structured_content) == ["id", "title", "text", "url", "metadata"]
            assert page.structured_content["url"] == result["url"]
            assert page.structured_content["text"].startswith(f"# {result['title']}\n\n")
        own = next(one for one in found["results"] if one["id"] == page_id(LIST))
        assert own["url"] == f"{url}/p/{PROJECT}/{LIST}"
        async with httpx.AsyncClient() as reader:
            assert "Lists users of v1." in (await reader.get(own["url"])).text


@pytest.mark.promise("connector.2")
async def test_addresses_begin_with_the_public_url_where_one_is_set() -> None:
    desk = make_desk(LIST)
    desk.settings = GatewaySettings(catalog_seconds=0, public_url="https://desk.example.com/")
    found = await record_of(desk, "search", "connector", query="users")
    assert found["results"][0]["url"] == f"https://desk.example.com/p/{PROJECT}/{LIST}"


@pytest.mark.promise("connector.4")
async def test_nothing_good_is_no_results() -> None:
    desk = make_desk()
    desk.docstore.project.floor_cosine, desk.docstore.project.floor_coverage = 0.9, 0.9
    assert await record_of(desk, "search", "connector", query="the weather") == {"results": []}
    desk.docstore.documents.clear()
    assert await record_of(desk, "search", "connector", query="the weather") == {"results": []}


@pytest.mark.promise("connector.5")
async def test_a_page_that_is_too_long_is_cut_and_read_on_to_its_end() -> None:
    words = [f"w{number}" for number in range(45_000)]
    text = "\n\n".join(" ".join(words[at : at + 500]) for at in range(0, len(words), 500))
    long = make_page("docs/long.md", "Long", "x")
    long.text = text
    del long.heads[0].chunks[:]
    at = 0
    for place, paragraph in enumerate(text.split("\n\n")):
        long.heads[0].chunks.add(chunk_id=f"docs/long.md#{place}", start=at, end=at + len(paragraph))
        at += len(paragraph) + 2
    desk = make_desk()
    desk.docstore.documents.append(long)
    read: list[str] = []
    page: str | None = page_id("docs/long.md")
    for _ in range(5):
        result = await call(desk, "fetch", surface="connector", id=page)
        assert result.structured_content is not None
        assert count_words(result.content[0].text) <= 20_000  # type: ignore[union-attr]
        read += result.structured_content["text"].split()
        page = result.structured_content["metadata"].get("next_id")
        if page is None:
            break
    assert read == words


@pytest.mark.promise("connector.6")
@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("search", {}, "search needs query: a text of 1 to 2,000 characters"),
        ("search", {"query": ""}, "query must be a text of 1 to 2,000 characters, not empty"),
        ("search", {"query": "x", "limit": 3}, 'search takes no argument "limit"; valid: query'),
        ("fetch", {"id": "nope"}, 'no page has the id "nope"; search gives ids'),
        ("fetch", {"id": "#1"}, 'no page has the id "#1"; search gives ids'),
        ("fetch", {"id": 7}, "id must be a text of 1 to 200 characters, not 7"),
        ("fetch", {"id": f"{page_id(LIST)}#9"}, f"from 9 is past the end: {LIST} has chunks 0 to 0"),
    ],
)
async def test_bad_input_is_refused_in_one_line(tool: str, arguments: dict[str, Any], message: str) -> None:
    assert await refusal(make_desk(), tool, "connector", **arguments) == message


async def get(desk: Desk, path: str, **headers: str) -> httpx.Response:
    async with served(desk.gateway()) as url, httpx.AsyncClient() as reader:
        # The path goes out as it is: a client that tidies it up would hide what is tested.
        return await reader.send(httpx.Request("GET", httpx.URL(url, raw_path=path.encode()), headers=headers))


@pytest.mark.promise("connector.10", "connector.11")
async def test_a_page_shows_hostile_text_as_text_and_is_answered_with_304_while_it_stands() -> None:
    desk = make_desk()
    hostile = make_page(
        "docs/x y.md",
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(2)>\n\n[a](javascript:alert(3)) [b](../index.md) ![c](https://evil.example/c.png)\n\n"
        "|h|\n|-|\n|cell|\n",
    )
    desk.docstore.documents.append(hostile)
    page = await get(desk, f"/p/{PROJECT}/docs/x%20y.md")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "<script" not in page.text and "<img src=x" not in page.text
    assert 'href="javascript' not in page.text
    assert '<a href="../index.md">b</a>' in page.text
    assert "<td>cell</td>" in page.text
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src" not in policy and "unsafe" not in policy and "img-src" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    again = await get(desk, f"/p/{PROJECT}/docs/x%20y.md", **{"If-None-Match": page.headers["etag"]})
    assert (again.status_code, again.text) == (304, "")
    hostile.revision += 1
    assert (
        await get(desk, f"/p/{PROJECT}/docs/x%20y.md", **{"If-None-Match": page.headers["etag"]})
    ).status_code == 200


@pytest.mark.promise("connector.12")
@pytest.mark.parametrize(
    "path",
    [
        f"/p/{PROJECT}/docs/none.md",
        f"/p/{PROJECT}/docs/%2e%2e/docs/index.md",
        f"/p/{PROJECT}/docs/..%2fdocs/index.md",
        f"/p/{PROJECT}/docs\\index.md",
        f"/p/{PROJECT}/docs/%00index.md",
        f"/p/{PROJECT}/blog/why.md",
        "/p/absent/docs/index.md",
    ],
)
async def test_what_is_not_there_is_answered_alike(path: str) -> None:
    answer = await get(make_desk(), path)
    assert answer.status_code == 404
    assert answer.json()["detail"] == "there is no such page here"


@pytest.mark.promise("connector.12")
async def test_a_page_is_found_by_its_site_path_too_and_not_under_another_host() -> None:
    desk = make_desk()
    assert (await get(desk, f"/p/{PROJECT}/docs/index/")).status_code == 200
    assert (await get(desk, f"/p/{PROJECT}/docs/index.md", Host="evil.example")).status_code == 403


@pytest.mark.promise("connector.13")
async def test_where_keys_are_needed_a_page_needs_one() -> None:
    desk = make_desk()
    desk.settings = GatewaySettings(catalog_seconds=0, host="0.0.0.0")
    assert (await get(desk, f"/p/{PROJECT}/docs/index.md")).status_code == 401
    assert (await get(desk, "/p/absent/docs/index.md")).status_code == 401


async def test_a_project_may_open_its_pages_to_anybody_and_no_other_project_is_opened_by_it() -> None:
    desk = make_desk()
    desk.settings = GatewaySettings(catalog_seconds=0, host="0.0.0.0")
    desk.docstore.project.public_pages = True
    desk.docstore.others.append(docstore_api.Project(slug="closed", live_generation="g", followed_generations=["g"]))
    page = await get(desk, f"/p/{PROJECT}/docs/index.md")
    assert (page.status_code, page.headers["cache-control"]) == (200, "public, no-cache")
    for path in ("docs/none.md", "blog/why.md"):  # nothing but what is published in its sets
        assert (await get(desk, f"/p/{PROJECT}/{path}")).status_code == 404
    for path in ("/p/closed/docs/index.md", "/p/absent/docs/index.md"):
        assert (await get(desk, path)).status_code == 401
    tools = await get(desk, f"/mcp/{PROJECT}/docs")
    assert tools.status_code == 405  # pages alone are opened; MCP is not


async def test_pages_that_anybody_may_read_are_served_at_a_bounded_rate() -> None:
    desk = make_desk()
    desk.settings = GatewaySettings(catalog_seconds=0, host="0.0.0.0", calls_per_minute=1)
    desk.docstore.project.public_pages = True
    async with served(desk.gateway()) as url, httpx.AsyncClient() as client:
        statuses = [(await client.get(f"{url}/p/{PROJECT}/docs/index.md")).status_code for _ in range(7)]
    assert statuses == [200] * 5 + [429] * 2


@pytest.mark.promise("connector.10")
def test_facts_of_a_document_are_escaped_and_a_very_long_text_is_shown_as_written() -> None:
    document = docstore_api.Document(
        path='docs/"><b>.md', title='"><i>', version="<u>", url='https://e.example/"><s>', language='en"><p', text="x"
    )
    page = render_page(document)
    for tag in ("<b>", "<i>", "<u>", "<s>", "<p"):
        assert tag not in page.replace("<p>x</p>", "")
    long = "*a* <b> " * (RENDERED_CHARACTERS // 8 + 1)
    assert render_text(long).startswith("<pre>*a* &lt;b&gt;")
    assert "<em>" not in render_text(long)
