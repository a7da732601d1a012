"""An HTTP way to an engine that a test can bar: wants a password, answers in the engine's place, or says nothing at all."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

FORWARD_SECONDS = 60.0


@dataclass
class Gate:
    """What stands between a client and the engine; change it while the client is at work."""

    target: str
    address: str = ""
    password: str | None = None
    """user:password that every request must bring."""
    answers: list[tuple[int, object]] = field(default_factory=list)
    """Status and body that the next requests get instead of the engine's answer, one each."""
    is_silent: bool = False
    """True: requests are taken and never answered."""
    loses_answers: bool = False
    """True: requests are forwarded, and then the connection is cut."""
    before: Callable[[str, str], Awaitable[None]] | None = None
    """Is given path and body of every request before it is forwarded."""
    seen: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path and body of every request."""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Bars or forwards one request."""
        body = await request.read()
        self.seen.append((request.method, request.path, body.decode()))
        if self.is_silent:
            await asyncio.Event().wait()
        if (
            self.password is not None
            and request.headers.get("authorization") != f"Basic {base64.b64encode(self.password.encode()).decode()}"
        ):
            return web.Response(status=401, text="Unauthorized")
        if self.answers:
            status, answer = self.answers.pop(0)
            if isinstance(answer, str):
                return web.Response(status=status, text=answer)
            return web.json_response(answer, status=status)
        if self.before is not None:
            await self.before(request.path, body.decode())
        return await self._forward(request, body)

    async def _forward(self, request: web.Request, body: bytes) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() == "content-type"}
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(FORWARD_SECONDS)) as session,
            session.request(
                request.method, f"http://{self.target}{request.path_qs}", data=io.BytesIO(body), headers=headers
            ) as answer,
        ):
            content = await answer.read()
            if self.loses_answers and request.transport is not None:
                request.transport.abort()
            return web.Response(status=answer.status, body=content, content_type=answer.content_type)


@contextlib.asynccontextmanager
async def open_gate(target: str, certificate: ssl.SSLContext | None = None) -> AsyncIterator[Gate]:
    """A gate before the engine at host:port, on a loopback port of its own; with TLS where it has a certificate."""
    gate = Gate(target)
    app = web.Application(client_max_size=2**30)
    app.router.add_route("*", "/{path:.*}", gate.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=certificate).start()
        host, port = runner.addresses[0]
        gate.address = f"{host}:{port}"
        yield gate
    finally:
        await runner.cleanup()


def bulk_answer(*statuses: int, kind: str = "rejected_execution_exception") -> tuple[int, dict[str, Any]]:
    """An answer to a bulk request whose items have these statuses, for `answers`."""
    items = [
        {"index": {"status": status, **({"error": {"type": kind}} if status >= 300 else {})}} for status in statuses
    ]
    return 200, {"errors": True, "items": items}
