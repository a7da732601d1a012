"""Asks search_docs over bare HTTP/1.1 connections that are kept: what a client costs is taken from the desk beside it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import orjson

from benchmarks.calls import HEADERS

IDLE_SECONDS = 3.0
"""A connection that was idle for longer is not used again: the desk is about to close it, and might while a question is on its way."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer: HTTP's status, its Retry-After ("" where there is none), its body, and how long after the question it was whole."""

    status: int
    retry_after: str
    body: bytes
    seconds: float

    @property
    def is_answer(self) -> bool:
        """Whether the tool did its work."""
        return self.status == 200 and not orjson.loads(self.body).get("result", {"isError": True})["isError"]


class Wire(asyncio.Protocol):
    """One connection, one question at a time."""

    def __init__(self, host: str) -> None:
        lines = [
            f"POST /mcp HTTP/1.1\r\nHost: {host}\r\n",
            *(f"{name}: {value}\r\n" for name, value in HEADERS.items()),
        ]
        self._head = "".join(lines).encode()
        self._transport: Any = None
        self._received = bytearray()
        self._began = 0.0
        self._idle_since = time.perf_counter()
        self._done: Callable[[Reply | None], None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether it can take a question."""
        return self._transport is not None

    @property
    def is_fresh(self) -> bool:
        """Whether it was in use lately."""
        return time.perf_counter() - self._idle_since < IDLE_SECONDS

    def ask(self, question: str, done: Callable[[Reply | None], None]) -> None:
        """Sends a question; `done` gets its answer, or None when the connection ended before it."""
        params = {"name": "search_docs", "arguments": {"query": question}}
        body = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        self._done = done
        self._received.clear()
        self._began = time.perf_counter()
        self._transport.write(self._head + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def close(self) -> None:
        """Ends the connection."""
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio."""
        self._transport = transport

    def connection_lost(self, _: Exception | None) -> None:
        """See asyncio."""
        self._transport = None
        self._finish(None)

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator:
            return
        status, *lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if len(body) < int(fields["content-length"]):
            return
        seconds = time.perf_counter() - self._began
        self._finish(Reply(int(status.split()[1]), fields.get("retry-after", ""), bytes(body), seconds))

    def _finish(self, reply: Reply | None) -> None:
        self._idle_since = time.perf_counter()
        done, self._done = self._done, None
        if done is not None:
            done(reply)


class Wires:
    """At most `most` connections to one desk, opened when they are needed and kept."""

    def __init__(self, url: str, most: int) -> None:
        address = urlsplit(url)
        self._host, self._port = address.hostname or "", address.port or 80
        self._most = most
        self._free: list[Wire] = []
        self._all: list[Wire] = []

    async def open(self) -> None:
        """Opens all of them."""
        loop = asyncio.get_running_loop()
        while len(self._all) < self._most:
            _, wire = await loop.create_connection(lambda: Wire(f"{self._host}:{self._port}"), self._host, self._port)
            self._all.append(wire)
        self._free = list(self._all)

    def ask(self, question: str, done: Callable[[Reply | None], None]) -> bool:
        """Sends a question at once; False where every connection waits for an answer."""
        while self._free:
            wire = self._free.pop()
            if wire.is_open and not wire.is_fresh:
                wire.close()
            elif wire.is_open:
                wire.ask(question, partial(self._finish, wire, done))
                return True
        return False

    async def wait(self, question: str) -> Reply:
        """An answer, by a connection that is free. Raises: ConnectionError where there is none, or it ended."""
        answer: asyncio.Future[Reply | None] = asyncio.get_running_loop().create_future()
        if not self.ask(question, answer.set_result) or (reply := await answer) is None:
            raise ConnectionError("a connection ended before its answer")
        return reply

    async def drain(self, seconds: float) -> None:
        """Waits until no question is without its answer. Raises: TimeoutError."""
        ends_at = time.monotonic() + seconds
        while len(self._free) < sum(wire.is_open for wire in self._all):
            if time.monotonic() > ends_at:
                raise TimeoutError(f"questions were without an answer for {seconds:g} s")
            await asyncio.sleep(0.01)

    def close(self) -> None:
        """Ends every connection."""
        for wire in self._all:
            wire.close()

    def _finish(self, wire: Wire, done: Callable[[Reply | None], None], reply: Reply | None) -> None:
        if reply is not None:
            self._free.append(wire)
        done(reply)
