"""Ends work that nobody waits for any more; knows nothing of what the work is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import anyio
from starlette.types import Receive

from refdesk.gateway.metrics import ABANDONED_CALLS


@contextlib.asynccontextmanager
async def while_client_waits(receive: Receive) -> AsyncIterator[None]:
    """Cancels the block when the client goes away; its body must have been read. After the block nobody hears of it."""
    with anyio.CancelScope() as scope:
        watching = asyncio.create_task(_cancel_when_gone(receive, scope), name="client's presence")
        try:
            yield
        finally:
            watching.cancel()


async def _cancel_when_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    ABANDONED_CALLS.inc()
    scope.cancel()
