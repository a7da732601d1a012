"""Where the NATS server is that JetStream events go through; knows nothing of streams or events."""

from __future__ import annotations

from typing import Protocol


class Broker(Protocol):
    """A NATS server with JetStream, ours or somebody else's."""

    async def start(self) -> str:
        """Makes it run where it is ours, and returns the URL to connect to. Raises: Unavailable saying what to do."""
        ...

    async def wipe(self) -> bool:
        """Starts it anew with an empty store where it is ours; False where it is not. Raises: Unavailable."""
        ...

    async def close(self) -> None:
        """Ends it where it is ours."""
        ...


class ExternalBroker:
    """A NATS server that somebody else runs."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def start(self) -> str:
        """The URL as configured."""
        return self._url

    async def wipe(self) -> bool:
        """Never: its store is not ours."""
        return False

    async def close(self) -> None:
        """Nothing to end."""
