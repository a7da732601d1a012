"""An event that JetStream delivered; knows nothing of how it was pulled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from nats.aio.client import Client
from nats.aio.msg import Msg

from refdesk.ingest.events.client_errors import translated
from refdesk.ingest.events.incoming import Incoming

SetAside = Callable[[Msg, str], Awaitable[None]]
"""Keeps a copy of a message, with why. Raises: Unavailable."""


class JetStreamDelivery:
    """One message in a worker's hands. What it says is sent without waiting: lost, the event comes again, and nothing is done twice."""

    def __init__(self, client: Client, event: Incoming, message: Msg, set_aside: SetAside) -> None:
        self._client = client
        self._event = event
        self._message = message
        self._set_aside = set_aside

    @property
    def event(self) -> Incoming:
        """What was published."""
        return self._event

    @property
    def deliveries(self) -> int:
        """How often it was delivered, this time included."""
        return int(self._message.metadata.num_delivered)

    @property
    def trace(self) -> Mapping[str, str]:
        """What its headers say, under our own name or as an attribute of a CloudEvent in binary mode."""
        headers = {name.lower(): value for name, value in (self._message.headers or {}).items()}
        parent = headers.get("traceparent") or headers.get("ce-traceparent")
        return {"traceparent": parent} if parent else {}

    async def ack(self) -> None:
        """Done."""
        await self._say(b"+ACK")

    async def retry(self, delay_seconds: float) -> None:
        """Again, not before `delay_seconds`."""
        await self._say(b'-NAK {"delay": %d}' % int(delay_seconds * 1e9))

    async def in_progress(self) -> None:
        """Still being worked on."""
        await self._say(b"+WPI")

    async def terminate(self) -> None:
        """Never again."""
        await self._say(b"+TERM")

    async def park(self, reason: str) -> None:
        """Copied where people can look at it, then never again."""
        await self._set_aside(self._message, reason)
        await self._say(b"+TERM")

    async def _say(self, word: bytes) -> None:
        with translated():
            await self._client.publish(self._message.reply, word)
