"""What search counts; knows nothing of time per call, which the boundary measures for every service."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5)

LEG_SECONDS = Histogram(
    "refdesk_search_leg_seconds",
    "Time of one leg; leg is lexical, semantic or hyde, outcome ran or a reason.",
    ["leg", "outcome"],
    buckets=_SECONDS,
)
RUNNING = Gauge("refdesk_search_running", "Searches that run now.")
WAITING = Gauge("refdesk_search_waiting", "Searches that wait for their turn.")
REFUSED = Counter("refdesk_search_refused_total", "Searches refused because too many waited.")
ENTRIES = Counter(
    "refdesk_search_entries_total",
    "Entries by engine (words, vectors) and outcome (written, superseded, swept).",
    ["engine", "outcome"],
)
