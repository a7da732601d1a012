"""What the embedder counts; knows nothing of time per call, which the boundary measures for every service."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

WAIT_SECONDS = Histogram(
    "refdesk_embedder_wait_seconds",
    "Time of a text in the queue; purpose is query or passage.",
    ["purpose"],
    buckets=_SECONDS,
)
RUN_SECONDS = Histogram(
    "refdesk_embedder_run_seconds",
    "Time of one text in a worker: tokenizing and the model's run.",
    ["purpose"],
    buckets=_SECONDS,
)
WAITING_TEXTS = Gauge("refdesk_embedder_waiting_texts", "Texts in the queue.", ["purpose"])
REFUSED_TEXTS = Counter(
    "refdesk_embedder_refused_texts_total", "Texts refused because the queue was full.", ["purpose"]
)
TEXTS = Counter(
    "refdesk_embedder_texts_total",
    "Texts by outcome: embedded, over_window, or kept (a query whose vector was at hand).",
    ["purpose", "outcome"],
)
TOKENS = Counter(
    "refdesk_embedder_tokens_total", "Tokens that ran through a model, special tokens and prefix left out.", ["purpose"]
)

for _purpose in ("query", "passage"):  # there from the start, so that the first of them counts as an increase
    REFUSED_TEXTS.labels(_purpose)
    WAITING_TEXTS.labels(_purpose)
