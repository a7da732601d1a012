"""What every call between services counts; labels come from the contracts and the nine error classes."""

from __future__ import annotations

from prometheus_client import Histogram

CALL_SECONDS = Histogram(
    "refdesk_rpc_call_seconds",
    "Time of a call, by the service that answered it; outcome is ok or an error's reason.",
    ("component", "method", "outcome"),
    buckets=(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
