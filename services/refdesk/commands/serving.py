"""Runs an ASGI app on an address until it is told to stop; knows nothing of what the app does."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import uvicorn

from refdesk.errors import Unavailable

GRACE_SECONDS = 5


class Listener(uvicorn.Server):
    """uvicorn without signal handlers of its own: the process decides when to stop."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves signals alone."""
        yield


def bind(host: str, port: int, hint: str) -> socket.socket:
    """Takes the address at once, so that a taken port is said before anything else is done.

    Raises: Unavailable with `hint` when it cannot be taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, or asyncio leaves Nagle on
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(1024)
    except OSError as failure:
        listener.close()
        raise Unavailable(f"port {port} on {host} cannot be used ({failure.strerror}): {hint}") from None
    listener.setblocking(False)
    return listener


@asynccontextmanager
async def served(app: Any, listener: socket.socket) -> AsyncIterator[None]:
    """Serves `app` on the bound socket while the block runs, then lets calls finish."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=GRACE_SECONDS,
        loop="none",
        ws="none",
    )
    server = Listener(config)
    task = asyncio.create_task(server.serve(sockets=[listener]), name="http")
    try:
        while not server.started and not task.done():  # noqa: ASYNC110 - uvicorn tells nobody when it has started
            await asyncio.sleep(0.01)
        if task.done():
            task.result()
        yield
    finally:
        server.should_exit = True
        await asyncio.wait({task}, timeout=GRACE_SECONDS * 2)
