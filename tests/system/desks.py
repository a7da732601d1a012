"""Starts real desks as processes of their own, for tests: every wait is bounded, every process ends with the test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

START_SECONDS = 60.0
SETTLE_SECONDS = 120.0


@dataclass
class DeskProcess:
    """One `refdesk up` and where it answers."""

    docs: Path
    data: Path
    model: Path | str
    environment: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    url: str = ""

    def start(self, *, wait: bool = True) -> None:
        """Starts it, and waits until it answers /readyz with 200."""
        self.data.mkdir(parents=True, exist_ok=True)
        note = self.data / "desk.json"
        note.unlink(missing_ok=True)
        command = [sys.executable, "-m", "refdesk", "up", "--docs", str(self.docs), "--data", str(self.data)]
        command += ["--port", "0", "--model", str(self.model), *self.arguments]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, **self.environment}
            )
        if wait:
            self.wait_until_ready()

    @property
    def log(self) -> Path:
        """What it printed, over all its runs."""
        return self.data / "desk.log"

    def wait_until_ready(self, seconds: float = START_SECONDS) -> None:
        """Waits for its note and for /readyz.

        Raises: AssertionError when it ended or time ran out.
        """
        note = self.data / "desk.json"
        for _ in ticks(seconds):
            assert self.poll() is None, f"the desk ended with {self.poll()}: {self.tail()}"
            if note.exists():
                self.url = json.loads(note.read_text())["url"]
                if self.get_status("/readyz") == 200:
                    return
        raise AssertionError(f"the desk is not ready after {seconds} s: {self.tail()}")

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        assert self.process is not None
        return self.process.poll()

    def tail(self) -> str:
        """The last lines that it printed."""
        return self.log.read_bytes()[-3000:].decode(errors="replace")

    def get_status(self, path: str) -> int:
        """HTTP status of a GET, 0 when nothing answers."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as failure:
            with failure:
                return failure.code
        except OSError:
            return 0

    def status(self) -> dict[str, Any]:
        """Its first project's status, as the operator API gives it."""
        with closing_failures(), urllib.request.urlopen(f"{self.url}/api/operator/status", timeout=30) as answer:
            return dict(json.load(answer)["projects"][0])

    def wait_until_settled(self, documents: int | None = None, seconds: float = SETTLE_SECONDS) -> dict[str, Any]:
        """Waits until words and vectors of all that it knows are there (and it holds `documents`, where given).

        Raises: AssertionError when it ended or time ran out.
        """
        status: dict[str, Any] = {}
        for _ in ticks(seconds):
            assert self.poll() is None, f"the desk ended with {self.poll()}: {self.tail()}"
            status = self.status()
            stats, ingest = status["stats"], status["ingest"]
            settled = ingest["words_current"] and int(ingest["pending_events"]) == 0
            whole = stats["embedded_count"] == stats["embeddable_count"] and int(stats["missing_vector_count"]) == 0
            if settled and whole and documents in (None, int(stats["document_count"])):
                return status
        raise AssertionError(f"not settled after {seconds} s: {status}\n{self.tail()}")

    def has_followed(self) -> bool:
        """Whether it has begun to follow its folder: it has left its note."""
        return (self.data / "desk.json").exists()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Sends a signal and waits for the end."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=40)

    def call(self, tool: str, arguments: dict[str, Any], path: str = "/mcp") -> dict[str, Any]:
        """Calls a tool in the era of 2025-11-25 and returns the result object."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-11-25",
        }
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        with closing_failures(), urllib.request.urlopen(request, timeout=30) as answer:
            raw = answer.read().decode()
        if raw.lstrip().startswith("{"):
            return dict(json.loads(raw)["result"])
        data = next(line[5:] for line in raw.splitlines() if line.startswith("data:"))
        return dict(json.loads(data)["result"])

    def text(self, tool: str, arguments: dict[str, Any]) -> str:
        """A tool's answer as text."""
        return "\n".join(part["text"] for part in self.call(tool, arguments)["content"])


@contextmanager
def running(desk: DeskProcess) -> Iterator[DeskProcess]:
    """Starts a desk and ends it with the block, whatever happens in it."""
    try:
        desk.start()
        yield desk
    finally:
        if desk.process is not None and desk.poll() is None:
            desk.process.kill()
            desk.process.wait(timeout=20)


@contextmanager
def closing_failures() -> Iterator[None]:
    """An answer that is an error holds its connection; whoever only looks at the error lets go of it so."""
    try:
        yield
    except urllib.error.HTTPError as failure:
        failure.close()
        raise


def ticks(seconds: float, every: float = 0.05) -> Iterator[None]:
    """Yields at once and then again and again until time is out."""
    ends_at = time.monotonic() + seconds
    while True:
        yield
        if time.monotonic() >= ends_at:
            return
        time.sleep(every)
