"""Runs rows of faults under edits and questions and checks the invariants at the end: `python -m faults.run [--times 20] [row …]`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from faults.judge import Fault, judge
from faults.rows import ROWS, Row
from faults.stand import Stand, stand
from faults.traffic import Edits, Pushes, Questions, page
from models import build_tiny_model
from system.audit import audit
from system.pushing import SOURCE as PUSH_SOURCE
from system.pushing import write_folder

PAGES = 24
EVENTS = 500
EVENTS_PER_SECOND = 15.0
BETWEEN_SECONDS = 2.0
SMALL_DISK_BYTES = 192 * 2**20


@dataclass(frozen=True)
class Outcome:
    """What a run of a row showed."""

    row: str
    seed: int
    edits: int
    pushed: int
    """Acknowledged, all of which must stand."""
    asked: int
    degraded: int
    failed: int
    problems: list[str]


def run_row(row: Row, seed: int, folder: Path, model: Path, events: int = EVENTS) -> Outcome:
    """Breaks and mends in an order of the seed while pages change and questions are asked, then audits index against folder."""
    rng = random.Random(f"{row.name} {seed}")
    docs, data = folder / "handbook", folder / "data"
    for number in range(PAGES):
        path = docs / f"folder{number % 3}" / f"page{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(path.stem, 0), encoding="utf-8")
    disk = small_disk(data) if row.on_small_disk else contextlib.nullcontext()
    with disk, stand(docs, data, model, on_opensearch=row.on_opensearch, takes_pushes=row.takes_pushes) as one:
        edits, questions = Edits(docs, seed, events, EVENTS_PER_SECOND), Questions(one.desk)
        pushes = Pushes(one.desk, seed) if row.takes_pushes else None
        edits.start()
        questions.start()
        if pushes:
            pushes.start()
        faults: list[Fault] = []
        breaks = list(row.breaks)
        while edits.is_alive() or breaks:
            if not breaks:
                breaks = list(row.breaks) if edits.is_alive() else []
            time.sleep(BETWEEN_SECONDS * rng.random())
            if breaks:
                faults += breaks.pop(rng.randrange(len(breaks)))(one, rng)
        edits.join(60)
        problems = _end_pushes(one, pushes) + _wait_until_whole(one)
        time.sleep(max(0.0, max(fault.ended_at for fault in faults) + 12.0 - time.monotonic()))
        questions.end()
        problems += judge(questions.asked, faults)
        codes = one.end()
        if any(codes):
            problems.append(f"exit codes {codes}: {one.desk.tail()}")
        beside = {PUSH_SOURCE: write_folder(folder / "pushed", one.pushed)} if pushes else {}
        problems += asyncio.run(audit(data, docs, docs.name, model, one.engines, set_back=row.sets_back, beside=beside))
    degraded = sum(1 for one in questions.asked if one.mode not in ("hybrid", ""))
    failed = sum(1 for one in questions.asked if not one.mode)
    pushed = len(pushes.acknowledged) if pushes else 0
    return Outcome(row.name, seed, edits.done, pushed, len(questions.asked), degraded, failed, problems)


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A tmpfs on `folder`, for as long as the block runs."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK_BYTES}", "tmpfs", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def _end_pushes(one: Stand, pushes: Pushes | None) -> list[str]:
    """Waits until all is acknowledged, and tells the stand what must stand of it."""
    if pushes is None:
        return []
    pushes.join(60)
    problems = ["pushes were never acknowledged"] if pushes.is_alive() else []
    pushes.end()
    one.pushed = pushes.expected
    return problems + pushes.refusals


def _wait_until_whole(one: Stand) -> list[str]:
    try:
        one.wait_until_whole()
    except AssertionError as error:
        return [str(error)]
    return []


def main() -> int:
    """Runs the rows that are named, all of them by default, each so many times; 1 where an invariant did not hold."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*", help=f"of {', '.join(row.name for row in ROWS)}")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--keep", type=Path, help="folder for the data of each run, kept")
    chosen = parser.parse_args()
    broken = 0
    with tempfile.TemporaryDirectory() as root:
        folder = chosen.keep or Path(root)
        model = build_tiny_model(Path(root) / "model")
        for row in ROWS:
            if chosen.rows and row.name not in chosen.rows:
                continue
            for seed in range(chosen.seed, chosen.seed + chosen.times):
                outcome = run_row(row, seed, folder / f"{row.name}-{seed}", model, chosen.events)
                broken += bool(outcome.problems)
                print(
                    f"{row.name:<12} seed {seed:<4} edits {outcome.edits:<4} "
                    f"pushes {outcome.pushed:<4} answers {outcome.asked:<4} degraded {outcome.degraded:<4} "
                    f"errors {outcome.failed:<4} {'ok' if not outcome.problems else 'BROKEN'}",
                    flush=True,
                )
                for problem in outcome.problems[:20]:
                    print(f"    {problem[:600]}", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
