"""Which implementation of Events a setting means; knows nothing of what goes through it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from refdesk.engines.nats.access import read_servers
from refdesk.ingest.events.broker import NAMES, ExternalBroker
from refdesk.ingest.events.interface import Events
from refdesk.ingest.events.jetstream import JetStreamEvents
from refdesk.ingest.events.nats_server import NatsServer
from refdesk.ingest.settings import IngestSettings


def events(settings: IngestSettings, data: Path) -> Events:
    """`file:` a nats-server of our own on `data`/events, `file:/path` on that folder; `nats://host:port` or tls:// somebody else's.

    Nothing is opened before start. Raises: InvalidArgument for another URL.
    """
    parts, max_bytes = urlsplit(settings.events), settings.events_max_bytes
    if parts.scheme == "file" and not parts.netloc:
        folder = Path(parts.path) if parts.path else data / "events"
        return JetStreamEvents(NatsServer(folder, max_store_bytes=2 * max_bytes), max_bytes=max_bytes)
    broker = ExternalBroker(",".join(read_servers(settings.events, NAMES)), settings.nats)
    return JetStreamEvents(broker, max_bytes=max_bytes, replicas=settings.nats.replicas)
