"""Maps our nine error classes to gRPC status and back to the same class; the only place that does."""

from __future__ import annotations

from typing import Any

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from refdesk import errors

DOMAIN = "refdesk"

_CODES: dict[type[errors.RefdeskError], int] = {
    errors.InvalidArgument: code_pb2.INVALID_ARGUMENT,
    errors.NotFound: code_pb2.NOT_FOUND,
    errors.AlreadyExists: code_pb2.ALREADY_EXISTS,
    errors.Unauthenticated: code_pb2.UNAUTHENTICATED,
    errors.PermissionDenied: code_pb2.PERMISSION_DENIED,
    errors.ResourceExhausted: code_pb2.RESOURCE_EXHAUSTED,
    errors.DeadlineExceeded: code_pb2.DEADLINE_EXCEEDED,
    errors.Unavailable: code_pb2.UNAVAILABLE,
    errors.Internal: code_pb2.INTERNAL,
}
_CLASSES: dict[int, type[errors.RefdeskError]] = {code: kind for kind, code in _CODES.items()}


class Unreachable(errors.Unavailable):
    """A service did not answer at all: what it needs is another matter, which it says itself."""


def error_class(error: errors.RefdeskError) -> type[errors.RefdeskError]:
    """Which of the nine an error is, also for a service's own subclass."""
    return next(kind for kind in type(error).__mro__ if kind in _CODES)


def to_status(error: errors.RefdeskError) -> status_pb2.Status:
    """The rich status of an error: code, message, ErrorInfo, and RetryInfo where it says when to come back."""
    details = [error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN)]
    packed = [_pack(detail) for detail in details]
    if error.retry_after_seconds is not None:
        delay = duration_pb2.Duration()
        delay.FromNanoseconds(int(error.retry_after_seconds * 1e9))
        packed.append(_pack(error_details_pb2.RetryInfo(retry_delay=delay)))
    return status_pb2.Status(code=_CODES[error_class(error)], message=error.message, details=packed)


def from_call(failure: grpc.aio.AioRpcError, component: str) -> errors.RefdeskError:
    """The error that a far service raised, or what became of the call where it never answered."""
    status = rpc_status.from_call(failure)  # type: ignore[arg-type]  # grpc-stubs know the sync call only
    if status is not None and any(_reason(detail) for detail in status.details):
        kind = _CLASSES.get(status.code, errors.Internal)
        return kind(status.message, retry_after_seconds=_retry_after_seconds(status))
    code = failure.code()
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return errors.DeadlineExceeded(f"{component} did not answer in time")
    if code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNKNOWN):
        return Unreachable(f"{component} cannot be reached", retry_after_seconds=1)
    if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
        return errors.ResourceExhausted(f"a message to or from {component} is over the size limit")
    return errors.Internal(f"{component} refused the call ({code.name.lower()})")


def _pack(detail: Any) -> any_pb2.Any:
    packed = any_pb2.Any()
    packed.Pack(detail)
    return packed


def _reason(detail: any_pb2.Any) -> str:
    info = error_details_pb2.ErrorInfo()
    if detail.Unpack(info) and info.domain == DOMAIN:
        return str(info.reason)
    return ""


def _retry_after_seconds(status: status_pb2.Status) -> float | None:
    info = error_details_pb2.RetryInfo()
    for detail in status.details:
        if detail.Unpack(info):
            return float(info.retry_delay.ToNanoseconds() / 1e9)
    return None
