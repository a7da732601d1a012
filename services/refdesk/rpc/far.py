"""A service in another process as its callers hold it: the same methods, the same messages, the same errors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import grpc

from refdesk import errors
from refdesk.rpc import deadline
from refdesk.rpc.contract import Contract, Method
from refdesk.rpc.outages import Outage
from refdesk.rpc.status import Unreachable, from_call
from refdesk.telemetry import tracing

MOST_SECONDS = 120.0
"""A call without a deadline of its own (publishing a large batch) ends after this."""


class Far:
    """A client of one service over one channel."""

    def __init__(self, channel: grpc.aio.Channel, contract: Contract) -> None:
        outage = Outage(component=contract.component)
        for method in contract.methods:
            setattr(self, method.name, _remote(channel, contract.component, method, outage))


def _remote(
    channel: grpc.aio.Channel, component: str, method: Method, outage: Outage
) -> Callable[[Any], Awaitable[Any]]:
    call = channel.unary_unary(
        method.path,
        request_serializer=method.request.SerializeToString,
        response_deserializer=method.response.FromString,
    )

    name = f"{component}/{method.name}"

    async def remote(request: Any) -> Any:
        left = deadline.remaining_seconds(MOST_SECONDS) - deadline.HOP_MARGIN_SECONDS
        if left <= 0:
            raise errors.DeadlineExceeded(f"no time was left to ask {component}")
        try:
            with tracing.span(name, "client", rpc_system="grpc", rpc_method=name):
                response = await call(request, timeout=left, metadata=tuple(tracing.carrier().items()))
        except grpc.aio.AioRpcError as failure:
            error = from_call(failure, component)
            if isinstance(error, Unreachable):
                outage.fail(error.reason, error.message)
            raise error from None
        outage.succeed()
        return response

    return remote
