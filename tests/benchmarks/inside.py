"""Asks an index inside one process, so that the whole answer can be held against the slower of its two legs in the same run."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.api.search.v1 import search_pb2
from refdesk.app import App
from refdesk.embedder.registry import DEFAULT_MODEL
from refdesk.gateway.answers import Question, SearchCore
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.profiles import DOCS
from refdesk.settings import load

CALLS = 400


class Watched:
    """Search as the gateway holds it, noting for each call how long its slower leg took, seconds."""

    def __init__(self, search: Any) -> None:
        self._search = search
        self.slower_leg_seconds: list[float] = []

    async def retrieve(self, request: Any) -> Any:
        response = await self._search.retrieve(request)
        self.slower_leg_seconds.append(max(leg.elapsed_microseconds for leg in response.legs) / 1e6)
        return response


async def measure_inside(docs: Path, data: Path, questions: list[str]) -> list[tuple[str, str]]:
    """Rows: p50 of a whole search inside the server, of its slower leg, and the ratio of the two."""
    app = App(
        load("", {}, {"embedder": {"model": DEFAULT_MODEL, "kept_query_vectors": 0}}),
        data,
        ("docstore", "embedder", "search"),
    )
    await app.start()
    try:
        docstore, embedder = app.hold("docstore"), app.hold("embedder")
        watched = Watched(app.hold("search"))
        core = SearchCore(docstore, watched, Catalog(docstore, embedder, None, most_seconds=60, read_seconds=5))  # type: ignore[arg-type]
        project = (await docstore.get_project(docstore_pb2.GetProjectRequest(project="default"))).project
        whole = []
        for number in range(CALLS):
            text = f"{questions[number % len(questions)]} {number}"
            started = time.perf_counter()
            await core.answer(Question(project, text, 5, search_pb2.Filter(), DOCS))
            whole.append(time.perf_counter() - started)
    finally:
        await app.close()
    answer, leg = middle(whole[20:]), middle(watched.slower_leg_seconds[20:])
    return [
        ("whole search inside the server, p50", f"{1000 * answer:.1f} ms"),
        ("its slower leg, p50", f"{1000 * leg:.1f} ms"),
        ("ratio", f"{answer / leg:.2f}"),
    ]


def middle(seconds: list[float]) -> float:
    return sorted(seconds)[len(seconds) // 2]
