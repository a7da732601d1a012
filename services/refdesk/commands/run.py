"""`refdesk run --target=…`: one service by itself, over gRPC (the gateway over HTTP), as every pod runs it."""

from __future__ import annotations

import socket
from contextlib import AsyncExitStack
from pathlib import Path

from starlette.applications import Starlette

from refdesk.app import App
from refdesk.commands.serving import bind, served
from refdesk.commands.stopping import stop_signal
from refdesk.desk import UNNAMED_DATA
from refdesk.rpc.health import HealthListener
from refdesk.rpc.server import Server
from refdesk.rpc.tls import Callers
from refdesk.settings import load_here
from refdesk.telemetry.http import build_app


async def run(target: str, config: str) -> None:
    """Runs one service until it is told to stop; health says not serving first, then calls finish.

    Raises: InvalidArgument, Unavailable: what keeps it from starting, and what to do.
    """
    settings = load_here({}, config)
    data = Path(settings.data or UNNAMED_DATA)
    data.mkdir(parents=True, exist_ok=True)
    app = App(settings, data, (target,))
    host, _, port = settings.telemetry.listen.rpartition(":")
    telemetry = bind(host, int(port), "set telemetry.listen (REFDESK_TELEMETRY__LISTEN) to another address")
    stop = stop_signal()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(served(build_app(app.readiness), telemetry))
        health = HealthListener(app.services, settings.rpc.health_listen) if settings.rpc.health_listen else None
        if health is not None:
            await health.start()
            stack.push_async_callback(health.close)
        stack.push_async_callback(app.close)
        if target == "gateway":
            await _serve_gateway(app, stack)
        await app.start()
        if target != "gateway":
            callers = Callers(settings.rpc.tls.callers)
            server = Server(app.services, settings.rpc.listen, app.certificates, callers)
            await server.start()
            stack.push_async_callback(server.close)
        if health is not None:
            await health.note_started()
            stack.push_async_callback(health.drain)
        await stop.wait()


async def _serve_gateway(app: App, stack: AsyncExitStack) -> None:
    """Both of its listeners end before its services do, so that calls under way are answered."""
    gateway = app.settings.gateway
    listener = bind(gateway.host, gateway.port, "set gateway.port (REFDESK_GATEWAY__PORT) to another port")
    await stack.enter_async_context(served(app.services["gateway"].app, listener))
    await stack.enter_async_context(served(_build_operator(app), _bind_operator(gateway.operator_listen)))


def _build_operator(app: App) -> Starlette:
    from refdesk.gateway.admins import Admins  # only the gateway's process has a use for these
    from refdesk.gateway.comparing import Comparison
    from refdesk.gateway.explanations import Explanations
    from refdesk.gateway.operator import build_operator

    docstore, gateway = app.hold("docstore"), app.settings.gateway
    admins = None
    if gateway.operator_requires_keys:
        admins = Admins(app.services["gateway"].callers, [Path(file) for file in gateway.admin_key_files])
    search, embedder = app.hold("search"), app.hold("embedder")
    comparison, explanations = Comparison(docstore, search, embedder), Explanations(docstore, search, embedder)
    return build_operator(docstore, app.hold("ingest"), comparison, explanations, admins)


def _bind_operator(listen: str) -> socket.socket:
    host, _, port = listen.rpartition(":")
    return bind(host, int(port), "set gateway.operator_listen (REFDESK_GATEWAY__OPERATOR_LISTEN) to another address")
