"""Which of several ingest processes does what only one needs to do: a lease a name, renewed for as long as its holder lives.

A lease saves work and orders nothing: two that act at once for a moment do no harm. Its value is what its holder says of its work, so that
every process can tell it.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog
from nats.errors import Error
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, StreamConfig
from nats.js.errors import BucketNotFoundError, KeyNotFoundError, KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from refdesk.engines.nats import buckets
from refdesk.errors import RefdeskError
from refdesk.ingest import metrics
from refdesk.ingest.events.interface import Lease
from refdesk.tasks import end_tasks

BUCKET = "refdesk_leases"
LEASE_SECONDS = 6.0
"""After so long without a renewal a lease is free."""
RENEW_SECONDS = 1.5
MARGIN_SECONDS = 1.0
"""Kept back by the holder: it stops before the server gives the lease to another."""
CALL_SECONDS = 2.0
CLOSE_SECONDS = 2.0
SIDE_BY_SIDE = 16
OWNER_BYTES = 32
Value = TypeVar("Value")
_log = structlog.get_logger()


class KeptLease:
    """One lease as its keeper keeps it. `tell` is asked for what to say at every renewal, `gained` called when it has been got."""

    def __init__(self, key: str, tell: Callable[[], bytes], gained: Callable[[], None]) -> None:
        self.key = key
        self.tell = tell
        self.told = b""
        self.revision = 0
        self._gained = gained
        self._held_until = 0.0
        self._is_held = asyncio.Event()

    @property
    def held(self) -> bool:
        """By the clock: a process that was stopped for a while has it no more when it goes on."""
        if self._is_held.is_set() and time.monotonic() >= self._held_until:
            self.lose()
        return self._is_held.is_set()

    async def until_held(self) -> None:
        """Waits for it."""
        while not self.held:
            await self._is_held.wait()

    def take(self, revision: int, asked_at: float) -> None:
        """It was got, or renewed, by a request that began at `asked_at`."""
        was_held = self.held
        self.revision = revision
        self._held_until = asked_at + LEASE_SECONDS - MARGIN_SECONDS
        self._is_held.set()
        if not was_held:
            _log.info("a lease was taken", lease=self.key)
            self._gained()

    def lose(self) -> None:
        """Another has it, or nobody can tell."""
        if self._is_held.is_set():
            _log.info("a lease was lost", lease=self.key)
        self._is_held.clear()


class Leases:
    """Keeps the leases of one process. `open_stream` gives the connection as it is now, `ensure` makes the bucket where it is missing."""

    def __init__(self, open_stream: Callable[[], JetStreamContext], ensure: Callable[[], Awaitable[None]]) -> None:
        self._open_stream = open_stream
        self._ensure = ensure
        self._owner = secrets.token_hex(OWNER_BYTES // 2).encode()
        self._kept: dict[str, KeptLease] = {}
        self._keeping: asyncio.Task[None] | None = None
        self._places = asyncio.Semaphore(SIDE_BY_SIDE)

    def lease(self, name: str, tell: Callable[[], bytes], gained: Callable[[], None]) -> Lease:
        """A lease by its name; it is sought from the start on."""
        key = re.sub(r"[^A-Za-z0-9._-]", lambda found: "".join(f"={byte:02X}" for byte in found[0].encode()), name)
        return self._kept.setdefault(key, KeptLease(key, tell, gained))

    def start(self) -> None:
        """Begins to keep them."""
        if self._keeping is None:
            self._keeping = asyncio.create_task(self._keep_all(), name="leases")

    async def close(self) -> None:
        """Gives back what is held, so that others need not wait."""
        keeping, self._keeping = self._keeping, None
        if keeping is None:
            return
        await end_tasks([keeping], CLOSE_SECONDS)  # the client swallows a cancellation now and then
        with contextlib.suppress(RefdeskError, Error, TimeoutError):
            bucket = await self._bucket()
            await asyncio.gather(*(self._give_back(bucket, one) for one in self._kept.values() if one.held))

    async def _keep_all(self) -> None:
        while self._keeping is asyncio.current_task():
            with contextlib.suppress(RefdeskError, Error, TimeoutError):  # it lapses by itself
                try:
                    bucket = await self._bucket()
                except BucketNotFoundError:  # somebody removed it, or its server lost it
                    await self._ensure()
                    continue
                await asyncio.gather(*(self._keep(bucket, one) for one in self._kept.values()))
            self._count()
            await asyncio.sleep(RENEW_SECONDS)

    def _count(self) -> None:
        held = [one.key for one in self._kept.values() if one.held]
        sources = sum("." in key for key in held)
        metrics.LEASES.labels("source").set(sources)
        metrics.LEASES.labels("project").set(len(held) - sources)

    async def _keep(self, bucket: KeyValue, lease: KeptLease) -> None:
        async with self._places:
            asked_at = time.monotonic()
            value = self._owner + lease.tell()
            try:
                if lease.held:
                    revision = await _soon(bucket.update(lease.key, value, last=lease.revision))
                else:
                    revision = await self._seek(bucket, lease, value)
            except KeyWrongLastSequenceError:
                lease.lose()
            except (Error, TimeoutError):
                return
            else:
                if revision:
                    lease.take(revision, asked_at)

    async def _seek(self, bucket: KeyValue, lease: KeptLease, value: bytes) -> int:
        """Takes what is free, or what this process itself was about to lose; 0 where another has it."""
        try:
            entry = await _soon(bucket.get(lease.key))
        except KeyNotFoundError:
            return await _soon(bucket.create(lease.key, value))
        found = entry.value or b""
        if found[:OWNER_BYTES] == self._owner:
            return await _soon(bucket.update(lease.key, value, last=entry.revision))
        lease.told = found[OWNER_BYTES:]
        return 0

    async def _give_back(self, bucket: KeyValue, lease: KeptLease) -> None:
        with contextlib.suppress(Error, TimeoutError):
            await _soon(bucket.delete(lease.key, last=lease.revision))
        lease.lose()

    async def _bucket(self) -> KeyValue:
        return await _soon(self._open_stream().key_value(BUCKET))


def bucket_config(replicas: int = 1) -> StreamConfig:
    """The bucket that leases are kept in."""
    return buckets.bucket_config(
        BUCKET,
        "Which ingest process follows which source.",
        keep_seconds=LEASE_SECONDS,
        max_bytes=4 * 1024 * 1024,
        discard=DiscardPolicy.NEW,
        replicas=replicas,
    )


async def _soon(asking: Awaitable[Value]) -> Value:
    return await buckets.within(CALL_SECONDS, asking)
