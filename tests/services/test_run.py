"""`refdesk run` as a process, with fakes of the other services here: health on its own port, TLS both ways, and an orderly stop."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import grpc
import httpx2
import pytest
import yaml
from grpc_health.v1 import health_pb2, health_pb2_grpc

from fakes.certificates import Authority
from fakes.ready import Ready
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.errors import PermissionDenied
from refdesk.rpc.channel import open_channel
from refdesk.rpc.contract import CONTRACTS
from refdesk.rpc.far import Far
from refdesk.rpc.server import Server
from refdesk.rpc.settings import TlsSettings
from refdesk.rpc.tls import Callers, Certificates
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


def certified(authority: Authority, name: str, **callers: list[str]) -> dict[str, Any]:
    """`rpc.tls` of a component."""
    certificate, key = authority.issue(name, name)
    files = {"certificate_file": str(certificate), "key_file": str(key), "ca_file": str(authority.ca_file)}
    return {**files, "callers": callers}


@asynccontextmanager
async def gateway_process(
    folder: Path, search: FakeSearch, authority: Authority | None = None
) -> AsyncIterator[tuple[subprocess.Popen[bytes], int, int]]:
    """The process, its port of HTTP and its port of health; with an authority they speak TLS."""
    desk = Desk(search=search)
    fakes = {"docstore": desk.docstore, "search": search, "embedder": desk.embedder, "ingest": desk.ingest}
    own = Certificates(TlsSettings.model_validate(certified(authority, "fakes"))) if authority else None
    callers = Callers(dict.fromkeys(fakes, ("gateway",))) if authority else None
    server = Server({name: Ready(fake) for name, fake in fakes.items()}, "127.0.0.1:0", own, callers)
    await server.start()
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        http, health = (each.getsockname()[1] for each in (one, other))
    config: dict[str, Any] = {
        "data": str(folder / "data"),
        "rpc": {**dict.fromkeys(fakes, f"127.0.0.1:{server.port}"), "health_listen": f"127.0.0.1:{health}"},
        "gateway": {"port": http, "operator_listen": "127.0.0.1:0"},
        "telemetry": {"listen": "127.0.0.1:0"},
    }
    if authority:
        config["rpc"]["tls"] = certified(authority, "gateway")
    try:
        with running("gateway", config, folder) as process:
            yield process, http, health
    finally:
        await server.close()


@contextmanager
def running(target: str, config: dict[str, Any], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process of `refdesk run`; what it says stands in the folder's log."""
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    command = [sys.executable, "-m", "refdesk", "run", "--target", target, "--config", str(folder / "config.yaml")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=WAIT_SECONDS)


async def health_of(port: int, name: str) -> int | None:
    """A status, or None where nothing answers or the name is not known yet."""
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        try:
            request = health_pb2.HealthCheckRequest(service=name)
            return int((await health_pb2_grpc.HealthStub(channel).Check(request, timeout=5)).status)
        except grpc.aio.AioRpcError:
            return None


async def until_serving(process: subprocess.Popen[bytes], port: int, folder: Path) -> None:
    while await health_of(port, "") != health_pb2.HealthCheckResponse.SERVING:
        assert process.poll() is None, (folder / "log").read_text(encoding="utf-8")
        await asyncio.sleep(0.1)


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
        await until_serving(process, health, tmp_path)
        serving = health_pb2.HealthCheckResponse.SERVING
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


async def test_a_gateway_with_a_certificate_asks_services_that_want_one(tmp_path: Path) -> None:
    search = HeldSearch()
    search.release.set()
    authority = Authority(tmp_path)
    async with asyncio.timeout(WAIT_SECONDS), gateway_process(tmp_path, search, authority) as (process, http, health):
        await until_serving(process, health, tmp_path)
        async with httpx2.AsyncClient(timeout=WAIT_SECONDS) as client:
            answer = await client.post(f"http://127.0.0.1:{http}/mcp", json=SEARCH, headers=HEADERS)
        assert answer.status_code == 200
        assert search.asked.is_set()


async def test_a_service_with_a_certificate_lets_in_whom_its_settings_list(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        grpc_port, health = (each.getsockname()[1] for each in (one, other))
    rpc = {"listen": f"127.0.0.1:{grpc_port}", "health_listen": f"127.0.0.1:{health}"}
    tls = certified(authority, "docstore", docstore=["gateway", "ingest"])
    config = {"data": str(tmp_path / "data"), "rpc": {**rpc, "tls": tls}, "telemetry": {"listen": "127.0.0.1:0"}}
    async with asyncio.timeout(WAIT_SECONDS):
        with running("docstore", config, tmp_path) as process:
            await until_serving(process, health, tmp_path)
            assert await list_projects(grpc_port, certified(authority, "gateway")) == []
            with pytest.raises(PermissionDenied, match="docstore may not be called by"):
                await list_projects(grpc_port, certified(authority, "embedder"))


async def list_projects(port: int, settings: dict[str, Any]) -> list[Any]:
    channel = open_channel(f"127.0.0.1:{port}", Certificates(TlsSettings.model_validate(settings)))
    try:
        docstore: Any = Far(channel, CONTRACTS["docstore"])
        return list((await docstore.list_projects(docstore_api.ListProjectsRequest())).projects)
    finally:
        await channel.close(None)
