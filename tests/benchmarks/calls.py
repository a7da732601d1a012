"""Calls search_docs over HTTP as a client with a kept connection does, one at a time or several at once."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import yaml

from benchmarks.usage import Timing, summarise

QUESTIONS = Path(__file__).resolve().parent.parent / "eval" / "questions"
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
}


def read_questions(corpus: str) -> list[str]:
    """The questions that people ask of this corpus."""
    rows = yaml.safe_load((QUESTIONS / f"{corpus}.yaml").read_text(encoding="utf-8"))
    return [row["question"] for row in rows]


async def time_calls(url: str, questions: list[str], calls: int, at_once: int) -> Timing:
    """Asks `calls` questions, `at_once` at a time, each question another text so that no cache of vectors answers."""
    seconds: list[float] = []
    numbers = iter(range(calls))
    connector = aiohttp.TCPConnector(limit=at_once)
    async with aiohttp.ClientSession(headers=HEADERS, connector=connector) as session:
        await asyncio.gather(*(_ask(session, url, f"{questions[0]} warm {n}") for n in range(at_once * 2)))
        started = time.perf_counter()

        async def worker() -> None:
            for number in numbers:
                question = f"{questions[number % len(questions)]} {number}"
                began = time.perf_counter()
                await _ask(session, url, question)
                seconds.append(time.perf_counter() - began)

        await asyncio.gather(*(worker() for _ in range(at_once)))
        return summarise(seconds, time.perf_counter() - started)


async def _ask(session: aiohttp.ClientSession, url: str, question: str) -> None:
    params = {"name": "search_docs", "arguments": {"query": question}}
    body = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    async with session.post(f"{url}/mcp", data=body) as answer:
        raw = await answer.read()
    result: dict[str, Any] = orjson.loads(raw if raw.startswith(b"{") else raw.split(b"data:", 1)[1].split(b"\n", 1)[0])
    if result.get("error") or result["result"].get("isError"):
        raise RuntimeError(f"search_docs failed: {raw[:300]!r}")
