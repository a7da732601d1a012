"""What a desk does under pressure: five times more questions than it can answer, questions while it loads, changes until they are found.

Load is open-loop: questions come when they come, whether earlier ones were answered or not. Loopback only, bounded in number and time.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from benchmarks.calls import read_questions
from benchmarks.wire import Reply, Wires
from refdesk.embedder.registry import DEFAULT_MODEL
from system.desks import DeskProcess, running

PAGES = 400
CAPACITY_CALLS, AT_ONCE = 600, 16
OVERLOAD, OVERLOAD_SECONDS, RECOVERY_SECONDS = 5, 60.0, 30.0
DRAIN_SECONDS = 30.0
MOST_OPEN = 400
"""Questions in flight at once: a client machine has its bounds too, and what it cannot send counts as not answered."""
CHANGES = 30


@dataclass
class Counted:
    """Milliseconds of answers and of refusals, how late questions were sent, and what had no Retry-After, failed, or had no answer."""

    answered: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    hintless: int = 0
    failed: int = 0
    cut_off: int = 0
    unsent: int = 0

    def take(self, reply: Reply | None) -> None:
        """Counts what came back."""
        if reply is None:
            self.cut_off += 1
        elif reply.is_answer:
            self.answered.append(1000 * reply.seconds)
        elif b"retry in" in reply.body:
            self.refused.append(1000 * reply.seconds)
            self.hintless += reply.status != 200 and not reply.retry_after
        else:
            self.failed += 1


def measure_pressure(docs: Path, corpus: str, seconds: float = OVERLOAD_SECONDS) -> Iterator[tuple[str, str]]:
    """Rows of all three."""
    questions = read_questions(corpus)
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / docs.name
        pages = sorted(docs.rglob("*.md"))[:PAGES]
        for page in pages:
            target = folder / page.relative_to(docs)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, target)
        desk = DeskProcess(folder, Path(root) / "data", DEFAULT_MODEL)
        with running(desk):
            desk.wait_until_settled(len(pages), seconds=600)
            yield from overload_rows(desk, questions, seconds)
            yield from change_rows(desk, folder)
            yield from loading_rows(desk, folder, docs, questions)
            desk.stop()


def overload_rows(desk: DeskProcess, questions: list[str], seconds: float) -> Iterator[tuple[str, str]]:
    """Capacity, then five times as much, then quiet again."""
    capacity = uvloop.run(_measure_capacity(desk.url, questions, CAPACITY_CALLS, AT_ONCE))
    idle = uvloop.run(_ask_in_turn(desk.url, questions, 200))
    yield f"capacity, {AT_ONCE} at once", f"{capacity:.0f}/s; alone {_middle_and_tail(idle)}"
    counted = uvloop.run(_pour(desk.url, questions, OVERLOAD * capacity, seconds))
    goodput = len(counted.answered) / seconds
    yield f"goodput under {OVERLOAD}x for {seconds:.0f} s", f"{goodput:.0f}/s: {goodput / capacity:.2f} of capacity"
    yield "answers under it", _middle_and_tail(counted.answered)
    hints = f"{counted.hintless} without Retry-After, {counted.failed} failed, {counted.cut_off} cut off"
    yield "refusals under it", f"{len(counted.refused):,}, {_middle_and_tail(counted.refused)}, {hints}"
    yield "what the load generator itself was late", f"{_middle_and_tail(counted.late)}; {counted.unsent} not sent"
    started, most = time.monotonic(), 2 * _quantile(idle, 0.95)
    while time.monotonic() - started < RECOVERY_SECONDS:
        if _quantile(uvloop.run(_ask_in_turn(desk.url, questions, 40)), 0.95) <= most:
            break
    yield "back to twice its idle p95 after", f"{time.monotonic() - started:.1f} s"


def change_rows(desk: DeskProcess, folder: Path) -> Iterator[tuple[str, str]]:
    """From the write of a page until its new word is found, on an idle desk."""
    page, seconds = sorted(folder.rglob("*.md"))[0], []
    text = page.read_text(encoding="utf-8")
    for number in range(CHANGES):
        word = f"quernstone{number}x"
        page.write_text(f"{text}\n\nThe {word} is new here.\n", encoding="utf-8")
        began = time.monotonic()
        # The first line of an answer repeats the query.
        while word not in desk.text("search_docs", {"query": word}).partition("\n")[2]:
            if time.monotonic() - began > 60:
                raise TimeoutError(f"{word} was not found within 60 s")
            time.sleep(0.02)
        seconds.append(time.monotonic() - began)
    yield (
        f"change to found by its words, {CHANGES} changes, p50 and p95",
        (f"{_quantile(seconds, 0.5):.2f} s and {_quantile(seconds, 0.95):.2f} s"),
    )


def loading_rows(desk: DeskProcess, folder: Path, docs: Path, questions: list[str]) -> Iterator[tuple[str, str]]:
    """Questions one at a time while as many pages again come in."""
    idle = _quantile(uvloop.run(_ask_in_turn(desk.url, questions, 200)), 0.95)
    for page in sorted(docs.rglob("*.md"))[PAGES : 2 * PAGES]:
        target = folder / "more" / page.relative_to(docs)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, target)
    loading = _quantile(uvloop.run(_ask_in_turn(desk.url, questions, 200)), 0.95)
    status = desk.status()
    missing = int(status["stats"]["missing_vector_count"])
    yield (
        "search p95 idle, and while it loads",
        (f"{idle:.1f} and {loading:.1f} ms: x{loading / idle:.2f} ({missing:,} vectors still to come)"),
    )


async def _ask_in_turn(url: str, questions: list[str], calls: int) -> list[float]:
    """Milliseconds of questions asked one after another."""
    wires = Wires(url, 1)
    await wires.open()
    try:
        return [1000 * (await _answer(wires, questions, number)).seconds for number in range(calls)]
    finally:
        wires.close()


async def _measure_capacity(url: str, questions: list[str], calls: int, at_once: int) -> float:
    """Answers a second to so many that ask, each its next question when it has its answer."""
    wires, numbers = Wires(url, at_once), iter(range(calls))
    await wires.open()

    async def ask() -> None:
        for number in numbers:
            await _answer(wires, questions, number)

    started = time.perf_counter()
    try:
        await asyncio.gather(*(ask() for _ in range(at_once)))
        return calls / (time.perf_counter() - started)
    finally:
        wires.close()


async def _answer(wires: Wires, questions: list[str], number: int) -> Reply:
    reply = await wires.wait(_vary(questions, number))
    if not reply.is_answer:
        raise RuntimeError(f"search_docs failed: {reply.body[:300]!r}")
    return reply


async def _pour(url: str, questions: list[str], per_second: float, seconds: float) -> Counted:
    """Asks when it is time to, whatever became of earlier questions."""
    counted, wires = Counted(), Wires(url, MOST_OPEN)
    await wires.open()
    started, number = time.perf_counter(), 0
    while (elapsed := time.perf_counter() - started) < seconds:
        while (due := number / per_second) < elapsed:
            number += 1
            if not wires.ask(_vary(questions, number), counted.take):
                counted.unsent += 1
                continue
            counted.late.append(1000 * (time.perf_counter() - started - due))
        await asyncio.sleep(0.002)
    await wires.drain(DRAIN_SECONDS)
    wires.close()
    return counted


def _vary(questions: list[str], number: int) -> str:
    """Another text each time, so that no cache of vectors answers."""
    return f"{questions[number % len(questions)]} {number}"


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")


def _middle_and_tail(values: list[float]) -> str:
    return f"p50 {_quantile(values, 0.5):.1f} ms, p95 {_quantile(values, 0.95):.1f} ms"
