"""What ingest counts."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

PUBLISHED = Counter("refdesk_ingest_publish_outcomes_total", "Events dealt with, by how they ended.", ["outcome"])
CONFLICTS = Counter(
    "refdesk_ingest_publish_conflicts_total", "Documents that started again because another worker had won."
)
BATCH_SECONDS = Histogram(
    "refdesk_ingest_publish_batch_seconds",
    "From reading a batch's records to its last note.",
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100),
)
VECTORS = Counter("refdesk_ingest_vectors_written_total", "Points written, by where the vector came from.", ["origin"])
PARSE_FAILURES = Counter("refdesk_ingest_parse_failures_total", "Documents that failed in a parser, by why.", ["why"])
OUTAGES = Counter("refdesk_ingest_outages_total", "Pauses because something needed could not be reached.", ["task"])
RESTARTS = Counter(
    "refdesk_ingest_task_restarts_total", "Tasks that ended by themselves and were started again.", ["task"]
)
RECONCILED = Counter("refdesk_ingest_reconcile_mended_total", "What reconciling mended, by how.", ["mending"])
SOURCE_EVENTS = Counter(
    "refdesk_ingest_source_events_total",
    "Events of source systems taken from the queue, by what became of them.",
    ["outcome"],
)
LEASES = Gauge("refdesk_ingest_leases_held_count", "Leases that this process has: sources, and projects.", ["kind"])
PENDING = Gauge("refdesk_ingest_events_pending_count", "Events that are not acknowledged.")
GROWN = Counter("refdesk_ingest_generation_heads_built_total", "Documents that were cut anew from their stored text.")
MOVES = Counter("refdesk_ingest_generation_moves_total", "Changes of what a project's generations are.", ["move"])
