"""Debian's nginx before three gateways, told what the chart's Ingress says: streams flow, long calls live, sessions outlive gateways.

A call is held up by pausing every gateway for `REFDESK_TEST_LONG_CALL_SECONDS`: 12, and another server of the same nginx waits for 7; with
100, that one waits for the 60 that are nginx's own default. The gateway itself answers each POST whole, so a stream is made by an upstream
of the test's own.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import re
import signal
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
import yaml
from mcp import Client

from monitoring.debian import find_program
from monitoring.rules import CHART
from refdesk.gateway.surfaces.procedures.wording import PINS_HEADER
from servers.process import CannotStart, ServerProcess
from surfaces.procedures_desk import call
from system.desks import DeskProcess
from system.test_five import free_ports
from system.test_three_gateways import (
    ADDRESS,
    GATEWAYS,
    Deployment,
    _wait_until_shared,
    _wait_until_whole,
    deployment,  # noqa: F401 - a fixture
)

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

LONG_CALL_SECONDS = float(os.environ.get("REFDESK_TEST_LONG_CALL_SECONDS", "12"))
IMPATIENT_SECONDS = max(2, int(LONG_CALL_SECONDS * 0.6))
"""What the other server waits for: of 100 s the 60 that are nginx's own default."""
EVENTS = 5
SILENCE_SECONDS = 20.0
PREFIX = "nginx.ingress.kubernetes.io/"
DIRECTIVES = {
    "proxy-buffering": "proxy_buffering {};",
    "proxy-request-buffering": "proxy_request_buffering {};",
    "proxy-read-timeout": "proxy_read_timeout {}s;",
    "proxy-send-timeout": "proxy_send_timeout {}s;",
    "proxy-body-size": "client_max_body_size {};",
}
"""What ingress-nginx makes of each annotation."""


@dataclass(frozen=True)
class Front:
    """One nginx; each port is a server of its own."""

    port: int
    impatient_port: int
    """As `port`, but it waits for an answer for a shorter time."""
    streaming_port: int
    buffering_port: int
    """As `streaming_port`, with nginx's own defaults."""

    @property
    def url(self) -> str:
        """Where the gateways answer."""
        return f"http://127.0.0.1:{self.port}"


class Stream(socketserver.ThreadingTCPServer):
    """An upstream that sends an event only once its reader has had the one before, and then ends."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), StreamHandler)
        self.had = threading.Semaphore(0)
        """Released by the reader for each event that it has."""


class StreamHandler(BaseHTTPRequestHandler):
    """Sends the events of a Stream."""

    server: Stream

    def do_GET(self) -> None:
        """One stream."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for number in range(EVENTS):
            self.wfile.write(f"data: {number}\n\n".encode())
            self.wfile.flush()
            if not self.server.had.acquire(timeout=SILENCE_SECONDS):
                return  # it waits somewhere on the way

    def log_message(self, format: str, *_: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def stream() -> Iterator[Stream]:
    with Stream() as stream:
        serving = threading.Thread(target=stream.serve_forever, daemon=True)
        serving.start()
        yield stream
        stream.shutdown()
        serving.join(timeout=20)


@pytest.fixture(scope="module")
def front(
    deployment: Deployment,  # noqa: F811
    stream: Stream,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Front]:
    try:
        binary = find_program("nginx", "nginx")
    except CannotStart as error:
        pytest.fail(str(error))
    folder = tmp_path_factory.mktemp("nginx")
    front = Front(*free_ports(4))
    config = folder / "nginx.conf"
    gateways = [gateway.url.removeprefix("http://") for gateway in deployment.gateways]
    config.write_text(write_config(folder, front, gateways, f"127.0.0.1:{stream.server_address[1]}"), encoding="utf-8")
    process = ServerProcess((binary, "-p", str(folder), "-c", str(config)), folder / "nginx.log")
    process.wait_until(
        lambda: "up" if DeskProcess(folder, folder, folder, url=front.url).get_status("/livez") else "", 30
    )
    yield front
    process.stop()


def read_settings() -> str:
    """What the annotations that the chart's Ingress has by default mean to nginx."""
    annotations = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))["ingress"]["annotations"]
    named = {name.removeprefix(PREFIX): value for name, value in annotations.items() if name.startswith(PREFIX)}
    assert named.keys() == DIRECTIVES.keys()
    return " ".join(DIRECTIVES[name].format(value) for name, value in named.items())


def write_config(folder: Path, front: Front, gateways: list[str], stream: str) -> str:
    """nginx's configuration: as ingress-nginx has it, with a server for each claim and one for each doubt of it."""
    settings = read_settings()
    impatient = re.sub(r"proxy_read_timeout \d+s", f"proxy_read_timeout {IMPATIENT_SECONDS}s", settings)
    assert impatient != settings
    passing = 'proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $http_host;'
    servers = "\n".join(
        f"server {{ listen 127.0.0.1:{port}; {said} location / {{ {passing} proxy_pass http://{upstream}; }} }}"
        for port, said, upstream in (
            (front.port, settings, "gateways"),
            (front.impatient_port, impatient, "gateways"),
            (front.streaming_port, settings, stream),
            (front.buffering_port, "", stream),
        )
    )
    places = " ".join(f"{kind}_temp_path {folder};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    return f"""daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log warn; worker_processes 1;
{"user root;" if os.geteuid() == 0 else ""}
events {{ worker_connections 256; }}
http {{
access_log off; {places}
upstream gateways {{ {" ".join(f"server {one};" for one in gateways)} keepalive 16; }}
{servers}
}}
"""


def post(port: int, timeout_seconds: float) -> tuple[int, str]:
    """Status and body of the answer to a call of a tool."""
    params = {"name": "search_docs", "arguments": {"query": "signing key"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = {"Content-Type": "application/json", "Accept": "application/json", "MCP-Protocol-Version": "2025-11-25"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_seconds)
    try:
        connection.request("POST", "/mcp/default/docs", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def read_events(port: int, stream: Stream, seconds: float) -> list[str]:
    """The events that come, each acknowledged to the upstream; one that does not come within `seconds` ends it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    lines: list[str] = []
    try:
        connection.request("GET", "/")
        answer = connection.getresponse()
        while line := answer.readline().decode().strip() or answer.readline().decode().strip():
            lines.append(line)
            stream.had.release()
    except TimeoutError:
        pass
    finally:
        connection.close()
        while stream.had.acquire(blocking=False):
            pass
    return lines


def test_events_of_a_stream_come_one_by_one(front: Front, stream: Stream) -> None:
    assert read_events(front.streaming_port, stream, SILENCE_SECONDS) == [f"data: {number}" for number in range(EVENTS)]


def test_with_nginx_s_own_settings_a_stream_would_stand_still(front: Front, stream: Stream) -> None:
    """So that the test before proves something."""
    assert read_events(front.buffering_port, stream, 2.0) == []


async def test_a_long_call_lives_and_would_not_behind_a_front_that_waits_for_less(
    front: Front,
    deployment: Deployment,  # noqa: F811
) -> None:
    assert (await asyncio.to_thread(post, front.port, 60))[0] == 200
    for name in GATEWAYS:
        deployment.services[name].signal(signal.SIGSTOP)
    try:
        patient = asyncio.create_task(asyncio.to_thread(post, front.port, LONG_CALL_SECONDS + 120))
        impatient = asyncio.create_task(asyncio.to_thread(post, front.impatient_port, LONG_CALL_SECONDS + 120))
        done, _ = await asyncio.wait({patient, impatient}, timeout=LONG_CALL_SECONDS)
        assert done == {impatient}
        assert impatient.result()[0] == 504
    finally:
        for name in GATEWAYS:
            deployment.services[name].signal(signal.SIGCONT)
    status, body = await patient
    assert status == 200
    assert json.loads(body)["result"]["isError"] is False, body


async def test_a_session_goes_on_after_every_gateway_has_been_replaced(
    front: Front,
    deployment: Deployment,  # noqa: F811
) -> None:
    """As an upgrade does it: one after the other, each told to end, while the session asks on."""
    await _wait_until_shared(deployment)
    async with Client(front.url + ADDRESS, mode="legacy") as client:
        assert PINS_HEADER in await call(client, "get_toc", {})
        for name, gateway in zip(GATEWAYS, deployment.gateways, strict=True):
            service = deployment.services[name]
            assert service.process is not None
            service.signal(signal.SIGTERM)
            while service.process.poll() is None:
                assert PINS_HEADER not in await call(client, "get_toc", {})
            assert service.process.returncode == 0
            service.start()
            await asyncio.to_thread(_wait_until_whole, gateway)
        await _wait_until_shared(deployment)
        for _ in range(6):
            assert PINS_HEADER not in await call(client, "get_toc", {})
    async with Client(front.url + ADDRESS, mode="legacy") as another:
        assert PINS_HEADER in await call(another, "get_toc", {}), (
            "what is new is given them, so that the claim says something"
        )
