"""A desk that can be reached from outside, as its operator and its readers meet it: the command line, a real client, a revoked key."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
from pathlib import Path

import pytest

from models import build_tiny_model
from system.desks import DeskProcess, closing_failures, running, ticks

pytestmark = pytest.mark.slow
REVOKED_SECONDS = 2.0


def refdesk(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command from the folder in which the desk was started."""
    command = [sys.executable, "-m", "refdesk", *arguments]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REFDESK_")}
    return subprocess.run(
        command, cwd=folder, env={**kept, **environment}, capture_output=True, text=True, timeout=60, check=False
    )


def test_keys_are_made_used_rotated_and_revoked(tmp_path: Path) -> None:
    docs, data = tmp_path / "handbook", tmp_path / ".refdesk" / "handbook"
    docs.mkdir()
    (docs / "keys.md").write_text("# Signing keys\n\nHow the signing key is rotated: every ninety days, by hand.\n")
    desk = DeskProcess(docs, data, build_tiny_model(tmp_path / "model"), arguments=("--host", "0.0.0.0"))
    with running(desk):
        ask = ("ask", "how is the signing key rotated")
        assert "a key is needed here" in _status_of(desk)
        assert desk.get_status("/api/operator/status") == 401
        made = refdesk(tmp_path, "key", "create", "--name", "reader")
        assert made.returncode == 0, made.stderr
        key, line, *_ = made.stdout.splitlines()
        for _ in ticks(30):
            answer = refdesk(tmp_path, *ask, REFDESK_KEY=key)
            if "every ninety days" in answer.stdout:
                break
        assert "every ninety days" in answer.stdout, answer.stderr
        key_id = line.split()[0]
        new = refdesk(tmp_path, "key", "rotate", key_id, "--overlap-hours", "0").stdout.splitlines()[0]
        assert new.startswith(f"rdk_{key_id}_")
        listed = refdesk(tmp_path, "key", "list").stdout
        assert listed.split() == [key_id, "read", "project", "default", '"reader"']
        assert "every ninety days" in _answer(desk, new, ask, tmp_path)
        assert "revoked" in refdesk(tmp_path, "key", "revoke", key_id).stdout
        for _ in ticks(REVOKED_SECONDS, every=REVOKED_SECONDS):
            pass
        assert refdesk(tmp_path, *ask, REFDESK_KEY=new).returncode == 1
        assert not any(secret in desk.log.read_text() for secret in (key, new, key[-43:], new[-43:]))
        assert desk.stop() == 0


def _answer(desk: DeskProcess, key: str, ask: tuple[str, ...], folder: Path) -> str:
    for _ in ticks(REVOKED_SECONDS, every=0.5):
        answer = refdesk(folder, *ask, REFDESK_KEY=key)
        if answer.returncode == 0:
            break
    return answer.stdout


def _status_of(desk: DeskProcess) -> str:
    try:
        with closing_failures():
            desk.call("search_docs", {"query": "keys"})
    except urllib.error.HTTPError as failure:
        assert failure.code == 401
        return "a key is needed here"
    return "let in"
