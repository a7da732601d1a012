"""More calls than there is room for, and clients that go away, over real sockets; and how much time each hop has left."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

import orjson
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from refdesk.api.embedder.v1 import embedder_pb2 as embedder_api
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.gateway.settings import GatewaySettings
from refdesk.rpc import deadline
from refdesk.rpc.channel import open_channel
from refdesk.rpc.contract import CONTRACTS
from refdesk.rpc.far import Far
from refdesk.rpc.server import Server
from surfaces.desks import Desk, served
from surfaces.fakes import FakeSearch

pytestmark = pytest.mark.anyio
WAIT_SECONDS = 10.0
DEADLINE_SECONDS, EMBEDDING_SECONDS = 4.0, 1.0
QUERY = "tokens"
WIRE = 1.05
"""gRPC sends a deadline in few digits, and one that it sent before where the two are about equal."""
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
ERAS: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "handshake": ({"MCP-Protocol-Version": "2025-11-25"}, {}),
    "stateless": (
        {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "search_docs"},
        {"_meta": META},
    ),
}


class SlowSearch(FakeSearch):
    """Tells when a search begins and when it is given up, and never answers."""

    def __init__(self) -> None:
        super().__init__(wait=asyncio.Event())
        self.begun, self.given_up = asyncio.Event(), asyncio.Event()

    async def retrieve(self, request: search_api.RetrieveRequest) -> search_api.RetrieveResponse:
        if is_check(request):
            return await FakeSearch().retrieve(request)
        self.begun.set()
        try:
            return await super().retrieve(request)
        except asyncio.CancelledError:
            self.given_up.set()
            raise


def is_check(request: search_api.RetrieveRequest) -> bool:
    """Whether the gateway itself asks, to find out whether it is ready."""
    return request.legs[0].text != QUERY


def full_desk() -> Desk:
    """A desk with one place, and nobody may wait for it."""
    return Desk(search=SlowSearch(), settings=GatewaySettings(catalog_seconds=0, concurrent_calls=1, queued_calls=0))


@contextlib.asynccontextmanager
async def asking(url: str, era: str) -> AsyncIterator[asyncio.StreamReader]:
    """A connection on which a search was asked, and what comes back; it is closed with the block."""
    address, (headers, extra) = urlsplit(url), ERAS[era]
    params = {"name": "search_docs", "arguments": {"query": QUERY}, **extra}
    body = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    lines = ["POST /mcp HTTP/1.1", f"Host: {address.netloc}", f"Content-Length: {len(body)}"]
    lines += ["Content-Type: application/json", "Accept: application/json, text/event-stream"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        yield reader
    finally:
        writer.close()
        await writer.wait_closed()


@contextlib.asynccontextmanager
async def filled(url: str, search: SlowSearch) -> AsyncIterator[None]:
    """Holds the only place of a desk, from when others have left it."""
    while True:
        async with asking(url, "handshake") as answer:
            waiting = [asyncio.ensure_future(search.begun.wait()), asyncio.ensure_future(answer.readline())]
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for one in waiting:
                one.cancel()
            if search.begun.is_set():
                yield
                return


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_goes_away_ends_the_search_that_it_asked_for(era: str) -> None:
    desk = full_desk()
    search = cast(SlowSearch, desk.search)
    async with served(desk.gateway()) as url, asyncio.timeout(WAIT_SECONDS):
        async with asking(url, era):
            await search.begun.wait()
        await search.given_up.wait()
        search.begun.clear()
        async with asking(url, era):  # and its place is free again
            await search.begun.wait()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_of_either_era_reads_that_the_desk_is_busy_and_when_to_come_again(mode: Any) -> None:
    desk = full_desk()
    search = cast(SlowSearch, desk.search)
    async with (
        served(desk.gateway()) as url,
        Client(f"{url}/mcp", mode=mode) as client,
        asyncio.timeout(WAIT_SECONDS),
        filled(url, search),
    ):
        with pytest.raises(MCPError, match="busy, retry in 1 s: too many calls are under way"):
            await client.call_tool("search_docs", {"query": QUERY})


async def test_a_refused_call_whose_body_is_on_its_way_leaves_the_connection_whole() -> None:
    desk = full_desk()
    search = cast(SlowSearch, desk.search)

    async with served(desk.gateway()) as url, asyncio.timeout(WAIT_SECONDS), filled(url, search):
        address, body = urlsplit(url), b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        head = f"Host: {address.netloc}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(b"POST /mcp HTTP/1.1\r\n" + head.encode() + body[:20])
        refusal = await reader.readuntil(b"}}")
        assert refusal.startswith(b"HTTP/1.1 429 ")
        assert b'"id": null' in refusal
        writer.write(body[20:] + f"GET /livez HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
        assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
        writer.close()
        await writer.wait_closed()


@dataclass
class Hops:
    """A search and an embedder, each behind gRPC: the one asks the other, which never answers."""

    left_seconds: dict[str, float] = field(default_factory=dict)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    given_up: dict[str, asyncio.Event] = field(
        default_factory=lambda: {"search": asyncio.Event(), "embedder": asyncio.Event()}
    )
    embedder: Any = None

    def not_ready_reason(self) -> str:
        return ""

    async def retrieve(self, request: search_api.RetrieveRequest) -> search_api.RetrieveResponse:
        if is_check(request):
            return await FakeSearch().retrieve(request)
        async with self._noted("search"):
            with deadline.limit(EMBEDDING_SECONDS):
                await cast(Embedder, self.embedder).embed_texts(embedder_api.EmbedTextsRequest(texts=[QUERY]))
        raise AssertionError("the embedder never answers")

    async def embed_texts(self, _: embedder_api.EmbedTextsRequest) -> embedder_api.EmbedTextsResponse:
        async with self._noted("embedder"):
            self.begun.set()
            await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    def __getattr__(self, name: str) -> Any:
        """The other methods of both contracts, which nobody calls here."""
        if name.startswith("_"):
            raise AttributeError(name)

        async def refuse(_: Any) -> Any:
            raise AssertionError(f"{name} was called")

        return refuse

    @contextlib.asynccontextmanager
    async def _noted(self, hop: str) -> AsyncIterator[None]:
        self.left_seconds[hop] = deadline.remaining_seconds(float("inf"))
        try:
            yield
        except asyncio.CancelledError:
            self.given_up[hop].set()
            raise


@contextlib.asynccontextmanager
async def hopping() -> AsyncIterator[tuple[Desk, Hops]]:
    """A gateway whose search is two gRPC hops deep."""
    hops = Hops()
    server = Server({"search": hops, "embedder": hops}, "127.0.0.1:0")
    await server.start()
    try:
        async with open_channel(f"127.0.0.1:{server.port}") as channel:
            hops.embedder = Far(channel, CONTRACTS["embedder"])
            settings = GatewaySettings(catalog_seconds=0, deadline_seconds=DEADLINE_SECONDS)
            search: Any = Far(channel, CONTRACTS["search"])
            yield Desk(search=search, settings=settings), hops
    finally:
        await server.close()


async def test_each_hop_has_less_time_left_than_the_one_before() -> None:
    async with (
        hopping() as (desk, hops),
        asyncio.timeout(WAIT_SECONDS),
        served(desk.gateway()) as url,
        asking(url, "handshake"),
    ):
        await hops.begun.wait()
    left = hops.left_seconds
    assert 0 < left["embedder"] < left["search"] < float("inf")
    assert left["search"] / DEADLINE_SECONDS < WIRE
    assert left["embedder"] / EMBEDDING_SECONDS < WIRE


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_goes_away_ends_the_work_at_every_hop(era: str) -> None:
    async with hopping() as (desk, hops), asyncio.timeout(WAIT_SECONDS), served(desk.gateway()) as url:
        async with asking(url, era):
            await hops.begun.wait()
        await hops.given_up["embedder"].wait()
        await hops.given_up["search"].wait()
