"""`make bench`: indexes real pages with a real desk, asks it over MCP, and prints a table of what it measured."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.calls import read_questions, time_calls
from benchmarks.embedding import measure_embedding
from benchmarks.growth import measure_growth
from benchmarks.inside import measure_inside
from benchmarks.parsing import measure_parsing
from benchmarks.pressure import OVERLOAD_SECONDS, measure_pressure
from benchmarks.usage import Timing, Usage, wait_for
from refdesk.embedder.registry import DEFAULT_MODEL
from refdesk.embedder.settings import EmbedderSettings
from system.desks import DeskProcess, running

ROOT = Path(__file__).resolve().parents[2]
CORPORA = Path(os.environ.get("REFDESK_CORPORA", ROOT.parent / "shared" / "corpora"))
LEXICAL_ONLY = {"REFDESK_SEARCH__LEGS": "[lexical]"}
Row = tuple[str, str]


def main() -> None:
    """Prints one section after another, as each is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="parsing, embedding, index, pressure or growth")
    parser.add_argument("--docs", default=str(CORPORA / "opensearch"))
    parser.add_argument("--corpus", default="opensearch", help="whose questions are asked")
    parser.add_argument("--seconds", type=float, default=OVERLOAD_SECONDS, help="how long pressure asks for too much")
    arguments = parser.parse_args()
    docs = Path(arguments.docs)
    if not docs.is_dir():
        docs, arguments.corpus = ROOT / "docs", "opensearch"
    sections = {
        "parsing": lambda: measure_parsing(docs),
        "embedding": lambda: embedding_rows(),
        "index": lambda: index_rows(docs, arguments.corpus),
        "pressure": lambda: measure_pressure(docs, arguments.corpus, arguments.seconds),
        "growth": lambda: measure_growth(docs),
    }
    print(
        f"{len(list(docs.rglob('*.md'))):,} pages of {docs.name}; {os.cpu_count()} CPUs; Python {sys.version.split()[0]}"
    )
    for name, rows in sections.items():
        if arguments.only in ("", name):
            print(f"\n{name}")
            for what, figure in rows():
                print(f"  {what:<52} {figure}", flush=True)


def embedding_rows() -> Iterator[Row]:
    """The embedder against a bare onnxruntime loop in the same run."""
    rows = asyncio.run(measure_embedding(EmbedderSettings(model=DEFAULT_MODEL, kept_query_vectors=0), 200, 3))
    yield from ((what, str(figure)) for what, figure in rows.items())


def index_rows(docs: Path, corpus: str) -> Iterator[Row]:
    """A first load, words then vectors, and then questions over MCP."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        desk = DeskProcess(docs, data, DEFAULT_MODEL)
        with running(desk):
            yield from load_rows(desk)
            yield from query_rows(desk, "hybrid", corpus)
            assert desk.stop() == 0
        started = time.monotonic()
        with running(desk):
            yield "second start until it answers", f"{time.monotonic() - started:.1f} s"
            assert desk.stop() == 0
        with running(DeskProcess(docs, data, DEFAULT_MODEL, LEXICAL_ONLY)) as lexical:
            yield from query_rows(lexical, "lexical", corpus)
        yield from asyncio.run(measure_inside(docs, data, read_questions(corpus)))


def load_rows(desk: DeskProcess) -> Iterator[Row]:
    """How fast words, then vectors, are there, and what that took."""
    assert desk.process is not None
    usage = Usage(desk.process.pid)
    usage.start()
    started, before = time.monotonic(), usage.cpu_seconds()
    wait_for(lambda: "### 1." in desk.text("search_docs", {"query": "index settings"}), 60)
    yield "first lexical answer after it answers at all", f"{time.monotonic() - started:.1f} s"
    pages = len(list(desk.docs.rglob("*.md")))
    wait_for(lambda: words_are_there(desk, pages), 300, every=0.25)  # asking costs the desk something too
    took, cpu = time.monotonic() - started, usage.cpu_seconds() - before
    yield "words of all pages searchable", f"{took:.1f} s, {pages / took:.0f} docs/s, {cpu:.1f} CPU-s"
    stats = desk.wait_until_settled(seconds=1800)["stats"]
    chunks, took = int(stats["chunk_count"]), time.monotonic() - started - took
    yield "vectors of all pages after that", f"{took:.0f} s, {chunks / took:.0f} chunks/s of {chunks:,}"
    usage.stop()
    parts = ", ".join(f"{name} {size / 2**20:.0f}" for name, size in sorted(usage.peak_parts.items()))
    yield "peak memory, all processes (PSS)", f"{usage.peak_bytes / 2**20:.0f} MiB: {parts}"


def words_are_there(desk: DeskProcess, pages: int) -> bool:
    """Whether every page is committed, which it is only when its words can be found, or reported."""
    status = desk.status()
    return int(status["stats"]["document_count"]) + int(status["report_count"]) >= pages


def query_rows(desk: DeskProcess, mode: str, corpus: str) -> Iterator[Row]:
    """Questions over MCP, one at a time and eight at once, and the same question again and again."""
    assert desk.process is not None
    usage = Usage(desk.process.pid)
    questions = read_questions(corpus)
    for at_once, calls in ((1, 600), (8, 1200)):
        before = usage.cpu_seconds()
        timing = asyncio.run(time_calls(desk.url, questions, calls, at_once))
        cpu = 1000 * (usage.cpu_seconds() - before) / calls
        yield f"search_docs, {mode}, {at_once} at once", line(timing) + f", {cpu:.1f} CPU-ms"


def line(timing: Timing) -> str:
    return f"p50 {timing.p50:.1f} ms, p99 {timing.p99:.1f} ms, {timing.per_second:.0f}/s"


if __name__ == "__main__":
    main()
