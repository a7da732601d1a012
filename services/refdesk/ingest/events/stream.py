"""The one table of JetStream streams, consumers and subjects; knows nothing of connections.

Two lanes, each with a consumer of its own, so that a changed document does not wait behind a bulk load. A message leaves the
stream when it is acknowledged; a subject outside the two patterns is refused, for nobody would ever take it out. Source systems
publish to the same subjects (docs/reference/asyncapi.yaml); what of that cannot be taken is set aside in a stream of its own.
"""

from __future__ import annotations

import re

from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    DiscardPolicy,
    RetentionPolicy,
    StorageType,
    StreamConfig,
)

from refdesk.ingest.events.event import ChangeEvent

STREAM = "REFDESK_EVENTS"
PATTERNS = {"changed": "refdesk.events.*.*.*", "bulk": "refdesk.events.*.*.*.bulk"}
LANES = tuple(PATTERNS)
"""The order in which they are asked."""
PARKED = "REFDESK_PARKED"
PARKED_SUBJECTS = "refdesk.parked.>"
PARKED_BYTES = 64 * 1024 * 1024
PARKED_SECONDS = 30 * 86_400.0
DUPLICATE_WINDOW_SECONDS = 120.0
ACK_WAIT_SECONDS = 60.0
MAX_ACK_PENDING = 2048


def subject(event: ChangeEvent) -> str:
    """Where an event is published: `refdesk.events.<project>.<source>.<type>`, and `.bulk` behind it in the bulk lane."""
    tokens = ("refdesk", "events", _token(event.project), _token(event.source), event.type)
    return ".".join((*tokens, "bulk") if event.bulk else tokens)


def _token(name: str) -> str:
    """A name as one subject token: what is not a letter, a digit, `_` or `-` becomes %XX."""
    return re.sub(r"[^A-Za-z0-9_-]", lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), name)


def stream_config(max_bytes: int, replicas: int = 1) -> StreamConfig:
    """The stream; full, it refuses new events, and the next scan announces them again."""
    return StreamConfig(
        name=STREAM,
        description="Hints that documents may have changed; not the truth, reconciling restores what is lost.",
        subjects=list(PATTERNS.values()),
        retention=RetentionPolicy.WORK_QUEUE,
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        max_bytes=max_bytes,
        max_age=0,
        num_replicas=replicas,
        duplicate_window=DUPLICATE_WINDOW_SECONDS,
        allow_atomic=True,
    )


def parked_config(max_bytes: int, replicas: int = 1) -> StreamConfig:
    """Where events that nobody can take are set aside; the oldest go first."""
    return StreamConfig(
        name=PARKED,
        description="Events that could not be taken, with the reason in the header Refdesk-Reason; for people to look at.",
        subjects=[PARKED_SUBJECTS],
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=DiscardPolicy.OLD,
        max_bytes=min(PARKED_BYTES, max_bytes // 4),
        max_age=PARKED_SECONDS,
        num_replicas=replicas,
        duplicate_window=DUPLICATE_WINDOW_SECONDS,
    )


def parked_subject(subject: str) -> str:
    """Where a message that came on a subject is set aside."""
    return subject.replace("refdesk.events.", "refdesk.parked.", 1)


def consumer_name(lane: str) -> str:
    """The durable name of a lane's consumer."""
    return f"ingest-{lane}"


def consumer_config(lane: str) -> ConsumerConfig:
    """The one durable consumer of a lane; an event is never given up by number of deliveries."""
    return ConsumerConfig(
        durable_name=consumer_name(lane),
        filter_subject=PATTERNS[lane],
        deliver_policy=DeliverPolicy.ALL,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ACK_WAIT_SECONDS,
        max_deliver=-1,
        max_ack_pending=MAX_ACK_PENDING,
    )
