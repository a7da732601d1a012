"""Measures the embedder against a bare onnxruntime loop on the same chunks in the same run: `python -m tests.benchmarks.embedding`."""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from refdesk.api.embedder.v1 import embedder_pb2 as pb
from refdesk.embedder.cores import count_cores
from refdesk.embedder.models import find_model
from refdesk.embedder.places import GRAPH, TOKENIZER
from refdesk.embedder.registry import DEFAULT_MODEL
from refdesk.embedder.service import EmbedderService
from refdesk.embedder.settings import EmbedderSettings

ROOT = Path(__file__).resolve().parents[2]
CORPORA = Path(os.environ.get("REFDESK_CORPORA", ROOT.parent / "shared" / "corpora"))
CHUNK_TOKENS = 200
BATCH = 64
QUERIES = (
    "how do I roll back a release",
    "retention flag",
    "what does connection refused mean here",
    "create an index with replicas",
)


@dataclass(frozen=True)
class Rate:
    """One pass over all chunks."""

    per_second: float
    per_cpu_second: float


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--models", default="")
    parser.add_argument("--chunks", type=int, default=200)
    parser.add_argument("--passes", type=int, default=3)
    arguments = parser.parse_args()
    settings = EmbedderSettings(model=arguments.model, models=arguments.models, kept_query_vectors=0)
    rows = asyncio.run(measure_embedding(settings, arguments.chunks, arguments.passes))
    width = max(map(len, rows))
    for name, value in rows.items():
        sys.stdout.write(f"{name:<{width}}  {value}\n")


async def measure_embedding(settings: EmbedderSettings, chunks: int, passes: int) -> dict[str, str]:
    """What is measured by name, ready to print; bare and served passes take turns."""
    folder = find_model(settings)
    service = EmbedderService(settings)
    started = time.perf_counter()
    await service.start()
    start_seconds = time.perf_counter() - started
    texts = take_chunks(folder.path, chunks)
    threads = settings.workers or count_cores()
    bare, served = [], []
    for _ in range(passes):
        bare.append(await asyncio.to_thread(run_bare, folder.path, folder.entry.passage_prefix, texts, threads))
        served.append(await run_service(service, folder.entry.model_id, texts))
    alone = await time_queries(service, folder.entry.model_id, 60)
    bulk = asyncio.create_task(run_service(service, folder.entry.model_id, texts))
    beside = await time_queries(service, folder.entry.model_id, 60)
    await bulk
    await service.close()
    ratios = [mine.per_second / raw.per_second for raw, mine in zip(bare, served, strict=True)]
    cpu_ratios = [mine.per_cpu_second / raw.per_cpu_second for raw, mine in zip(bare, served, strict=True)]
    return {
        f"embedding: {folder.entry.model_id}, chunks": f"{len(texts)} of about {CHUNK_TOKENS} tokens, {threads} threads",
        "bare onnxruntime, chunks/s (per cpu-s)": _rates(bare),
        "served, chunks/s (per cpu-s)": _rates(served),
        "served over bare": f"{statistics.median(ratios):.2f} wall, {statistics.median(cpu_ratios):.2f} cpu",
        "query p50/p99 alone, ms": _milliseconds(alone),
        "query p50/p99 beside bulk, ms": _milliseconds(beside),
        "start, s": f"{start_seconds:.2f}",
        "peak memory, bare session included, MB": f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}",
    }


def take_chunks(model: Path, count: int) -> list[str]:
    """Pieces of real Markdown of about CHUNK_TOKENS tokens; refdesk's own docs where no corpora are at hand."""
    tokenizer = Tokenizer.from_file(str(model / TOKENIZER))
    files = sorted(CORPORA.rglob("*.md")) or sorted(ROOT.rglob("docs/**/*.md"))
    if not files:
        raise SystemExit(
            f"no Markdown below {CORPORA} or {ROOT / 'docs'}: set REFDESK_CORPORA to a folder of documents"
        )
    chunks: list[str] = []
    for file in files[:: max(1, len(files) // count)]:
        text = file.read_text(encoding="utf-8", errors="replace")[:20_000]
        offsets = tokenizer.encode(text, add_special_tokens=False).offsets
        for at in range(0, min(len(offsets) - CHUNK_TOKENS, 3 * CHUNK_TOKENS), CHUNK_TOKENS):
            chunks.append(text[offsets[at][0] : offsets[at + CHUNK_TOKENS - 1][1]])
    return list(islice(cycle(chunks), count))


def run_bare(model: Path, prefix: str, texts: list[str], threads: int) -> Rate:
    """The ceiling: ready token ids, plain sessions' runs, as many threads as the service has workers."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model / GRAPH), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(model / TOKENIZER))
    rows = [np.array([tokenizer.encode(prefix + text).ids], np.int64) for text in texts]

    def run(row: NDArray[np.int64]) -> None:
        session.run(None, {"input_ids": row})

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, rows[: 2 * threads]))
        wall, cpu = time.perf_counter(), time.process_time()
        list(pool.map(run, rows))
        return _rate(len(rows), wall, cpu)


async def run_service(service: EmbedderService, model_id: str, texts: list[str]) -> Rate:
    """All texts as passages, in calls as ingest makes them, two under way at a time."""
    batches = [texts[at : at + BATCH] for at in range(0, len(texts), BATCH)]
    under_way = asyncio.Semaphore(2)

    async def embed(batch: list[str]) -> None:
        async with under_way:
            request = pb.EmbedTextsRequest(model_id=model_id, purpose=pb.PURPOSE_PASSAGE, texts=batch)
            response = await service.embed_texts(request)
            assert all(item.WhichOneof("outcome") == "vector" for item in response.items)

    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*map(embed, batches))
    return _rate(len(texts), wall, cpu)


async def time_queries(service: EmbedderService, model_id: str, count: int) -> list[float]:
    """Seconds of each of `count` queries, one after the other."""
    seconds = []
    for text in islice(cycle(QUERIES), count):
        started = time.perf_counter()
        await service.embed_texts(pb.EmbedTextsRequest(model_id=model_id, purpose=pb.PURPOSE_QUERY, texts=[text]))
        seconds.append(time.perf_counter() - started)
    return seconds


def _rate(count: int, wall: float, cpu: float) -> Rate:
    return Rate(count / (time.perf_counter() - wall), count / (time.process_time() - cpu))


def _rates(passes: list[Rate]) -> str:
    return f"{statistics.median(p.per_second for p in passes):.1f} ({statistics.median(p.per_cpu_second for p in passes):.1f})"


def _milliseconds(seconds: list[float]) -> str:
    p50, p99 = (1000 * number for number in np.percentile(seconds, [50, 99]))
    return f"{p50:.1f} / {p99:.1f}"


if __name__ == "__main__":
    main()
