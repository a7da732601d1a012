"""Leases on a real nats-server: one holder at a time, another within seconds when it dies, and at once when it gives back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import nats
import pytest

from fakes.events import MemoryEvents
from fakes.waiting import until
from refdesk.engines.nats.settings import NatsSettings
from refdesk.ingest.events import leases
from refdesk.ingest.events.interface import Events, Lease
from refdesk.ingest.events.jetstream import JetStreamEvents
from refdesk.ingest.events.nats_server import NatsServer
from refdesk.ingest.events.table import events as events_of
from refdesk.ingest.settings import IngestSettings
from servers.nats import NatsProcess

pytestmark = pytest.mark.anyio
MAX_BYTES = 4_194_304
TAKEOVER_SECONDS = leases.LEASE_SECONDS + 2 * leases.RENEW_SECONDS + 2


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsProcess]:
    server = NatsProcess(tmp_path / "nats")
    server.start()
    yield server
    server.stop()


class Process:
    """What one ingest process has of leases."""

    def __init__(self, events: Events, name: str, *leases: str) -> None:
        self.events = events
        self.gained: list[str] = []
        self.leases: dict[str, Lease] = {
            lease: events.lease(lease, lambda: f"{name} says".encode(), lambda lease=lease: self.gained.append(lease))
            for lease in leases
        }

    def held(self) -> set[str]:
        return {name for name, lease in self.leases.items() if lease.held}


Make = Callable[..., Awaitable[Process]]


@pytest.fixture
async def make(server: NatsProcess) -> AsyncIterator[Make]:
    """Starts a process of its own connection to the server."""
    made: list[Process] = []

    async def begin(name: str, *wanted: str) -> Process:
        settings = IngestSettings(events=server.url, events_max_bytes=MAX_BYTES, nats=NatsSettings())
        process = Process(events_of(settings, Path("unused")), name, *wanted)
        await process.events.start()
        made.append(process)
        return process

    yield begin
    for process in made:
        await process.events.close()


async def test_a_lease_has_one_holder_and_the_others_know_what_it_says(make: Make) -> None:
    names = [f"handbook.source {number}" for number in range(20)]
    first = await make("first", *names)
    await until(lambda: first.held() == set(names))
    assert sorted(first.gained) == sorted(names)
    second = await make("second", *names)
    await until(lambda: all(lease.told == b"first says" for lease in second.leases.values()))
    assert second.held() == set()


async def test_what_is_given_back_is_taken_at_once(make: Make) -> None:
    first = await make("first", "handbook.docs")
    await first.leases["handbook.docs"].until_held()
    second = await make("second", "handbook.docs")
    await until(lambda: second.leases["handbook.docs"].told == b"first says")
    began = time.monotonic()
    await first.events.close()
    async with asyncio.timeout(leases.RENEW_SECONDS + 3):
        await second.leases["handbook.docs"].until_held()
    assert time.monotonic() - began < leases.LEASE_SECONDS
    assert not first.leases["handbook.docs"].held


async def test_of_a_holder_that_dies_the_lease_is_taken_within_seconds_and_not_before(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await make("first", "handbook.docs")
    lease = first.leases["handbook.docs"]
    await lease.until_held()
    second = await make("second", "handbook.docs")
    await until(lambda: second.leases["handbook.docs"].told != b"")
    assert isinstance(first.events, JetStreamEvents)
    first.events._leases._keeping.cancel()  # it does nothing more, as a dead process does
    async with asyncio.timeout(TAKEOVER_SECONDS):
        while not second.leases["handbook.docs"].held:
            await asyncio.sleep(0.02)
            assert not (lease.held and second.leases["handbook.docs"].held), "two hold it at once"
    assert not lease.held, "by its own clock it has it no more"
    assert second.gained == ["handbook.docs"]


async def test_without_the_server_nobody_holds_a_lease_and_it_is_got_again_when_it_is_back(
    make: Make, server: NatsProcess
) -> None:
    first = await make("first", "handbook.docs")
    await first.leases["handbook.docs"].until_held()
    address = server.url
    server.process.kill()
    await until(lambda: not first.leases["handbook.docs"].held, 15)
    server.restart_at(address)
    await until(lambda: first.leases["handbook.docs"].held, 30)
    assert first.gained == ["handbook.docs"] * 2


async def test_a_store_that_was_removed_is_made_anew(make: Make, server: NatsProcess) -> None:
    first = await make("first", "handbook.docs")
    await first.leases["handbook.docs"].until_held()
    client = await nats.connect(server.url)
    await client.jetstream().delete_stream(f"KV_{leases.BUCKET}")
    await until(lambda: not first.leases["handbook.docs"].held, 15)
    await until(lambda: first.leases["handbook.docs"].held, 15)
    await client.close()


async def test_where_there_is_one_process_everything_is_held(tmp_path: Path) -> None:
    own = JetStreamEvents(NatsServer(tmp_path / "events", max_store_bytes=2 * MAX_BYTES), max_bytes=MAX_BYTES)
    for events in (own, MemoryEvents()):
        lease = events.lease("handbook.docs", lambda: b"", lambda: None)
        assert lease.held
        await lease.until_held()
    await own.start()
    await own.close()
