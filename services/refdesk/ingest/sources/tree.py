"""Lists the documents of a folder, and by name what would be one and is not taken; knows nothing of their content."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from refdesk.ingest.sources.interface import ListedDocument, Listing, Skipped
from refdesk.ingest.sources.places import is_inside, is_plain, locate
from refdesk.ingest.sources.rules import PathRules

MAX_ENTRIES = 1_000_000
"""Files and folders looked at; a listing that meets more ends early."""

UNREADABLE = "cannot be read: give refdesk read access to it"
_EFFECTIVE_IDS = os.access in os.supports_effective_ids


def revision_of(status: os.stat_result) -> str:
    """A file's revision. The inode's change time is part of it, since it cannot be set: a revision never comes back."""
    return f"{status.st_mtime_ns:x}-{status.st_ctime_ns:x}-{status.st_size:x}"


def why_not(status: os.stat_result, max_bytes: int) -> str:
    """Why a file is no document, for people; empty when it may be one."""
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file but a pipe, a socket or a device"
    if status.st_size == 0:
        return "empty; it is indexed once there is something in it"
    if status.st_size > max_bytes:
        return f"larger than {max_bytes:,} bytes ({status.st_size:,}); raise max_bytes to index it"
    return ""


def list_tree(root: str, rules: PathRules, max_bytes: int, within: Collection[str] | None) -> Listing:
    """Everything under the resolved `root`, or at and under the paths `within`. Raises: OSError for the root itself."""
    walk = _Walk(root, rules, max_bytes)
    before = os.stat(root)
    if within is None:
        walk.scan(_Folder(root, ""), strict=True)
    else:
        for path in sorted({path.rstrip("/") for path in within}):
            walk.visit_path(path)
    walk.go()
    after = os.stat(root)
    if not os.path.samestat(before, after):  # something else was mounted there meanwhile
        walk.complete = False
    documents = tuple(walk.documents[path] for path in sorted(walk.documents))
    return Listing(documents, tuple(sorted(walk.skipped, key=lambda skipped: skipped.path)), walk.complete)


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to list: where it is, the path that it stands for, and whether a link led there."""

    place: str
    path: str
    linked: bool = False


class _Walk:
    """One listing under way; folders that are still to be listed wait in a list, however deep the tree is."""

    def __init__(self, root: str, rules: PathRules, max_bytes: int) -> None:
        self._root = root
        self._rules = rules
        self._max_bytes = max_bytes
        self._waiting: list[_Folder] = []
        self._entries = 0
        self.documents: dict[str, ListedDocument] = {}
        self.skipped: list[Skipped] = []
        self.complete = True

    def go(self) -> None:
        """Lists what waits, until nothing does or there is too much."""
        while self._waiting:
            if self._entries > MAX_ENTRIES:
                self.complete = False
                return
            self.scan(self._waiting.pop())

    def scan(self, folder: _Folder, *, strict: bool = False) -> None:
        """Lists one folder; `strict`: its own errors are raised."""
        try:
            with os.scandir(folder.place) as entries:
                self._visit_entries(folder, sorted(entries, key=lambda entry: entry.name))
        except (FileNotFoundError, NotADirectoryError):
            if strict:
                raise
        except PermissionError:
            if strict:
                raise
            self._skip(
                folder.path + "/", "the folder cannot be opened: give refdesk read access to it", unreadable=True
            )
        except OSError:
            if strict:
                raise
            self.complete = False

    def visit_path(self, path: str) -> None:
        """Looks at one path, if the rules lead there and something is there."""
        parents = path.split("/")[:-1]
        if not is_plain(path) or not all(self._rules.enter("/".join(parents[:end])) for end in range(len(parents) + 1)):
            return
        try:
            place = locate(self._root, path)
        except PermissionError:
            self._skip(path, UNREADABLE, unreadable=True)
            return
        except OSError:
            self.complete = False
            return
        if place is None:
            return
        folder = os.path.dirname(place)
        if is_inside(self._root, os.path.realpath(folder)):
            linked = os.path.realpath(folder) != folder
            self._visit(place, path, os.path.islink(place), os.path.isdir(place), linked)

    def _visit_entries(self, folder: _Folder, entries: Iterable[os.DirEntry[str]]) -> None:
        for entry in entries:
            self._entries += 1
            name = unicodedata.normalize("NFC", entry.name)
            path = f"{folder.path}/{name}" if folder.path else name
            self._visit(entry.path, path, entry.is_symlink(), entry.is_dir(follow_symlinks=False), folder.linked)

    def _visit(self, place: str, path: str, is_link: bool, is_folder: bool, linked: bool) -> None:
        if not path.isprintable():
            self._skip_unprintable(path)
        elif is_link:
            self._visit_link(place, path, linked)
        elif is_folder:
            if self._rules.enter(path):
                self._waiting.append(_Folder(place, path, linked))
        elif self._rules.take(path):
            self._visit_file(place, path)

    def _visit_link(self, place: str, path: str, linked: bool) -> None:
        target = os.path.realpath(place)
        is_folder = os.path.isdir(target)
        if not (self._rules.enter(path) if is_folder else self._rules.take(path)):
            return
        shown = path + "/" if is_folder else path
        if not is_inside(self._root, target):
            self._skip(shown, "a link that leads out of the folder; copy it in, or make its folder a source of its own")
        elif not is_folder:
            self._visit_file(target, path)
        elif linked or is_inside(target, os.path.realpath(os.path.dirname(place))):
            self._skip(shown, "a link to a folder above it, or within a linked folder; such are not followed")
        else:
            self._waiting.append(_Folder(target, path, linked=True))

    def _visit_file(self, place: str, path: str) -> None:
        try:
            status = os.stat(place, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            if os.path.lexists(os.path.join(self._root, path)):
                self._skip(path, "a link that leads nowhere")
            return
        except OSError:
            self._skip(path, "cannot be looked at: give refdesk access to its folder", unreadable=True)
            return
        if reason := why_not(status, self._max_bytes):
            self._skip(path, reason)
        elif not os.access(place, os.R_OK, effective_ids=_EFFECTIVE_IDS):
            self._skip(path, UNREADABLE, unreadable=True)
        elif path in self.documents:
            self._skip(path, "two files have this name once it is in Unicode NFC; rename one of them")
        else:
            self.documents[path] = ListedDocument(path, revision_of(status), status.st_size)

    def _skip_unprintable(self, path: str) -> None:
        """Such names would break lines and lists wherever they are shown, or are no text at all."""
        shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in path)
        if self._rules.take(shown):
            self._skip(shown, "its name has characters that cannot be shown; rename it")

    def _skip(self, path: str, reason: str, *, unreadable: bool = False) -> None:
        self.skipped.append(Skipped(path, reason, unreadable))
