"""What gateways remember of sessions: shared where they can, each for itself where they cannot; and the key that is made for them."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from refdesk.errors import InvalidArgument, Unavailable
from refdesk.gateway.sessions import Seal, SharedMemory, ensure_key, session_key

pytestmark = pytest.mark.anyio


class FakeMarks:
    """Marks in memory; `down` makes every call fail."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.down = False

    def start(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def set(self, key: str) -> bool:
        if self.down:
            raise Unavailable("down")
        was_there = key in self.found
        self.found.add(key)
        return not was_there

    async def clear(self, key: str) -> None:
        if self.down:
            raise Unavailable("down")
        self.found.discard(key)


async def test_a_fact_is_new_once_among_all_gateways() -> None:
    marks = FakeMarks()
    one, two = SharedMemory(marks), SharedMemory(marks)
    assert [await one.first("s", "pins.a"), await two.first("s", "pins.a"), await one.first("s", "pins.a")] == [
        *(True, False, False)
    ]
    assert await two.first("s", "pins.b")
    assert await two.first("t", "pins.a")


async def test_while_the_marks_are_away_a_fact_is_new_once_in_each_gateway() -> None:
    marks = FakeMarks()
    one, two = SharedMemory(marks), SharedMemory(marks)
    marks.down = True
    assert [await gateway.first("s", "pins") for gateway in (one, two, one, two)] == [True, True, False, False]


async def test_what_did_not_come_about_is_new_again_in_every_gateway() -> None:
    marks = FakeMarks()
    one, two = SharedMemory(marks), SharedMemory(marks)
    assert await one.first("s", "pins")
    await one.forget("s", "pins")
    assert [await two.first("s", "pins"), await one.first("s", "pins")] == [True, False]
    marks.down = True
    await two.forget("s", "pins")
    assert await two.first("s", "pins")


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "gateway" / "session.key"
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda _: session_key(ensure_key(file)), range(32)))
    assert len(set(keys)) == 1
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in file.parent.iterdir()] == ["session.key"]
    sealed = Seal(keys[0]).give("a client", "1")
    assert Seal(session_key(ensure_key(file))).read(sealed) is not None


def test_where_no_key_can_be_kept_the_setting_is_named(tmp_path: Path) -> None:
    (tmp_path / "gateway").write_text("a file", encoding="utf-8")
    with pytest.raises(InvalidArgument, match=r"gateway\.session_key_file"):
        ensure_key(tmp_path / "gateway" / "session.key")
