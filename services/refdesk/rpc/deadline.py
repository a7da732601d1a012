"""The time that is left for the work at hand; it is set once at the edge and shrinks at every hop."""

from __future__ import annotations

import contextlib
import contextvars
import time
from collections.abc import Iterator

HOP_MARGIN_SECONDS = 0.02
"""Kept back at every hop, so that the caller hears of a timeout before it gives up itself."""

_ends_at: contextvars.ContextVar[float | None] = contextvars.ContextVar("deadline_ends_at", default=None)


def remaining_seconds(most: float) -> float:
    """Seconds that are left, at most `most` and at least 0; `most` where no deadline is set."""
    ends_at = _ends_at.get()
    if ends_at is None:
        return most
    return max(0.0, min(most, ends_at - time.monotonic()))


def is_set() -> bool:
    """Whether any deadline bounds the work at hand."""
    return _ends_at.get() is not None


@contextlib.contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Bounds the work inside to `seconds`, or to what is left already, whichever is less."""
    token = _ends_at.set(time.monotonic() + remaining_seconds(seconds))
    try:
        yield
    finally:
        _ends_at.reset(token)
