"""A source in memory: paths to contents, with revisions that count up, or come back with the content."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Collection

from fakes.weather import Weather
from refdesk.ingest.sources.interface import DocumentUnreadable, ListedDocument, Listing, RawDocument


class FakeSource:
    """What stands in it is `documents`; a path in `unreadable` exists and cannot be read."""

    def __init__(self, weather: Weather | None = None, *, revisions_return: bool = False) -> None:
        self.weather = weather or Weather()
        self.documents: dict[str, RawDocument] = {}
        self.unreadable: set[str] = set()
        self._revisions_return = revisions_return
        self._count = 0

    def write(self, path: str, content: str | bytes) -> None:
        """Puts a document's content."""
        raw = content if isinstance(content, bytes) else content.encode()
        self._count += 1
        revision = hashlib.sha256(raw).hexdigest()[:6] if self._revisions_return else f"v{self._count}"
        self.documents[path] = RawDocument(raw, revision)

    def remove(self, path: str) -> None:
        """Takes a document away."""
        self._count += 1
        self.documents.pop(path, None)

    async def list(self, within: Collection[str] | None = None) -> Listing:
        await self.weather.before("source")
        return Listing(
            tuple(ListedDocument(path, raw.revision, len(raw.content)) for path, raw in sorted(self.documents.items()))
        )

    async def read(self, path: str) -> RawDocument | None:
        await self.weather.before("source")
        if path in self.unreadable:
            raise DocumentUnreadable(f"{path} cannot be read: check its permissions")
        found = self.documents.get(path)
        await self.weather.pause()
        return found

    async def watch(self) -> AsyncIterator[set[str] | None]:
        return
        yield
