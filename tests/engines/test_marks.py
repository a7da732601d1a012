"""Marks on a real nats-server: set once among several connections, also after the server or the bucket was lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from nats.aio.client import Client

from refdesk.engines.nats.access import Names
from refdesk.engines.nats.marks import Marks, bucket_config
from refdesk.engines.nats.settings import NatsSettings
from refdesk.errors import InvalidArgument, Unavailable
from servers.nats import NatsProcess

pytestmark = pytest.mark.anyio
NAMES = Names("gateway.sessions_url", "gateway.nats")
BUCKET = "sessions_of_a_test"
WAIT_SECONDS = 20.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsProcess]:
    process = NatsProcess(tmp_path / "nats")
    process.start()
    yield process
    process.stop()


@contextlib.asynccontextmanager
async def opened(url: str, keep_seconds: float = 60.0) -> AsyncIterator[Marks]:
    marks = Marks(url, NatsSettings(), NAMES, BUCKET, keep_seconds)
    marks.start()
    try:
        yield marks
    finally:
        await marks.close()


async def set_when_it_can(marks: Marks, key: str) -> bool:
    """Tries until it is answered. Raises: TimeoutError."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            try:
                return await marks.set(key)
            except Unavailable:
                await asyncio.sleep(0.02)


async def test_of_many_that_set_a_mark_at_once_one_is_the_first(server: NatsProcess) -> None:
    async with opened(server.url) as one, opened(server.url) as two:
        assert [await set_when_it_can(marks, f"{name}.up") for name, marks in (("a", one), ("b", two))] == [True, True]
        for number in range(20):
            key = f"{number:024x}.pins.handbook"
            firsts = await asyncio.gather(*(marks.set(key) for marks in (one, two) * 4))
            assert sum(firsts) == 1
        await one.clear(f"{0:024x}.pins.handbook")
        assert [await marks.set(f"{0:024x}.pins.handbook") for marks in (two, one)] == [True, False]


async def test_a_mark_is_forgotten_after_its_time(server: NatsProcess) -> None:
    async with opened(server.url, keep_seconds=0.3) as marks:
        assert await set_when_it_can(marks, "a.pins")
        assert not await marks.set("a.pins")
        async with asyncio.timeout(WAIT_SECONDS):
            while not await set_now(marks, "a.pins"):  # noqa: ASYNC110 - the server tells nobody when it forgets
                await asyncio.sleep(0.05)


async def set_now(marks: Marks, key: str) -> bool:
    """As `set`; False too in the moment in which the server forgets it between two questions."""
    try:
        return await marks.set(key)
    except Unavailable:
        return False


async def test_without_a_server_it_says_so_at_once_and_it_is_found_when_it_comes_back(server: NatsProcess) -> None:
    url = server.url
    async with opened(url) as marks:
        assert await set_when_it_can(marks, "a.pins")
        server.stop()
        async with asyncio.timeout(2.0):
            with pytest.raises(Unavailable):
                await marks.set("b.pins")
        server.restart_at(url)
        assert await set_when_it_can(marks, "c.pins")
        assert not await marks.set("a.pins")


async def test_a_bucket_that_was_removed_is_made_anew(server: NatsProcess) -> None:
    async with opened(server.url) as marks:
        assert await set_when_it_can(marks, "a.pins")
        client = Client()
        await client.connect(server.url)
        await client.jetstream().delete_stream(bucket_config(BUCKET, 1, 1).name or "")
        await client.close()
        assert [await marks.set("a.pins"), await marks.set("a.pins")] == [True, False]


@pytest.mark.parametrize("url", ["redis://x:1", "nats://", "nats://user:secret@host:1"])
def test_a_url_that_cannot_be_meant_names_the_setting_and_no_secret(url: str) -> None:
    with pytest.raises(InvalidArgument, match=r"gateway\.") as refusal:
        Marks(url, NatsSettings(), NAMES, BUCKET, 60.0)
    assert "secret" not in refusal.value.message
