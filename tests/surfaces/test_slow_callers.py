"""Who may not call, and whose request does not come, costs nobody that calls as one should."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.gateway.settings import GatewaySettings
from refdesk.keys import make_key
from surfaces.desks import Desk, served
from surfaces.test_callers import ACCEPT, Keys, bearer, desk_with, known, ping, request

pytestmark = pytest.mark.anyio
WAIT_SECONDS = 20.0
HEAD = (
    "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json\r\n"
    "Content-Length: {}\r\n\r\n"
)


@asynccontextmanager
async def half_a_request(url: str, body: bytes = b"{") -> AsyncIterator[asyncio.StreamReader]:
    """A connection on which the rest of a body never comes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    writer.write(HEAD.format(len(body) + 100).encode() + body)
    await writer.drain()
    try:
        yield reader
    finally:
        writer.close()


async def test_a_body_that_does_not_come_is_answered_with_408_and_the_reason() -> None:
    desk = Desk(settings=GatewaySettings(catalog_seconds=0, body_seconds=0.2))
    async with served(desk.gateway()) as url, half_a_request(url) as reader, asyncio.timeout(WAIT_SECONDS):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        assert head.startswith("HTTP/1.1 408 ")
        length = int(head.lower().partition("content-length: ")[2].partition("\r\n")[0])
        error = json.loads(await reader.readexactly(length))["error"]
        assert error["message"] == "the body did not come within 0.2 s: send the request again"


async def test_bodies_that_do_not_come_take_no_place_from_calls() -> None:
    desk = Desk(settings=GatewaySettings(catalog_seconds=0, concurrent_calls=1, queued_calls=0))
    async with served(desk.gateway()) as url, half_a_request(url), half_a_request(url), asyncio.timeout(WAIT_SECONDS):
        assert (await ping(url, ACCEPT)).status_code == 200


class SlowKeys(Keys):
    """Looks up one key for as long as `hold` says."""

    slow = ""
    hold: asyncio.Event
    held: asyncio.Event

    async def get_keys(self, request: pb.GetKeysRequest) -> pb.GetKeysResponse:
        if self.slow in request.key_ids:
            self.held.set()
            await self.hold.wait()
        return await super().get_keys(request)


async def test_a_key_that_is_being_looked_up_takes_no_place_from_calls() -> None:
    good, slow = make_key(), make_key()
    desk = desk_with(known(good))
    docstore = SlowKeys(known(good), documents=desk.docstore.documents, project=desk.docstore.project)
    docstore.slow, docstore.hold, docstore.held = slow.key_id, asyncio.Event(), asyncio.Event()
    desk.docstore = docstore
    desk.settings = GatewaySettings(host="0.0.0.0", concurrent_calls=1, queued_calls=0)
    async with served(desk.gateway()) as url, asyncio.timeout(WAIT_SECONDS):
        waiting = asyncio.create_task(ping(url, bearer(slow)))
        await docstore.held.wait()
        assert (await ping(url, bearer(good))).status_code == 200
        docstore.hold.set()
        refused = await waiting
        assert (refused.status_code, refused.json()["id"]) == (401, request("ping")["id"])


async def test_a_caller_without_a_key_is_refused_before_its_body_is_waited_for() -> None:
    async with served(desk_with().gateway()) as url, half_a_request(url) as reader, asyncio.timeout(WAIT_SECONDS):
        assert (await reader.readline()).startswith(b"HTTP/1.1 401 ")
