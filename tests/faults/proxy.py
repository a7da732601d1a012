"""A TCP proxy on loopback that can be told to misbehave; knows nothing of what goes through it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from enum import Enum

CHUNK_BYTES = 65_536
DELAY_SECONDS = 0.4
CLOSING_SECONDS = 0.05


class Mood(Enum):
    """What the proxy does with connections and bytes."""

    PASS = "pass"
    DROP = "drop"
    """Connections are reset, new ones too."""
    STALL = "stall"
    """Connections are taken and stay open; no byte moves."""
    DELAY = "delay"
    """Every piece comes late."""
    HALF_CLOSE = "half-close"
    """What callers send goes through, what comes back ends at once."""


class Proxy:
    """Forwards to `target`, host:port, which may change while it runs: a server that was restarted has another port."""

    def __init__(self) -> None:
        self.target = ""
        self.address = ""
        self._mood = Mood.PASS
        self._moving = asyncio.Event()
        """Bytes move."""
        self._moving.set()
        self._loop = asyncio.new_event_loop()
        self._streams: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)

    def start(self) -> None:
        """Listens on a free port of loopback."""
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)

    def close(self) -> None:
        """Ends all connections and the thread."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def turn(self, mood: Mood) -> None:
        """Behaves so from now on."""
        self._loop.call_soon_threadsafe(self._turn, mood)

    def _turn(self, mood: Mood) -> None:
        self._mood = mood
        if mood is Mood.STALL:
            self._moving.clear()
        else:
            self._moving.set()
        if mood in (Mood.DROP, Mood.HALF_CLOSE):
            self._reset()

    def _reset(self) -> None:
        for writer in list(self._streams):
            writer.transport.abort()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        self.address = f"{host}:{port}"

    async def _end(self) -> None:
        if self._server is not None:
            self._server.close()
        self._reset()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._reset()
        await asyncio.sleep(CLOSING_SECONDS)  # aborted transports close their sockets on the loop's next rounds

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = self.target.rpartition(":")
        if self._mood is Mood.DROP or not port:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(host, int(port))
        except OSError:
            writer.transport.abort()
            return
        if self._mood is Mood.DROP:  # since the moment that it was asked
            writer.transport.abort()
            far_writer.transport.abort()
            return
        ends = (writer, far_writer)
        self._streams.update(ends)
        try:
            await asyncio.gather(self._pump(reader, far_writer, back=False), self._pump(far_reader, writer, back=True))
        finally:
            for end in ends:
                self._streams.discard(end)
                end.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, back: bool) -> None:
        with contextlib.suppress(OSError):
            while piece := await reader.read(CHUNK_BYTES):
                await self._moving.wait()
                if self._mood is Mood.DELAY:
                    await asyncio.sleep(DELAY_SECONDS)
                if back and self._mood is Mood.HALF_CLOSE:
                    break
                writer.write(piece)
                await writer.drain()
            if writer.can_write_eof():
                writer.write_eof()
