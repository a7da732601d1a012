"""Five processes over gRPC give the same answers as one process with everything in it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from models import build_tiny_model
from system.desks import DeskProcess, running, ticks

pytestmark = pytest.mark.slow

TARGETS = ("docstore", "embedder", "search", "ingest", "gateway")
OWN_DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("search_docs", {"query": "how does a change become searchable"}),
    ("search_docs", {"query": "confirm-deletes", "limit": 3}),
    ("search_docs", {"query": "zebra crossing paint thickness"}),
    ("search_docs", {"query": "x", "source": "nowhere"}),
    ("search_docs", {"query": "x", "sauce": "nowhere"}),
    ("list_topics", {}),
    ("list_topics", {"limit": 2}),
    ("read_document", {"path": "docs/quickstart.md", "max_tokens": 300}),
    ("read_document", {"path": "docs/quickstrat.md"}),
]


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def five_processes(docs: Path, data: Path, model: Path) -> Iterator[DeskProcess]:
    """Starts the five and gives a handle whose calls go to the gateway's process."""
    data.mkdir(parents=True)
    ports = dict(zip([*TARGETS, *(f"{target}-telemetry" for target in TARGETS)], free_ports(10), strict=True))
    config = {
        "data": str(data),
        "embedder": {"model": str(model)},
        "rpc": {target: f"127.0.0.1:{ports[target]}" for target in TARGETS if target != "gateway"},
        "gateway": {"port": ports["gateway"], "operator_listen": "127.0.0.1:0"},
        "projects": {"default": {"sources": [{"name": docs.name, "path": str(docs)}]}},
    }
    (data / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    processes = []
    try:
        for target in TARGETS:
            environment = {
                **os.environ,
                "REFDESK_RPC__LISTEN": f"127.0.0.1:{ports[target]}",
                "REFDESK_TELEMETRY__LISTEN": f"127.0.0.1:{ports[f'{target}-telemetry']}",
            }
            command = [
                sys.executable,
                "-m",
                "refdesk",
                "run",
                "--target",
                target,
                "--config",
                str(data / "config.yaml"),
            ]
            with (data / "desk.log").open("ab") as log:
                processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=environment))
        handle = DeskProcess(docs, data, model, process=processes[-1], url=f"http://127.0.0.1:{ports['gateway']}")
        wait_until_indexed(handle, processes)
        yield handle
        for process in reversed(processes):
            process.terminate()
        assert [process.wait(timeout=40) for process in processes] == [0] * 5, handle.tail()
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait(timeout=20)


def wait_until_indexed(handle: DeskProcess, processes: list[subprocess.Popen[bytes]]) -> None:
    for _ in ticks(120, every=0.25):
        assert all(process.poll() is None for process in processes), handle.tail()
        if handle.get_status("/readyz") == 200:
            listing = handle.text("list_topics", {"limit": 1000})
            answer = handle.text("search_docs", {"query": "searchable"})
            whole = all(f"{path.name} — " in listing for path in handle.docs.rglob("*.md"))
            remarks = answer.rstrip().rsplit("\n\n", 1)[-1]  # what an answer says of itself stands at its end
            if whole and answer.startswith("Found ") and not remarks.startswith(("Vectors: ", "Mode: ")):
                return
    raise AssertionError(f"the five are not ready: {handle.tail()}")


def test_five_processes_answer_as_one_does(tmp_path: Path) -> None:
    model = build_tiny_model(tmp_path / "model")
    one = DeskProcess(OWN_DOCS, tmp_path / "one", model)
    with running(one), five_processes(OWN_DOCS, tmp_path / "five", model) as five:
        one.wait_until_settled(len(list(OWN_DOCS.rglob("*.md"))))
        for tool, arguments in QUESTIONS:
            assert five.call(tool, arguments) == one.call(tool, arguments), (tool, arguments)
