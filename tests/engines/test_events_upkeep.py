"""Streams and consumers as code: made where they are missing, changed where NATS allows it, refused by name where it does not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import nats
import pytest
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig, RetentionPolicy, StorageType, StreamConfig
from structlog.testing import capture_logs

from refdesk.engines.nats.settings import NatsSettings
from refdesk.errors import InvalidArgument
from refdesk.ingest.events.event import ChangeEvent, ChangeType, now
from refdesk.ingest.events.interface import Events
from refdesk.ingest.events.stream import PARKED, STREAM, consumer_name, stream_config
from refdesk.ingest.events.table import events as events_of
from refdesk.ingest.settings import IngestSettings
from servers.nats import NatsProcess

pytestmark = pytest.mark.anyio
MAX_BYTES = 4_194_304
EVENT = ChangeEvent("1", "default", "docs", "a.md", ChangeType.CHANGED, now())


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsProcess]:
    server = NatsProcess(tmp_path / "nats")
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def js(server: NatsProcess) -> AsyncIterator[JetStreamContext]:
    client = await nats.connect(server.url)
    yield client.jetstream()
    await client.close()


def events_at(server: NatsProcess, *, max_bytes: int = MAX_BYTES, replicas: int = 1) -> Events:
    settings = IngestSettings(events=server.url, events_max_bytes=max_bytes, nats=NatsSettings(replicas=replicas))
    return events_of(settings, Path("unused"))


async def start_and_close(events: Events) -> list[str]:
    """What is said of streams and consumers meanwhile."""
    with capture_logs() as logs:
        try:
            await events.start()
        finally:
            await events.close()
    return [str(entry) for entry in logs if "release needs it" in entry["event"]]


async def test_what_is_missing_is_made_and_a_second_start_changes_nothing(
    server: NatsProcess, js: JetStreamContext
) -> None:
    assert await start_and_close(events_at(server)) == []
    config = (await js.stream_info(STREAM)).config
    assert (config.retention, config.storage, config.max_bytes) == ("workqueue", "file", MAX_BYTES)
    assert (config.discard, config.max_age, config.num_replicas) == ("new", 0, 1)
    for lane in ("changed", "bulk"):
        consumer = (await js.consumer_info(STREAM, consumer_name(lane))).config
        assert (consumer.ack_policy, consumer.max_deliver) == ("explicit", -1)
    assert (await js.stream_info(PARKED)).config.discard == "old"
    assert await start_and_close(events_at(server)) == []


async def test_what_differs_is_said_and_changed_and_what_is_in_the_stream_stays(
    server: NatsProcess, js: JetStreamContext
) -> None:
    before = replace(stream_config(2 * MAX_BYTES), discard=None, max_age=3600.0, description="ours", allow_atomic=None)
    await js.add_stream(before)
    await js.add_consumer(
        STREAM,
        ConsumerConfig(
            durable_name=consumer_name("changed"), filter_subject="refdesk.events.*.*.*", max_deliver=3, ack_wait=5
        ),
    )
    first = events_at(server)
    said = await start_and_close(first)
    assert len(said) == 2
    assert all(f"'{name}'" in said[0] for name in ("max_bytes", "max_age", "discard", "allow_atomic"))
    assert "8388608 -> 4194304" in said[0]
    assert "'max_deliver': '3 -> -1'" in said[1]
    config = (await js.stream_info(STREAM)).config
    assert (config.max_bytes, config.max_age, config.discard, config.allow_atomic) == (MAX_BYTES, 0, "new", True)
    assert config.description == "ours", "what nobody needs otherwise is left as it is"
    events = events_at(server)
    await events.start()
    await events.publish([EVENT])
    await events.close()
    assert await start_and_close(events_at(server, max_bytes=2 * MAX_BYTES)) != []
    assert (await js.stream_info(STREAM)).state.messages == 1


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"storage": StorageType.MEMORY}, r"stream REFDESK_EVENTS differs in storage \(memory, and file is needed\)"),
        ({"retention": RetentionPolicy.LIMITS}, r"differs in retention \(limits, and workqueue is needed\)"),
    ],
)
async def test_what_nats_does_not_change_is_refused_by_name_and_nothing_is_overwritten(
    server: NatsProcess, js: JetStreamContext, wrong: dict[str, object], complaint: str
) -> None:
    await js.add_stream(replace(stream_config(MAX_BYTES), **wrong))  # type: ignore[arg-type]
    await js.publish("refdesk.events.default.docs.changed", b"kept")
    with pytest.raises(InvalidArgument, match=complaint) as refusal:
        await start_and_close(events_at(server))
    assert refusal.value.message.endswith("remove it (nats stream rm REFDESK_EVENTS) and start again")
    assert (await js.stream_info(STREAM)).state.messages == 1


async def test_a_consumer_of_another_kind_is_refused_by_name(server: NatsProcess, js: JetStreamContext) -> None:
    await js.add_stream(stream_config(MAX_BYTES))
    pushes = ConsumerConfig(
        durable_name=consumer_name("bulk"), filter_subject="refdesk.events.*.*.*.bulk", deliver_subject="somewhere"
    )
    await js.add_consumer(STREAM, pushes)
    with pytest.raises(InvalidArgument, match=r"consumer ingest-bulk of stream REFDESK_EVENTS pushes to somewhere"):
        await start_and_close(events_at(server))


async def test_more_replicas_than_there_are_servers_are_refused_by_the_settings_name(server: NatsProcess) -> None:
    with pytest.raises(InvalidArgument, match=r"ingest\.nats\.replicas is 3 and there are fewer NATS servers"):
        await start_and_close(events_at(server, replicas=3))


async def test_a_stream_of_another_name_on_our_subjects_is_refused(server: NatsProcess, js: JetStreamContext) -> None:
    await js.add_stream(StreamConfig(name="OTHER", subjects=["refdesk.events.>"]))
    with pytest.raises(InvalidArgument, match=r"another stream takes refdesk\.events"):
        await start_and_close(events_at(server))
