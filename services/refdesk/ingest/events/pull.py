"""Asks one JetStream consumer for messages; knows nothing of what is in them.

The client library's own fetch mixes the answers of successive requests in one inbox; here each request has an inbox of its own, so a late
answer cannot be taken for another request's.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping

from nats.aio.client import Client
from nats.aio.msg import Msg

from refdesk.errors import Unavailable
from refdesk.ingest.events.client_errors import translated

ANSWER_TIMEOUT_SECONDS = 2.0
MOST_BYTES = 16 * 1024 * 1024
"""Of one answer: what source systems push comes with its content."""
_NO_RESPONDERS = "503"


class Puller:
    """Pulls from one durable consumer."""

    def __init__(self, client: Client, stream: str, consumer: str, lost: Callable[[], Awaitable[None]]) -> None:
        self._client = client
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"
        self._lost = lost

    async def take(self, limit: int) -> list[Msg]:
        """What is there now, up to `limit`. Raises: Unavailable."""
        request = {"batch": limit, "max_bytes": MOST_BYTES, "no_wait": True}
        return await self._pull(request, limit, ANSWER_TIMEOUT_SECONDS)

    async def wait(self, seconds: float) -> list[Msg]:
        """The next message, or [] when none came within `seconds`. Raises: Unavailable."""
        request = {"batch": 1, "expires": int(seconds * 1e9)}
        return await self._pull(request, 1, seconds + ANSWER_TIMEOUT_SECONDS)

    async def _pull(self, request: Mapping[str, object], limit: int, timeout_seconds: float) -> list[Msg]:
        inbox = self._client.new_inbox()
        answers: asyncio.Queue[Msg] = asyncio.Queue()
        with translated():
            subscription = await self._client.subscribe(inbox, cb=answers.put)
            try:
                await self._client.publish(self._subject, json.dumps(request).encode(), reply=inbox)
                return await self._gather(answers, limit, timeout_seconds)
            finally:
                await subscription.unsubscribe()

    async def _gather(self, answers: asyncio.Queue[Msg], limit: int, timeout_seconds: float) -> list[Msg]:
        taken: list[Msg] = []
        try:
            async with asyncio.timeout(timeout_seconds):
                while len(taken) < limit:
                    message = await answers.get()
                    if status := _status(message):
                        await self._heed(status)
                        break
                    taken.append(message)
        except TimeoutError:
            if not taken:
                raise Unavailable("the event queue did not answer in time; it is tried again") from None
        return taken

    async def _heed(self, status: str) -> None:
        """Any status ends a pull; most say that there is nothing (more)."""
        if status == _NO_RESPONDERS:
            await self._lost()


def _status(message: Msg) -> str:
    """The code of a message that is the server's own answer; empty for an event."""
    headers = message.headers or {}
    return headers.get("Status", "") if not message.data else ""
