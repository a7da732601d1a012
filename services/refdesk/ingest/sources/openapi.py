"""A source whose OpenAPI specs are documents by the operation: it stands before any other source, and knows nothing of its kind.

The pages of a spec lie below the spec's own path (`shop.yaml/orders/post-orders.md`), so whatever is said of the spec's path (a hint, that
it cannot be read) covers them. A page's revision is a digest of what it shows, so an edit of one operation is an edit of one document.
A spec that cannot be read any more counts as unreadable: its last good pages stay.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterator
from dataclasses import dataclass, field, replace

from refdesk.ingest.scan import is_within
from refdesk.ingest.sources.interface import (
    SPEC,
    DocumentSource,
    DocumentUnreadable,
    ListedDocument,
    Listing,
    RawDocument,
    Skipped,
)
from refdesk.ingest.sources.spec_pages import Contents, Expand, PageEntry, SpecShelf
from refdesk.openapi.reader import may_be_spec
from refdesk.projects import SourceSettings

PROSE = (".md", ".mdx", ".markdown")
"""Never looked into: pages of Markdown."""
DATA = (".yaml", ".yml", ".json")
"""What is no page of its own where it is no spec."""
NO_SPEC = "it is no OpenAPI spec: it has no openapi or swagger at its top; exclude it where that is meant"


@dataclass(slots=True)
class _Seen:
    """A file as it was at a revision: `contents` is None for what is no spec; `good` are the pages that it had when it was read last."""

    revision: str
    contents: Contents | None
    good: tuple[PageEntry, ...] = ()


@dataclass(slots=True)
class _Expanded:
    """A listing under way."""

    documents: dict[str, ListedDocument] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)


class SpecSource:
    """The documents of another source, its specs taken apart. `expand` makes the pages of a spec (bounded, elsewhere)."""

    def __init__(self, settings: SourceSettings, inner: DocumentSource, expand: Expand) -> None:
        self._settings = settings
        self._inner = inner
        self._shelf = SpecShelf(expand)
        self._seen: dict[str, _Seen] = {}
        self._removed: dict[str, str] = {}

    async def list(self, within: Collection[str] | None = None) -> Listing:
        """All documents and pages of specs in path order, or those at or under the paths `within`. Raises: Unavailable."""
        inner = await self._inner.list(None if within is None else self._places(within))
        found = _Expanded({one.path: one for one in inner.documents}, list(inner.skipped))
        for document in inner.documents:
            await self._expand(document, found)
        for path, revision in inner.removed.items():
            self._remove(path, revision)
        if within is None and inner.complete:
            standing = {one.path for one in inner.documents}
            self._seen = {path: seen for path, seen in self._seen.items() if path in standing}
        for path in found.documents.keys() & self._removed.keys():
            del self._removed[path]
        documents = [found.documents[path] for path in sorted(found.documents) if is_within(path, within)]
        removed = {path: revision for path, revision in self._removed.items() if is_within(path, within)}
        removed |= {path: revision for path, revision in inner.removed.items() if is_within(path, within)}
        return Listing(tuple(documents), tuple(found.skipped), inner.complete, removed)

    async def read(self, path: str) -> RawDocument | None:
        """The document or page as it is now; None when there is none.

        Raises: DocumentUnreadable for this one alone, so that its last good text stays; Unavailable.
        """
        raw = await self._inner.read(path)
        if raw is not None:
            return await self._read_file(path, raw)
        for owner in _above(path):
            if not self._may_hold(owner):
                continue
            spec = await self._inner.read(owner)
            contents = await self._look(owner, spec.content) if spec else None
            if spec and contents:
                return await self._read_page(owner, path.removeprefix(f"{owner}/"), spec, contents)
        return None

    async def watch(self) -> AsyncIterator[set[str] | None]:
        """What the other source hints at; that of a file covers the pages made of it."""
        async for hints in self._inner.watch():
            yield hints if hints is None else self.covering(hints)

    def covering(self, paths: Collection[str]) -> set[str]:
        """These paths, and with each that may be a spec all that is under it."""
        below = {f"{path}/" for path in paths if not path.endswith("/") and self._may_hold(path)}
        return {*paths, *below}

    def _places(self, within: Collection[str]) -> set[str]:
        """These paths, and the specs that they may be pages of; never a folder above them, which would all be listed."""
        above = {one for path in within for one in _above(path)}
        return {*within, *(one for one in above if one.lower().endswith(DATA) or one in self._seen)}

    def _may_hold(self, path: str) -> bool:
        """Whether a file of this name may be a spec."""
        return not path.lower().endswith(PROSE) and path != self._settings.navigation

    async def _expand(self, document: ListedDocument, found: _Expanded) -> None:
        """Adds the pages of a document that is a spec."""
        path = document.path
        if not self._may_hold(path):
            return
        seen = self._seen.get(path)
        if seen is None or seen.revision != document.revision:
            try:
                raw = await self._inner.read(path)
            except DocumentUnreadable:
                return  # whoever publishes it will say so
            if raw is None:
                return
            before, seen = seen, _Seen(raw.revision, await self._look(path, raw.content))
            self._seen[path] = seen
            self._note_gone(path, before, seen)
        if seen.contents is None:
            return
        if seen.contents.problem:
            del found.documents[path]
            found.skipped.append(Skipped(path, seen.contents.problem, unreadable=True))
            return
        for page in seen.contents.pages:
            at = f"{path}/{page.path}"
            found.documents.setdefault(at, ListedDocument(at, page.revision, page.size_bytes))

    def _note_gone(self, path: str, before: _Seen | None, after: _Seen) -> None:
        """Pages that an edit of their spec took out were taken out on purpose: the guard of deletes is for what vanishes."""
        good = before.good if before else ()
        if after.contents is None or after.contents.problem:
            after.good = good
            return
        after.good = after.contents.pages
        for page in good:
            self._removed[f"{path}/{page.path}"] = after.revision

    def _remove(self, path: str, revision: str) -> None:
        """A spec that was deleted on purpose takes its pages along."""
        seen = self._seen.pop(path, None)
        for page in seen.good if seen else ():
            self._removed[f"{path}/{page.path}"] = revision

    async def _look(self, path: str, content: bytes) -> Contents | None:
        """What a file holds as a spec; None for what is none, and may be a page of its own."""
        is_data = path.lower().endswith(DATA)
        if not may_be_spec(content):
            return Contents(problem=NO_SPEC) if is_data else None
        contents = await self._shelf.contents(content)
        return contents if is_data or not contents.problem else None

    async def _read_file(self, path: str, raw: RawDocument) -> RawDocument:
        contents = await self._look(path, raw.content) if self._may_hold(path) else None
        if contents is None:
            return raw
        if contents.problem:
            raise DocumentUnreadable(contents.problem)
        return replace(raw, stated=replace(raw.stated, title=raw.stated.title or contents.title, kind=SPEC))

    async def _read_page(self, owner: str, path: str, spec: RawDocument, contents: Contents) -> RawDocument | None:
        if contents.problem:
            raise DocumentUnreadable(f"its spec {owner} cannot be read: {contents.problem}")
        page = next((one for one in contents.pages if one.path == path), None)
        text = await self._shelf.text(spec.content, path) if page else None
        if page is None or text is None:
            return None
        return RawDocument(
            text, page.revision, replace(spec.stated, title=page.title, url="", kind=self._settings.type)
        )


def _above(path: str) -> Iterator[str]:
    """What a path lies under, nearest first: any of them may be the spec that it is a page of."""
    parts = path.rstrip("/").split("/")
    for end in range(len(parts) - (not path.endswith("/")), 0, -1):
        yield "/".join(parts[:end])
