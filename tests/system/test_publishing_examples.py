"""The examples of docs/publishing.md do what they say, on a real desk; the NATS CLI's is read, for the CLI itself is not installed here."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from models import build_tiny_model
from refdesk.ingest.events.incoming import Published, read_incoming
from system.desks import running, ticks
from system.pushing import SOURCE, PushDesk

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "publishing.md").read_text(encoding="utf-8")
CLI_FLAGS = {"--jetstream", "--no-templates", "--force-stdin", "-H"}
"""Of `nats pub`, read in the source of natscli 0.4.0 (cli/pub_command.go)."""


def example(heading: str) -> str:
    """The first indented block under a heading."""
    section = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    block = re.search(r"(?:^    .*\n|^\n)+", section, re.MULTILINE)
    assert block is not None
    return "\n".join(line[4:] for line in block[0].strip("\n").splitlines())


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PushDesk]:
    folder = tmp_path_factory.mktemp("desk")
    source = {"name": SOURCE, "kind": "push"}
    config = {"projects": {"acme": {"sources": [source]}}}
    desk = PushDesk(folder, folder / "data", build_tiny_model(folder / "model"), config=config)
    with running(desk):
        yield desk


def shown(desk: PushDesk, path: str) -> str:
    """What the desk answers for a document once it has it."""
    text = ""
    for _ in ticks(20, every=0.1):
        answer = desk.call("read_document", {"path": path}, "/mcp/acme")
        text = "\n".join(part["text"] for part in answer["content"])
        if not answer["isError"]:
            break
    return text


def test_the_python_example_publishes_a_document_and_again_it_changes_nothing(desk: PushDesk, tmp_path: Path) -> None:
    program = example("From Python").replace("http://127.0.0.1:8080", desk.url)
    assert len([line for line in program.splitlines() if line.strip() and not line.startswith((" ", "import"))]) <= 5
    said = [
        subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, timeout=60) for _ in range(2)
    ]
    assert [(one.returncode, one.stdout) for one in said] == [(0, "202\n"), (0, "200\n")], said[0].stderr
    assert "Rotate them." in shown(desk, "wiki/ops/keys.md")


def test_the_curl_example_publishes_a_file(desk: PushDesk, tmp_path: Path) -> None:
    (tmp_path / "locks.md").write_text("# Locks\n\nÄpfel are locked at night.\n", encoding="utf-8")
    command = example("From a shell, with curl").replace("http://127.0.0.1:8080", desk.url)
    assert len(command.splitlines()) <= 5
    said = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert said.returncode == 0, said.stdout + said.stderr
    assert json.loads(said.stdout)["events"][0]["outcome"] == "stored"
    assert "Äpfel are locked" in shown(desk, "wiki/ops/locks.md")


def test_the_listing_example_is_taken_and_names_what_is_missing(desk: PushDesk, tmp_path: Path) -> None:
    listing = json.loads(example("Listings: what exists"))
    command = ["curl", "-sS", "--fail-with-body", f"{desk.url}/api/projects/acme/events"]
    command += ["-H", "Content-Type: application/cloudevents+json", "--data-binary", json.dumps(listing)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert said.returncode == 0, said.stdout + said.stderr
    assert json.loads(said.stdout)["events"][0]["outcome"] == "stored"


def test_the_nats_cli_example_is_an_event_that_is_taken() -> None:
    command = example("From a shell, with the NATS CLI")
    assert len(command.splitlines()) <= 5
    words = shlex.split(command.replace("\\\n", " "))
    assert words[:2] == ["nats", "pub"]
    assert words[-2:] == ["<", "doors.md"]
    headers: dict[str, bytes] = {}
    flags = list(words[3:-2])
    while flags:
        flag = flags.pop(0)
        assert flag in CLI_FLAGS
        if flag == "-H":
            name, _, value = flags.pop(0).partition(":")
            headers[name.lower()] = value.encode()
    found = read_incoming(words[2], headers, b"# Doors\n")
    assert isinstance(found, Published)
    assert (found.project, found.source, found.event.path) == ("acme", "wiki", "ops/doors.md")
    assert headers["nats-msg-id"] == b"wiki/page-9-version-5"
