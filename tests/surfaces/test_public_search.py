"""The search box of a site: off by default, open to declared pages, bounded."""

from __future__ import annotations

import httpx
import pytest

from refdesk.gateway.settings import GatewaySettings
from refdesk.projects import ProjectSettings
from surfaces.desks import Desk, served
from surfaces.site_desk import PROJECT, make_desk, page_id

pytestmark = pytest.mark.anyio
SITE = "https://docs.example.com"
AUTH = "docs/getting-started/authentication.md"


def public_desk(*paths: str) -> Desk:
    desk = make_desk(*paths)
    desk.docstore.project.public_search.origins.append(SITE)
    return desk


async def get(desk: Desk, query: str, method: str = "GET", **headers: str) -> httpx.Response:
    async with served(desk.gateway()) as url, httpx.AsyncClient() as client:
        return await client.request(method, f"{url}/api/projects/{PROJECT}/search{query}", headers=headers)


@pytest.mark.promise("site.60")
async def test_it_answers_pages_of_every_kind_as_the_tools_do_and_its_searches_are_logged() -> None:
    desk = public_desk(AUTH, "api-v2/users/list.md")
    answer = await get(desk, "?q=token&limit=5&mode=keyword")
    found = answer.json()
    assert found["mode"] == "keyword"
    assert [one["pageId"] for one in found["results"]] == [page_id(AUTH), page_id("api-v2/users/list.md")]
    assert list(found["results"][0]) == ["pageId", "path", "url", "title", "setId", "snippet", "score"]
    narrowed = await get(desk, "?q=token&set=docs&set=api-v1")
    assert {one["setId"] for one in narrowed.json()["results"]} == {"docs"}
    [row, _] = [one for one in desk.docstore.noted if one.surface == "public"]
    assert (row.tool, row.record_count, row.mode) == ("search", 2, "lexical")


@pytest.mark.promise("site.61")
async def test_it_is_off_unless_declared() -> None:
    off = await get(make_desk(), "?q=x", Origin=SITE)
    absent = make_desk()
    absent.docstore.project.slug = "other"
    assert off.status_code == 404
    assert off.json()["detail"] == "no search is served here"
    assert (await get(absent, "?q=x", Origin=SITE)).content == off.content
    assert "access-control-allow-origin" not in off.headers
    desk = public_desk()
    desk.settings = GatewaySettings(catalog_seconds=0, host="0.0.0.0")
    assert (await get(desk, "?q=x")).status_code == 200


@pytest.mark.promise("site.62")
@pytest.mark.parametrize(
    ("origin", "allowed"),
    [(SITE, SITE), ("https://docs.example.com.evil.example", None), ("null", None), ("http://docs.example.com", None)],
)
async def test_pages_of_declared_origins_alone_may_read_it(origin: str, allowed: str | None) -> None:
    for method in ("GET", "OPTIONS"):
        answer = await get(public_desk(), "?q=x", method, Origin=origin)
        assert answer.headers.get("access-control-allow-origin") == allowed
        assert answer.headers["vary"] == "Origin"
        assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.promise("site.63")
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "search needs q: a text of 1 to 500 characters"),
        ("?q=" + "x" * 501, "q must be a text of 1 to 500 characters, not 501 characters"),
        ("?q=x&limit=26", "limit must be an integer from 1 to 25, not 26"),
        ("?q=x&limit=all", 'limit must be an integer from 1 to 25, not "all"'),
        ("?q=x&mode=vec", 'mode must be one of hybrid, keyword, semantic, not "vec"'),
        ("?q=x&set=nope", 'set: no documentation set "nope"; its sets: docs, api-v1, api-v2'),
        ("?q=x&q=y", "q is given twice; give it once"),
        ("?q=x&page=2", 'search takes no argument "page"; valid: q, mode, limit, set'),
    ],
)
async def test_bad_parameters_are_refused_in_one_line(query: str, message: str) -> None:
    answer = await get(public_desk(), query, Origin=SITE)
    assert answer.status_code == 400
    assert answer.json()["detail"] == message
    assert answer.headers["access-control-allow-origin"] == SITE


@pytest.mark.promise("site.63")
async def test_a_project_is_asked_so_often_a_minute_and_no_more() -> None:
    desk = public_desk()
    desk.settings = GatewaySettings(catalog_seconds=0, calls_per_minute=6)
    async with served(desk.gateway()) as url, httpx.AsyncClient() as client:
        codes = [(await client.get(f"{url}/api/projects/{PROJECT}/search?q=x")).status_code for _ in range(7)]
    assert codes[:5] == [200] * 5
    assert codes[-1] == 429


@pytest.mark.parametrize("origin", ["docs.example.com", "https://docs.example.com/", "*", "https://Docs.example.com"])
def test_what_is_no_origin_cannot_be_declared(origin: str) -> None:
    with pytest.raises(ValueError, match="is no origin"):
        ProjectSettings.model_validate({"public_search": {"origins": [origin]}})
