"""Refuses MCP requests that have no room before anything else is done with them; knows neither routes nor protocol eras.

When five times as much comes in as can be answered, four of five requests end here: what this costs is taken from the answers to the fifth.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from refdesk.errors import ResourceExhausted
from refdesk.gateway.failures import explain, problem_headers, status_code
from refdesk.gateway.messages import SERVER_ERROR, error_body, read_id

PREFIX = "/mcp"
MOST_READ_BYTES = 64 * 1024
"""A larger body is not looked through for the id of its request."""


class Door:
    """Lets a request in to `app`, or answers it when `refuse_when_full` raises: 429, when to come again, and a JSON-RPC error."""

    def __init__(self, app: ASGIApp, refuse_when_full: Callable[[], None]) -> None:
        self._app = app
        self._refuse_when_full = refuse_when_full

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one HTTP request."""
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"].startswith(PREFIX):
            try:
                self._refuse_when_full()
            except ResourceExhausted as error:
                await _refuse(error, receive, send)
                return
        await self._app(scope, receive, send)


async def _refuse(error: ResourceExhausted, receive: Receive, send: Send) -> None:
    body = error_body(SERVER_ERROR, explain(error), read_id(await read_what_came(receive)))
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    headers += [(name.lower().encode(), value.encode()) for name, value in problem_headers(error).items()]
    await send({"type": "http.response.start", "status": status_code(error), "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def read_what_came(receive: Receive) -> bytes:
    """The body where it came with its head, as it does nearly always; empty where it would have to be waited for, or is large."""
    try:
        async with asyncio.timeout(0):
            message = await receive()
    except TimeoutError:
        return b""
    body: bytes = message.get("body", b"")
    return b"" if message.get("more_body", False) or len(body) > MOST_READ_BYTES else body
