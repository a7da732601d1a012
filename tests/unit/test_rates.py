"""How often a key may call: a burst, then its rate."""

from __future__ import annotations

import pytest

from refdesk.errors import ResourceExhausted
from refdesk.gateway.rates import BURST_SECONDS, MOST_KEYS, Rates


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def taken(rates: Rates, key: str = "a", calls_per_minute: int = 0) -> int:
    """Calls until one is refused."""
    for count in range(100_000):
        try:
            rates.take(key, calls_per_minute)
        except ResourceExhausted:
            return count
    raise AssertionError("nothing is ever refused")


def test_a_key_may_call_in_a_burst_and_then_at_its_rate() -> None:
    clock = Clock()
    rates = Rates(600, now=clock)
    assert taken(rates) == 600 / 60 * BURST_SECONDS
    clock.seconds += 1
    assert taken(rates) == 10
    clock.seconds += 3600
    assert taken(rates) == 600 / 60 * BURST_SECONDS


def test_one_key_takes_nothing_of_another_and_its_own_rate_goes_before_the_settings() -> None:
    rates = Rates(60, now=Clock())
    assert taken(rates, "a") == 10
    assert taken(rates, "b") == 10
    assert taken(rates, "c", calls_per_minute=600) == 100


def test_a_refusal_says_when_the_next_call_passes() -> None:
    clock = Clock()
    rates = Rates(60, now=clock)
    taken(rates)
    with pytest.raises(ResourceExhausted, match="60 times a minute") as refusal:
        rates.take("a")
    assert refusal.value.retry_after_seconds == pytest.approx(1.0)
    clock.seconds += refusal.value.retry_after_seconds
    rates.take("a")


def test_without_a_rate_nothing_is_refused_and_nothing_remembered() -> None:
    rates = Rates(0, now=Clock())
    for number in range(MOST_KEYS + 1):
        rates.take(str(number))
    assert taken(rates, "a", calls_per_minute=60) == 10
