"""What entries of words are indexed by."""

from __future__ import annotations

from collections import Counter

from engines.entries import facets, word_item
from refdesk.search.entries import analyze_entry


def test_an_entry_is_its_path_without_ending_its_headings_twice_and_its_text() -> None:
    item = word_item("a1", "text body", where=facets("runbooks/key-rotation.md"), headings=("Signing", "Safes"))
    terms = Counter(analyze_entry(item).terms.split())
    assert terms == {"runbook": 1, "key": 1, "rotat": 1, "key-rotation": 1, "sign": 2, "safe": 2, "text": 1, "bodi": 1}
