"""What docstore counts; knows nothing of time per call, which the boundary measures for every service."""

from __future__ import annotations

from prometheus_client import Counter

DOCUMENTS_PUT = Counter(
    "refdesk_docstore_documents_put_total",
    "Conditional puts of records by outcome: committed or conflict.",
    ["outcome"],
)
DOCUMENTS_NOTED = Counter(
    "refdesk_docstore_documents_noted_total", "Conditional notes on heads by outcome: noted or conflict.", ["outcome"]
)
CHUNKS_HYDRATED = Counter(
    "refdesk_docstore_chunks_hydrated_total",
    "Chunks that were asked for by outcome: current, or dropped because no head lists them.",
    ["outcome"],
)
RAW_PUT = Counter(
    "refdesk_docstore_raw_documents_put_total", "Statements of publishers by what became of them.", ["outcome"]
)
TEXTS_PURGED = Counter("refdesk_docstore_texts_purged_total", "Texts of deleted documents that were dropped.")

HEADS_DROPPED = Counter("refdesk_docstore_heads_dropped_total", "Heads of generations that are followed no more.")


def count_outcomes(counter: Counter, good: tuple[str, int], bad: tuple[str, int]) -> None:
    """Adds each (outcome, number) to the counter."""
    for outcome, number in (good, bad):
        counter.labels(outcome).inc(number)
