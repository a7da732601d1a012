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
PENDING = Gauge("refdesk_ingest_events_pending_count", "Events that are not acknowledged.", ["lane"])
OLDEST_AGE = Gauge(
    "refdesk_ingest_oldest_change_age_seconds",
    "Age of the oldest event that is not acknowledged; 0: none waits.",
    ["lane"],
)
QUEUE_SEEN = Gauge("refdesk_ingest_queue_seen_timestamp_seconds", "When the queue last told what it holds.")
STREAM_SIZE = Gauge("refdesk_ingest_stream_size_bytes", "What a stream holds: events, or parked ones.", ["stream"])
STREAM_LIMIT = Gauge("refdesk_ingest_stream_limit_bytes", "What a stream may hold.", ["stream"])
DOCUMENTS = Gauge("refdesk_ingest_documents_count", "Documents of the projects that this process reconciles.")
CHUNKS = Gauge("refdesk_ingest_chunks_count", "Chunks of these documents, over all generations that are followed.")
VECTORS_PENDING = Gauge("refdesk_ingest_vectors_pending_count", "Those chunks that have no vector yet.")
REPORTED = Gauge(
    "refdesk_ingest_reported_documents_count",
    "Documents of these projects that are reported, by kind: parked, skipped, or with a remark; at most 10,000 a project.",
    ["kind"],
)
PARKED = Counter(
    "refdesk_ingest_parked_total",
    "Documents and events set aside until somebody looks or they change, by why.",
    ["reason"],
)
SYNC_AGE = Gauge(
    "refdesk_ingest_source_sync_age_seconds",
    "Since the newest complete scan of a source, or since the start where there was none.",
    ["source"],
)
SYNC_INTERVAL = Gauge("refdesk_ingest_source_interval_seconds", "How often a source is scanned in full.", ["source"])
SOURCES = Gauge("refdesk_ingest_sources_count", "Sources by what they do now.", ["state"])
SEARCHABLE_SECONDS = Histogram(
    "refdesk_ingest_searchable_seconds",
    "From the announcement of a change to its words being searchable, by lane.",
    ["lane"],
    buckets=(0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800, 7200),
)
GROWN = Counter("refdesk_ingest_generation_heads_built_total", "Documents that were cut anew from their stored text.")
MOVES = Counter("refdesk_ingest_generation_moves_total", "Changes of what a project's generations are.", ["move"])

UNPARSED, REFUSED, EVENT = "unparsed", "refused", "event"
"""Why something is parked: its parser failed, docstore or search refused it, or it is an event that nobody can take."""
for _reason in (UNPARSED, REFUSED, EVENT):  # there from the start, so that the first of them counts as an increase
    PARKED.labels(_reason)
for _ending in ("published", "unchanged", "skipped", "failed", "held", "conflicted"):
    PUBLISHED.labels(_ending)
for _why in ("time", "death", "error"):
    PARSE_FAILURES.labels(_why)
for _origin in ("embedded", "taken_over"):
    VECTORS.labels(_origin)
for _task in ("consumer", "vectors"):
    OUTAGES.labels(_task)
for _lane in ("changed", "bulk"):
    SEARCHABLE_SECONDS.labels(_lane)
