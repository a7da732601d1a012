"""Where the NATS server is that JetStream events go through; knows nothing of streams or events."""

from __future__ import annotations

from typing import Protocol

from refdesk.errors import Unavailable


class Broker(Protocol):
    """A NATS server with JetStream, ours or somebody else's."""

    @property
    def is_ours(self) -> bool:
        """Whether this process alone uses it."""
        ...

    async def start(self) -> str:
        """Makes it run where it is ours, and returns the URL to connect to. Raises: Unavailable saying what to do."""
        ...

    async def wipe(self) -> None:
        """Starts it anew with an empty store; only where it is ours. Raises: Unavailable."""
        ...

    async def close(self) -> None:
        """Ends it where it is ours."""
        ...


class ExternalBroker:
    """A NATS server that somebody else runs."""

    def __init__(self, url: str) -> None:
        self._url = url

    @property
    def is_ours(self) -> bool:
        """Others use it too."""
        return False

    async def start(self) -> str:
        """The URL as configured."""
        return self._url

    async def wipe(self) -> None:
        """Never: its store is not ours."""
        raise Unavailable("the store of an external NATS server is not ours to wipe")

    async def close(self) -> None:
        """Nothing to end."""
