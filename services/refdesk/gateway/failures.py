"""Says in one line what failed and what to try, for MCP and for HTTP; knows the nine error classes and nothing of services."""

from __future__ import annotations

import json
import math
import re

from refdesk import errors

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
RETRY_SECONDS = 1.0
"""When to come back where the error does not say."""

STATUS_CODES: dict[type[errors.RefdeskError], int] = {
    errors.InvalidArgument: 400,
    errors.NotFound: 404,
    errors.AlreadyExists: 409,
    errors.Unauthenticated: 401,
    errors.PermissionDenied: 403,
    errors.ResourceExhausted: 429,
    errors.DeadlineExceeded: 504,
    errors.Unavailable: 503,
    errors.Internal: 500,
}


def explain(error: errors.RefdeskError) -> str:
    """What failed and what to try, on one line."""
    again = f"retry in {retry_seconds(error)} s"
    if isinstance(error, errors.ResourceExhausted):
        return f"busy, {again}: {_line(error)}"
    if isinstance(error, errors.DeadlineExceeded):
        return f"took too long, {again}: {_line(error)}"
    if isinstance(error, errors.Unavailable):
        return f"temporarily unavailable, {again}: {_line(error)}"
    if isinstance(error, errors.Internal):
        return f"failed by a defect of the server, whose log says more: {_line(error)}"
    return _line(error)


def retry_seconds(error: errors.RefdeskError) -> int:
    """Whole seconds after which the same request may pass."""
    return max(1, math.ceil(error.retry_after_seconds or RETRY_SECONDS))


def may_pass_later(error: errors.RefdeskError) -> bool:
    """Whether the same request, repeated, may pass."""
    return isinstance(error, (errors.ResourceExhausted, errors.DeadlineExceeded, errors.Unavailable))


def status_code(error: errors.RefdeskError) -> int:
    """The HTTP status of an error."""
    return next((code for kind, code in STATUS_CODES.items() if isinstance(error, kind)), 500)


def problem_headers(error: errors.RefdeskError) -> dict[str, str]:
    """Headers that go with an error over HTTP."""
    if isinstance(error, errors.Unauthenticated):
        return {"WWW-Authenticate": 'Bearer realm="refdesk"'}
    return {"Retry-After": str(retry_seconds(error))} if may_pass_later(error) else {}


def problem_body(error: errors.RefdeskError) -> bytes:
    """The error as problem+json (RFC 9457)."""
    code = status_code(error)
    return json.dumps({"type": "about:blank", "title": error.reason, "status": code, "detail": explain(error)}).encode()


def _line(error: errors.RefdeskError) -> str:
    return _CONTROL.sub("\ufffd", " ".join(error.message.split()))
