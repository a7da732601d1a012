"""Makes streams and consumers what the table says: made where they are missing, changed where NATS allows it, refused where not."""

from __future__ import annotations

from typing import Any

import structlog
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig, StreamConfig
from nats.js.errors import APIError, NotFoundError

from refdesk.errors import InvalidArgument
from refdesk.ingest.events.broker import NAMES
from refdesk.ingest.events.client_errors import Refused

STREAM_FIELDS = (
    "subjects",
    "retention",
    "storage",
    "discard",
    "max_bytes",
    "max_age",
    "max_msgs_per_subject",
    "num_replicas",
    "duplicate_window",
    "allow_atomic",
)
CONSUMER_FIELDS = ("filter_subject", "deliver_policy", "ack_policy", "ack_wait", "max_deliver", "max_ack_pending")
NO_ROOM = frozenset({10023, 10028, 10047})
TOO_FEW_SERVERS = frozenset({10005, 10074})
SUBJECTS_TAKEN = 10065
_log = structlog.get_logger()


async def ensure_stream(js: JetStreamContext, wanted: StreamConfig) -> None:
    """Makes a stream, or changes what differs and says so; what an operator set besides is left as it is.

    Raises: InvalidArgument naming the stream and what NATS does not change of it, or the setting; Refused where there is no room.
    """
    assert wanted.name is not None
    try:
        found = (await js.stream_info(wanted.name)).config
    except NotFoundError:
        found = None
    differing = {} if found is None else differences(wanted, found, STREAM_FIELDS)
    if found is not None and not differing:
        return
    if found is not None:
        _log.warning("a stream is not as this release needs it and is changed", stream=wanted.name, **shown(differing))
    try:
        if found is None:
            await js.add_stream(wanted)
        else:
            await js.update_stream(found.evolve(**{name: getattr(wanted, name) for name in differing}))
    except APIError as error:
        raise _why(error, wanted, differing) from None


async def ensure_consumer(js: JetStreamContext, stream: str, wanted: ConsumerConfig) -> None:
    """Makes a consumer, or changes what differs and says so. Raises: InvalidArgument where it is of another kind."""
    assert wanted.durable_name is not None
    try:
        found = (await js.consumer_info(stream, wanted.durable_name)).config
    except NotFoundError:
        found = None
    differing = {} if found is None else differences(wanted, found, CONSUMER_FIELDS)
    if found is not None and not differing and not found.deliver_subject:
        return
    if found is not None and found.deliver_subject:
        raise InvalidArgument(
            f"consumer {wanted.durable_name} of stream {stream} pushes to {found.deliver_subject}, and ours is asked: remove it "
            f"(nats consumer rm {stream} {wanted.durable_name}); no event is lost by that"
        )
    if found is not None:
        _log.warning(
            "a consumer is not as this release needs it and is changed",
            consumer=wanted.durable_name,
            **shown(differing),
        )
    await js.add_consumer(stream, wanted)


def differences(wanted: Any, found: Any, fields: tuple[str, ...]) -> dict[str, tuple[Any, Any]]:
    """What differs, as it is and as it should be; what the table leaves open does not differ."""
    pairs = {name: (_plain(getattr(found, name)), _plain(getattr(wanted, name))) for name in fields}
    return {name: pair for name, pair in pairs.items() if pair[1] is not None and _worth(pair[0]) != _worth(pair[1])}


def shown(differing: dict[str, tuple[Any, Any]]) -> dict[str, str]:
    """For a line of the log."""
    return {name: f"{has} -> {wanted}" for name, (has, wanted) in differing.items()}


def _plain(value: Any) -> Any:
    return getattr(value, "value", value)


def _worth(value: Any) -> Any:
    """Servers leave out what is off, and name what is unlimited in two ways."""
    return None if value in (None, False, 0, -1, "") else sorted(value) if isinstance(value, list) else value


def _why(error: APIError, wanted: StreamConfig, differing: dict[str, tuple[Any, Any]]) -> Exception:
    if error.err_code in TOO_FEW_SERVERS:
        return InvalidArgument(
            f"{NAMES.group}.replicas is {wanted.num_replicas} and there are fewer NATS servers with JetStream: lower it, or add servers"
        )
    if error.err_code in NO_ROOM:
        return Refused(
            f"the NATS server has no room for a stream of {wanted.max_bytes:,} bytes (code {error.err_code}):"
            " raise its max_file_store, or lower the events' max_bytes"
        )
    if error.err_code == SUBJECTS_TAKEN:
        return InvalidArgument(
            f"another stream takes {', '.join(wanted.subjects or ())}: remove it, or give refdesk a NATS account of its own"
        )
    if differing and error.code in (400, 500):
        names = ", ".join(f"{name} ({has}, and {needs} is needed)" for name, (has, needs) in differing.items())
        return InvalidArgument(
            f"stream {wanted.name} differs in {names}, which NATS does not change: once it is empty, remove it "
            f"(nats stream rm {wanted.name}) and start again"
        )
    return error
