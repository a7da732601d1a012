"""The servers that tests run on: they end with the run, and what is missing is said instead of skipped."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from servers.fixtures import serve
from servers.nats import NatsProcess
from servers.node_build import build_node
from servers.opensearch import OpenSearchServer
from servers.process import CannotStart

TESTS = Path(__file__).resolve().parent.parent
START_AND_WAIT = """
import sys
from pathlib import Path
from servers.nats import NatsProcess
server = NatsProcess(Path(sys.argv[1]))
server.start()
print(server.process.pid, flush=True)
sys.stdin.read()
"""


def test_a_server_ends_with_the_run_that_started_it_even_when_that_is_killed(tmp_path: Path) -> None:
    run = subprocess.Popen(
        (sys.executable, "-c", START_AND_WAIT, str(tmp_path)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": f"{TESTS}:{':'.join(sys.path)}"},
    )
    with run:
        assert run.stdout is not None
        server = psutil.Process(int(run.stdout.readline()))
        assert server.is_running()
        run.send_signal(signal.SIGKILL)
        run.wait(10)
    assert psutil.wait_procs([server], timeout=10)[1] == []


def test_a_server_that_was_killed_starts_again_on_what_it_kept(tmp_path: Path) -> None:
    server = NatsProcess(tmp_path)
    server.start()
    first = server.process.pid
    server.process.kill()
    server.start()
    assert server.process.pid != first
    server.stop()
    server.stop()
    assert not psutil.pid_exists(server.process.pid)


@pytest.mark.parametrize("missing", ["javac", "mvn"])
def test_without_java_or_maven_the_run_fails_with_a_line_that_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    for program in {"javac", "mvn"} - {missing}:
        (tmp_path / program).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(pytest.fail.Exception) as caught:
        next(serve(OpenSearchServer(tmp_path / "data")))
    assert f"{missing} was not found" in str(caught.value)
    assert "apt install openjdk-17-jdk-headless maven" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_java_that_is_too_old_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for program, says in (("javac", "echo javac 11.0.2"), ("mvn", ":")):
        (tmp_path / program).write_text(f"#!/bin/sh\n{says}\n", encoding="utf-8")
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(CannotStart, match=r"javac is too old; .* set JAVA_HOME"):
        build_node()
