"""A whole deployment as processes on this machine: five services, a nats-server and engines, each behind a proxy and each killable."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import psutil
import yaml

from faults.proxy import Proxy
from refdesk.ingest.events.broker import ExternalBroker
from refdesk.ingest.events.event import ChangeEvent, ChangeType, now
from refdesk.ingest.events.jetstream import JetStreamEvents
from servers.nats import NatsProcess
from servers.opensearch import OpenSearchServer
from system.desks import DeskProcess, closing_failures, ticks
from system.pushing import SOURCE as PUSH_SOURCE
from system.test_five import TARGETS, free_ports

LINKS = ("docstore", "embedder", "search", "ingest", "nats", "opensearch")
"""What is called through a proxy, by the name of what is called."""
START_SECONDS = 120.0
MOST_RECONCILINGS = 60


@dataclass
class ServiceProcess:
    """One service as a process; a platform would start it again, here the test does."""

    name: str
    environment: dict[str, str]
    config: Path
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it and returns at once."""
        command = [sys.executable, "-m", "refdesk", "run", "--target", self.name, "--config", str(self.config)]
        with self.log.open("ab") as log:
            environment = {**os.environ, **self.environment}
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def signal(self, number: int) -> None:
        """Sends a signal; SIGKILL waits for the end."""
        assert self.process is not None
        self.process.send_signal(number)
        if number == signal.SIGKILL:
            self.process.wait(timeout=20)

    def child(self, module: str) -> psutil.Process | None:
        """Its child process that runs a module, where there is one."""
        assert self.process is not None
        for child in psutil.Process(self.process.pid).children():
            if any(module in part for part in child.cmdline()):
                return child
        return None


@dataclass
class Stand:
    """Where everything is, and how to break it."""

    docs: Path
    data: Path
    model: Path
    services: dict[str, ServiceProcess] = field(default_factory=dict)
    proxies: dict[str, Proxy] = field(default_factory=dict)
    nats: NatsProcess | None = None
    opensearch: OpenSearchServer | None = None
    """Keeps words and records where it is given; else embedded engines do."""
    url: str = ""
    takes_pushes: bool = False
    """Whether a source is declared beside the folder that a source system pushes to."""
    pushed: dict[str, str] = field(default_factory=dict)
    """Text by path of what must stand of what was pushed."""

    @property
    def queue(self) -> Path:
        """The nats-server's folder, beside what the services keep: a disk that is full for them is not for it."""
        return self.data.with_name("queue")

    @property
    def operator(self) -> DeskProcess:
        """A handle whose status comes from the operator API's own port."""
        address = self.services["gateway"].environment["REFDESK_GATEWAY__OPERATOR_LISTEN"]
        return DeskProcess(self.docs, self.data, self.model, url=f"http://{address}")

    @property
    def desk(self) -> DeskProcess:
        """A handle whose calls go to the gateway."""
        return DeskProcess(self.docs, self.data, self.model, process=self.services["gateway"].process, url=self.url)

    @property
    def engines(self) -> dict[str, Any]:
        """Settings that say where words and records are, for services and for who audits them afterwards."""
        if self.opensearch is None:
            return {}
        url = f"opensearch://{self.proxies['opensearch'].address}"
        return {"docstore": {"url": url}, "search": {"keyword_url": url}}

    def restart_opensearch(self) -> None:
        """Starts the node on what its folder holds; callers find it behind the same proxy."""
        assert self.opensearch is not None
        self.opensearch.start()
        self.proxies["opensearch"].target = self.opensearch.address

    def restart_nats(self) -> None:
        """Starts the nats-server on what its folder holds; callers find it behind the same proxy."""
        assert self.nats is not None
        self.nats.start()
        self.proxies["nats"].target = urlsplit(self.nats.url).netloc

    def wait_until_ready(self, name: str, seconds: float = START_SECONDS) -> None:
        """Waits until a service says on its health port that it can serve. Raises: AssertionError when time ran out."""
        address = self.services[name].environment["REFDESK_TELEMETRY__LISTEN"]
        probe = DeskProcess(self.docs, self.data, self.model, url=f"http://{address}")
        for _ in ticks(seconds, every=0.1):
            if probe.get_status("/readyz") == 200:
                return
        raise AssertionError(f"{name} is not ready after {seconds} s: {self.desk.tail()}")

    def wait_until_missed(self) -> None:
        """Waits until a service says that an engine is not there. Raises: AssertionError when time ran out."""
        for _ in ticks(START_SECONDS, every=0.1):
            if "an engine cannot be used yet" in self.desk.log.read_text():
                return
        raise AssertionError(f"no engine was missed: {self.desk.tail()}")

    def wait_until_whole(self, seconds: float = START_SECONDS) -> None:
        """Waits until words and vectors of all that the folder holds are there and answers say nothing of anything missing.

        Raises: AssertionError when time ran out.
        """
        wanted, last = len(list(self.docs.rglob("*.md"))) + len(self.pushed), ""
        for _ in ticks(seconds, every=0.25):
            try:
                status = self.operator.status()
                stats, ingest = status["stats"], status["ingest"]
                last = str(status)
                if any(int(source["held_deletes"]) for source in ingest["sources"]):
                    self.confirm_deletes()  # edits went on while nobody looked; here they are meant
                if (
                    ingest["words_current"]
                    and int(stats["document_count"]) == wanted
                    and int(stats["missing_vector_count"]) == 0
                ):
                    return
            except (OSError, LookupError, ValueError) as error:
                last = repr(error)
        raise AssertionError(f"not whole after {seconds} s, {wanted} documents wanted: {last}\n{self.desk.tail()}")

    def confirm_deletes(self) -> None:
        """What an operator does where the deletion guard holds deletes that are meant."""
        self._post(f"sources/{self.docs.name}/sync?confirm_deletes=true")

    def sync(self) -> None:
        """Has the folder scanned now."""
        self._post(f"sources/{self.docs.name}/sync")

    def reconcile_until_nothing_differs(self) -> None:
        """As docs/operations.md asks after older files were put back. Raises: AssertionError when it does not come to an end."""
        for _ in range(MOST_RECONCILINGS):
            counts = self._post("reconcile")
            if not any(int(counts[name]) for name in ("republished_count", "swept_count", "fenced_count")):
                return
        raise AssertionError(f"reconciling still finds something after {MOST_RECONCILINGS} runs: {counts}")

    def metrics(self, name: str) -> dict[str, float]:
        """What a service counts now, by sample; empty where it does not answer."""
        address = self.services[name].environment["REFDESK_TELEMETRY__LISTEN"]
        try:
            with closing_failures(), urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return {}
        samples = (line.rpartition(" ") for line in lines if line and not line.startswith("#"))
        return {sample: float(value) for sample, _, value in samples}

    def publish_hints(self, rng: random.Random) -> None:
        """Sends a hint at every page to the queue, in an order of the seed."""
        pages = sorted(path.relative_to(self.docs).as_posix() for path in self.docs.rglob("*.md"))
        rng.shuffle(pages)
        asyncio.run(self._publish(pages))

    async def _publish(self, pages: list[str]) -> None:
        assert self.nats is not None
        events = JetStreamEvents(ExternalBroker(self.nats.url), max_bytes=64 * 2**20)
        await events.start()
        try:
            source, time = self.docs.name, now()
            await events.publish(
                [ChangeEvent(uuid4().hex, "default", source, page, ChangeType.CHANGED, time) for page in pages]
            )
        finally:
            await events.close()

    def _post(self, path: str) -> dict[str, Any]:
        request = urllib.request.Request(f"{self.operator.url}/api/operator/projects/default/{path}", method="POST")
        for _ in ticks(START_SECONDS, every=1.0):  # a service that is away answers 503
            try:
                with closing_failures(), urllib.request.urlopen(request, timeout=60) as answer:
                    return dict(json.load(answer))
            except OSError as error:
                last = error
        raise AssertionError(f"{path}: {last!r}")

    def end(self) -> list[int]:
        """Asks every service to end, callers first, and returns their exit codes."""
        codes = []
        for service in reversed(self.services.values()):
            assert service.process is not None
            service.process.send_signal(signal.SIGCONT)
            service.process.terminate()
        for service in self.services.values():
            assert service.process is not None
            codes.append(service.process.wait(timeout=60))
        return codes


@contextmanager
def stand(
    docs: Path,
    data: Path,
    model: Path,
    *,
    on_opensearch: bool = False,
    engines_last: bool = False,
    takes_pushes: bool = False,
) -> Iterator[Stand]:
    """Starts everything, the engines once a service misses them where they are to come last, and ends it with the block."""
    data.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        one = Stand(docs, data, model, takes_pushes=takes_pushes)
        one.nats = NatsProcess(one.queue)
        stack.callback(one.nats.stop)
        for link in LINKS:
            proxy = one.proxies[link] = Proxy()
            proxy.start()
            stack.callback(proxy.close)
        if on_opensearch:
            one.opensearch = OpenSearchServer(data / "opensearch")
            stack.callback(one.opensearch.stop)
        if not engines_last:
            _start_engines(one)
        _write_services(one)
        stack.callback(_kill_all, one)
        for service in one.services.values():
            service.start()
        if engines_last:
            one.wait_until_missed()
            _start_engines(one)
        one.wait_until_whole()
        yield one


def _start_engines(one: Stand) -> None:
    one.restart_nats()
    if one.opensearch is not None:
        one.restart_opensearch()


def _write_services(one: Stand) -> None:
    names = [*TARGETS, *(f"{target}-telemetry" for target in TARGETS), "operator"]
    ports = dict(zip(names, free_ports(len(names)), strict=True))
    sources: list[dict[str, Any]] = [{"name": one.docs.name, "path": str(one.docs)}]
    if one.takes_pushes:
        sources.append({"name": PUSH_SOURCE, "kind": "push", "language": "en"})
    config: dict[str, Any] = {
        "data": str(one.data),
        "embedder": {"model": str(one.model)},
        "rpc": {target: one.proxies[target].address for target in TARGETS if target != "gateway"},
        "gateway": {"port": ports["gateway"]},
        "ingest": {"events": f"nats://{one.proxies['nats'].address}"},
        "projects": {"default": {"structured_output": True, "sources": sources}},
    }
    config |= one.engines
    path = one.data / "config.yaml"
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    one.url = f"http://127.0.0.1:{ports['gateway']}"
    for target in TARGETS:
        environment = {
            "REFDESK_RPC__LISTEN": f"127.0.0.1:{ports[target]}",
            "REFDESK_TELEMETRY__LISTEN": f"127.0.0.1:{ports[f'{target}-telemetry']}",
            "REFDESK_GATEWAY__OPERATOR_LISTEN": f"127.0.0.1:{ports['operator']}",
        }
        if target in one.proxies:
            one.proxies[target].target = f"127.0.0.1:{ports[target]}"
        one.services[target] = ServiceProcess(target, environment, path, one.data / "desk.log")


def _kill_all(one: Stand) -> None:
    for service in one.services.values():
        if service.process is not None and service.process.poll() is None:
            service.process.kill()
            service.process.wait(timeout=20)
