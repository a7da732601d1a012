"""Three gateways behind one address that turns from one to the next: sessions go on in all of them, and each gets its pins once.

`REFDESK_TEST_SESSION_CALLS` says how many calls there are; 5,000 take some minutes.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
import yaml
from mcp import Client
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from faults.stand import ServiceProcess
from models import build_tiny_model
from refdesk.gateway.surfaces.procedures.wording import PINS_HEADER
from servers.nats import NatsProcess
from surfaces.desks import START_SECONDS, QuietServer
from surfaces.procedures_desk import call
from system.desks import DeskProcess, ticks
from system.test_five import free_ports

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

CALLS = int(os.environ.get("REFDESK_TEST_SESSION_CALLS", "500"))
CALLS_PER_SESSION = 10
SIDE_BY_SIDE = 4
GATEWAYS = ("gateway-0", "gateway-1", "gateway-2")
SERVICES = ("docstore", "embedder", "search", "ingest")
ADDRESS = "/mcp/default/procedures"
READY_SECONDS = 120.0
PAGES = {
    "tone.md": "# Tone\n\nWrite as you would speak.\n\n## Greetings\n\nUse the customer's first name.\n",
    "refunds.md": "# Refunds\n\nA refund needs the lead's word.\n\n## Enterprise\n\nAsk the account manager first.\n",
    "keys.md": "# Keys\n\nRotate the signing key every month.\n",
}
KEPT_HEADERS = ("content-type", "mcp-session-id")


@dataclass
class Deployment:
    """Its processes, and where its gateways answer."""

    services: dict[str, ServiceProcess]
    gateways: list[DeskProcess]
    nats: NatsProcess


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    root = tmp_path_factory.mktemp("three")
    docs, data = root / "handbook", root / "data"
    for folder in (docs, data):
        folder.mkdir()
    for name, text in PAGES.items():
        (docs / name).write_text(text, encoding="utf-8")
    nats = NatsProcess(root / "nats")
    nats.start()
    deployment = _describe(root, docs, data, nats)
    try:
        for service in deployment.services.values():
            service.start()
        for gateway in deployment.gateways:
            _wait_until_whole(gateway)
        yield deployment
    finally:
        for service in deployment.services.values():
            if service.process is not None and service.process.poll() is None:
                service.process.kill()
                service.process.wait(timeout=20)
        nats.stop()


def _describe(root: Path, docs: Path, data: Path, nats: NatsProcess) -> Deployment:
    names = [*SERVICES, *GATEWAYS]
    free = iter(free_ports(2 * len(names)))
    ports, probes = ({name: f"127.0.0.1:{next(free)}" for name in names} for _ in range(2))
    model = build_tiny_model(root / "model")
    key = root / "session-key"
    key.write_text("a secret that all of the gateways have", encoding="utf-8")
    config: dict[str, Any] = {
        "data": str(data),
        "embedder": {"model": str(model)},
        "rpc": {name: ports[name] for name in SERVICES},
        "gateway": {
            "operator_listen": "127.0.0.1:0",
            "sessions_url": nats.url,
            "session_key_file": str(key),
            "deadline_seconds": 30,
        },
        "ingest": {"events": nats.url},
        "projects": {
            "default": {
                "surfaces": ["procedures", "docs"],
                "pins": ["handbook/tone.md"],
                "sources": [{"name": docs.name, "path": str(docs)}],
            }
        },
    }
    (root / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    services = {}
    for name in names:
        environment = {"REFDESK_TELEMETRY__LISTEN": probes[name]}
        if name in GATEWAYS:
            environment["REFDESK_GATEWAY__PORT"] = ports[name].rpartition(":")[2]
        else:
            environment["REFDESK_RPC__LISTEN"] = ports[name]
        log = data / f"{name}.log"
        services[name] = ServiceProcess(name.partition("-")[0], environment, root / "config.yaml", log)
    gateways = [DeskProcess(docs, data, model, url=f"http://{ports[name]}") for name in GATEWAYS]
    return Deployment(services, gateways, nats)


def _wait_until_whole(gateway: DeskProcess) -> None:
    for _ in ticks(READY_SECONDS, every=0.1):
        if gateway.get_status("/readyz") == 200:
            answer = gateway.call("get_toc", {}, ADDRESS)
            text = "".join(part["text"] for part in answer["content"])
            if all(title in text.rpartition("---")[2] for title in ("Tone", "Refunds", "Keys")) and PINS_HEADER in text:
                return
    raise AssertionError(f"{gateway.url} is not ready: see the logs in {gateway.data}")


@contextlib.asynccontextmanager
async def turning(gateways: list[DeskProcess]) -> AsyncIterator[tuple[str, Counter[str]]]:
    """An address that hands each request to the next gateway, and how many each was handed."""
    turn = itertools.cycle(gateways)
    taken: Counter[str] = Counter()
    async with httpx2.AsyncClient(timeout=60) as http:

        async def hand_on(request: Request) -> Response:
            gateway = next(turn)
            taken[gateway.url] += 1
            headers = [(name, value) for name, value in request.headers.items() if name not in ("host", "connection")]
            content = await request.body()
            answer = await http.request(
                request.method, gateway.url + request.url.path, headers=headers, content=content
            )
            kept = {name: answer.headers[name] for name in KEPT_HEADERS if name in answer.headers}
            return Response(answer.content, answer.status_code, kept)

        routes = [Route("/{rest:path}", hand_on, methods=["GET", "POST", "DELETE"])]
        async with _listening(Starlette(routes=routes)) as url:
            yield url, taken


@contextlib.asynccontextmanager
async def _listening(app: Starlette) -> AsyncIterator[str]:
    with socket.socket(proto=socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        server = QuietServer(uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", loop="none"))
        task = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            async with asyncio.timeout(START_SECONDS):
                while not server.started:  # noqa: ASYNC110 - uvicorn tells nobody when it has started
                    await asyncio.sleep(0.005)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            async with asyncio.timeout(START_SECONDS):
                await task


async def hold_session(url: str, number: int, calls: int = CALLS_PER_SESSION) -> int:
    """One session of the official client; how often its answers had the block. The first two calls come at once."""
    plans: list[tuple[str, dict[str, Any]]] = [("get_toc", {}), ("search_instructions", {"plan": "refund a customer"})]
    asked = [plans[(number + place) % 2] for place in range(calls)]
    async with Client(url + ADDRESS, mode="legacy") as client:
        texts = list(await asyncio.gather(*(call(client, tool, arguments) for tool, arguments in asked[:2])))
        for tool, arguments in asked[2:]:
            texts.append(await call(client, tool, arguments))
    return sum(text.count(PINS_HEADER) for text in texts)


async def hold_sessions(url: str, count: int) -> Counter[int]:
    """How many sessions were given the block how often."""
    numbers = iter(range(count))
    given: Counter[int] = Counter()

    async def hold() -> None:
        for number in numbers:
            given[await hold_session(url, number)] += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(SIDE_BY_SIDE):
            group.create_task(hold())
    return given


@pytest.mark.promise("procedures.23", "procedures.25")
async def test_sessions_go_on_in_every_gateway_and_each_gets_its_pins_once(deployment: Deployment) -> None:
    await _wait_until_shared(deployment)
    async with turning(deployment.gateways) as (url, taken):
        sessions = CALLS // CALLS_PER_SESSION
        assert await hold_sessions(url, sessions) == {1: sessions}
    assert len(taken) == len(GATEWAYS)
    assert min(taken.values()) > CALLS // 4


async def test_a_gateway_that_is_killed_and_started_again_knows_the_session_and_what_it_was_given(
    deployment: Deployment,
) -> None:
    await _wait_until_shared(deployment)
    async with turning(deployment.gateways) as (url, _), Client(url + ADDRESS, mode="legacy") as client:
        assert PINS_HEADER in await call(client, "get_toc", {})
        for name, gateway in zip(GATEWAYS, deployment.gateways, strict=True):
            deployment.services[name].signal(signal.SIGKILL)
            deployment.services[name].start()
            await asyncio.to_thread(_wait_until_whole, gateway)
        await _wait_until_shared(deployment)
        for _ in range(6):
            assert PINS_HEADER not in await call(client, "get_toc", {})


@pytest.mark.promise("procedures.26")
async def test_while_nats_is_away_no_session_misses_its_pins_and_each_gateway_gives_them_at_most_once(
    deployment: Deployment,
) -> None:
    await _wait_until_shared(deployment)
    url_of_nats = deployment.nats.url
    deployment.nats.stop()
    try:
        async with turning(deployment.gateways) as (url, _):
            given = await hold_sessions(url, 12)
        assert given.total() == 12
        assert set(given) <= {1, 2, 3}
    finally:
        deployment.nats.restart_at(url_of_nats)
    await _wait_until_shared(deployment)
    async with turning(deployment.gateways) as (url, _):
        assert await hold_sessions(url, 8) == {1: 8}


async def _wait_until_shared(deployment: Deployment) -> None:
    """Until a session that is begun now gets its pins once: each gateway has found NATS. Raises: TimeoutError."""
    async with asyncio.timeout(READY_SECONDS), turning(deployment.gateways) as (url, _):
        calm = 0
        while calm < len(GATEWAYS):
            calm = calm + 1 if await hold_session(url, 0, 4) == 1 else 0
