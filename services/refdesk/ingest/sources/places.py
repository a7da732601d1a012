"""Finds and opens files of a folder by their documents' paths, never outside of it; knows nothing of which files are documents."""

from __future__ import annotations

import errno
import os
import unicodedata

GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})
"""Errors that say that nothing is there; any other says that it cannot be told."""


def to_path(root: str, place: str) -> str | None:
    """The document path (slashes, Unicode NFC) of a place on disk under `root`; None for one outside; "" for the root itself."""
    relative = os.path.relpath(place, root)
    if relative == os.curdir:
        return ""
    if relative == os.pardir or relative.startswith(os.pardir + os.sep):
        return None
    return unicodedata.normalize("NFC", relative.replace(os.sep, "/"))


def is_plain(path: str) -> bool:
    """Whether a path is relative, and made of names alone."""
    return bool(path) and "\x00" not in path and all(name not in ("", ".", "..") for name in path.split("/"))


def is_inside(root: str, place: str) -> bool:
    """Whether a resolved place is the resolved root or lies under it."""
    return place == root or place.startswith(root.rstrip(os.sep) + os.sep)


def locate(root: str, path: str) -> str | None:
    """Where a document path stands on disk, also when names there are in another Unicode form; None when nothing is there.

    Raises: OSError when that cannot be told, which is not the same.
    """
    place = os.path.join(root, *path.split("/"))
    if _exists(place):
        return place
    if path.isascii():
        return None
    place = root
    for name in path.split("/"):
        found = _find_name(place, name)
        if found is None:
            return None
        place = os.path.join(place, found)
    return place


def _exists(place: str) -> bool:
    try:
        os.lstat(place)
    except OSError as error:
        if error.errno in GONE:
            return False
        raise
    return True


def _find_name(folder: str, name: str) -> str | None:
    try:
        names = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return None
    return next((candidate for candidate in names if unicodedata.normalize("NFC", candidate) == name), None)


def open_inside(root: str, place: str) -> int | None:
    """A descriptor for reading what a place leads to; None when that lies outside of the root.

    Links are resolved once, and then each step refuses a link: one that is put there meanwhile cannot lead out.
    Raises: OSError.
    """
    resolved = os.path.realpath(place, strict=True)
    if not is_inside(root, resolved):
        return None
    return open_plainly(root, os.path.relpath(resolved, root))


def open_plainly(root: str | os.PathLike[str], path: str) -> int:
    """A descriptor for reading a file under the root, its path without `.` and `..`; it leads nowhere else, for no link is followed.

    Raises: OSError, also where a link stands in the way.
    """
    *folders, name = path.split(os.sep)
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for step in folders:
            deeper = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = deeper
        # Without O_NONBLOCK the opening of a pipe would wait for its other end.
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)
