"""Tells the log once that something does not answer, and once that it does again; knows nothing of what is asked."""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog

log = structlog.get_logger()

QUIET_SECONDS = 1.0
"""Without a failure until it counts as back: what fails now and then would fill the log otherwise."""


class Outage:
    """Of one thing: a leg, or a method of a service; `names` says in the log which."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, **names: str) -> None:
        self._clock = clock
        self._names = names
        self._told = ""
        self._failed_at = 0.0

    def fail(self, why: str, error: str = "") -> None:
        """It did not answer, for a reason of a closed set; `error` says more, in words of ours."""
        self._failed_at = self._clock()
        if why == self._told:
            return
        self._told = why
        more = {"error": error} if error else {}
        log.warning("it does not answer", why=why, **self._names, **more)

    def succeed(self) -> None:
        """It answered."""
        if self._told and self._clock() - self._failed_at >= QUIET_SECONDS:
            self._told = ""
            log.info("it answers again", **self._names)
