"""Keeps two desks from using one folder; knows nothing of what is in it.

The lock lives as long as any process that holds its descriptor, so a child that is given it keeps a new desk out until it has ended too.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from pathlib import Path

from refdesk.errors import Unavailable

_LOOK_SECONDS = 0.05


class FolderLock:
    """An exclusive lock on a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    @property
    def descriptors(self) -> tuple[int, ...]:
        """What a child must inherit to hold the lock as well; empty while it is not taken."""
        return () if self._descriptor is None else (self._descriptor,)

    async def take(self, timeout_seconds: float) -> None:
        """Waits for the lock. Raises: Unavailable when another process still holds it."""
        ends_at = time.monotonic() + timeout_seconds
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > ends_at:
                    os.close(descriptor)
                    raise Unavailable(
                        f"another desk uses {self._path.parent}: stop it, or choose another DATA folder"
                    ) from None
                await asyncio.sleep(_LOOK_SECONDS)
            else:
                self._descriptor = descriptor
                return

    def release(self) -> None:
        """Lets go of it; harmless when it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
