"""Bounds how often each key may call, by a bucket that fills at its rate; knows nothing of what is called."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from refdesk.errors import ResourceExhausted

BURST_SECONDS = 10.0
"""A key that was silent may call at once as often as it may within this time."""
LEAST_BURST = 5.0
MOST_KEYS = 10_000


class Rates:
    """Buckets of one process: with several gateways behind one address a key gets its rate from each."""

    def __init__(self, calls_per_minute: int, *, now: Callable[[], float] = time.monotonic) -> None:
        self._calls_per_minute = calls_per_minute
        self._now = now
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, key_id: str, calls_per_minute: int = 0) -> None:
        """One call of a key; 0: at the rate for every key. Raises: ResourceExhausted saying when it may call again."""
        rate = (calls_per_minute or self._calls_per_minute) / 60
        if not rate:
            return
        now, burst = self._now(), max(LEAST_BURST, rate * BURST_SECONDS)
        left, at = self._buckets.get(key_id, (burst, now))
        left = min(burst, left + (now - at) * rate)
        if left < 1:
            self._buckets[key_id] = (left, now)
            message = f"this key may call {math.ceil(rate * 60):,} times a minute"
            raise ResourceExhausted(message, retry_after_seconds=(1 - left) / rate)
        if len(self._buckets) >= MOST_KEYS and key_id not in self._buckets:
            self._buckets.clear()
        self._buckets[key_id] = (left - 1, now)
