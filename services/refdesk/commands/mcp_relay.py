"""Passes MCP over HTTP on to one address of a desk, and says whether that one is well; knows no message."""

from __future__ import annotations

import json
import time

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from refdesk.errors import RefdeskError, Unavailable
from refdesk.gateway.failures import problem_body, problem_headers, status_code
from refdesk.gateway.http import PROBLEM
from refdesk.gateway.origins import Origins

MOST_BODY_BYTES = 4 * 1024 * 1024
PASSED = (
    "accept",
    "authorization",
    "content-type",
    "mcp-protocol-version",
    "mcp-session-id",
    "mcp-method",
    "mcp-name",
    "origin",
)
"""Headers of a request that go along."""
RETURNED = ("content-type", "mcp-session-id", "retry-after", "allow", "www-authenticate")
METHODS = ["GET", "POST", "DELETE"]


def build_relay(target: str, http: httpx2.AsyncClient) -> Starlette:
    """The ASGI app: /mcp is the target, /health says how long it has been up and whether the desk is ready."""
    started = time.monotonic()
    origins = Origins()
    ready = f"{target.partition('/mcp/')[0]}/readyz"

    async def pass_on(request: Request) -> Response:
        if not origins.allows_host(request.headers.get("host", "")):
            return Response("this address answers on loopback only\n", 421)
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > MOST_BODY_BYTES:
                return Response("the body is too large\n", 413)
        headers = {name: request.headers[name] for name in PASSED if name in request.headers}
        try:
            answer = await http.request(request.method, target, content=bytes(body), headers=headers)
        except httpx2.HTTPError:
            return _problem(Unavailable("the desk behind this address does not answer: is it still running?"))
        returned = {name: answer.headers[name] for name in RETURNED if name in answer.headers}
        return Response(answer.content, answer.status_code, returned)

    async def health(_: Request) -> Response:
        try:
            is_well = (await http.get(ready)).status_code == 200
        except httpx2.HTTPError:
            is_well = False
        body = {"status": "ok" if is_well else "unavailable", "uptime": int(time.monotonic() - started)}
        return Response(json.dumps(body) + "\n", 200 if is_well else 503, media_type="application/json")

    routes = [Route(path, pass_on, methods=METHODS) for path in ("/mcp", "/mcp/")]
    app = Starlette(routes=[*routes, Route("/health", health)])
    app.router.redirect_slashes = False
    return app


def _problem(error: RefdeskError) -> Response:
    return Response(problem_body(error), status_code(error), problem_headers(error), media_type=PROBLEM)
