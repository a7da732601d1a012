"""Traces by OpenTelemetry, where a collector is named: one from a call of a tool down to the engines, one from an event to its document.

Without a collector nothing of OpenTelemetry's SDK is loaded and every function here returns at once. No span holds a text, a path or a
question; what belongs to no trace that has begun at the edge makes no span, so that what a service does by itself is not traced.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from refdesk import errors
from refdesk.telemetry.settings import TelemetrySettings

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer

Kind = Literal["internal", "server", "client", "producer", "consumer"]
Carrier = Mapping[str, str]
"""Headers, names in lower case."""
Engine = TypeVar("Engine")

PARENT = "traceparent"
EXPORT_SECONDS = 2.0
"""Longest time that an export may take; a stop waits for the last one."""

NO_STEP = contextlib.nullcontext()

_tracer: Tracer | None = None


def set_up(settings: TelemetrySettings, component: str) -> Callable[[], None]:
    """Begins to send spans where a collector is named; what it returns sends what is left, within bounds, and ends it."""
    global _tracer
    if not settings.otlp_endpoint:
        return lambda: None
    from opentelemetry import propagate, trace
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    exporter = OTLPSpanExporter(
        settings.otlp_endpoint, insecure=settings.otlp_endpoint.startswith("http://"), timeout=EXPORT_SECONDS
    )
    provider = TracerProvider(
        resource=Resource.create({"service.name": f"refdesk-{component}", "service.namespace": "refdesk"}),
        sampler=ParentBased(TraceIdRatioBased(settings.trace_share)),
    )
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=1000))
    trace.set_tracer_provider(provider)
    propagate.set_global_textmap(TraceContextTextMapPropagator())  # nobody's baggage goes any further
    _tracer = provider.get_tracer("refdesk")
    return provider.shutdown


def carrier() -> dict[str, str]:
    """The trace at hand, for whoever is asked next; empty where there is none."""
    found: dict[str, str] = {}
    if _tracer is not None:
        from opentelemetry.propagate import inject

        inject(found)
    return found


def following(headers: Carrier) -> AbstractContextManager[None]:
    """What is done within belongs to the trace that the headers name; they may name none."""
    context = _read(headers)
    return NO_STEP if context is None else _within(context)


@contextlib.contextmanager
def _within(context: Context) -> Iterator[None]:
    from opentelemetry.context import attach, detach

    token = attach(context)
    try:
        yield
    finally:
        detach(token)


def span(
    name: str, kind: Kind = "internal", *, begins: bool = False, **attributes: str
) -> AbstractContextManager[None]:
    """One step of the trace at hand; where there is none, only what `begins` one is a step. `_` in names of attributes stands for a dot.

    An error ends it with its class, and nothing that it says.
    """
    if _tracer is None or not (begins or _is_traced()):
        return NO_STEP
    return _step(_tracer, name, kind, attributes)


@contextlib.contextmanager
def _step(tracer: Tracer, name: str, kind: Kind, attributes: Mapping[str, str]) -> Iterator[None]:
    from opentelemetry.trace import StatusCode

    named = {key.replace("_", "."): value for key, value in attributes.items()}
    with tracer.start_as_current_span(
        name, kind=_kind(kind), attributes=named, record_exception=False, set_status_on_exception=False
    ) as step:
        try:
            yield
        except BaseException as error:
            reason = error.reason if isinstance(error, errors.RefdeskError) else type(error).__name__
            step.set_attribute("error.type", reason)
            step.set_status(StatusCode.ERROR)
            raise


class Steps:
    """The step that each of several traces takes at once, as when their events are published together; over when `end` is called.

    What is done `within` belongs to the first of them, and the others link to it.
    """

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans

    @contextlib.contextmanager
    def within(self) -> Iterator[None]:
        """What is done belongs to the first."""
        if not self._spans:
            yield
            return
        from opentelemetry.trace import use_span

        with use_span(self._spans[0], end_on_exit=False, record_exception=False, set_status_on_exception=False):
            yield

    def end(self, outcome: str) -> None:
        """All of them are over."""
        for one in self._spans:
            one.set_attribute("refdesk.outcome", outcome)
            one.end()


def begin_steps(name: str, carriers: Iterable[Carrier], kind: Kind) -> Steps:
    """A step of each trace that the carriers name."""
    if _tracer is None:
        return Steps(())
    from opentelemetry.trace import Link

    spans: list[Span] = []
    for context in filter(None, (_read(one) for one in carriers)):
        links = [Link(spans[0].get_span_context())] if spans else []
        spans.append(_tracer.start_span(name, context=context, kind=_kind(kind), links=links))
    return Steps(spans)


def traced(engine: Engine, system: str) -> Engine:
    """The engine with a step for each of its calls, where traces are sent at all; decided when it is built."""
    return engine if _tracer is None else cast(Engine, _Traced(engine, system))


class _Traced:
    """Stands for an engine, also for those who ask of which class it is."""

    def __init__(self, engine: Any, system: str) -> None:
        self._engine = engine
        self._system = system

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._engine)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._engine, name)
        if not inspect.iscoroutinefunction(attribute):
            return attribute

        @functools.wraps(attribute)
        async def call(*arguments: Any, **named: Any) -> Any:
            with span(f"{self._system} {name}", "client", db_system_name=self._system, db_operation_name=name):
                return await attribute(*arguments, **named)

        return call


def _is_traced() -> bool:
    from opentelemetry.trace import get_current_span

    return get_current_span().get_span_context().is_valid


def _read(headers: Carrier) -> Context | None:
    if _tracer is None or PARENT not in headers:
        return None
    from opentelemetry.propagate import extract
    from opentelemetry.trace import get_current_span

    context = extract(headers)
    return context if get_current_span(context).get_span_context().is_valid else None


def _kind(kind: Kind) -> Any:
    from opentelemetry.trace import SpanKind

    return SpanKind[kind.upper()]
