"""A source that is declared no more: its documents are kept until a person lets them go; knows nothing of where they came from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection

from refdesk.errors import Unavailable
from refdesk.ingest.sources.interface import DocumentUnreadable, Listing, RawDocument


class WithdrawnSource:
    """Cannot be listed or read, so that nothing of it changes; once it is let go, it has nothing, so that everything is deleted."""

    def __init__(self, name: str, is_let_go: Callable[[], Awaitable[bool]]) -> None:
        self._name = name
        self._is_let_go = is_let_go

    async def list(self, within: Collection[str] | None = None) -> Listing:
        """Nothing. Raises: Unavailable while it is kept, saying what to do."""
        if not await self._is_let_go():
            raise Unavailable(
                f"source {self._name} is declared no more; its documents are kept until you declare it again, or run: "
                f"refdesk source sync {self._name} --confirm-deletes"
            )
        return Listing(())

    async def read(self, path: str) -> RawDocument | None:
        """None. Raises: DocumentUnreadable while it is kept."""
        if not await self._is_let_go():
            raise DocumentUnreadable(f"{self._name}/{path}: its source is declared no more")
        return None

    async def watch(self) -> AsyncIterator[set[str] | None]:
        """Anything may have changed, once; then nothing does."""
        yield None
        await asyncio.Event().wait()
