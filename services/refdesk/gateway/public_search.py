"""GET /api/projects/{project}/search: the search box of a published site, without a key; knows nothing of MCP.

It is off unless a project declares it, and then finds what is published and nothing else. Which pages may read its answers is declared too.
"""

from __future__ import annotations

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway.admission import Admission
from refdesk.gateway.arguments import INTEGER, TEXT, TEXTS, Argument, Tool
from refdesk.gateway.call_log import CallLog
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.failures import problem_body, problem_headers, status_code
from refdesk.gateway.origins import Origins
from refdesk.gateway.rates import Rates
from refdesk.gateway.surfaces.interface import Caller, ToolAnswer
from refdesk.gateway.surfaces.site.schemas import MODES
from refdesk.gateway.surfaces.site.search import PageSearch
from refdesk.rpc import deadline
from refdesk.telemetry import tracing

PATH = "/api/projects/{project}/search"
PROBLEM = "application/problem+json"
SURFACE = "public"
PREFLIGHT_SECONDS = 600
MOST_DIGITS = 9
QUERY = Tool(
    "search",
    "Search",
    "The search box of a site.",
    (
        Argument("q", TEXT, "What to search for.", required=True, least=1, most=500),
        Argument("mode", TEXT, "How to search.", default="hybrid", options=MODES),
        Argument("limit", INTEGER, "Most pages.", False, 1, 25, default=10),
        Argument("set", TEXTS, "Ids of sets, the parameter once for each.", most=25),
    ),
    {},
)


class PublicSearch:
    """Answers the search boxes of projects that have one, each at most `calls_per_minute` times, beside the calls of agents."""

    def __init__(
        self,
        catalog: Catalog,
        search: PageSearch,
        origins: Origins,
        admission: Admission,
        call_log: CallLog,
        *,
        calls_per_minute: int,
        deadline_seconds: float,
        public_url: str,
    ) -> None:
        self._catalog = catalog
        self._search = search
        self._origins = origins
        self._admission = admission
        self._call_log = call_log
        self._rates = Rates(calls_per_minute)
        self._deadline_seconds = deadline_seconds
        self._public_url = public_url

    async def serve(self, request: Request) -> Response:
        """The answer, or an error as problem+json, with the headers that let a declared page read it."""
        headers = {"Vary": "Origin", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        try:
            with (
                tracing.following(request.headers),
                tracing.span("GET search", "server", begins=True),
                deadline.limit(self._deadline_seconds),
            ):
                self._origins.check_host(request.headers.get("host", ""))
                project = await self._find(request.path_params["project"])
                headers |= _allow(request.headers.get("origin", ""), project)
                if request.method == "OPTIONS":
                    return Response(status_code=204, headers=headers)
                told = await self._answer(request, project)
        except errors.RefdeskError as error:
            headers |= problem_headers(error)
            return Response(problem_body(error), status_code(error), headers, media_type=PROBLEM)
        return Response(told.text, headers=headers, media_type="application/json")

    async def _find(self, slug: str) -> docstore_api.Project:
        project = (await self._catalog.projects()).get(slug)
        if project is None or not project.HasField("public_search"):
            raise errors.NotFound("no search is served here")
        return project

    async def _answer(self, request: Request, project: docstore_api.Project) -> ToolAnswer:
        started = time.perf_counter()
        given = _parameters(request)
        read = QUERY.read(given)
        self._rates.take(project.slug)
        arguments = {"query": read["q"], "mode": read["mode"], "limit": read["limit"], "pageTypeIds": read["set"]}
        base_url = self._public_url or str(request.base_url)
        async with self._admission:
            told = await self._search.find(project, "", arguments, base_url, "set")
        elapsed_seconds = time.perf_counter() - started
        self._call_log.note_call(project.slug, SURFACE, QUERY.name, given, Caller(), elapsed_seconds, told, "")
        return told


def _parameters(request: Request) -> dict[str, Any]:
    """The query's parameters as arguments. Raises: InvalidArgument for one that is given twice and must not be."""
    given: dict[str, Any] = {}
    for name, value in request.query_params.multi_items()[:100]:
        if name == "set":
            given.setdefault(name, []).append(value)
        elif name in given:
            raise errors.InvalidArgument(f"{name[:60]} is given twice; give it once")
        else:
            is_number = name == "limit" and value.isascii() and value.isdecimal() and len(value) <= MOST_DIGITS
            given[name] = int(value) if is_number else value
    return given


def _allow(origin: str, project: docstore_api.Project) -> dict[str, str]:
    if origin not in project.public_search.origins:
        return {}
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Methods": "GET",
        "Access-Control-Max-Age": str(PREFLIGHT_SECONDS),
    }
