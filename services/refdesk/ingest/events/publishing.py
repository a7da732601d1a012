"""Publishes change events durably: many in one atomic batch, few one by one; knows nothing of connecting.

A server that syncs every write takes some 500 events a second one by one, and some 15,000 in batches, which it syncs once each.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Sequence

import structlog
from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.api import Header
from nats.js.errors import BadRequestError

from refdesk.ingest.events.event import ChangeEvent, encode
from refdesk.ingest.events.stream import subject
from refdesk.telemetry import tracing

BATCH_EVENTS = 256
"""Well under the server's own limit of 1,000; a batch that is refused is published one by one."""
LEAST_BATCH_EVENTS = 4
IN_FLIGHT = 64
_log = structlog.get_logger()


async def publish_all(client: Client, stream: JetStreamContext, events: Sequence[ChangeEvent]) -> None:
    """Returns when every event is on disk, or was there already under its id. Raises what the client raises."""
    for first in range(0, len(events), BATCH_EVENTS):
        batch = events[first : first + BATCH_EVENTS]
        if len(batch) < LEAST_BATCH_EVENTS or not await _publish_batch(client, stream, batch):
            await _publish_singly(stream, batch)


async def _publish_batch(client: Client, stream: JetStreamContext, events: Sequence[ChangeEvent]) -> bool:
    """All of them or none; False when the server refuses the batch, as it does for an id that it has seen of late."""
    name = secrets.token_hex(16)
    for number, event in enumerate(events[:-1], start=1):
        await client.publish(subject(event), encode(event), headers=_batch_headers(event, name, number))
    last = _batch_headers(events[-1], name, len(events)) | {Header.BATCH_COMMIT.value: "1"}
    try:
        await stream.publish(subject(events[-1]), encode(events[-1]), headers=last)
    except BadRequestError as error:
        _log.debug("a batch of events was refused and goes one by one", events=len(events), code=error.err_code)
        return False
    return True


def _batch_headers(event: ChangeEvent, batch: str, number: int) -> dict[str, str]:
    return {
        Header.MSG_ID.value: event.id,
        Header.BATCH_ID.value: batch,
        Header.BATCH_SEQUENCE.value: str(number),
        **tracing.carrier(),
    }


async def _publish_singly(stream: JetStreamContext, events: Sequence[ChangeEvent]) -> None:
    """At most 64 wait for their acknowledgement at a time; at the first error the rest is given up and it is raised."""
    queue = iter(events)
    tasks = [asyncio.create_task(_publish_each(stream, queue)) for _ in range(min(IN_FLIGHT, len(events)))]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _publish_each(stream: JetStreamContext, queue: Iterator[ChangeEvent]) -> None:
    for event in queue:
        await stream.publish(
            subject(event), encode(event), headers={Header.MSG_ID.value: event.id, **tracing.carrier()}
        )
