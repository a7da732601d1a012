"""An engine on a server may be away, or refuse, when we start: every call says why until it can be used, and then passes."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from fakes.waiting import until
from refdesk.engines import late
from refdesk.engines.late import Late, waiting_reason
from refdesk.errors import (
    DeadlineExceeded,
    InvalidArgument,
    PermissionDenied,
    RefdeskError,
    ResourceExhausted,
    Unauthenticated,
    Unavailable,
)

pytestmark = pytest.mark.anyio


class Engine:
    """Opens once `failure` is gone."""

    def __init__(self, failure: RefdeskError | None) -> None:
        self.failure = failure
        self.closed = False

    async def open(self) -> None:
        if self.failure is not None:
            raise self.failure

    async def close(self) -> None:
        self.closed = True

    async def count(self, number: int) -> int:
        return number


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late, "AGAIN_SECONDS", 0.01)


@pytest.fixture
async def away() -> AsyncIterator[tuple[Engine, Late]]:
    engine = Engine(Unavailable("opensearch at docstore.url cannot be reached"))
    one = Late(engine, engine.open)
    await one.start()
    yield engine, one
    await one.close()
    assert engine.closed


async def test_an_engine_that_is_there_is_used_as_it_is() -> None:
    engine = Engine(None)
    one = Late(engine, engine.open)
    await one.open()
    assert (waiting_reason(one), waiting_reason(engine), await one.count(3)) == ("", "", 3)


async def test_calls_say_why_until_it_comes_and_then_they_pass(away: tuple[Engine, Late]) -> None:
    engine, one = away
    with pytest.raises(Unavailable, match="docstore.url cannot be reached"):
        await one.count(3)
    engine.failure = None
    await until(lambda: not waiting_reason(one))
    assert await one.count(3) == 3


async def test_one_that_refuses_is_tried_again_too_and_its_reason_stands(away: tuple[Engine, Late]) -> None:
    engine, one = away
    engine.failure = InvalidArgument("docstore.opensearch.password_file is wrong: give the right one")
    await until(lambda: "password_file" in waiting_reason(one))
    with pytest.raises(Unavailable, match="password_file"):
        await one.count(3)


@pytest.mark.parametrize("kind", [Unauthenticated, PermissionDenied, DeadlineExceeded, ResourceExhausted])
async def test_whatever_an_engine_refuses_with_keeps_no_process_from_starting(kind: type[RefdeskError]) -> None:
    engine = Engine(kind("qdrant refuses the key; check search.vector_api_key_file"))
    one = Late(engine, engine.open)
    await one.start()
    with pytest.raises(Unavailable, match=r"search\.vector_api_key_file"):
        await one.count(3)
    engine.failure = None
    await until(lambda: not waiting_reason(one))
    await one.close()


async def test_what_fails_by_a_defect_is_not_waited_for() -> None:
    engine = Engine(None)

    async def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await Late(engine, broken).start()
