"""Errors keep their class, message and retry hint over the wire."""

import pytest

from refdesk import errors
from refdesk.rpc.status import error_class, to_status


class Busy(errors.ResourceExhausted):
    """A service's own subclass."""


@pytest.mark.parametrize("kind", errors.CLASSES)
def test_status_names_the_reason_of_every_class(kind: type[errors.RefdeskError]) -> None:
    status = to_status(kind("what failed"))
    assert status.message == "what failed"
    assert b"refdesk" in status.details[0].value
    assert kind.reason.encode() in status.details[0].value


def test_codes_are_those_of_google_rpc() -> None:
    # google/rpc/code.proto: 3, 5, 6, 16, 7, 8, 4, 14, 13
    assert [to_status(kind("x")).code for kind in errors.CLASSES] == [3, 5, 6, 16, 7, 8, 4, 14, 13]


def test_a_subclass_travels_as_its_class() -> None:
    assert error_class(Busy("full")) is errors.ResourceExhausted
