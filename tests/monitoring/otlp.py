"""A collector of traces: OTLP's own service over gRPC, that keeps what it is sent; knows nothing of desks."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as pb
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as service


@dataclass(frozen=True)
class Span:
    """One step, as it was sent."""

    service: str
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: dict[str, str]


@dataclass
class Collector(service.TraceServiceServicer):
    """What it was sent so far."""

    spans: list[Span] = field(default_factory=list)
    address: str = ""

    def Export(
        self, request: pb.ExportTraceServiceRequest, context: grpc.ServicerContext
    ) -> pb.ExportTraceServiceResponse:
        """OTLP's one call."""
        for resource in request.resource_spans:
            names = {one.key: one.value.string_value for one in resource.resource.attributes}
            for scope in resource.scope_spans:
                for one in scope.spans:
                    attributes = {pair.key: pair.value.string_value for pair in one.attributes}
                    ids = one.trace_id.hex(), one.span_id.hex(), one.parent_span_id.hex()
                    self.spans.append(Span(names["service.name"], one.name, *ids, attributes))
        return pb.ExportTraceServiceResponse()

    def trace(self, trace_id: str) -> dict[str, Span]:
        """The steps of a trace, by id."""
        return {one.span_id: one for one in list(self.spans) if one.trace_id == trace_id}


@contextmanager
def collecting() -> Iterator[Collector]:
    """Serves one on a free loopback port while the block runs."""
    collector = Collector()
    server = grpc.server(ThreadPoolExecutor(4))
    service.add_TraceServiceServicer_to_server(collector, server)
    collector.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield collector
    finally:
        server.stop(1).wait()
