"""What goes on while things break: edits of a folder, pushes of a source system, questions; from a seed, and bounded."""

from __future__ import annotations

import http.client
import json
import random
import re
import threading
import time
import urllib.error
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from system.desks import DeskProcess
from system.pushing import Statement, expected, make_history, post

QUERY = "how is the signing key rotated"
"""Every page has the words, so nothing found would be a lie at any time."""
REVISION = re.compile(r"rev\d+x")


def page(name: str, revision: int) -> str:
    """A page of four sections, its revision in each of them."""
    sections = "\n\n".join(
        f"## Part {part} of {name}\n\nrev{revision}x The signing key of {name} is rotated in part {part}. "
        + f"rev{revision}x Whoever rotates it tells the others about {name}. " * 6
        for part in range(4)
    )
    return f"# Signing keys of {name}\n\nrev{revision}x How the signing key of {name} is rotated.\n\n{sections}\n"


class Edits(threading.Thread):
    """Writes, renames and deletes pages of a folder: `events` of them, `per_second`."""

    def __init__(self, docs: Path, seed: int, events: int = 500, per_second: float = 15.0) -> None:
        super().__init__(name="edits", daemon=True)
        self._docs = docs
        self._random = random.Random(seed)
        self._events = events
        self._pause_seconds = 1.0 / per_second
        self._ending = threading.Event()
        self._revision = 0
        self.done = 0

    def run(self) -> None:
        while self.done < self._events and not self._ending.wait(self._pause_seconds):
            self._edit()
            self.done += 1

    def end(self) -> None:
        """Ends early and waits."""
        self._ending.set()
        self.join(20)

    def _edit(self) -> None:
        self._revision += 1
        pages = sorted(self._docs.rglob("*.md"))
        chosen, dice = self._random.choice(pages), self._random.random()
        if dice < 0.03 and len(pages) > 8:
            chosen.unlink()
        elif dice < 0.06:
            chosen.rename(chosen.with_name(f"moved{self._revision}-{self._random.randrange(100)}.md"))
        elif dice < 0.12 and len(pages) < 60:
            self._write(self._docs / f"folder{self._random.randrange(3)}" / f"new{self._revision}.md")
        else:
            self._write(pages[0] if dice > 0.85 else chosen)  # one page is always hot

    def _write(self, path: Path) -> None:
        path.parent.mkdir(exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(page(path.stem, self._revision), encoding="utf-8")
        part.rename(path)


class Pushes(threading.Thread):
    """A source system that pushes its history over HTTP, `per_second`, and sends again whatever was not acknowledged."""

    def __init__(self, desk: DeskProcess, seed: int, documents: int = 40, per_second: float = 8.0) -> None:
        super().__init__(name="pushes", daemon=True)
        self._desk = desk
        self._random = random.Random(seed)
        self._history = make_history(documents, seed)
        self._pause_seconds = 1.0 / per_second
        self._ending = threading.Event()
        self.acknowledged: list[Statement] = []
        """What was answered with 200 or 202, each once: nothing of it is sent again."""
        self.unanswered = 0
        self.refusals: list[str] = []
        """Answers that are neither an acknowledgement nor a 503."""

    def run(self) -> None:
        for statement in self._history:
            while not self._ending.wait(self._pause_seconds) and not self._send(statement):
                self.unanswered += 1

    @property
    def expected(self) -> dict[str, str]:
        """Text by path of what must stand after all that was acknowledged."""
        return expected(self.acknowledged)

    def end(self) -> None:
        """Ends early and waits."""
        self._ending.set()
        self.join(60)

    def _send(self, statement: Statement) -> bool:
        try:
            status, body = post(self._desk, [statement], self._random.choice(["binary", "structured"]))
        except (OSError, http.client.HTTPException):
            return False
        if status not in (200, 202):
            self.refusals += [] if status == 503 and "retry in" in body else [f"{statement.path}: {status} {body}"]
            return False
        self.acknowledged.append(statement)
        return True


@dataclass(frozen=True)
class Asked:
    """One question and what came back; `mode` is empty where it was an error."""

    began_at: float
    ended_at: float
    mode: str
    reasons: tuple[str, ...]
    text: str
    mixed: bool
    """Whether an excerpt shows two revisions of its document."""


class Questions(threading.Thread):
    """Asks `per_second` questions until it is told to end; a slow answer holds up the next ones, as with one agent."""

    def __init__(self, desk: DeskProcess, per_second: float = 5.0) -> None:
        super().__init__(name="questions", daemon=True)
        self._desk = desk
        self._pause_seconds = 1.0 / per_second
        self._ending = threading.Event()
        self.asked: list[Asked] = []

    def run(self) -> None:
        while not self._ending.wait(self._pause_seconds):
            self.asked.append(ask(self._desk))

    def end(self) -> None:
        """Ends and waits."""
        self._ending.set()
        self.join(60)


def ask(desk: DeskProcess) -> Asked:
    """Asks once, now."""
    began_at = time.monotonic()
    try:
        result = desk.call("search_docs", {"query": QUERY})
    except (OSError, urllib.error.HTTPError, json.JSONDecodeError, KeyError, StopIteration) as failure:
        return Asked(began_at, time.monotonic(), "", (), f"transport: {failure!r}", False)
    text = "\n".join(part["text"] for part in result["content"])
    structured: Mapping[str, Any] = result.get("structuredContent") or {}
    if result.get("isError") or not structured:
        return Asked(began_at, time.monotonic(), "", (), text, False)
    reasons = tuple(f"{leg['leg']}: {leg['reason']}" for leg in structured["not_searched"])
    mixed = any(len(set(REVISION.findall(one["excerpt"]))) > 1 for one in structured["results"])
    return Asked(began_at, time.monotonic(), structured["mode"], reasons, text, mixed)
