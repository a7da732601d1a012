"""Which implementation of Events a URL means; knows nothing of what goes through it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from refdesk.errors import InvalidArgument
from refdesk.ingest.events.broker import ExternalBroker
from refdesk.ingest.events.interface import Events
from refdesk.ingest.events.jetstream import JetStreamEvents
from refdesk.ingest.events.nats_server import NatsServer

DEFAULT_MAX_BYTES = 512 * 1024 * 1024


def open_events(url: str, data: Path, *, max_bytes: int = DEFAULT_MAX_BYTES) -> Events:
    """`file:` a nats-server of our own on `data`/events, `file:/path` on that folder; `nats://host:port` somebody else's.

    The stream takes at most `max_bytes`. Nothing is opened before start. Raises: InvalidArgument for another URL.
    """
    parts = urlsplit(url)
    if parts.scheme == "file" and not parts.netloc:
        folder = Path(parts.path) if parts.path else data / "events"
        return JetStreamEvents(NatsServer(folder, max_store_bytes=2 * max_bytes), max_bytes=max_bytes)
    if parts.scheme == "nats" and parts.hostname:
        return JetStreamEvents(ExternalBroker(url), max_bytes=max_bytes)
    raise InvalidArgument(f"events URL {url!r} is not known: use file: or nats://host:port")
