"""The edge of a service: what crosses it is timed and counted, ends within its deadline, and fails with one of our errors only."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from refdesk import errors
from refdesk.rpc import deadline
from refdesk.rpc.contract import Contract, Method
from refdesk.rpc.metrics import CALL_SECONDS
from refdesk.rpc.outages import Outage
from refdesk.rpc.status import error_class
from refdesk.telemetry import tracing

log = structlog.get_logger()

Call = Callable[[Any], Awaitable[Any]]


class Near:
    """A service in this process as its callers hold it: the contract's methods and nothing else."""

    def __init__(self, service: object, contract: Contract) -> None:
        for method in contract.methods:
            setattr(self, method.name, bound(getattr(service, method.name), contract.component, method))


def bound(function: Call, component: str, method: Method) -> Call:
    """Puts the boundary around one method of a service.

    Raises: one of refdesk.errors, and CancelledError when the caller gave up.
    """

    def failed(kind: type[errors.RefdeskError], seconds: float) -> None:
        CALL_SECONDS.labels(component, method.name, kind.reason).observe(seconds)

    done = CALL_SECONDS.labels(component, method.name, "ok")
    outage = Outage(component=component, method=method.name)
    name = f"{component}/{method.name}"

    async def call(request: Any) -> Any:
        started = time.perf_counter()
        try:
            with tracing.span(name, "server", rpc_method=name):
                response = await _within_deadline(function, request, component)
        except errors.RefdeskError as error:
            failed(error_class(error), time.perf_counter() - started)
            if isinstance(error, errors.Unavailable):
                outage.fail(error.reason, error.message)
            raise
        except Exception:
            log.exception("call failed", component=component, method=method.name)
            failed(errors.Internal, time.perf_counter() - started)
            raise errors.Internal(f"{component} failed; its log says why") from None
        done.observe(time.perf_counter() - started)
        outage.succeed()
        return response

    return call


async def _within_deadline(function: Call, request: Any, component: str) -> Any:
    if not deadline.is_set():
        return await function(request)
    timeout = asyncio.timeout(deadline.remaining_seconds(float("inf")))
    try:
        async with timeout:
            return await function(request)
    except TimeoutError:
        if timeout.expired():
            raise errors.DeadlineExceeded(f"{component} did not answer in time") from None
        raise
