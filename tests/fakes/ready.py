"""Fakes as services that a gRPC server serves."""

from __future__ import annotations

from typing import Any

from refdesk.errors import Unavailable


class Ready:
    """A fake as a service that the server can serve; what it has not is away."""

    def __init__(self, fake: Any) -> None:
        self._fake = fake

    def not_ready_reason(self) -> str:
        return ""

    def __getattr__(self, name: str) -> Any:
        async def away(_: Any) -> Any:
            raise Unavailable(f"this fake has no {name}")

        return getattr(self._fake, name, away)
