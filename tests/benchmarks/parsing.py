"""Measures parsing and cutting: real pages, and how the time of hard ones grows when they are twice as long."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from hard_pages import HARD, MIB, hard_page
from refdesk.ingest.chunks import ChunkSettings, cut
from refdesk.ingest.formats.markdown import parse


def measure_parsing(docs: Path) -> Iterator[tuple[str, str]]:
    """Rows: CPU-seconds for all real pages, and by what the worst hard page grows."""
    pages = [(path.read_bytes(), path.stem) for path in sorted(docs.rglob("*.md"))]
    started = time.process_time()
    chunk_count = sum(len(cut(parse(raw, name), ChunkSettings())) for raw, name in pages)
    yield "parse and cut, one process", f"{time.process_time() - started:.2f} CPU-s, {chunk_count:,} chunks"
    growth = {name: seconds(name, 2 * MIB) / seconds(name, MIB) for name in HARD}
    worst = max(growth, key=lambda name: growth[name])
    yield "hard page of twice the size takes, worst of all kinds", f"x{growth[worst]:.1f} ({worst})"


def seconds(name: str, size: int) -> float:
    page = hard_page(name, size)
    started = time.process_time()
    cut(parse(page, "page.md"), ChunkSettings())
    return time.process_time() - started
