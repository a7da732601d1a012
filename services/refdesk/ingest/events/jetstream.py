"""Change events on NATS JetStream; knows nothing of documents, and leaves where the server is to its broker."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error
from nats.js import JetStreamContext
from nats.js.errors import NoStreamResponseError, NotFoundError

from refdesk.engines.nats.connecting import open_client
from refdesk.errors import InvalidArgument, Unavailable
from refdesk.ingest.events.broker import NAMES, Broker
from refdesk.ingest.events.client_errors import Refused, translated
from refdesk.ingest.events.delivery import JetStreamDelivery
from refdesk.ingest.events.event import ChangeEvent
from refdesk.ingest.events.incoming import read_incoming
from refdesk.ingest.events.interface import AlwaysHeld, Backlog, Delivery, Lane, Lease, Room
from refdesk.ingest.events.leases import Leases, bucket_config
from refdesk.ingest.events.publishing import publish_all
from refdesk.ingest.events.pull import Puller
from refdesk.ingest.events.stream import (
    LANES,
    PARKED,
    PATTERNS,
    STREAM,
    consumer_config,
    consumer_name,
    parked_config,
    parked_subject,
    stream_config,
)
from refdesk.ingest.events.upkeep import ensure_consumer, ensure_stream

ACK_TIMEOUT_SECONDS = 10.0
REACHABLE_TIMEOUT_SECONDS = 1.0
_WAIT_SECONDS = 10.0
STREAMS = {"events": STREAM, "parked": PARKED}
_log = structlog.get_logger()


class JetStreamEvents:
    """Events over one connection: a stream, and a consumer for each lane."""

    def __init__(self, broker: Broker, *, max_bytes: int, replicas: int = 1) -> None:
        self._broker = broker
        self._max_bytes = max_bytes
        self._replicas = replicas
        self._client: Client | None = None
        self._pullers: list[Puller] = []
        self._waits: dict[Puller, asyncio.Task[list[Msg]]] = {}
        self._reconnects = 0
        self._fetching = asyncio.Lock()
        self._leases = Leases(lambda: self._js, self._ensure)

    async def start(self) -> None:
        """Runs or finds the server, connects, and makes the streams and consumers what the table says."""
        if self._client is not None:
            return
        try:
            await self._connect()
            await self._open_stream()
        except BaseException:
            await self.close()
            raise
        if not self._broker.is_ours:
            self._leases.start()

    async def close(self) -> None:
        """Ends the connection, and the server where it is ours; what was pulled and not fetched comes again at once."""
        await self._leases.close()
        for wait in self._waits.values():
            wait.cancel()
        taken = await asyncio.gather(*self._waits.values(), return_exceptions=True)
        self._waits = {}
        with contextlib.suppress(Error):
            for message in (message for messages in taken if isinstance(messages, list) for message in messages):
                await message.nak()
        client, self._client = self._client, None
        if client is not None:
            await client.close()
        await self._broker.close()

    async def publish(self, events: Sequence[ChangeEvent]) -> None:
        """Returns when every event is on disk."""
        with translated():
            try:
                await publish_all(self._connected, self._js, events)
            except NoStreamResponseError:  # somebody removed the stream
                await self._ensure()
                await publish_all(self._connected, self._js, events)

    async def incarnation(self) -> str:
        """When the stream was made, by its server's clock."""
        with translated():
            try:
                info = await self._js.stream_info(STREAM)
            except NotFoundError:  # somebody removed the stream
                await self._ensure()
                info = await self._js.stream_info(STREAM)
        return str(info.created)

    async def fetch(self, limit: int, timeout_seconds: float) -> list[Delivery]:
        """Asks the lane of changed documents first; waits on both when neither has anything."""
        async with self._fetching:
            await self._revive()
            await self._forget_unanswerable()
            messages = await self._take(limit)
            if not messages:
                await self._wait(timeout_seconds)
                messages = self._collect(limit)
        return [self._open(message) for message in messages]

    async def pending(self) -> int:
        """What the consumers have not delivered, and what they have and wait for; the stream itself forgets later."""
        with translated():
            infos = [await self._js.consumer_info(STREAM, consumer_name(lane)) for lane in LANES]
        return sum((info.num_pending or 0) + (info.num_ack_pending or 0) for info in infos)

    async def backlog(self) -> Backlog:
        """What the consumers have left; a lane's oldest event is its first in the stream, which keeps none that is acknowledged."""
        with translated():
            lanes = {lane: await self._look_at(lane) for lane in LANES}
            rooms = {name: await self._js.stream_info(stream) for name, stream in STREAMS.items()}
        return Backlog(
            lanes,
            {name: Room(info.state.bytes, info.config.max_bytes or 0) for name, info in rooms.items()},
        )

    async def _look_at(self, lane: str) -> Lane:
        info = await self._js.consumer_info(STREAM, consumer_name(lane))
        pending_count = (info.num_pending or 0) + (info.num_ack_pending or 0)
        oldest = None
        if pending_count:
            with contextlib.suppress(NotFoundError):  # acknowledged meanwhile
                oldest = (await self._js.get_msg(STREAM, seq=1, subject=PATTERNS[lane], next=True)).time
        return Lane(pending_count, oldest.timestamp() if oldest else 0.0)

    def lease(self, name: str, tell: Callable[[], bytes], gained: Callable[[], None]) -> Lease:
        """One in the server's key-value store; with a server of our own this process is alone."""
        return AlwaysHeld() if self._broker.is_ours else self._leases.lease(name, tell, gained)

    async def reachable(self) -> bool:
        """Whether JetStream answers now."""
        if self._client is None or not self._client.is_connected:
            return False
        try:
            async with asyncio.timeout(REACHABLE_TIMEOUT_SECONDS):
                await self._js.account_info()
        except (Error, TimeoutError):
            return False
        return True

    @property
    def _connected(self) -> Client:
        if self._client is None:
            raise Unavailable("the event queue is not started")
        if not self._client.is_connected:
            raise Unavailable("the event queue cannot be reached; it is tried again")
        return self._client

    @property
    def _js(self) -> JetStreamContext:
        return self._connected.jetstream(timeout=ACK_TIMEOUT_SECONDS)

    async def _connect(self) -> None:
        """Raises: Unavailable; InvalidArgument where the server lets us not in, or cannot be spoken to in this way."""
        servers = (await self._broker.start()).split(",")
        self._client = await open_client(servers, self._broker.options(), self._broker.explain_refusal(), NAMES)

    async def _revive(self) -> None:
        """A connection that the server ended for good, as it does when a password changes, is made anew."""
        if self._client is None or not self._client.is_closed:
            return
        await self._end_waits(self._waits)
        try:
            await self._connect()
            await self._open_stream()
        except InvalidArgument as error:  # it held at the start: an operator is at work
            raise Unavailable(error.message) from None

    async def _forget_unanswerable(self) -> None:
        """What a connection was asked that is lost, nobody will answer; and to find that out by waiting would hold up what comes now."""
        if self._client is None or self._client.stats["reconnects"] == self._reconnects:
            return
        self._reconnects = self._client.stats["reconnects"]
        await self._end_waits([puller for puller, wait in self._waits.items() if not wait.done() or _has_failed(wait)])

    async def _end_waits(self, pullers: Iterable[Puller]) -> None:
        ended = [self._waits.pop(puller) for puller in list(pullers)]
        for wait in ended:
            wait.cancel()
        await asyncio.gather(*ended, return_exceptions=True)

    async def _open_stream(self) -> None:
        """Makes stream and consumers; a store of ours that cannot be opened is wiped: scans announce again what was in it."""
        try:
            await self._redeliver()
            await self._ensure()
        except (Refused, InvalidArgument):  # and not merely slow
            if not self._broker.is_ours:
                raise
            _log.warning("the event queue's store cannot be opened and is wiped; scans announce again what was in it")
            await self._connected.close()
            await self._broker.wipe()
            await self._connect()
            await self._ensure()
        self._pullers = [Puller(self._connected, STREAM, consumer_name(lane), self._ensure) for lane in LANES]

    async def _redeliver(self) -> None:
        """Has events that an earlier life of this process took come again at once, and not after their 60 s."""
        if not self._broker.is_ours:
            return
        for lane in LANES:
            with translated(), contextlib.suppress(NotFoundError):
                await self._js.delete_consumer(STREAM, consumer_name(lane))

    async def _ensure(self) -> None:
        with translated():
            await ensure_stream(self._js, stream_config(self._max_bytes, self._replicas))
            await ensure_stream(self._js, parked_config(self._max_bytes, self._replicas))
            if not self._broker.is_ours:
                await ensure_stream(self._js, bucket_config(self._replicas))
            for lane in LANES:
                await ensure_consumer(self._js, STREAM, consumer_config(lane))

    async def _take(self, limit: int) -> list[Msg]:
        """What is there now: the changed lane, then bulk."""
        _ = self._connected  # the client would wait for the connection without a word
        messages = self._collect(limit)
        for puller in self._pullers:
            if len(messages) < limit:
                with _unless(messages):
                    messages += await puller.take(limit - len(messages))
        return messages

    async def _wait(self, timeout_seconds: float) -> None:
        """Returns when a lane has something, or after the timeout. Waits go on behind: what they pull is for the next fetch."""
        for puller in self._pullers:
            if puller not in self._waits:
                self._waits[puller] = asyncio.create_task(puller.wait(_WAIT_SECONDS))
        await asyncio.wait(self._waits.values(), timeout=timeout_seconds, return_when=asyncio.FIRST_COMPLETED)

    def _collect(self, limit: int) -> list[Msg]:
        """What ended waits have pulled, one message each."""
        messages: list[Msg] = []
        for puller in self._pullers:
            wait = self._waits.get(puller)
            if wait is not None and wait.done() and len(messages) < limit:
                del self._waits[puller]
                with _unless(messages):
                    messages += wait.result()
        return messages

    def _open(self, message: Msg) -> Delivery:
        headers = {name.lower(): value.encode() for name, value in (message.headers or {}).items()}
        event = read_incoming(message.subject, headers, message.data)
        return JetStreamDelivery(self._connected, event, message, self._set_aside)

    async def _set_aside(self, message: Msg, reason: str) -> None:
        """Keeps a copy, with why; of one that is as large as any may be the headers alone, for the reason must fit beside it."""
        kept = {name: value for name, value in (message.headers or {}).items() if not name.lower().startswith("nats-")}
        line = " ".join(reason.split()).encode("ascii", "replace").decode()
        headers = {**kept, "Refdesk-Reason": line[:1000]}
        # The server counts headers too, and ends the connection of whoever sends more.
        size_bytes = len(message.data) + sum(len(f"{name}{value}".encode()) + 4 for name, value in headers.items()) + 64
        payload = message.data if size_bytes <= self._connected.max_payload else b""
        with translated():
            await self._js.publish(parked_subject(message.subject), payload, headers=headers)


def _has_failed(wait: asyncio.Task[list[Msg]]) -> bool:
    return wait.cancelled() or wait.exception() is not None


@contextlib.contextmanager
def _unless(messages: list[Msg]) -> Iterator[None]:
    """An error of one lane is put off while there are messages of the other to hand over: the next fetch meets it again."""
    try:
        yield
    except Unavailable:
        if not messages:
            raise
