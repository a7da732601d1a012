"""Several workers at once, in random turns, with failures, lies and crashes: at rest the index is what the source says.

What must hold at any moment is looked at whenever a record was put or noted and whenever an entry went, and in every answer of a reader.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from fakes.desk import PROJECT, SOURCE, FakeDesk, HereParsers
from fakes.search import FakeSearch
from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.search.v1 import search_pb2
from refdesk.ingest.changes import Change, Ending
from refdesk.ingest.parse_child import parse_document
from refdesk.ingest.parsing import Parsed, ParseTask
from refdesk.ingest.stores import Stores
from simulations.bulk import BulkSearch
from simulations.clock import run
from simulations.docstore import MemoryDocstore
from simulations.weather import STALL_TICKS, SimulatedWeather

WORDS, VECTORS = search_pb2.ENGINE_WORDS, search_pb2.ENGINE_VECTORS
PATHS = ("a.md", "b.md")
MANY = ("alpha", "beta", "alpha beta", "beta gamma", "")
FEW = ("alpha", "alpha beta", "")
SECONDS = 600.0
"""Of the simulated clock, for one run."""


def page(content: str) -> str:
    """Some sections; two contents share those of the same name."""
    return "# Page\n\n" + "\n\n".join(
        f"## {name}\n\n" + " ".join(f"{name}{number}" for number in range(40)) for name in content.split()
    )


class RememberingParsers(HereParsers):
    """Parses what it has not parsed before, for parsing is pure."""

    parsed: dict[ParseTask, Parsed] = {}

    async def parse(self, tasks: Sequence[ParseTask]) -> list[Parsed]:
        await self._weather.pause()
        for task in tasks:
            if task not in self.parsed:
                self.parsed[task] = parse_document(task)
        return [self.parsed[task] for task in tasks]


class Desk(FakeDesk):
    """A desk whose records stand in the real docstore, and that says what is wrong the moment it is."""

    weather: SimulatedWeather

    def __init__(self, weather: SimulatedWeather, search: FakeSearch) -> None:
        super().__init__(weather)
        self.search = search
        self.records = MemoryDocstore(weather)
        self.docstore = self.records  # type: ignore[assignment]
        self.parsers = RememberingParsers(weather)
        self.stores = Stores(PROJECT, self.docstore, self.search)
        self.found: list[str] = []
        self.records.watch = self.search.watch = self.look_at

    def look_at(self, document_id: str) -> None:
        """Notes chunks that the record lists and an engine has not: none, at any moment."""
        followed = {one.name for one in self.followed}
        for head in self.records.heads(document_id):
            if head.generation in followed and not self.found:
                self.found += self._find_unfounded(document_id, head)

    def _find_unfounded(self, document_id: str, head: pb.Head) -> list[str]:
        words = self.search.index(WORDS, PROJECT, head.generation)
        points = self.search.index(VECTORS, PROJECT, head.generation)
        listed = {span.chunk_id for span in head.chunks}
        lost = [f"{one} is listed and has no words" for one in listed - words.keys()]
        if head.embeddable:
            without = listed - points.keys() - set(head.missing_vectors)
            lost += [f"{one} is listed, has no point, and is not missing one" for one in without]
        return [f"{document_id} {one}" for one in lost]

    async def ask(self, generation: str) -> None:
        """A question: hits of both engines, then their texts."""
        hits = [
            one.id for engine in (WORDS, VECTORS) for one in self.search.index(engine, PROJECT, generation).values()
        ]
        await self.weather.pause()
        if not hits:
            return
        request = pb.HydrateChunksRequest(
            project=PROJECT, generation=generation, chunk_ids=list(dict.fromkeys(hits)), include_neighbors=True
        )
        await self.records.hydrate_chunks(request, lambda response: self._judge(request, response))
        self.weather.counts["questions"] += 1

    def _judge(self, request: pb.HydrateChunksRequest, response: pb.HydrateChunksResponse) -> None:
        """An answer shows each hit that its record lists as the record has it, and no other."""
        expected: dict[str, tuple[int, str, str, str]] = {}
        for document_id in self._documents(request):
            expected |= self._expect(document_id, request.generation)
        wanted = {one: expected[one] for one in request.chunk_ids if one in expected}
        shown = {one.chunk_id: (one.revision, one.before, one.text, one.after) for one in response.chunks}
        if shown != wanted and not self.found:
            wrong = [one for one in shown.keys() | wanted.keys() if shown.get(one) != wanted.get(one)]
            self.found.append(f"an answer shows {shown.get(wrong[0])} in place of {wanted.get(wrong[0])}")
        self.weather.counts["stale hits dropped"] += len(request.chunk_ids) - len(shown)

    def _documents(self, request: pb.HydrateChunksRequest) -> set[str]:
        entries = (self.search.index(engine, PROJECT, request.generation) for engine in (WORDS, VECTORS))
        ids_now = {one.document_id for index in entries for one in index.values()}
        return ids_now | {ids.document_id(PROJECT, SOURCE, path) for path in PATHS}

    def _expect(self, document_id: str, generation: str) -> dict[str, tuple[int, str, str, str]]:
        record = self.records.read(document_id, PROJECT)
        if record is None or record.deleted:
            return {}
        head = next((one for one in record.heads if one.generation == generation), pb.Head())
        texts = ["", *(one.lead + record.text[one.start : one.end] + one.tail for one in head.chunks), ""]
        return {
            span.chunk_id: (record.revision, before, text, after)
            for span, before, text, after in zip(head.chunks, texts, texts[1:], texts[2:], strict=False)
        }


class Simulation:
    """One seeded run: a source that changes, a queue that forgets nothing, workers that come and go, and a reader."""

    def __init__(
        self,
        seed: int,
        *,
        monotone: bool = True,
        crashing: float | None = None,
        stalling: float = 0.03,
        workers: int = 3,
        changes: int = 0,
        contents: Sequence[str] = MANY,
    ) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.contents = contents
        self.workers = workers
        share = self.random.choice((0.0, 0.0, 0.05))
        self.weather = SimulatedWeather(
            seed,
            turns=self.random.choice((2, 5)),
            stalling=stalling,
            failing=share,
            lying=share,
            crashing=self.random.choice((0.0, 0.2, 0.2)) if crashing is None else crashing,
        )
        self.is_calm = not share and not self.weather.crashing
        self.between_ticks = self.random.choice((10, 40, 160))
        self.desk = self._make_desk(monotone)
        self.queue: list[Change] = []
        self.changes_left = changes or self.random.choice((2, 2, 3, 5))
        self.busy = 0

    def _make_desk(self, monotone: bool) -> Desk:
        return Desk(self.weather, FakeSearch(self.weather, monotone=monotone))

    @classmethod
    def simulate(cls, seed: int, **settings: Any) -> tuple[list[str], Counter[str]]:
        """What is wrong, and how often what happened."""
        simulation = cls(seed, **settings)
        try:
            with simulation.weather.over(seed):
                found = run(simulation.weather.loop, simulation.run())
        except Exception as error:  # whatever a worker ends with but our own errors is a finding
            found = [f"it ended with {error!r}"]
        finally:
            simulation.desk.records.close()
        counts = simulation.weather.counts
        counts["puts"] += simulation.desk.records.puts
        counts["conflicts"] += simulation.desk.records.conflicts
        return found, counts

    async def run(self) -> list[str]:
        """Runs until everything is at rest, then reconciles once; how the index differs from the source."""
        async with asyncio.timeout(SECONDS):
            await asyncio.gather(*self._actors())
            self.weather.clear_up()
            await self.desk.finish()
            early = self.desk.differences() if self.is_calm else []
            await self._reconcile()
            await self.desk.finish()
        return self.desk.found or early or self.desk.differences()

    def _actors(self) -> list[Coroutine[Any, Any, None]]:
        workers = [self._worker() for _ in range(self.workers)]
        return [self._source(), *workers, self._vectors(), self._reconciler(), self._reader()]

    @property
    def over(self) -> bool:
        return not (self.changes_left or self.queue or self.busy)

    async def _source(self) -> None:
        while self.changes_left:
            await self.weather.rest(self.between_ticks)
            path, other = self.random.sample(PATHS, 2)
            dice = self.random.random()
            if dice < 0.2:
                self.desk.source.remove(path)
            elif path in self.desk.source.documents and dice < 0.4:
                self.desk.source.documents[other] = self.desk.source.documents.pop(path)
                self._announce(other, moved_from=path)
            else:
                self.desk.source.write(path, page(self.random.choice(self.contents)))
            self._announce(path)
            self.changes_left -= 1

    def _announce(self, path: str, moved_from: str = "") -> None:
        for _ in range(self.random.choice((1, 1, 2))):
            self.queue.append(Change(SOURCE, path, moved_from))
        self.random.shuffle(self.queue)

    async def _worker(self) -> None:
        while not self.over:
            if not self.queue:
                await self.weather.rest(30)
                continue
            count = self.random.choice((1, 1, 2))
            taken, self.queue[:count] = self.queue[:count], []
            batch = list(dict.fromkeys(taken))
            self.busy += 1
            outcomes = await self.weather.survive(self._publishing(batch))
            self.busy -= 1
            if outcomes is None:
                self.queue += batch
            else:
                again = (Ending.HELD, Ending.CONFLICTED, Ending.FAILED)
                self.queue += [one for one, done in zip(batch, outcomes, strict=True) if done.ending in again]

    def _publishing(self, batch: list[Change]) -> Callable[[], Coroutine[Any, Any, Any]]:
        return lambda: self.desk.publisher().publish(batch)

    async def _vectors(self) -> None:
        while not self.over:
            if not await self.weather.survive(self.desk.vectors().work):
                await self.weather.rest(80)

    async def _reconciler(self) -> None:
        while not self.over:
            await self.weather.rest(2 * STALL_TICKS)
            await self.weather.survive(self._reconcile)

    async def _reconcile(self) -> None:
        vectors = self.desk.vectors()
        await self.desk.reconciler(now_seconds=self.weather.loop.time(), changed=vectors.kick).run()
        while await vectors.work():
            pass

    async def _reader(self) -> None:
        while not self.over:
            await self.weather.rest(STALL_TICKS)
            await self.weather.survive(lambda: self.desk.ask(self.desk.followed[0].name))


class BulkSimulation(Simulation):
    """The same with words on OpenSearch's bulk requests, some of whose items are busy or refused."""

    def __init__(self, seed: int, **settings: Any) -> None:
        super().__init__(seed, **settings)
        self.weather.failing = self.weather.failing or 0.02
        self.is_calm = False

    def _make_desk(self, monotone: bool) -> Desk:
        return Desk(self.weather, BulkSearch(self.weather))
