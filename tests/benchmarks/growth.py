"""How figures grow from the real pages to ten times as many made from them, with made vectors: slopes only."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.calls import read_questions, time_calls
from benchmarks.usage import Usage
from models import build_tiny_model
from system.desks import DeskProcess, running

FACTOR = 10
WINDOW_TOKENS = 512
"""The made tokenizer has short pieces: a text costs up to 1.8 times a real one's tokens, and is not to be cut again for that."""
SWAPPED_SHARE = 0.15
"""Of a copy's words this share is swapped with words of other pages, so that no copy is the same text."""


def measure_growth(docs: Path) -> Iterator[tuple[str, str]]:
    """Rows: each figure at 1x and 10x, and by what it grew."""
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large"
        multiply(docs, large)
        model = build_tiny_model(Path(folder) / "model", dimension=384, window_tokens=WINDOW_TOKENS)
        small_figures = measure(docs, Path(folder) / "data-small", model)
        large_figures = measure(large, Path(folder) / "data-large", model)
    for name, small in small_figures.items():
        yield (
            f"{name}, 1x and {FACTOR}x",
            f"{small:.4g} and {large_figures[name]:.4g}: x{large_figures[name] / small:.1f}",
        )


def measure(docs: Path, data: Path, model: Path) -> dict[str, float]:
    """Figures of one size."""
    desk = DeskProcess(docs, data, model)
    figures: dict[str, float] = {}
    with running(desk):
        assert desk.process is not None
        usage = Usage(desk.process.pid, every_seconds=1)
        usage.start()
        started = time.monotonic()
        desk.wait_until_settled(seconds=1800)
        figures["seconds to the last vector"] = time.monotonic() - started
        figures["CPU-seconds"] = usage.cpu_seconds()
        timing = asyncio.run(time_calls(desk.url, read_questions("opensearch"), 300, 1))
        figures["hybrid p50, ms"] = timing.p50
        figures["peak memory, MiB"] = usage.peak_bytes / 2**20
        usage.stop()
        desk.stop()
    figures["index on disk, MiB"] = sum(path.stat().st_size for path in data.rglob("*") if path.is_file()) / 2**20
    return figures


def multiply(docs: Path, into: Path) -> None:
    """Writes the pages and nine changed copies of each."""
    rng = random.Random(7)
    pages = [path for path in sorted(docs.rglob("*.md")) if path.stat().st_size < 1_000_000]
    pool = [
        word
        for path in pages[:: max(1, len(pages) // 200)]
        for word in path.read_text(encoding="utf-8").split()
        if word.isalpha()
    ]
    for path in pages:
        words = path.read_text(encoding="utf-8").split(" ")
        for copy in range(FACTOR):
            target = into / f"copy{copy}" / path.relative_to(docs)
            target.parent.mkdir(parents=True, exist_ok=True)
            mixed = [
                rng.choice(pool) if copy and word.isalpha() and rng.random() < SWAPPED_SHARE else word for word in words
            ]
            target.write_text(" ".join(mixed), encoding="utf-8")
