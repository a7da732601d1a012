"""Watches the folders of a tree for changes; knows the rules of what is a document, and nothing of what is read or listed.

Each folder is watched by itself: a watch of the whole tree would follow links out of it, and spend watches on what the rules leave out.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

import structlog
from watchfiles import Change, awatch

from refdesk.ingest.sources.places import to_path
from refdesk.ingest.sources.rules import PathRules

DEBOUNCE_MILLISECONDS = 400
"""At most this long are changes gathered while more of them come."""
QUIET_MILLISECONDS = 50
"""Changes are told once this long nothing more came."""
MAX_FOLDERS = 10_000
"""More are not watched, only listed: watches are a scarce good of the whole machine."""
_PAUSE_SECONDS = 0.2
_Changes = set[tuple[Change, str]]
_log = structlog.get_logger()


async def watch_folder(folder: Path, rules: PathRules) -> AsyncIterator[set[str] | None]:
    """Document paths, those of folders with a slash at the end; None when watching begins, also anew after folders came or went.

    Ends when the folder is gone or cannot be watched.
    """
    while True:
        try:
            root = await asyncio.to_thread(os.path.realpath, folder)
            folders = await asyncio.to_thread(list_folders, root, rules)
            async for changes in _watch(folders):
                hints = {hint for change, place in changes if (hint := to_hint(root, rules, change, place)) is not None}
                if not changes or "" in hints or any(hint.endswith("/") for hint in hints):
                    yield None
                elif hints:
                    yield hints
                if any(hint == "" or hint.endswith("/") for hint in hints):
                    break
        except FileNotFoundError:
            if not await asyncio.to_thread(os.path.isdir, folder):
                return
        except (OSError, RuntimeError) as error:
            _log.debug("watching a folder ended", folder=str(folder), error=type(error).__name__)
            return
        await asyncio.sleep(_PAUSE_SECONDS)


def list_folders(root: str, rules: PathRules) -> list[str]:
    """The folders that may hold documents, without links. Raises: OSError when there are none or too many."""
    found: list[str] = []
    for place, names, _ in os.walk(root):
        found.append(place)
        names[:] = [name for name in names if rules.enter(to_path(root, os.path.join(place, name)) or "")]
        if len(found) > MAX_FOLDERS:
            raise OSError(f"more than {MAX_FOLDERS} folders")
    if not os.path.isdir(root):
        raise FileNotFoundError(root)
    return found


def to_hint(root: str, rules: PathRules, change: Change, place: str) -> str | None:
    """The document path that a change of `place` hints at; None for nothing of interest; a slash at the end where a folder came or went."""
    path = to_path(root, place)
    if path is None:
        return None
    if not path or rules.take(path):
        return path
    if not rules.enter(path):
        return None
    if change == Change.deleted:
        came_or_went = not os.path.lexists(place) and "." not in os.path.basename(place)
    else:
        came_or_went = change == Change.added and os.path.isdir(place)
    return path + "/" if came_or_went else None


async def _watch(folders: list[str]) -> AsyncIterator[_Changes]:
    """Changes as they come; first an empty set, as soon as everything from then on is seen."""
    changes = awatch(
        *folders,
        watch_filter=None,
        debounce=DEBOUNCE_MILLISECONDS,
        step=QUIET_MILLISECONDS,
        recursive=False,
        ignore_permission_denied=True,
    )
    coming = asyncio.ensure_future(anext(changes))
    try:
        await asyncio.sleep(0)  # its first step sets the watches
        if not coming.done():
            yield set()
        while True:
            yield await coming
            coming = asyncio.ensure_future(anext(changes))
    except StopAsyncIteration:
        return
    finally:
        coming.cancel()
        with contextlib.suppress(BaseException):
            await coming
        await changes.aclose()
