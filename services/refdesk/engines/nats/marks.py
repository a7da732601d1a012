"""Marks set once among all processes and forgotten after a time, in a key-value bucket; knows nothing of what a mark stands for."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from typing import TypeVar

import structlog
from nats.aio.client import Client
from nats.errors import Error
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, StreamConfig
from nats.js.errors import BadRequestError, BucketNotFoundError, KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from refdesk.engines.nats import buckets
from refdesk.engines.nats.access import Names, check, connect_options, read_servers, way_in
from refdesk.engines.nats.connecting import open_client
from refdesk.engines.nats.settings import NatsSettings
from refdesk.errors import RefdeskError, Unavailable

CALL_SECONDS = 0.5
"""An answer waits for a mark: better to do without it."""
AGAIN_SECONDS = 2.0
CLOSE_SECONDS = 1.0
MAX_BYTES = 64 * 1024 * 1024
"""Some hundred thousand marks; the oldest make room for new ones."""
Value = TypeVar("Value")
_log = structlog.get_logger()


class Marks:
    """One bucket over a connection of its own, sought from the start on and again whenever it is lost for good."""

    def __init__(self, url: str, settings: NatsSettings, names: Names, bucket: str, keep_seconds: float) -> None:
        self._servers = read_servers(url, names)
        check(settings, names)
        self._settings = settings
        self._names = names
        self._bucket = bucket
        self._keep_seconds = keep_seconds
        self._client: Client | None = None
        self._connecting: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to connect, and returns at once: nothing waits for a server that is away."""
        if self._connecting is None:
            self._connecting = asyncio.create_task(self._keep_connected(), name=f"connect {self._bucket}")

    async def close(self) -> None:
        """Ends the connection."""
        connecting, self._connecting = self._connecting, None
        if connecting is not None:
            connecting.cancel()
            await asyncio.wait([connecting], timeout=CLOSE_SECONDS)
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(Error, TimeoutError):
                async with asyncio.timeout(CLOSE_SECONDS):
                    await client.close()

    async def set(self, key: str) -> bool:
        """Whether the mark was not there and is now. Raises: Unavailable, then it may be set or not."""
        try:
            await self._write(key)
        except KeyWrongLastSequenceError:
            return False
        except (Error, TimeoutError) as error:
            raise Unavailable(f"the NATS server does not keep what {self._names.url} is for") from error
        return True

    async def clear(self, key: str) -> None:
        """Takes a mark away. Raises: Unavailable."""
        try:
            await _soon((await self._open()).delete(key))
        except (Error, TimeoutError) as error:
            raise Unavailable(f"the NATS server does not keep what {self._names.url} is for") from error

    async def _write(self, key: str) -> None:
        try:
            bucket = await self._open()
        except BucketNotFoundError:  # somebody removed it, or its server lost it
            await _soon(self._make())
            bucket = await self._open()
        await _soon(bucket.create(key, b""))

    async def _open(self) -> KeyValue:
        return await _soon(self._stream().key_value(self._bucket))

    def _stream(self) -> JetStreamContext:
        if self._client is None or not self._client.is_connected:
            raise Unavailable("the NATS server is not connected")
        return self._client.jetstream(timeout=CALL_SECONDS)

    async def _make(self) -> None:
        config = bucket_config(self._bucket, self._keep_seconds, self._settings.replicas)
        with contextlib.suppress(
            BadRequestError
        ):  # another process made it meanwhile, of a release before or after this one
            await self._stream().add_stream(config)

    async def _keep_connected(self) -> None:
        said = ""
        while True:
            if self._client is None or self._client.is_closed:
                try:
                    await self._connect()
                    said = ""
                except RefdeskError as error:
                    if error.message != said:
                        _log.warning("sessions are not shared between gateways yet", reason=error.message)
                    said = error.message
            await asyncio.sleep(AGAIN_SECONDS)

    async def _connect(self) -> None:
        options = connect_options(self._settings, self._servers, self._names)
        refusal = f"the NATS server lets us not in: {way_in(self._settings, self._names)}"
        self._client = await open_client(self._servers, options, refusal, self._names, service="gateway")
        try:
            await _soon(self._make())
        except (Error, TimeoutError):
            _log.warning("the bucket is made when it is needed", bucket=self._bucket)


def bucket_config(bucket: str, keep_seconds: float, replicas: int) -> StreamConfig:
    """What the bucket is."""
    return buckets.bucket_config(
        bucket,
        "What was given in which session.",
        keep_seconds=keep_seconds,
        max_bytes=MAX_BYTES,
        discard=DiscardPolicy.OLD,
        replicas=replicas,
    )


async def _soon(asking: Awaitable[Value]) -> Value:
    return await buckets.within(CALL_SECONDS, asking)
