"""Two ingest processes on one NATS server: one follows a source, and when it dies the other does within seconds; nothing is lost by it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fakes.embedder import FakeEmbedder
from fakes.raw_store import PushDocstore
from fakes.ready import Ready
from fakes.search import FakeSearch
from fakes.waiting import until
from refdesk.api.ingest.v1 import ingest_pb2 as pb
from refdesk.errors import Unavailable
from refdesk.ingest.events import leases
from refdesk.rpc.channel import open_channel
from refdesk.rpc.contract import CONTRACTS
from refdesk.rpc.far import Far
from refdesk.rpc.server import Server
from servers.nats import NatsProcess

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
START_SECONDS = 60.0
TAKEOVER_SECONDS = leases.LEASE_SECONDS + 2 * leases.RENEW_SECONDS + 3


class IngestProcess:
    """`refdesk run --target ingest` and where it answers."""

    def __init__(self, config: Path, folder: Path) -> None:
        with socket.socket() as one, socket.socket() as other:
            for each in (one, other):
                each.bind(("127.0.0.1", 0))
            self.grpc, self.telemetry = (each.getsockname()[1] for each in (one, other))
        environment = {
            **os.environ,
            "REFDESK_RPC__LISTEN": f"127.0.0.1:{self.grpc}",
            "REFDESK_TELEMETRY__LISTEN": f"127.0.0.1:{self.telemetry}",
            "REFDESK_DATA": str(folder / str(self.grpc)),
        }
        command = [sys.executable, "-m", "refdesk", "run", "--target", "ingest", "--config", str(config)]
        self.log = folder / f"{self.grpc}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    def held(self) -> tuple[int, int]:
        """How many leases of sources and of projects it has; none while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.telemetry}/metrics", timeout=2) as answer:
                text = answer.read().decode()
        except (OSError, urllib.error.URLError):
            return 0, 0
        found = dict(re.findall(r'refdesk_ingest_leases_held_count\{kind="(\w+)"\} (\d+)', text))
        return int(found.get("source", 0)), int(found.get("project", 0))

    def stop(self, number: int) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=40)


class Stand:
    """A folder, engines in memory behind gRPC, a real nats-server, and ingest processes."""

    def __init__(self, folder: Path, nats: NatsProcess) -> None:
        self.folder = folder
        self.docs = folder / "docs"
        self.docs.mkdir()
        self.docstore, self.search = PushDocstore(), FakeSearch()
        services = {"docstore": self.docstore, "search": self.search, "embedder": FakeEmbedder()}
        self.server = Server({name: Ready(fake) for name, fake in services.items()}, "127.0.0.1:0")
        self.nats = nats
        self.processes: list[IngestProcess] = []

    async def start(self) -> None:
        await self.server.start()
        address = f"127.0.0.1:{self.server.port}"
        source = {"name": "docs", "path": str(self.docs), "poll_seconds": 1, "language": "en"}
        config = {
            "rpc": dict.fromkeys(("docstore", "search", "embedder"), address),
            "ingest": {"events": self.nats.url, "events_max_bytes": 16_777_216},
            "projects": {"handbook": {"sources": [source]}},
        }
        (self.folder / "config.yaml").write_text(yaml.safe_dump(config))

    def begin(self) -> IngestProcess:
        self.processes.append(IngestProcess(self.folder / "config.yaml", self.folder))
        return self.processes[-1]

    def live(self) -> set[str]:
        return {record.path for record in self.docstore.records.values() if not record.deleted}

    def write(self, name: str) -> None:
        (self.docs / name).write_text(f"# {name}\n\n" + f"All about {name}. " * 20)

    async def wait_until_held_by(self, process: IngestProcess, seconds: float) -> float:
        began = time.monotonic()
        await until(lambda: process.held() == (1, 1), seconds)
        return time.monotonic() - began


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[NatsProcess]:
    server = NatsProcess(tmp_path / "nats")
    server.start()
    yield server
    server.stop()


@pytest.fixture
async def stand(tmp_path: Path, nats: NatsProcess) -> AsyncIterator[Stand]:
    stand = Stand(tmp_path, nats)
    await stand.start()
    yield stand
    for process in stand.processes:
        process.stop(signal.SIGKILL)
    await stand.server.close()


async def test_when_the_process_that_follows_a_source_dies_the_other_does_within_seconds(stand: Stand) -> None:
    stand.write("a.md")
    first = stand.begin()
    await stand.wait_until_held_by(first, START_SECONDS)
    await until(lambda: stand.live() == {"docs/a.md"}, START_SECONDS)
    second = stand.begin()
    async with open_channel(f"127.0.0.1:{second.grpc}") as channel:
        ingest: Any = Far(channel, CONTRACTS["ingest"])

        async def second_knows() -> bool:
            try:
                status = await ingest.get_status(pb.GetStatusRequest(project="handbook"))
            except Unavailable:
                return False
            return bool(status.words_current and status.sources[0].listed_count == 1)

        await until(second_knows, START_SECONDS)
    assert second.held() == (0, 0), "it tells what the other does"
    assert first.held() == (1, 1)

    first.stop(signal.SIGKILL)
    stand.write("b.md")
    assert await stand.wait_until_held_by(second, TAKEOVER_SECONDS) <= TAKEOVER_SECONDS
    await until(lambda: stand.live() == {"docs/a.md", "docs/b.md"}, 10)

    third = stand.begin()
    await until(lambda: b"started" in third.log.read_bytes(), START_SECONDS)
    assert second.stop(signal.SIGTERM) == 0
    assert await stand.wait_until_held_by(third, START_SECONDS) < leases.LEASE_SECONDS, (
        "what is given back is taken at once"
    )
    (stand.docs / "a.md").unlink()
    await until(lambda: stand.live() == {"docs/b.md"}, 20)
