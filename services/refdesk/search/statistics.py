"""Word statistics as BM25 has them, and what share of a query a chunk holds; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

PLAIN_SHARE, PLAIN_LEAST = 0.01, 3
NAMED_SHARE, NAMED_LEAST = 0.05, 20


def inverse_document_frequency(entry_count: int, frequency: int) -> float:
    """BM25's idf of a word that stands in `frequency` of `entry_count` entries; above 0."""
    frequency = min(frequency, entry_count)
    return math.log(1 + (entry_count - frequency + 0.5) / (frequency + 0.5))


def coverage(masses: Sequence[float], held: Sequence[bool]) -> float:
    """Share of the idf mass that is held, 0 to 1; 0 where there is none."""
    total = sum(masses)
    return sum(mass for mass, is_held in zip(masses, held, strict=True) if is_held) / total if total > 0 else 0.0


def identifies(entry_count: int, frequency: int, is_plain: bool) -> bool:
    """Whether a word that stands in `frequency` chunks tells them from the others.

    A product's own name looks like an identifier and stands everywhere; what it stands in is no answer for that. Letters and hyphens
    alone (`built-in`, `OpenSearch`) have to be rarer than names with digits, dots or underscores.
    """
    if frequency <= 0:
        return False
    share, least = (PLAIN_SHARE, PLAIN_LEAST) if is_plain else (NAMED_SHARE, NAMED_LEAST)
    return frequency <= max(least, share * entry_count)
