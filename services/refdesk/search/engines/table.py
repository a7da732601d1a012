"""Which engine a URL names; the only place that knows them all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

from refdesk.engines.late import Late
from refdesk.engines.opensearch.address import SCHEMES
from refdesk.errors import InvalidArgument
from refdesk.search.engines.edge_index import EdgeIndex
from refdesk.search.engines.interface import KeywordIndex, VectorIndex
from refdesk.search.engines.tantivy_index import TantivyIndex
from refdesk.search.settings import SearchSettings

WORDS_FOLDER, VECTORS_FOLDER = "words", "vectors"
"""Within the data folder."""

_Engine = TypeVar("_Engine")
_Build = Callable[[SearchSettings, Path], _Engine]


def _open_opensearch(settings: SearchSettings, folder: Path) -> KeywordIndex:
    from refdesk.search.engines.opensearch_index import OpenSearchIndex  # its driver is slow to import

    index = OpenSearchIndex(settings)
    return cast(KeywordIndex, Late(index, index.start))


KEYWORD_ENGINES: dict[str, _Build[KeywordIndex]] = {
    "file": lambda settings, folder: TantivyIndex(folder, settings.reader_threads),
    **dict.fromkeys(SCHEMES, _open_opensearch),
}


def _open_qdrant(settings: SearchSettings, folder: Path) -> VectorIndex:
    from refdesk.search.engines.qdrant_index import QdrantIndex  # takes seconds to import, and most desks have none

    index = QdrantIndex(settings)
    return cast(VectorIndex, Late(index, index.start))


VECTOR_ENGINES: dict[str, _Build[VectorIndex]] = {
    "file": lambda settings, folder: EdgeIndex(folder, settings.scanned_points),
    "qdrant": _open_qdrant,
    "qdrant+tls": _open_qdrant,
}


def keyword_index(settings: SearchSettings, data: Path) -> KeywordIndex:
    """The engine that `settings.keyword_url` names, not started. Raises: InvalidArgument for a URL that names none."""
    return _choose(KEYWORD_ENGINES, "keyword_url", settings.keyword_url, settings, data / WORDS_FOLDER)


def vector_index(settings: SearchSettings, data: Path) -> VectorIndex:
    """The engine that `settings.vector_url` names, not started. Raises: InvalidArgument for a URL that names none."""
    return _choose(VECTOR_ENGINES, "vector_url", settings.vector_url, settings, data / VECTORS_FOLDER)


def _choose(
    engines: dict[str, _Build[_Engine]], setting: str, url: str, settings: SearchSettings, folder: Path
) -> _Engine:
    scheme, colon, place = url.partition(":")
    if not colon or scheme not in engines:
        known = ", ".join(f"{name}:" for name in sorted(engines))
        raise InvalidArgument(f"search.{setting} {url!r} names no engine; known: {known}")
    if scheme != "file":  # a server: the engine reads its own address
        return engines[scheme](settings, folder)
    path = place[2:] if place.startswith("///") else place
    if path.startswith("//"):
        raise InvalidArgument(f"search.{setting} {url!r} names a host; write file:PATH")
    return engines[scheme](settings, Path(path).expanduser() if path else folder)
