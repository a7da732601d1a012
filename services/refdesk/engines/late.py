"""An engine on a server that is opened when it can be: until then each of its calls says why not; knows nothing of what it keeps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from refdesk.errors import Internal, RefdeskError, Unavailable
from refdesk.tasks import end_tasks

log = structlog.get_logger()

AGAIN_SECONDS = 2.0


class Late:
    """Stands for `engine`, whose `open` it calls every 2 s until it succeeds.

    A server that cannot be reached may come; one that refuses (credentials, a schema) may be mended, and the reason names the setting.
    """

    def __init__(self, engine: Any, open: Callable[[], Awaitable[None]]) -> None:
        self.engine = engine
        self._open = open
        self._reason = "it was not started"
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Opens the engine now or, where that fails, behind."""
        if not await self._try():
            self._task = asyncio.create_task(self._keep_trying(), name=f"open {type(self.engine).__name__}")

    open = start

    async def close(self) -> None:
        """Gives up opening, and closes what was opened."""
        if self._task is not None:
            await end_tasks([self._task])
        self._reason = self._reason or "it was closed"
        await self.engine.close()

    @property
    def reason(self) -> str:
        """Why the engine is not open yet; empty when it is."""
        return self._reason

    def __getattr__(self, name: str) -> Any:
        if self._reason and name == "not_ready_reason":
            return lambda *_: ""  # each call says it better, as an outage does
        attribute = getattr(self.engine, name)
        if not self._reason or not callable(attribute):
            return attribute

        async def refuse(*_: Any, **__: Any) -> Any:
            raise Unavailable(self._reason, retry_after_seconds=AGAIN_SECONDS)

        return refuse

    async def _try(self) -> bool:
        try:
            await self._open()
        except Internal:
            raise
        except RefdeskError as error:  # also one that is slow, or lets us not in
            self._say(error)
            return False
        self._reason = ""
        return True

    async def _keep_trying(self) -> None:
        while True:
            await asyncio.sleep(AGAIN_SECONDS)
            if await self._try():
                log.info("an engine can be used now", engine=type(self.engine).__name__)
                return

    def _say(self, error: RefdeskError) -> None:
        if error.message != self._reason:
            log.warning("an engine cannot be used yet", engine=type(self.engine).__name__, reason=error.message)
        self._reason = error.message


def waiting_reason(engine: object) -> str:
    """Why an engine is not open yet; empty when it is, as every engine of our own is from its start."""
    return engine.reason if isinstance(engine, Late) else ""
