"""What entries of words are indexed by: path, headings twice and text; pure, knows no engine."""

from __future__ import annotations

from refdesk.search.analysis import Analysis, analyze
from refdesk.search.engines.interface import WordItem


def analyze_entry(item: WordItem) -> Analysis:
    """Terms and identifiers of a chunk or of a whole document; one field for all does what fields with weights do.

    A whole document is analysed anew though its chunks were: telling its text from theirs was tried, and cost what it saved.
    """
    path = item.facets.path.rpartition(".")[0] or item.facets.path
    headings = "\n".join(item.headings)
    return analyze(f"{path.replace('/', ' ')}\n{headings}\n{headings}\n{item.text}", item.facets.language)
