"""`refdesk run --target gateway` as a process, with fakes of the other services here: health on its own port, and an orderly stop."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import httpx2
import pytest
import yaml
from grpc_health.v1 import health_pb2, health_pb2_grpc

from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.errors import Unavailable
from refdesk.rpc.server import Server
from surfaces.desks import Desk
from surfaces.fakes import FakeSearch

pytestmark = pytest.mark.anyio
WAIT_SECONDS = 60
HEADERS = {"accept": "application/json, text/event-stream"}
CALL = {"name": "search_docs", "arguments": {"query": "travel policy"}}
SEARCH = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}


class HeldSearch(FakeSearch):
    """Answers the gateway's look at readiness at once, and a question when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.release = asyncio.Event(), asyncio.Event()

    async def retrieve(self, request: search_api.RetrieveRequest) -> search_api.RetrieveResponse:
        if request.legs[0].text != "documentation":
            self.asked.set()
            await self.release.wait()
        return await super().retrieve(request)


class Ready:
    """A fake as a service that the server can serve; what it has not is away."""

    def __init__(self, fake: Any) -> None:
        self._fake = fake

    def not_ready_reason(self) -> str:
        return ""

    def __getattr__(self, name: str) -> Any:
        async def away(_: Any) -> Any:
            raise Unavailable(f"this fake has no {name}")

        return getattr(self._fake, name, away)


@asynccontextmanager
async def gateway_process(folder: Path, search: FakeSearch) -> AsyncIterator[tuple[subprocess.Popen[bytes], int, int]]:
    """The process, its port of HTTP and its port of health."""
    desk = Desk(search=search)
    fakes = {"docstore": desk.docstore, "search": search, "embedder": desk.embedder, "ingest": desk.ingest}
    server = Server({name: Ready(fake) for name, fake in fakes.items()}, "127.0.0.1:0")
    await server.start()
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        http, health = (each.getsockname()[1] for each in (one, other))
    config = {
        "data": str(folder / "data"),
        "rpc": {**dict.fromkeys(fakes, f"127.0.0.1:{server.port}"), "health_listen": f"127.0.0.1:{health}"},
        "gateway": {"port": http, "operator_listen": "127.0.0.1:0"},
        "telemetry": {"listen": "127.0.0.1:0"},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    command = [sys.executable, "-m", "refdesk", "run", "--target", "gateway", "--config", str(folder / "config.yaml")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ)  # noqa: ASYNC220 - it is quick
    try:
        yield process, http, health
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=WAIT_SECONDS)
        await server.close()


async def health_of(port: int, name: str) -> int | None:
    """A status, or None where nothing answers or the name is not known yet."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        try:
            request = health_pb2.HealthCheckRequest(service=name)
            return int((await health_pb2_grpc.HealthStub(channel).Check(request, timeout=5)).status)
        except grpc.aio.AioRpcError:
            return None


async def listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def test_a_gateway_that_is_told_to_stop_answers_the_calls_that_are_under_way(tmp_path: Path) -> None:
    search = HeldSearch()
    async with asyncio.timeout(WAIT_SECONDS), gateway_process(tmp_path, search) as (process, http, health):
        serving = health_pb2.HealthCheckResponse.SERVING
        while await health_of(health, "") != serving:
            assert process.poll() is None, (tmp_path / "log").read_text(encoding="utf-8")
            await asyncio.sleep(0.1)
        assert [await health_of(health, name) for name in ("live", "started", "gateway")] == [serving] * 3
        async with httpx2.AsyncClient(timeout=WAIT_SECONDS) as client:
            call = asyncio.create_task(client.post(f"http://127.0.0.1:{http}/mcp", json=SEARCH, headers=HEADERS))
            await search.asked.wait()
            process.send_signal(signal.SIGTERM)
            while await listens(http):  # noqa: ASYNC110 - when nothing does, it has begun to stop
                await asyncio.sleep(0.02)
            search.release.set()
            answer = await call
        assert answer.status_code == 200
        assert "isError" not in answer.text or '"isError":false' in answer.text.replace(" ", "")
        assert await asyncio.to_thread(process.wait, WAIT_SECONDS) == 0
