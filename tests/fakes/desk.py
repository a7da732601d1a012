"""A desk of fakes around the real publishing code, and the check that every fault test ends with."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from fakes.docstore import FakeDocstore
from fakes.embedder import FakeEmbedder
from fakes.search import FakeSearch
from fakes.source import FakeSource
from fakes.weather import Weather
from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.search.v1 import search_pb2
from refdesk.ingest.catalog import Catalog
from refdesk.ingest.changes import Change, Followed
from refdesk.ingest.embedding import Embedding
from refdesk.ingest.generations import Generations
from refdesk.ingest.growing import Growth
from refdesk.ingest.parse_child import parse_documents
from refdesk.ingest.parsing import Parsed, ParseTask
from refdesk.ingest.publish import Publisher
from refdesk.ingest.reconcile import Reconciler
from refdesk.ingest.records import Generation, find_head
from refdesk.ingest.settings import IngestSettings
from refdesk.ingest.stores import Stores
from refdesk.ingest.vectors import Vectors
from refdesk.ingest.work import relative_path
from refdesk.openapi.pages import SpecPages, make_pages
from refdesk.projects import ProjectSettings, SourceSettings

PROJECT, SOURCE = "handbook", "guide"
MADE = Generation("made", 1, 250, frozenset({"en"}))
LATER_SECONDS = 4102444800.0  # the reconciler's clock: everything was put long ago


class HereParsers:
    """Parses in this process; a text that holds `refused` fails by itself."""

    def __init__(self, weather: Weather) -> None:
        self._weather = weather
        self.refused = "\0nothing"

    async def parse(self, tasks: Sequence[ParseTask]) -> list[Parsed]:
        await self._weather.pause()
        return [
            Parsed(failure="parsing failed") if self.refused.encode() in task.content else parse_documents([task])[0]
            for task in tasks
        ]

    async def expand(self, content: bytes) -> SpecPages:
        await self._weather.pause()
        return make_pages(content)


class FakeDesk:
    """One project with one source; workers made here share the engines and nothing else."""

    def __init__(
        self, weather: Weather | None = None, *, conditional: bool = True, monotone: bool = True, kind: str = "folder"
    ) -> None:
        self.weather = weather or Weather()
        self.docstore = FakeDocstore(self.weather, conditional=conditional)
        self.search = FakeSearch(self.weather, monotone=monotone)
        self.embedder = FakeEmbedder(self.weather)
        self.source = FakeSource(self.weather, revisions_return=True)
        self.parsers = HereParsers(self.weather)
        self.settings = IngestSettings(embed_texts=2, vector_round_chunks=8)
        self.stores = Stores(PROJECT, self.docstore, self.search)
        self.source_settings = SourceSettings(name=SOURCE, kind="folder", path="/", chunk_tokens=100, language="en")
        self.followed: list[Generation] = [MADE]
        self.catalog: Catalog | None = None
        self.sources = {SOURCE: Followed(self.source_settings, self.source)}
        self.clock: Callable[[], float] = time.time

    async def generations(self) -> list[Generation]:
        return await self.catalog.generations(PROJECT) if self.catalog else list(self.followed)

    async def declare(self, **settings: object) -> None:
        """From here on the catalog says which generations are followed."""
        self.catalog = Catalog(self.docstore, self.embedder)
        await self.catalog.declare(PROJECT, ProjectSettings.model_validate(settings))

    def growth(self) -> Growth:
        """A worker of its own, for heads from stored text."""
        return Growth(self.stores, self.parsers, self.generations, changed=lambda _: None)

    def moves(self, *, now: Callable[[], float] = time.time, **settings: Any) -> Generations:
        """A worker of its own, for what the catalog asks for."""
        assert self.catalog

        async def verify(generation: str) -> int:
            return (await self.reconciler(now_seconds=self.clock()).run_one(generation)).republished_count

        reconcile = self.reconciler(now_seconds=self.clock()).run
        settings = {"generation_grace_seconds": 0, **settings}
        return Generations(
            PROJECT,
            self.catalog,
            self.stores,
            self.growth(),
            reconcile,
            verify,
            asyncio.Lock(),
            IngestSettings(**settings),
            now=now,
        )

    def publisher(self, vectors: Vectors | None = None) -> Publisher:
        """A worker of its own."""
        return Publisher(
            self.stores,
            self.sources,
            self.parsers,
            self.generations,
            behind=vectors or self.vectors(),
            pause=self.weather.pause,
            seed=self.weather.random.randrange(1 << 30),
        )

    def vectors(self) -> Vectors:
        """A worker of its own, for what comes behind the words."""
        embedding = Embedding(self.embedder, texts=2, requests=2)
        return Vectors(
            self.stores, embedding, self.generations, lambda changes: self.publisher().publish(changes), self.settings
        )

    def reconciler(
        self, *, now_seconds: float = LATER_SECONDS, changed: Callable[[Sequence[pb.Document]], None] = lambda _: None
    ) -> Reconciler:
        """A reconciler for which everything was put long ago; with `now_seconds` 0 everything was put just now."""
        publisher = self.publisher()
        return Reconciler(
            self.stores,
            self.sources,
            self.generations,
            publisher.publish,
            self.growth().grow,
            changed=changed,
            now=lambda: now_seconds,
            purge_days=1e6,
        )

    def change(self, path: str) -> Change:
        """A hint at one document."""
        return Change(SOURCE, path)

    async def publish(self, *paths: str, bulk: bool = False) -> list[str]:
        """Publishes as one worker; how each ended."""
        outcomes = await self.publisher().publish([Change(SOURCE, path, bulk=bulk) for path in paths])
        return [outcome.ending.value for outcome in outcomes]

    async def finish(self) -> None:
        """Does all the vectors that are pending."""
        vectors = self.vectors()
        for _ in range(200):
            if not await vectors.work():
                return
        raise AssertionError("vectors never end")

    def entries(self, engine: int, document_id: str = "", generation: str = "") -> dict[str, int]:
        """Id to stamp of what an engine holds in a generation, the first one where none is named."""
        index = self.search.index(engine, PROJECT, generation or self.followed[0].name)
        return {one: entry.stamp for one, entry in index.items() if document_id in ("", entry.document_id)}

    def differences(self) -> list[str]:
        """How records, engines and the source differ; nothing at rest."""
        found: list[str] = []
        for path, raw in self.source.documents.items():
            record = self.docstore.records.get(ids.document_id(PROJECT, SOURCE, path))
            if record is None or record.deleted:
                found.append(f"{path} is not there")
            elif record.text.strip() != raw.content.decode().strip():
                found.append(f"{path} has another text")
        for record in self.docstore.records.values():
            if not record.deleted and relative_path(record) not in self.source.documents:
                found.append(f"{record.path} is still there")
        followed = {generation.name for generation in self.followed}
        for generation in self.followed:
            found += self._generation_differences(generation)
        for record in self.docstore.records.values():
            for head in record.heads:
                if head.generation not in followed:
                    found.append(f"{record.path} has a head of {head.generation}")
        for (engine, _, name), entries in self.search.indices.items():
            if entries and name not in followed:
                found.append(f"{len(entries)} entries of {name} in {search_pb2.Engine.Name(engine)}")
        return found

    def unfounded(self) -> list[str]:
        """Chunks that a record lists in a followed generation and the keyword index has not; none, at any moment."""
        found = []
        for generation in self.followed:
            words = self.entries(search_pb2.ENGINE_WORDS, generation=generation.name).keys()
            found += [
                f"{record.path} r{record.revision} lists {span.chunk_id}"
                for record in self.docstore.records.values()
                for head in record.heads
                if head.generation == generation.name
                for span in head.chunks
                if span.chunk_id not in words
            ]
        return found

    def _generation_differences(self, generation: Generation) -> list[str]:
        known: dict[int, set[str]] = {search_pb2.ENGINE_WORDS: set(), search_pb2.ENGINE_VECTORS: set()}
        found: list[str] = []
        for record in self.docstore.records.values():
            found += self._head_differences(record, generation, known)
        for engine, ids_known in known.items():
            for orphan in self.entries(engine, generation=generation.name).keys() - ids_known:
                found.append(f"orphan {orphan} of {generation.name} in {search_pb2.Engine.Name(engine)}")
        return found

    def _head_differences(self, record: pb.Document, generation: Generation, known: dict[int, set[str]]) -> list[str]:
        head = find_head(record, generation.name)
        path = f"{record.path} in {generation.name}"
        if head is None:
            return [] if record.deleted else [f"{path} has no head"]
        found = []
        if head.missing_vectors or not head.swept:
            found.append(f"{path} is unfinished")
        listed = [span.chunk_id for span in head.chunks]
        if len(set(listed)) != len(listed):
            found.append(f"{path} lists a chunk twice")
        whole = [record.document_id] if listed else []
        for engine in known:
            known[engine].update(listed + whole)
            for missing in set(listed + whole) - self.entries(engine, generation=generation.name).keys():
                found.append(f"{path}: {missing} is missing in {search_pb2.Engine.Name(engine)}")
        return found
