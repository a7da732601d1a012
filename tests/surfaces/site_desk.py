"""A desk on the site surface over the fakes: a documentation set, two versions of an API, a menu where a test gives one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp import Client
from mcp.types import CallToolResult, TextContent

from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from surfaces.desks import Desk, served
from surfaces.fakes import GENERATION, MODEL, FakeDocstore, FakeSearch, Part, hit, leg, make_document

PROJECT = "example"
BEARER = "Every request carries a bearer token in the Authorization header."


def make_project(slug: str = PROJECT) -> docstore_api.Project:
    """The site of the reference's examples."""
    return docstore_api.Project(
        slug=slug,
        title="Example Docs",
        description="How to build on Example",
        surfaces=["site", "connector", "docs"],
        model_id=MODEL,
        live_generation=GENERATION,
        followed_generations=[GENERATION],
        sources=[
            docstore_api.Source(
                name="docs",
                kind="folder",
                type="documentation",
                title="Documentation",
                base_url="https://docs.example.com/docs/",
            ),
            docstore_api.Source(name="api-v1", kind="folder", type="api", title="API v1"),
            docstore_api.Source(name="api-v2", kind="folder", type="api"),
        ],
        revision=1,
    )


def make_page(path: str, title: str, text: str, *, url: str = "", kind: str = "documentation") -> docstore_api.Document:
    """A page under the id that it would really have."""
    document = make_document(path, title, [Part((title,), text)])
    source, _, within = path.partition("/")
    document.document_id = ids.document_id(PROJECT, source, within)
    document.url, document.kind = url, kind
    return document


def make_documents() -> list[docstore_api.Document]:
    """Six pages in three sets, and one of a source that is no set."""
    at = "https://docs.example.com/docs/"
    return [
        make_page("docs/index.md", "Welcome", "Welcome to Example.", url=f"{at}index/"),
        make_page(
            "docs/getting-started/authentication.md",
            "Authentication",
            BEARER,
            url=f"{at}getting-started/authentication/",
        ),
        make_page("docs/getting-started/install.mdx", "Install", "Install it.", url=f"{at}getting-started/install/"),
        make_page("api-v1/users/list.md", "GET /users", "Lists users of v1.", kind="api"),
        make_page("api-v2/users/list.md", "GET /users", "Lists users of v2.", kind="api"),
        make_page("api-v2/users/create.md", "POST /users", "Makes a user.", kind="api"),
        make_page("blog/why.md", "Why", "We rebuilt search."),
    ]


@dataclass
class SiteDocstore(FakeDocstore):
    """Finds pages by id too, keeps menus, and tells what kind of page a chunk is of."""

    menus: dict[str, docstore_api.Menu] = field(default_factory=dict)

    async def get_menus(self, request: docstore_api.GetMenusRequest) -> docstore_api.GetMenusResponse:
        self._called("get_menus")
        empty = docstore_api.Menu()
        return docstore_api.GetMenusResponse(menus=[self.menus.get(source, empty) for source in request.sources])

    async def get_documents(self, request: docstore_api.GetDocumentsRequest) -> docstore_api.GetDocumentsResponse:
        paths = {document.document_id: document.path for document in self.documents}
        asked = list(request.paths) or [paths.get(one, "nowhere") for one in request.document_ids]
        return await super().get_documents(docstore_api.GetDocumentsRequest(paths=asked))

    async def hydrate_chunks(self, request: docstore_api.HydrateChunksRequest) -> docstore_api.HydrateChunksResponse:
        response = await super().hydrate_chunks(request)
        known = {document.path: document for document in self.documents}
        for chunk in response.chunks:
            chunk.kind, chunk.url = known[chunk.path].kind, known[chunk.path].url
        return response


@dataclass
class SiteSearch(FakeSearch):
    """Each leg lists `paths`, of them those that the filter lets through, as every engine does."""

    paths: Sequence[str] = ()
    kinds: dict[str, str] = field(default_factory=dict)

    async def retrieve(self, request: search_api.RetrieveRequest) -> search_api.RetrieveResponse:
        asked = request.filter
        self.lexical, self.semantic = (
            leg(
                kind,
                [
                    hit(f"{path}#0", cosine=0.8, coverage=0.8)
                    for path in self.paths
                    if (not asked.kinds or self.kinds[path] in asked.kinds)
                    and (not asked.sources or path.split("/")[0] in asked.sources)
                ],
            )
            for kind in (search_api.LEG_KIND_LEXICAL, search_api.LEG_KIND_SEMANTIC)
        )
        return await super().retrieve(request)


def make_desk(*paths: str, menus: dict[str, docstore_api.Menu] | None = None) -> Desk:
    """A desk whose every search finds these pages, where its filter lets them through."""
    documents = make_documents()
    search = SiteSearch(
        paths=paths or [document.path for document in documents], kinds={one.path: one.kind for one in documents}
    )
    docstore: Any = SiteDocstore(documents, make_project(), menus=menus or {})
    return Desk(docstore=docstore, search=search)


async def call(desk: Desk, tool: str, era: Any = "auto", surface: str = "site", **arguments: Any) -> CallToolResult:
    """What a tool answers the official client."""
    async with served(desk.gateway()) as url, Client(f"{url}/mcp/{PROJECT}/{surface}", mode=era) as client:
        return await client.call_tool(tool, arguments)


async def record_of(desk: Desk, tool: str, surface: str = "site", **arguments: Any) -> Any:
    """The data of an answer, which its text says too."""
    result = await call(desk, tool, surface=surface, **arguments)
    part = result.content[0]
    assert isinstance(part, TextContent)
    assert not result.is_error, part.text
    assert json.loads(part.text) == result.structured_content
    return result.structured_content


async def refusal(desk: Desk, tool: str, surface: str = "site", **arguments: Any) -> str:
    """The text of an error, which is one line."""
    result = await call(desk, tool, surface=surface, **arguments)
    part = result.content[0]
    assert isinstance(part, TextContent)
    assert result.is_error
    assert "\n" not in part.text
    return part.text


def page_id(path: str) -> str:
    """The id of a page by its path."""
    source, _, within = path.partition("/")
    return ids.document_id(PROJECT, source, within)
