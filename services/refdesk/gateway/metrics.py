"""What the gateway counts and times; labels come from closed sets, and none names a project, a path or a query."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)

OPERATION_SECONDS = Histogram(
    "mcp_server_operation_duration_seconds",
    "Time of one MCP request, by method, tool and the class of what went wrong ('' when nothing did).",
    ("mcp_method_name", "gen_ai_tool_name", "error_type"),
    buckets=BUCKETS,
)
SEARCHES = Counter("refdesk_gateway_searches_total", "Searches answered, by the mode that ran.", ("mode",))
ABSENT_LEGS = Counter(
    "refdesk_gateway_absent_legs_total",
    "Legs of searches that did not run, failed or with nothing to do, by reason.",
    ("leg", "reason"),
)
DEGRADED_SEARCHES = Counter(
    "refdesk_gateway_degraded_searches_total", "Searches answered without a leg that should have run.", ("leg",)
)
ZERO_RESULT_SEARCHES = Counter(
    "refdesk_gateway_zero_result_searches_total", "Searches of a tool that found nothing, as the report on them has it."
)
NO_GOOD_MATCH = Counter("refdesk_gateway_no_good_match_total", "Searches that did not clear the relevance floor.")
STALE_HITS = Counter("refdesk_gateway_stale_hits_total", "Hits dropped because no record lists them any more.")
REPEATED_SEARCHES = Counter("refdesk_gateway_repeated_searches_total", "Searches run once more for stale hits.")
REFUSED_CALLS = Counter("refdesk_gateway_refused_calls_total", "Calls refused because too many were under way.")
ABANDONED_CALLS = Counter(
    "refdesk_gateway_abandoned_calls_total", "Calls that were ended because their client had gone away."
)
UNANSWERED = Counter(
    "refdesk_gateway_unanswered_requests_total",
    "MCP requests that ended before they reached a method, by the class of what went wrong.",
    ("reason",),
)
EVENTS = Counter(
    "refdesk_gateway_events_total",
    "Change events of source systems, by type and what became of them.",
    ("type", "outcome"),
)
LOST_HINTS = Counter(
    "refdesk_gateway_lost_hints_total",
    "Times that ingest could not be told of what was pushed, and had to find it by itself.",
)
DENIED = Counter(
    "refdesk_gateway_denied_total",
    "Requests that were denied: no key, an unknown one, one for something else, one that calls too often, one that cannot be checked.",
    ("reason",),
)
LOST_CALLS = Counter(
    "refdesk_gateway_lost_call_rows_total",
    "Rows of calls that were never written: docstore was away for too long, or at the end.",
)
CALLS = Gauge("refdesk_gateway_calls", "Calls under way.")

for _mode in ("hybrid", "lexical", "semantic"):  # there from the start, so that the first of them counts as an increase
    SEARCHES.labels(_mode)
for _leg in ("lexical", "semantic"):
    DEGRADED_SEARCHES.labels(_leg)
for _reason in ("UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL"):
    UNANSWERED.labels(_reason)
for _reason in ("missing", "unknown", "scope", "rate", "unchecked"):
    DENIED.labels(_reason)
