"""A desk whose one source takes pushes, and what a source system tells it over HTTP, with a model of what must come of it."""

from __future__ import annotations

import http.client
import json
import os
import random
import subprocess
import sys
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from system.desks import DeskProcess

PROJECT, SOURCE = "default", "wiki"
TYPES = {kind: f"dev.refdesk.document.{kind}.v1" for kind in ("pushed", "removed")}


@dataclass
class PushDesk(DeskProcess):
    """`refdesk up` on a configuration with a source of kind push."""

    config: dict[str, Any] = field(default_factory=dict)

    def start(self, *, wait: bool = True) -> None:
        """Starts it, and waits until it answers /readyz with 200."""
        self.data.mkdir(parents=True, exist_ok=True)
        (self.data / "desk.json").unlink(missing_ok=True)
        source = {"name": SOURCE, "kind": "push", "language": "en"}
        declared = {"projects": {PROJECT: {"sources": [source]}}, **self.config}
        config = self.data.with_suffix(".yaml")
        config.write_text(yaml.safe_dump(declared), encoding="utf-8")
        command = [sys.executable, "-m", "refdesk", "up", "--config", str(config), "--data", str(self.data)]
        command += ["--port", "0", "--model", str(self.model)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env={**os.environ, **self.environment}
            )
        if wait:
            self.wait_until_ready()


@dataclass(frozen=True)
class Statement:
    """One event: a document's text at a revision, or (no text) that it is gone."""

    path: str
    revision: int
    text: str = ""

    @property
    def envelope(self) -> dict[str, Any]:
        """The event as JSON."""
        made: dict[str, Any] = {
            "specversion": "1.0",
            "id": f"{self.path} {self.revision}",
            "source": SOURCE,
            "type": TYPES["pushed" if self.text else "removed"],
            "subject": self.path,
            "revision": self.revision,
        }
        return {**made, "datacontenttype": "text/markdown", "data": self.text} if self.text else made

    @property
    def headers(self) -> dict[str, str]:
        """The event in binary mode, but for its text."""
        names = ("specversion", "id", "source", "type", "subject", "revision")
        headers = {f"ce-{name}": urllib.parse.quote(str(self.envelope[name]), safe="/.") for name in names}
        return {**headers, "Content-Type": "text/markdown"}


def page(path: str, revision: int) -> str:
    """A page of a few sections, most of which stay the same from one revision to the next."""
    sections = "\n\n".join(f"## Part {n} of {path}\n\n" + f"What part {n} says of {path}. " * 15 for n in range(2))
    return f"# About {path}\n\n{sections}\n\n## News\n\n" + f"Revision {revision} of {path} brings word{revision}. " * 5


def make_history(documents: int, seed: int) -> list[Statement]:
    """Statements of a source whose revisions count up over all documents; some are deleted, and some of those come back."""
    rng = random.Random(seed)
    revision, history = 0, []
    for turn in range(3):
        for number in rng.sample(range(documents), documents if turn == 0 else documents // 3):
            revision += 1
            path = f"space{number % 5}/page {number}.md"
            deleted = turn > 0 and rng.random() < 0.3
            history.append(Statement(path, revision, "" if deleted else page(path, revision)))
    return history


def expected(history: list[Statement]) -> dict[str, str]:
    """Path to text of what must stand: the statement with the highest revision decides, whatever came first."""
    newest: dict[str, Statement] = {}
    for one in history:
        if one.path not in newest or one.revision > newest[one.path].revision:
            newest[one.path] = one
    return {path: one.text for path, one in newest.items() if one.text}


class Publisher:
    """Sends statements in all three content modes, and keeps account of what was acknowledged."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self.acknowledged: list[Statement] = []
        self.unknown: list[Statement] = []

    def send(self, desk: DeskProcess, statements: list[Statement]) -> None:
        """Sends what is unknown so far, and these, a few at a time; what is not answered, because the desk has died, is unknown."""
        waiting, self.unknown = self.unknown + statements, []
        while waiting:
            size = self._rng.choice([1, 1, 5])
            some, waiting = waiting[:size], waiting[size:]
            try:
                status, body = post(desk, some, self._rng.choice(["binary", "structured"]))
            except (OSError, http.client.HTTPException):
                self.unknown = some + waiting
                return
            assert status in (200, 202), (status, body)
            self.acknowledged += some


def post(desk: DeskProcess, statements: list[Statement], mode: str) -> tuple[int, str]:
    """Status and body of the answer."""
    if len(statements) > 1:
        headers = {"Content-Type": "application/cloudevents-batch+json"}
        body = json.dumps([one.envelope for one in statements]).encode()
    elif mode == "binary":
        headers, body = statements[0].headers, statements[0].text.encode()
    else:
        headers = {"Content-Type": "application/cloudevents+json"}
        body = json.dumps(statements[0].envelope).encode()
    connection = http.client.HTTPConnection(desk.url.removeprefix("http://"), timeout=30)
    try:
        connection.request("POST", f"/api/projects/{PROJECT}/events", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def write_folder(folder: Path, texts: dict[str, str]) -> Path:
    """A folder that holds what must stand, for the audit."""
    for path, text in texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    folder.mkdir(exist_ok=True)
    return folder
