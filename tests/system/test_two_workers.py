"""Two workers publish the same documents at once while files change under them, on real engines: nothing lost, twice or left over."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from fakes.desk import HereParsers
from fakes.weather import Weather
from models import build_tiny_model
from refdesk.app import App
from refdesk.ingest.catalog import Catalog
from refdesk.ingest.changes import Change, Followed
from refdesk.ingest.embedding import Embedding
from refdesk.ingest.growing import Growth
from refdesk.ingest.publish import Publisher
from refdesk.ingest.reconcile import Reconciler
from refdesk.ingest.settings import IngestSettings
from refdesk.ingest.sources.folder import FolderSource
from refdesk.ingest.stores import Stores
from refdesk.ingest.vectors import Vectors
from refdesk.projects import ProjectSettings, SourceSettings
from refdesk.settings import load
from system.audit import PROJECT, audit

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

PAGES = [f"page{n}.md" for n in range(4)]
ROUNDS = 40
SETTINGS = IngestSettings(vector_round_chunks=4, embed_texts=2)


def text(rng: random.Random) -> str:
    """A page of a few sections out of a small stock, so that chunks come back and go again."""
    words = rng.sample(["amber", "birch", "cedar", "damask", "elder", "fennel"], rng.randrange(1, 5))
    return "# Page\n\n" + "\n\n".join(f"## {word}\n\n" + f"All about {word} and its use. " * 12 for word in words)


def change_files(docs: Path, rng: random.Random) -> None:
    for name in rng.sample(PAGES, 2):
        if rng.random() < 0.15:
            (docs / name).unlink(missing_ok=True)
        else:
            (docs / name).write_text(text(rng), encoding="utf-8")


class Desk:
    """Real docstore, embedder and search, with workers that share nothing else."""

    def __init__(self, app: App, docs: Path) -> None:
        self.settings = SourceSettings(name="handbook", path=str(docs))
        self.sources = {"handbook": Followed(self.settings, FolderSource(self.settings))}
        self.stores = Stores(PROJECT, app.hold("docstore"), app.hold("search"))
        self.embedder = app.hold("embedder")
        self.catalog = Catalog(app.hold("docstore"), self.embedder)

    def worker(self) -> tuple[Publisher, Vectors]:
        generations = lambda: self.catalog.generations(PROJECT)  # noqa: E731
        parsers = HereParsers(Weather())

        republish = lambda changes: publisher.publish(changes)  # noqa: E731
        vectors = Vectors(self.stores, Embedding(self.embedder, texts=2, requests=2), generations, republish, SETTINGS)
        publisher = Publisher(self.stores, self.sources, parsers, generations, behind=vectors)
        return publisher, vectors

    def reconciler(self, publisher: Publisher) -> Reconciler:
        generations = lambda: self.catalog.generations(PROJECT)  # noqa: E731
        growth = Growth(self.stores, HereParsers(Weather()), generations, changed=lambda _: None)
        return Reconciler(self.stores, self.sources, generations, publisher.publish, growth.grow)


async def work(desk: Desk, docs: Path, seed: int) -> None:
    """One worker: publishes some documents as they are now, and now and then does a round of vectors."""
    rng = random.Random(seed)
    publisher, vectors = desk.worker()
    for _ in range(ROUNDS):
        change_files(docs, rng)
        await publisher.publish([Change("handbook", name) for name in rng.sample(PAGES, 3)])
        if rng.random() < 0.3:
            await vectors.work()


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_two_workers_on_the_same_documents_leave_the_index_equal_to_the_folder(seed: int, tmp_path: Path) -> None:
    docs, data, model = tmp_path / "docs", tmp_path / "data", build_tiny_model(tmp_path / "model")
    docs.mkdir()
    app = App(load("", {}, {"embedder": {"model": str(model)}}), data, ("docstore", "embedder", "search"))
    await app.start()
    try:
        desk = Desk(app, docs)
        await desk.catalog.declare(PROJECT, ProjectSettings(sources=(desk.settings,)))
        async with asyncio.timeout(120):
            await asyncio.gather(work(desk, docs, seed * 10), work(desk, docs, seed * 10 + 1))
            publisher, vectors = desk.worker()
            await publisher.publish([Change("handbook", name) for name in PAGES])
            while await vectors.work():
                pass
            findings = await desk.reconciler(publisher).run()
            while await vectors.work():
                pass
    finally:
        await app.close()
    assert findings.republished_count == 0, "the engines had everything before reconciling"
    assert await audit(data, docs, "handbook", model) == []
