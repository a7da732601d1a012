"""Where the NATS server is that JetStream events go through; knows nothing of streams or events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from refdesk.engines.nats.access import Names, connect_options, way_in
from refdesk.engines.nats.settings import NatsSettings
from refdesk.errors import Unavailable

NAMES = Names("ingest.events", "ingest.nats", also="file: or ")


class Broker(Protocol):
    """A NATS server with JetStream, ours or somebody else's."""

    @property
    def is_ours(self) -> bool:
        """Whether this process alone uses it."""
        ...

    async def start(self) -> str:
        """Makes it run where it is ours, and returns the URLs to connect to, with commas between. Raises: Unavailable saying what to do."""
        ...

    def options(self) -> Mapping[str, Any]:
        """What the client is told besides the URL. Raises: InvalidArgument naming the setting that is wrong."""
        ...

    def explain_refusal(self) -> str:
        """What to do where the server lets nobody in."""
        ...

    async def wipe(self) -> None:
        """Starts it anew with an empty store; only where it is ours. Raises: Unavailable."""
        ...

    async def close(self) -> None:
        """Ends it where it is ours."""
        ...


class ExternalBroker:
    """A NATS server that somebody else runs."""

    def __init__(self, url: str, settings: NatsSettings | None = None) -> None:
        self._url = url
        self._settings = settings or NatsSettings()

    @property
    def is_ours(self) -> bool:
        """Others use it too."""
        return False

    async def start(self) -> str:
        """The URL as configured."""
        return self._url

    def options(self) -> Mapping[str, Any]:
        """Out of the settings, and of the files that they name."""
        return connect_options(self._settings, self._url.split(","), NAMES)

    def explain_refusal(self) -> str:
        """Names the settings."""
        return f"the NATS server lets us not in: {way_in(self._settings, NAMES)}"

    async def wipe(self) -> None:
        """Never: its store is not ours."""
        raise Unavailable("the store of an external NATS server is not ours to wipe")

    async def close(self) -> None:
        """Nothing to end."""
