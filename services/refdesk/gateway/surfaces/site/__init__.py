"""The site surface: nine tools over a project's published sets; knows nothing of MCP's wire."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.errors import NotFound
from refdesk.gateway.answers import SearchCore
from refdesk.gateway.budgets import Packer
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.pages import page_url
from refdesk.gateway.surfaces.docs.wording import unknown_tool
from refdesk.gateway.surfaces.interface import Caller, ToolAnswer, WithoutResources
from refdesk.gateway.surfaces.site import instructions, schemas, sets, tools
from refdesk.gateway.surfaces.site.contents import SetContents
from refdesk.gateway.surfaces.site.fetching import Pages
from refdesk.gateway.surfaces.site.search import PageSearch
from refdesk.gateway.surfaces.site.slicing import DIFF, SpecSlices, asked_part
from refdesk.gateway.surfaces.site.specs import Specs
from refdesk.gateway.tokens import TokenCounter

NO_SPEC = "no OpenAPI spec is kept for this set"
Run = Callable[[docstore_api.Project, Mapping[str, Any], str], Awaitable[ToolAnswer]]


class SiteSurface(WithoutResources):
    """Orient, browse or search, then fetch; whatever it answers is JSON, as text and as data."""

    name = "site"
    server_name = "leed-docs-mcp"
    always_structured = True

    def __init__(
        self, docstore: Docstore, core: SearchCore, catalog: Catalog, tokens: TokenCounter, public_url: str
    ) -> None:
        self._public_url = public_url
        self._contents = SetContents(docstore, tokens)
        self._search = PageSearch(core, catalog, Packer(tokens))
        self._pages = Pages(docstore, tokens)
        self._specs = Specs(docstore)
        self._slices = SpecSlices(tokens)
        self._definitions = [tool.definition(structured=True) for tool in tools.TOOLS]
        self._runs: Mapping[str, Run] = {
            tools.GET_SITE_OVERVIEW.name: self._tell(sets.describe_site),
            tools.LIST_DOCUMENTATION_SETS.name: self._tell(sets.describe_sets),
            tools.DESCRIBE_SCHEMA.name: self._tell(lambda _: schemas.SHAPES),
            tools.GET_DOCUMENTATION_SET.name: self._get_set,
            tools.SEARCH_DOCS.name: self._find(sets.DOCUMENTATION),
            tools.SEARCH_API.name: self._find(sets.API),
            tools.GET_PAGES_BY_ID.name: self._get_by_id,
            tools.GET_PAGES_BY_PATH.name: self._get_by_path,
            tools.GET_OPENAPI_SPEC.name: self._get_spec,
        }
        self._tools = {tool.name: tool for tool in tools.TOOLS}

    def definitions(self, *, structured: bool) -> list[dict[str, Any]]:
        """The nine tools, always in this order; data comes whatever is set."""
        return self._definitions

    async def call(
        self, project: docstore_api.Project, tool: str, arguments: Mapping[str, Any] | None, caller: Caller
    ) -> ToolAnswer:
        """Runs one tool.

        Raises: UnknownTool; NotFound for a set that does not exist; InvalidArgument; Unavailable and the like.
        """
        if tool not in self._tools:
            raise unknown_tool(tool, self._tools)
        read = self._tools[tool].read(arguments)
        return await self._runs[tool](project, read, self._public_url or caller.base_url)

    async def instructions(self, project: docstore_api.Project | None) -> str:
        """The opening move and which sets there are."""
        return instructions.compose(project)

    async def close(self) -> None:
        """Ends what it runs beside this process."""
        await self._slices.close()

    def _tell(self, describe: Callable[[docstore_api.Project], Mapping[str, Any]]) -> Run:
        async def run(project: docstore_api.Project, _: Mapping[str, Any], __: str) -> ToolAnswer:
            told = describe(project)
            return _answer(told, len(told.get("sets", ())))

        return run

    def _find(self, kind: str) -> Run:
        async def run(project: docstore_api.Project, arguments: Mapping[str, Any], base_url: str) -> ToolAnswer:
            return await self._search.find(project, kind, arguments, base_url)

        return run

    async def _get_set(self, project: docstore_api.Project, arguments: Mapping[str, Any], base_url: str) -> ToolAnswer:
        contents, count = await self._contents.read(project, arguments, base_url)
        return _answer(contents, count)

    async def _get_by_id(
        self, project: docstore_api.Project, arguments: Mapping[str, Any], base_url: str
    ) -> ToolAnswer:
        return _pages(await self._pages.by_id(project, arguments, base_url))

    async def _get_by_path(
        self, project: docstore_api.Project, arguments: Mapping[str, Any], base_url: str
    ) -> ToolAnswer:
        return _pages(await self._pages.by_path(project, arguments, base_url))

    async def _get_spec(self, project: docstore_api.Project, arguments: Mapping[str, Any], base_url: str) -> ToolAnswer:
        source = sets.find_set(project, arguments["setId"])
        nothing = {"path": f"/{source.name}/openapi.yaml", "url": "", "setId": source.name}
        if sets.kind_of(source) != sets.API:
            return _answer(
                {**nothing, "error": f"this is no API set; API sets: {sets.known_sets(project, sets.API)}"}, 0
            )
        document = await self._specs.find(project, source.name)
        if document is None:
            return _answer({**nothing, "error": NO_SPEC}, 0)
        resource = {
            "pageId": document.document_id,
            "path": f"/{document.path}",
            "url": document.url or page_url(base_url, project.slug, document.path),
            "title": document.title,
            "setId": source.name,
        }
        try:
            content = await self._part(project, document, arguments)
        except NotFound as error:
            return _answer({**resource, "url": "", "error": error.message}, 0)
        return _answer({**resource, "content": content}, 1)

    async def _part(
        self, project: docstore_api.Project, document: docstore_api.Document, arguments: Mapping[str, Any]
    ) -> str:
        """The spec whole, or what is asked of it. Raises: InvalidArgument; NotFound, also for a set to compare with; Unavailable."""
        asked = asked_part(arguments)
        if asked is None:
            return document.text
        kind, name = asked
        older = ""
        if kind == DIFF:
            found = await self._specs.find(project, sets.find_set(project, name).name)
            if found is None:
                raise NotFound(f"diff: {NO_SPEC}")
            older = found.text
        return await self._slices.cut(project.model_id, kind, name, document.text, older, arguments["max_tokens"])


def _pages(resources: list[dict[str, Any]]) -> ToolAnswer:
    return _answer({"resources": resources}, sum("content" in one for one in resources))


def _answer(record: Mapping[str, Any], count: int) -> ToolAnswer:
    return ToolAnswer(_text(record), record, record_count=count)


def _text(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)
