"""An outage stands in the log once, and its end too, however many calls it fails."""

from __future__ import annotations

from structlog.testing import capture_logs

from refdesk.rpc.outages import QUIET_SECONDS, Outage


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_an_outage_is_told_once_and_its_end_once() -> None:
    clock = Clock()
    outage = Outage(clock, needed="vector")
    with capture_logs() as lines:
        outage.succeed()
        for _ in range(100):
            outage.fail("vector_unavailable", "the engine cannot be reached")
        clock.seconds += QUIET_SECONDS
        outage.succeed()
        outage.succeed()
    assert [(line["event"], line["log_level"], line["needed"]) for line in lines] == [
        ("it does not answer", "warning", "vector"),
        ("it answers again", "info", "vector"),
    ]
    assert (lines[0]["why"], lines[0]["error"]) == ("vector_unavailable", "the engine cannot be reached")


def test_what_fails_now_and_then_fills_no_log() -> None:
    clock = Clock()
    outage = Outage(clock, needed="vector")
    with capture_logs() as lines:
        for _ in range(1000):
            clock.seconds += QUIET_SECONDS / 3
            outage.fail("vector_timeout")
            clock.seconds += QUIET_SECONDS / 3
            outage.succeed()
    assert len(lines) == 1


def test_another_reason_is_told_too() -> None:
    outage = Outage(Clock(), needed="vector")
    with capture_logs() as lines:
        for why in ("vector_timeout", "vector_unavailable", "vector_unavailable"):
            outage.fail(why)
    assert [line["why"] for line in lines] == ["vector_timeout", "vector_unavailable"]
