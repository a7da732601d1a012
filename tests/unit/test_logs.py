"""A log that cannot be written is lost, and nothing else is."""

from __future__ import annotations

import io

from refdesk.telemetry.logs import UnfailingStream


class Full(io.StringIO):
    """A stream whose disk has no byte left."""

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")

    def flush(self) -> None:
        raise OSError(28, "No space left on device")


def test_a_line_that_cannot_be_written_is_lost_and_its_writer_goes_on() -> None:
    stream = UnfailingStream(Full())
    assert stream.write("a line") == 6
    stream.flush()


def test_a_stream_that_was_closed_loses_lines_too() -> None:
    closed = io.StringIO()
    closed.close()
    UnfailingStream(closed).write("a line")


def test_what_can_be_written_is_written() -> None:
    kept = io.StringIO()
    UnfailingStream(kept).write("a line")
    assert kept.getvalue() == "a line"
