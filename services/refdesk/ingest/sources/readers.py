"""Reads for many callers in few threads, some at a time, since handing one over costs more than reading it; knows nothing of files."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Found = TypeVar("Found")

THREADS = 4
"""Reads that may wait for a slow disk side by side."""
SHARE = 16
"""Reads that one thread does in one go; more would save little, and let the first wait for the last."""


class Readers(Generic[Found]):
    """Calls `read`, which may block, with one path at a time; each caller gets what it gives or raises for its own path."""

    def __init__(self, read: Callable[[str], Found]) -> None:
        self._read = read
        self._waiting: deque[tuple[str, asyncio.Future[Found]]] = deque()
        self._working = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def read(self, path: str) -> Found:
        """What the reading of this path gives. Raises: what it raises."""
        future: asyncio.Future[Found] = asyncio.get_running_loop().create_future()
        self._waiting.append((path, future))
        if self._working < THREADS:
            self._working += 1
            task = asyncio.create_task(self._work())
            self._tasks.add(task)  # a task that nobody holds may vanish
            task.add_done_callback(self._tasks.discard)
        return await future

    async def _work(self) -> None:
        """Works off what waits, and counts as at work for exactly as long as it looks at it: who comes later starts another."""
        try:
            await self._work_off()
        finally:
            self._working -= 1

    async def _work_off(self) -> None:
        """Hands shares of what waits to a thread, until nothing does."""
        while self._waiting:
            size = min(SHARE, -(-len(self._waiting) // THREADS))  # a few leave something for the other threads
            share = [self._waiting.popleft() for _ in range(size)]
            share = [(path, future) for path, future in share if not future.done()]
            try:
                outcomes = await asyncio.to_thread(self._read_share, [path for path, _ in share])
            except BaseException:
                for _, future in share:
                    future.cancel()  # nobody else would ever answer
                raise
            for (_, future), outcome in zip(share, outcomes, strict=True):
                if future.done():
                    continue  # its caller has gone
                if isinstance(outcome, Exception):
                    future.set_exception(outcome)
                else:
                    future.set_result(outcome)

    def _read_share(self, paths: Sequence[str]) -> list[Found | Exception]:
        return [self._read_one(path) for path in paths]

    def _read_one(self, path: str) -> Found | Exception:
        try:
            return self._read(path)
        except Exception as error:  # it is its caller's, who may handle it
            return error
