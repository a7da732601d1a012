"""Turns the NATS client's errors into ours; knows nothing of what was asked."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from nats.errors import Error
from nats.js.errors import APIError

from refdesk.errors import ResourceExhausted, Unavailable

_FULL_CODES = frozenset({10077, 10047, 10023})  # stream at its size, storage at its size, resources short


class Refused(Unavailable):
    """JetStream answered, and said no."""


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Raises: ResourceExhausted when the queue is full; Refused for another answer; Unavailable where there was none."""
    try:
        yield
    except APIError as error:
        if error.err_code in _FULL_CODES:
            raise ResourceExhausted("the event queue is full; what is in it is worked off first") from None
        raise Refused(f"the event queue refused a request (code {error.err_code})") from None
    except (Error, TimeoutError):
        raise Unavailable("the event queue does not answer; it is tried again") from None
