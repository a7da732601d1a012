"""A folder of files as a source of documents; knows nothing of events, records or formats."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import time
from collections.abc import AsyncIterator, Collection
from pathlib import Path

from refdesk.errors import Unavailable
from refdesk.ingest.sources.interface import DocumentUnreadable, Listing, RawDocument
from refdesk.ingest.sources.places import GONE, is_plain, locate, open_inside, open_plainly
from refdesk.ingest.sources.readers import Readers
from refdesk.ingest.sources.rules import PathRules
from refdesk.ingest.sources.tree import list_tree, revision_of, why_not
from refdesk.ingest.sources.watching import watch_folder
from refdesk.projects import SourceSettings

YOUNG_NANOSECONDS = 20_000_000
"""Longer than a kernel's clock tick: within one tick a file can change twice without a change of its times."""
_READ_ATTEMPTS = 3


class FolderSource:
    """The files of one folder that the source's globs take. Raises: InvalidArgument for a glob that cannot be read."""

    def __init__(self, settings: SourceSettings) -> None:
        self._name = settings.name
        self._folder = Path(settings.path).absolute()
        self._max_bytes = settings.max_bytes
        self._rules = PathRules(settings.include, settings.exclude)
        self._readers = Readers(self._read)

    async def list(self, within: Collection[str] | None = None) -> Listing:
        """All documents in path order, or those at or under the paths `within`. Raises: Unavailable naming the folder."""
        return await asyncio.to_thread(self._list, within)

    async def read(self, path: str) -> RawDocument | None:
        """The document as it is now; None when it is not there or the rules leave it out.

        Raises: DocumentUnreadable for this one alone; Unavailable when the folder is not there.
        """
        return await self._readers.read(path)

    def watch(self) -> AsyncIterator[set[str] | None]:
        """Paths that may have changed; ends when the folder is gone or the system cannot watch it."""
        return watch_folder(self._folder, self._rules)

    def _list(self, within: Collection[str] | None) -> Listing:
        try:
            return list_tree(os.path.realpath(self._folder), self._rules, self._max_bytes, within)
        except OSError as error:
            raise self._unavailable(error) from None

    def _unavailable(self, error: OSError) -> Unavailable:
        """What is wrong with the folder itself."""
        match error:
            case FileNotFoundError():
                what = f"does not exist: create it, mount it, or give source {self._name} another path"
            case NotADirectoryError():
                what = f"is not a folder: give source {self._name} the path of one"
            case PermissionError():
                what = "cannot be opened: give refdesk read access to it"
            case _:
                what = "cannot be listed now; it is tried again at the next poll"
        return Unavailable(f"folder {self._folder} {what}")

    def _read(self, path: str) -> RawDocument | None:
        if not is_plain(path) or not self._rules.take(path):
            return None
        try:
            descriptor = self._open(path)
            if descriptor is not None:
                try:
                    return self._read_stable(descriptor)
                finally:
                    os.close(descriptor)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM, errno.EIO):
                raise DocumentUnreadable(
                    f"{self._name}/{path} cannot be read: give refdesk read access to it"
                ) from None
            if error.errno not in GONE:
                raise self._unavailable(error) from None
        self._check_folder()
        return None

    def _open(self, path: str) -> int | None:
        """A descriptor of the document; the common case first, which needs no look at where links lead."""
        with contextlib.suppress(OSError):
            return open_plainly(self._folder, path)
        root = os.path.realpath(self._folder)
        place = locate(root, path)
        return open_inside(root, place) if place else None

    def _read_stable(self, descriptor: int) -> RawDocument | None:
        """Reads until nothing was written meanwhile; what is still written to after some attempts changes once more, and comes again."""
        for _ in range(_READ_ATTEMPTS):
            before = os.fstat(descriptor)
            if why_not(before, self._max_bytes):
                return None
            content = os.pread(descriptor, before.st_size, 0)
            if abs(time.time_ns() - before.st_mtime_ns) < YOUNG_NANOSECONDS:
                time.sleep(YOUNG_NANOSECONDS / 1e9)
            elif len(content) == before.st_size and revision_of(os.fstat(descriptor)) == revision_of(before):
                break
        return RawDocument(content, revision_of(before))

    def _check_folder(self) -> None:
        """Where the folder itself is gone, none of its documents may be taken for deleted."""
        try:
            os.scandir(self._folder).close()
        except OSError as error:
            raise self._unavailable(error) from None
