"""Made entries for the conformance suites: ids that can be read, documents that can be told apart."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

from refdesk.search.analysis import QueryAnalysis, analyze_query
from refdesk.search.engines.interface import Candidates, Facets, Filter, Grain, IndexName, SweepItem, WordItem

HANDBOOK = IndexName("handbook", "model.c1")
OTHER = IndexName("other", "model.c1")
EVERYWHERE = Filter()
USUAL = Candidates()


def id_of(name: str) -> str:
    """A stable UUID for a name."""
    return str(uuid5(NAMESPACE_URL, name))


def facets(path: str = "docs/a.md", *, version: str = "", kind: str = "documentation", language: str = "en") -> Facets:
    """Facets of a document at `path`; the source is its first segment."""
    return Facets(path.partition("/")[0], path, version, kind, language)


def word_item(
    name: str,
    text: str,
    *,
    document: str = "a",
    stamp: int = 1,
    where: Facets | None = None,
    headings: tuple[str, ...] = (),
) -> WordItem:
    """A chunk."""
    return WordItem(
        id_of(name), id_of(document), Grain.CHUNK, stamp, where or facets(f"docs/{document}.md"), headings, text
    )


def whole_item(document: str, text: str, *, stamp: int = 1) -> WordItem:
    """A whole document."""
    where = facets(f"docs/{document}.md")
    return WordItem(id_of(document), id_of(document), Grain.DOCUMENT, stamp, where, (), text)


def sweep_item(document: str, up_to_stamp: int, *keep: str, remove: bool = False) -> SweepItem:
    """What of a document stays."""
    return SweepItem(id_of(document), up_to_stamp, frozenset(map(id_of, keep)), remove)


def asking(text: str, *languages: str) -> QueryAnalysis:
    """A query in an index of these languages."""
    return analyze_query(text, languages or ("en",))
