"""What entries of words are indexed by: path, headings twice and text; pure, knows no engine."""

from __future__ import annotations

from functools import lru_cache

from refdesk.search.analysis import Analysis, analyze
from refdesk.search.engines.interface import WordItem


def analyze_entry(item: WordItem) -> Analysis:
    """Terms and identifiers of a chunk or of a whole document; one field for all does what fields with weights do.

    A whole document is analysed anew though its chunks were: telling its text from theirs was tried, and cost what it saved.
    """
    language = item.facets.language
    path = item.facets.path.rpartition(".")[0] or item.facets.path
    labels = [_analyze_label(path.replace("/", " "), language)]
    labels += [_analyze_label(heading, language) for heading in item.headings] * 2
    parts = [*labels, analyze(item.text, language)]
    terms = " ".join([part.terms for part in parts if part.terms])
    identifiers = {identifier for part in parts if part.identifiers for identifier in part.identifiers.split()}
    return Analysis(terms, " ".join(sorted(identifiers)))


@lru_cache(maxsize=4096)
def _analyze_label(label: str, language: str) -> Analysis:
    """Of a path or a heading: the chunks of a document share theirs."""
    return analyze(label, language)
