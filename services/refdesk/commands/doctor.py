"""Checks this machine and the desk, one line a check: what is well, what is not, and what to do."""

from __future__ import annotations

import importlib
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from refdesk.commands.status import operate
from refdesk.desk import FOLDER, find_url
from refdesk.embedder.models import find_model
from refdesk.errors import RefdeskError
from refdesk.ingest.events.nats_server import find_binary
from refdesk.settings import Settings, load_here

EDGE_COMFORT_CHUNKS = 50_000
FREE_BYTES = 500 * 1024 * 1024


@dataclass(frozen=True)
class Finding:
    """The outcome of one check; `mark` is ✓, ⚠ or ✗."""

    mark: str
    text: str


def examine(config: str) -> Iterator[Finding]:
    """Runs every check, the machine first, then the desk that runs here, if any."""
    yield _python()
    yield from (_engine(module, what) for module, what in ENGINES)
    settings: Settings | None = None
    try:
        settings = load_here({}, config)
        yield Finding("✓", "settings are valid")
    except RefdeskError as error:
        yield Finding("✗", f"settings: {error.message}")
    yield _try("nats-server", lambda: f"nats-server: {find_binary()}")
    if settings is not None:
        model = settings.embedder.model
        yield _try("model", lambda: f"model {model}: {find_model(settings.embedder)}")
    yield _disk(settings)
    yield from _desk()


ENGINES = (("qdrant_edge", "vector engine"), ("tantivy", "keyword engine"), ("onnxruntime", "model runtime"))


def _python() -> Finding:
    return Finding("✓", f"Python {platform.python_version()}, {platform.machine()}")


def _engine(module: str, what: str) -> Finding:
    try:
        importlib.import_module(module)
    except ImportError:
        return Finding("✗", f"{what}: package {module} cannot be loaded; run `make setup` again")
    return Finding("✓", f"{what}: {module} loads")


def _try(what: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding("✓", check())
    except RefdeskError as error:
        return Finding("✗", f"{what}: {error.message}")


def _disk(settings: Settings | None) -> Finding:
    data = Path(settings.data if settings and settings.data else FOLDER)
    there = next(folder for folder in (data, *data.absolute().parents) if folder.exists())
    free = shutil.disk_usage(there).free
    if free < FREE_BYTES:
        return Finding("⚠", f"disk: {free // 2**20} MiB free for {data}; an index needs about 30 MiB for 1,000 pages")
    return Finding("✓", f"disk: {free // 2**30} GiB free for {data}")


def _desk() -> Iterator[Finding]:
    try:
        url = find_url()
        status = operate("status")
    except RefdeskError as error:
        yield Finding("⚠", error.message)
        return
    yield Finding("✓", f"a desk answers at {url}/mcp")
    for project in status["projects"]:
        yield from _project(project["project"], project)


def _project(name: str, project: dict[str, object]) -> Iterator[Finding]:
    stats, ingest = project["stats"], project["ingest"]
    assert isinstance(stats, dict)
    assert isinstance(ingest, dict)
    documents, chunks = int(stats["document_count"]), int(stats["chunk_count"])
    mark = "✓" if documents else "⚠"
    yield Finding(
        mark,
        f'project "{name}": {documents:,} documents, {chunks:,} chunks'
        + ("" if documents else "; put documents into its folder"),
    )
    embedded, embeddable = int(stats["embedded_count"]), int(stats["embeddable_count"])
    if embedded < embeddable:
        yield Finding("⚠", f"vectors: {embedded:,} of {embeddable:,} documents; meaning is searched as they arrive")
    if chunks > EDGE_COMFORT_CHUNKS:
        yield Finding(
            "⚠",
            f"{chunks:,} chunks: above {EDGE_COMFORT_CHUNKS:,} the embedded vector engine slows down; Qdrant is the way on",
        )
    for source in ingest["sources"]:
        if source["message"]:
            yield Finding("⚠", f"source {source['name']}: {source['message']}")
    count = int(str(project["report_count"]))
    if count:
        yield Finding("⚠", f"{count:,} documents are not indexed or have a remark: `refdesk status` names them")
