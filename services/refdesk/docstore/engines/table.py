"""Which engine a URL names; the only place that knows them all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

from refdesk.docstore.engines.interface import DocumentStore
from refdesk.docstore.engines.sqlite.store import SqliteStore
from refdesk.docstore.settings import DocstoreSettings
from refdesk.engines.late import Late
from refdesk.engines.opensearch.address import SCHEMES
from refdesk.errors import InvalidArgument

FILE = Path("docstore", "refdesk.sqlite3")
"""Within the data folder."""


def _choose_file(settings: DocstoreSettings, data: Path) -> DocumentStore:
    place = settings.url.partition(":")[2]
    # file:///a/b and file:/a/b name the same file; a host never means anything.
    path = place[2:] if place.startswith("///") else place
    if path.startswith("//"):
        raise InvalidArgument(f"docstore.url {settings.url!r} names a host; write file:PATH")
    return SqliteStore(Path(path).expanduser() if path else data / FILE, settings)


def _choose_opensearch(settings: DocstoreSettings, data: Path) -> DocumentStore:
    from refdesk.docstore.engines.opensearch.store import OpenSearchStore  # its driver is slow to import

    store = OpenSearchStore(settings)
    return cast(DocumentStore, Late(store, store.open))


ENGINES: dict[str, Callable[[DocstoreSettings, Path], DocumentStore]] = {
    "file": _choose_file,
    **dict.fromkeys(SCHEMES, _choose_opensearch),
}


def document_store(settings: DocstoreSettings, data: Path) -> DocumentStore:
    """The engine that `settings.url` names, not opened yet; `data` is the folder of the index.

    Raises: InvalidArgument for a URL that names none.
    """
    scheme, colon, _ = settings.url.partition(":")
    if not colon or scheme not in ENGINES:
        known = ", ".join(f"{name}:" for name in sorted(ENGINES))
        raise InvalidArgument(f"docstore.url {settings.url!r} names no engine; known: {known}")
    return ENGINES[scheme](settings, data)
