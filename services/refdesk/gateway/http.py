"""The gateway's HTTP: /mcp in all its spellings, health, metrics, and errors as problem+json; knows nothing of MCP's messages."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence

import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from refdesk import errors
from refdesk.gateway.failures import problem_body, problem_headers, status_code
from refdesk.gateway.metrics import UNANSWERED
from refdesk.gateway.readiness import Readiness
from refdesk.telemetry.http import live_response, metrics_response

log = structlog.get_logger()

MCP_PATHS = ("/mcp", "/mcp/{project}", "/mcp/{project}/{surface}")
PROBLEM = "application/problem+json"


def build_app(
    mcp: ASGIApp, readiness: Callable[[], Awaitable[Readiness]], *, serve_metrics: bool, routes: Sequence[Route] = ()
) -> Starlette:
    """The ASGI app; no path is ever redirected."""

    async def ready(_: Request) -> Response:
        state = await readiness()
        body = {"ready": not state.reason, "searched_by": state.searched_by, "reason": state.reason}
        return Response(json.dumps(body) + "\n", 503 if state.reason else 200, media_type="application/json")

    routes = [*routes, *(Route(path + end, mcp) for path in MCP_PATHS for end in ("", "/"))]
    routes += [Route("/livez", live_response), Route("/readyz", ready)]
    if serve_metrics:
        routes.append(Route("/metrics", metrics_response))
    app = Starlette(
        routes=routes, exception_handlers={HTTPException: _refused, errors.RefdeskError: _failed, Exception: _broken}
    )
    app.router.redirect_slashes = False
    return app


async def _failed(_: Request, error: Exception) -> Response:
    assert isinstance(error, errors.RefdeskError)
    return Response(problem_body(error), status_code(error), problem_headers(error), media_type=PROBLEM)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return await _failed(request, errors.NotFound("nothing is served here: MCP is at /mcp"))
    body = {"type": "about:blank", "title": error.detail, "status": error.status_code, "detail": error.detail}
    return Response(json.dumps(body), error.status_code, error.headers, media_type=PROBLEM)


async def _broken(request: Request, error: Exception) -> Response:
    log.error("a request failed", path=request.url.path, exc_info=error)
    if request.url.path.startswith(MCP_PATHS[0]):
        UNANSWERED.labels(errors.Internal.reason).inc()
    return await _failed(request, errors.Internal("the request could not be answered"))
