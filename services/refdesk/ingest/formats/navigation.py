"""Reads a menu from the file that its publisher wrote it in, whichever of four kinds; pure, and knows nothing of which pages exist.

A menu is somebody else's text: what it may cost is bounded before anything is built of it.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

from refdesk.errors import InvalidArgument

MAX_BYTES = 262_144
MAX_ENTRIES = 10_000
MAX_LEVELS = 12
MAX_TITLE_CHARACTERS = 300
MAX_PATH_CHARACTERS = 1_024
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")
_METHOD = re.compile(rf"(?<![A-Za-z])({'|'.join(METHODS)})(?![A-Za-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a menu: a page, a link, a folder (with children), or the place of a derived one (`folder`)."""

    title: str = ""
    page: str = ""
    href: str = ""
    method: str = ""
    folder: str = ""
    children: tuple[Entry, ...] = ()


def entry_of(
    title: str, target: str = "", children: tuple[Entry, ...] = (), *, root: str = "", icon: str = ""
) -> Entry:
    """An entry that leads to `target`: a page under `root`, or an address elsewhere as it is written."""
    title = " ".join(title.split())[:MAX_TITLE_CHARACTERS]
    method = found[1].upper() if (found := _METHOD.search(icon)) else ""
    if _SCHEME.match(target):
        return Entry(title, href=target[: 2 * MAX_PATH_CHARACTERS], method=method, children=children)
    return Entry(title, page_path(target, root), method=method, children=children)


def page_path(target: str, root: str) -> str:
    """The path within the source of a page as a menu names it; "" where it names none, or leads out of the source."""
    path = re.split(r"[?#]", target.strip(), maxsplit=1)[0]
    if not path or len(path) > MAX_PATH_CHARACTERS or "\\" in path or "\x00" in path:
        return ""
    joined = posixpath.normpath(posixpath.join(root, path.lstrip("/")))
    return "" if joined in (".", "..") or joined.startswith("../") else joined


def folder_path(target: str, root: str) -> str:
    """The same of a folder, "." for the source's own."""
    if target.strip() in ("", "."):
        return page_path(root, "") or "."
    return page_path(target, root)


def check_size(content: bytes, name: str) -> str:
    """The text of a menu file. Raises: InvalidArgument for one that is too large, or no text."""
    if len(content) > MAX_BYTES:
        raise InvalidArgument(f"menu {name} has {len(content):,} bytes; at most {MAX_BYTES:,} are read")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidArgument(f"menu {name} is not UTF-8") from None


class Budget:
    """Entries that a menu may still have. `enter` raises InvalidArgument beyond what may be."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._left = MAX_ENTRIES

    def enter(self, level: int) -> None:
        """Counts one entry at a level, from 1."""
        self._left -= 1
        if self._left < 0:
            raise InvalidArgument(f"menu {self._name} has more than {MAX_ENTRIES:,} entries")
        if level > MAX_LEVELS:
            raise InvalidArgument(f"menu {self._name} is nested more than {MAX_LEVELS} deep")
