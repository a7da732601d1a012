"""Leaves a leg alone that keeps timing out, and tries it again now and then; pure but for the clock that it is given."""

from __future__ import annotations

import time
from collections.abc import Callable


class Breaker:
    """After so many timeouts in a row it lets one try through in each interval, until one succeeds."""

    def __init__(self, timeouts: int, probe_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._most_timeouts = timeouts
        self._probe_seconds = probe_seconds
        self._clock = clock
        self._timeouts = 0
        self._next_probe_at = 0.0

    @property
    def is_open(self) -> bool:
        """Whether tries are being left out."""
        return self._timeouts >= self._most_timeouts

    def allows(self) -> bool:
        """Whether to try now; where it is open and the answer is yes, this try is the probe of its interval."""
        if not self.is_open:
            return True
        now = self._clock()
        if now < self._next_probe_at:
            return False
        self._next_probe_at = now + self._probe_seconds
        return True

    def succeed(self) -> None:
        """A try ended in time, whatever it answered."""
        self._timeouts = 0

    def time_out(self) -> None:
        """A try did not end in time."""
        self._timeouts += 1
        if self._timeouts >= self._most_timeouts:
            self._next_probe_at = self._clock() + self._probe_seconds
