"""Key-value buckets of short-lived values on JetStream; knows nothing of what they hold."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from nats.js.api import DiscardPolicy, RetentionPolicy, StorageType, StreamConfig

MOST_DUPLICATE_SECONDS = 120.0
Value = TypeVar("Value")


def bucket_config(
    bucket: str, description: str, *, keep_seconds: float, max_bytes: int, discard: DiscardPolicy, replicas: int
) -> StreamConfig:
    """The stream of a bucket whose values go after a time; where it is lost it is made anew, which harms nobody."""
    return StreamConfig(
        name=f"KV_{bucket}",
        description=description,
        subjects=[f"$KV.{bucket}.>"],
        retention=RetentionPolicy.LIMITS,
        storage=StorageType.FILE,
        discard=discard,
        max_bytes=max_bytes,
        max_age=keep_seconds,
        max_msgs_per_subject=1,
        num_replicas=replicas,
        duplicate_window=min(keep_seconds, MOST_DUPLICATE_SECONDS),
        allow_rollup_hdrs=True,
        deny_delete=True,
        allow_direct=False,
    )


async def within(seconds: float, asking: Awaitable[Value]) -> Value:
    """What is asked for. Raises: TimeoutError."""
    async with asyncio.timeout(seconds):
        return await asking
