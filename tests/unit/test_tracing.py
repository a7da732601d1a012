"""Without a collector, tracing is nothing: no package is loaded, no step made, no engine wrapped."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from refdesk.ingest.events.delivery import JetStreamDelivery
from refdesk.telemetry import tracing
from refdesk.telemetry.settings import TelemetrySettings

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
PROGRAM = """
import sys
import refdesk.app, refdesk.rpc.server
from refdesk.settings import Settings
from refdesk.telemetry import tracing
tracing.set_up(Settings().telemetry, "search")()
with tracing.following({"traceparent": "00-" + 32 * "a" + "-" + 16 * "b" + "-01"}), tracing.span("a step", begins=True):
    assert tracing.carrier() == {}
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""


def test_a_service_without_a_collector_loads_nothing_of_opentelemetry() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_without_a_collector_an_engine_is_itself() -> None:
    engine = object()
    assert tracing.traced(engine, "sqlite") is engine


@pytest.mark.parametrize(
    "endpoint", ["collector:4317", "grpc://collector:4317", "http://", "http://a b:1", "http://a:1/v1"]
)
def test_an_address_that_is_none_is_refused_at_the_start(endpoint: str) -> None:
    with pytest.raises(ValidationError, match="otlp_endpoint"):
        TelemetrySettings(otlp_endpoint=endpoint)


@pytest.mark.parametrize("endpoint", ["", "http://collector:4317", "https://traces.example.com"])
def test_an_address_over_http_or_https_is_taken(endpoint: str) -> None:
    assert TelemetrySettings(otlp_endpoint=endpoint).otlp_endpoint == endpoint


@pytest.mark.parametrize(
    ("headers", "trace"),
    [
        (None, {}),
        ({"Nats-Msg-Id": "1"}, {}),
        ({"traceparent": TRACE}, {"traceparent": TRACE}),
        ({"Traceparent": TRACE, "ce-traceparent": "another"}, {"traceparent": TRACE}),
        ({"ce-traceparent": TRACE}, {"traceparent": TRACE}),
    ],
)
def test_an_event_belongs_to_the_trace_that_its_headers_name(
    headers: dict[str, str] | None, trace: dict[str, str]
) -> None:
    message: Any = SimpleNamespace(headers=headers)
    anything: Any = None
    assert JetStreamDelivery(anything, anything, message, anything).trace == trace
