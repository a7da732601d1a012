"""Remembers what specs were made into, by their content, within bounds; knows nothing of sources."""

from __future__ import annotations

import hashlib
import zlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from refdesk.errors import InvalidArgument
from refdesk.openapi.pages import SpecPages

MAX_TEXT_BYTES = 32 * 1024 * 1024
"""Of compressed page texts that one source keeps; beyond it the specs that were asked for least lately are made anew when asked."""
MAX_KEPT = 1_000
"""Specs of which it is remembered what they hold."""
Expand = Callable[[bytes], Awaitable[SpecPages]]


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page without its text; its path is relative to the spec's."""

    path: str
    title: str
    revision: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What a spec holds, or why it cannot be read (`problem`)."""

    title: str = ""
    pages: tuple[PageEntry, ...] = ()
    problem: str = ""


class SpecShelf:
    """What was made of specs. `expand` makes the pages of one."""

    def __init__(self, expand: Expand) -> None:
        self._expand = expand
        self._contents: OrderedDict[bytes, Contents] = OrderedDict()
        self._texts: OrderedDict[bytes, dict[str, bytes]] = OrderedDict()
        self._text_bytes = 0

    async def contents(self, content: bytes) -> Contents:
        """What this spec holds. Raises: Unavailable."""
        key = hashlib.sha256(content).digest()
        if key not in self._contents:
            await self._make(key, content)
        self._contents.move_to_end(key)
        return self._contents[key]

    async def text(self, content: bytes, path: str) -> bytes | None:
        """The text of a page of this spec; None where it has no such page, or cannot be read. Raises: Unavailable."""
        contents = await self.contents(content)
        if contents.problem or all(page.path != path for page in contents.pages):
            return None
        key = hashlib.sha256(content).digest()
        if key not in self._texts:
            await self._make(key, content)
        self._texts.move_to_end(key)
        found = self._texts[key].get(path)
        return None if found is None else zlib.decompress(found)

    async def _make(self, key: bytes, content: bytes) -> None:
        try:
            made = await self._expand(content)
        except InvalidArgument as error:
            self._contents[key] = Contents(problem=error.message)
            return
        texts = {page.path: page.text.encode() for page in made.pages}
        self._contents[key] = Contents(
            made.title,
            tuple(PageEntry(page.path, page.title, page.revision, len(texts[page.path])) for page in made.pages),
        )
        self._keep(key, {path: zlib.compress(text, 1) for path, text in texts.items()})
        while len(self._contents) > MAX_KEPT:
            self._contents.popitem(last=False)

    def _keep(self, key: bytes, texts: dict[str, bytes]) -> None:
        """Keeps these texts, and as many of others as fit beside them."""
        self._drop(self._texts.pop(key, {}))
        self._texts[key] = texts
        self._text_bytes += sum(map(len, texts.values()))
        while self._text_bytes > MAX_TEXT_BYTES and len(self._texts) > 1:
            self._drop(self._texts.popitem(last=False)[1])

    def _drop(self, texts: dict[str, bytes]) -> None:
        self._text_bytes -= sum(map(len, texts.values()))
