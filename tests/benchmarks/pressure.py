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

import aiohttp
import orjson

from benchmarks.calls import HEADERS, read_questions, time_calls
from refdesk.embedder.registry import DEFAULT_MODEL
from system.desks import DeskProcess, running

PAGES = 400
CAPACITY_CALLS, AT_ONCE = 600, 16
OVERLOAD, OVERLOAD_SECONDS, RECOVERY_SECONDS = 5, 60.0, 30.0
MOST_OPEN = 400
"""Questions in flight at once: a client machine has its bounds too, and what it cannot send counts as not answered."""
CHANGES = 30


@dataclass
class Counted:
    """Milliseconds of answers and of refusals, and what had no retry hint."""

    answered: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    hintless: int = 0
    unsent: int = 0


def measure_pressure(docs: Path, corpus: str) -> Iterator[tuple[str, str]]:
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
            yield from overload_rows(desk, questions)
            yield from change_rows(desk, folder)
            yield from loading_rows(desk, folder, docs, questions)
            desk.stop()


def overload_rows(desk: DeskProcess, questions: list[str]) -> Iterator[tuple[str, str]]:
    """Capacity, then five times as much for a minute, then quiet again."""
    capacity = asyncio.run(time_calls(desk.url, questions, CAPACITY_CALLS, AT_ONCE)).per_second
    idle = asyncio.run(time_calls(desk.url, questions, 200, 1))
    yield "capacity, 16 at once", f"{capacity:.0f}/s; alone p50 {idle.p50:.1f} ms"
    counted = asyncio.run(_pour(desk.url, questions, OVERLOAD * capacity, OVERLOAD_SECONDS))
    goodput = len(counted.answered) / OVERLOAD_SECONDS
    yield (
        f"goodput under {OVERLOAD}x for {OVERLOAD_SECONDS:.0f} s",
        f"{goodput:.0f}/s: {goodput / capacity:.2f} of capacity",
    )
    yield "answers under it, p95", f"{_quantile(counted.answered, 0.95):.0f} ms"
    refused = (
        f"{len(counted.refused):,}, p95 {_quantile(counted.refused, 0.95):.0f} ms, {counted.hintless} without a hint"
    )
    yield "refusals under it", refused
    started = time.monotonic()
    while time.monotonic() - started < RECOVERY_SECONDS:
        after = asyncio.run(time_calls(desk.url, questions, 40, 1))
        if after.p99 <= 2 * idle.p99:
            break
    yield "back to twice its idle p99 after", f"{time.monotonic() - started:.1f} s"


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
    idle = asyncio.run(_quantile_of(desk.url, questions, 200))
    for page in sorted(docs.rglob("*.md"))[PAGES : 2 * PAGES]:
        target = folder / "more" / page.relative_to(docs)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, target)
    loading = asyncio.run(_quantile_of(desk.url, questions, 200))
    status = desk.status()
    missing = int(status["stats"]["missing_vector_count"])
    yield (
        "search p95 idle, and while it loads",
        (f"{idle:.1f} and {loading:.1f} ms: x{loading / idle:.2f} ({missing:,} vectors still to come)"),
    )


async def _quantile_of(url: str, questions: list[str], calls: int) -> float:
    milliseconds: list[float] = []
    async with aiohttp.ClientSession(headers=HEADERS) as session:
        for number in range(calls):
            began = time.perf_counter()
            await _ask(session, url, f"{questions[number % len(questions)]} {number}")
            milliseconds.append(1000 * (time.perf_counter() - began))
    return _quantile(milliseconds, 0.95)


async def _pour(url: str, questions: list[str], per_second: float, seconds: float) -> Counted:
    counted, open_calls = Counted(), set[asyncio.Task[None]]()
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(headers=HEADERS, connector=connector) as session:
        started, number = time.perf_counter(), 0
        while (elapsed := time.perf_counter() - started) < seconds:
            while number < elapsed * per_second:
                number += 1
                if len(open_calls) >= MOST_OPEN:
                    counted.unsent += 1
                    continue
                call = asyncio.create_task(
                    _count(session, url, f"{questions[number % len(questions)]} {number}", counted)
                )
                open_calls.add(call)
                call.add_done_callback(open_calls.discard)
            await asyncio.sleep(0.005)
        await asyncio.gather(*open_calls)
    return counted


async def _count(session: aiohttp.ClientSession, url: str, question: str, counted: Counted) -> None:
    began = time.perf_counter()
    text, refused = await _ask(session, url, question)
    took = 1000 * (time.perf_counter() - began)
    if not refused:
        counted.answered.append(took)
        return
    counted.refused.append(took)
    counted.hintless += "retry in" not in text


async def _ask(session: aiohttp.ClientSession, url: str, question: str) -> tuple[str, bool]:
    """An answer's text, and whether it was refused."""
    params = {"name": "search_docs", "arguments": {"query": question}}
    body = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    async with session.post(f"{url}/mcp", data=body) as answer:
        raw = await answer.read()
        if answer.status != 200:
            return f"retry in {answer.headers['Retry-After']}" if "Retry-After" in answer.headers else "", True
    message = orjson.loads(raw if raw.startswith(b"{") else raw.split(b"data:", 1)[1].split(b"\n", 1)[0])
    text = message["result"]["content"][0]["text"] if "result" in message else message["error"]["message"]
    return text, "error" in message or bool(message["result"].get("isError"))


def _quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")
