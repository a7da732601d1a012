"""Which engine a URL names; the only place that knows them all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from refdesk.docstore.engines.interface import DocumentStore
from refdesk.docstore.engines.sqlite.store import SqliteStore
from refdesk.docstore.settings import DocstoreSettings
from refdesk.errors import InvalidArgument


def _open_file(settings: DocstoreSettings) -> DocumentStore:
    place = settings.url.partition(":")[2]
    # file:///a/b and file:/a/b name the same file; a host never means anything.
    path = place[2:] if place.startswith("///") else place
    if not path or path.startswith("//"):
        raise InvalidArgument(f"docstore.url {settings.url!r} names no file; write file:PATH")
    return SqliteStore(Path(path).expanduser(), settings)


ENGINES: dict[str, Callable[[DocstoreSettings], DocumentStore]] = {"file": _open_file}


def choose_store(settings: DocstoreSettings) -> DocumentStore:
    """The engine that `settings.url` names, not opened yet.

    Raises: InvalidArgument for a URL that names none.
    """
    scheme = settings.url.partition(":")[0]
    if scheme not in ENGINES:
        known = ", ".join(f"{name}:" for name in sorted(ENGINES))
        raise InvalidArgument(f"docstore.url {settings.url!r} names no engine; known: {known}")
    return ENGINES[scheme](settings)
