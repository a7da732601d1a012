"""Everything that ingest holds of one project: its source followers, publisher, vectors and reconciler; knows nothing of the queue."""

from __future__ import annotations

import asyncio
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_pb
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.ingest.v1 import ingest_pb2 as pb
from refdesk.api.search.v1.search_protocol import Search
from refdesk.ingest.backlog import Holdings
from refdesk.ingest.catalog import Catalog
from refdesk.ingest.changes import Change, Ending, Followed, Outcome
from refdesk.ingest.embedding import Embedding
from refdesk.ingest.events.interface import Events
from refdesk.ingest.following import Follower
from refdesk.ingest.generation_report import report_generations
from refdesk.ingest.generations import Generations
from refdesk.ingest.growing import Growth
from refdesk.ingest.guard import DeleteLimit
from refdesk.ingest.menus import EVERY_SECONDS as MENU_SECONDS
from refdesk.ingest.menus import Menus
from refdesk.ingest.parsing import Parsers
from refdesk.ingest.publish import Publisher
from refdesk.ingest.reconcile import Findings, Reconciler
from refdesk.ingest.settings import IngestSettings
from refdesk.ingest.source_records import REPORTS, SourceRecords
from refdesk.ingest.sources.folder import FolderSource
from refdesk.ingest.sources.interface import DocumentSource
from refdesk.ingest.sources.openapi import SpecSource
from refdesk.ingest.sources.push import PushSource
from refdesk.ingest.sources.raw_reader import RawReader
from refdesk.ingest.sources.rules import read_globs
from refdesk.ingest.sources.withdrawn import WithdrawnSource
from refdesk.ingest.stores import Stores
from refdesk.ingest.supervision import OUTAGE
from refdesk.ingest.vectors import Vectors
from refdesk.projects import ProjectSettings, SourceSettings
from refdesk.rpc import deadline

MODEL_SECONDS = 1.0
"""How long whoever asks for the status waits for the embedder."""
SOURCE_KINDS: Mapping[str, Callable[[SourceSettings, Stores, float], DocumentSource]] = {
    "folder": lambda settings, stores, call_seconds: FolderSource(settings),
    "push": lambda settings, stores, call_seconds: PushSource(
        settings, RawReader(stores.docstore, stores.project, settings.name, call_seconds)
    ),
}
"""What reads each kind of source."""


class ProjectWork:
    """One declared project."""

    def __init__(
        self,
        slug: str,
        declared: ProjectSettings,
        settings: IngestSettings,
        docstore: Docstore,
        search: Search,
        catalog: Catalog,
        embedding: Embedding,
        parsers: Parsers,
        events: Events,
        loads: Callable[[], bool],
    ) -> None:
        self.slug = slug
        self.declared = declared
        self.published_count = 0
        self._settings = settings
        self._reconciling = asyncio.Lock()
        self._lease = events.lease(slug, lambda: b"", lambda: None)
        self._catalog = catalog
        self._stores = stores = Stores(slug, docstore, search, settings.call_seconds)
        generations = functools.partial(catalog.generations, slug)
        self._sources = sources = self._open_sources(parsers)
        self._events = events
        self.vectors = Vectors(stores, embedding, generations, self._correct, settings, loads)
        self.publisher = Publisher(stores, sources, parsers, generations, behind=self.vectors)
        self.growth = Growth(stores, parsers, generations, changed=self.vectors.kick)
        self.generations = Generations(
            slug,
            catalog,
            stores,
            self.growth,
            self.reconcile,
            self._verify,
            self._reconciling,
            settings,
            held=lambda: self._lease.held,
        )
        self.reconciler = Reconciler(
            stores,
            sources,
            generations,
            self.publisher.publish,
            self.growth.grow,
            changed=self.vectors.kick,
            purge_days=settings.purge_days,
        )
        self.menus = Menus(
            stores,
            {source.name: source for source in declared.sources},
            lambda source: open_source(source, stores, settings.call_seconds),
        )
        self.followers = {name: self._follow(one, events) for name, one in sources.items()}

    async def holds(self, source: str) -> bool:
        """Whether any document of a source is on record. Raises: Unavailable."""
        known = await SourceRecords(self._stores, source).known(None)
        return any(not record.deleted for record in known.values())

    def keep_withdrawn(self, sources: Iterable[docstore_pb.Source]) -> None:
        """Follows what is declared no more, of the sources in the catalog, so that it is kept and said, until a person lets it go."""
        for source in sources:
            if source.standing and source.name not in self._sources:
                shape = {"name": source.name, "kind": source.kind, "type": source.type or "documentation"}
                where = {"path": source.location or "/"} if source.kind == "folder" else {}
                is_let_go = functools.partial(self._catalog.is_let_go, self.slug, source.name)
                settings = SourceSettings.model_validate(shape | where)
                kept = Followed(settings, WithdrawnSource(source.name, is_let_go))
                self._sources[source.name] = kept
                self.followers[source.name] = self._follow(kept, self._events)

    async def let_go(self, source: str) -> None:
        """Lets the documents of a source go, where it is declared no more. Raises: AlreadyExists, NotFound, Unavailable."""
        if isinstance(self._sources[source].reader, WithdrawnSource):
            await self._catalog.let_go(self.slug, source)

    def _open_sources(self, parsers: Parsers) -> dict[str, Followed]:
        """Raises: InvalidArgument for a glob that cannot be read."""
        for source in self.declared.sources:
            read_globs(source.unpublished)
        return {
            source.name: Followed(source, open_source(source, self._stores, self._settings.call_seconds, parsers))
            for source in self.declared.sources
        }

    def _follow(self, source: Followed, events: Events) -> Follower:
        return Follower(
            self.slug,
            source.settings,
            source.reader,
            events,
            SourceRecords(self._stores, source.settings.name),
            limit=DeleteLimit(share=self._settings.delete_share),
            covering=source.reader.covering if isinstance(source.reader, SpecSource) else set,
        )

    async def _correct(self, changes: Sequence[Change]) -> Sequence[Outcome]:
        """Publishes documents again with a corrected scale of token counts; those whose source has nothing usable from stored text."""
        outcomes = list(await self.publisher.publish(changes))
        ids_of = [ids.document_id(self.slug, change.source, change.path) for change in changes]
        left = [place for place, outcome in enumerate(outcomes) if outcome.ending is not Ending.PUBLISHED]
        done = await self.growth.recut({ids_of[place]: changes[place].least_token_scale for place in left})
        for place in left:
            if ids_of[place] in done:
                outcomes[place] = Outcome(Ending.PUBLISHED)
        return outcomes

    async def forget_parked_events(self, source: str) -> None:
        """Clears what is reported of events that were set aside. Raises: Unavailable."""
        await self._stores.report(source, cleared_paths=[source])

    @property
    def is_reconciling(self) -> bool:
        """Whether the engines are being compared with the records now."""
        return self._reconciling.locked()

    async def reconcile(self) -> Findings:
        """One run; a second caller waits for its own. Raises: Unavailable and the like."""
        async with self._reconciling:
            findings = await self.reconciler.run()
        self.vectors.kick()
        return findings

    async def _verify(self, generation: str) -> int:
        async with self._reconciling:
            findings = await self.reconciler.run_one(generation)
        self.vectors.kick()
        return findings.republished_count

    async def report_generations(self) -> list[pb.GenerationStatus]:
        """How far each generation is. Raises: NotFound, Unavailable."""
        project = await self._catalog.read(self.slug)
        try:
            with deadline.limit(MODEL_SECONDS):
                declared = await self._catalog.declared_model(self.declared)
        except OUTAGE:  # no more than a remark depends on it, and in an outage this is what people look at
            declared = project.model_id
        return await report_generations(project, self._stores, self._catalog, self.growth.failures, declared)

    async def count_holdings(self) -> Holdings | None:
        """What the project holds; None where another process works for it. Raises: Unavailable and the like."""
        if not self._lease.held:
            return None
        followed = [generation.name for generation in await self._catalog.generations(self.slug)]
        counts = [await self._stores.count(name) for name in followed]
        reports = await self._stores.list_reports("", REPORTS)
        kinds = Counter(docstore_pb.ReportKind.Name(one.kind).removeprefix("REPORT_KIND_").lower() for one in reports)
        return Holdings(
            document_count=counts[0].document_count if counts else 0,
            chunk_count=sum(one.chunk_count for one in counts),
            vectors_pending_count=sum(one.missing_vector_count for one in counts),
            reported=kinds,
        )

    async def follow_menus(self) -> None:
        """Keeps menus up to date where this process works for the project. Raises: Unavailable and the like; then it begins anew."""
        await self._lease.until_held()
        await self.menus.drop_undeclared()
        while True:
            await self._lease.until_held()
            await self.menus.update()
            await asyncio.sleep(MENU_SECONDS)

    async def reconcile_for_ever(self) -> None:
        """A run at once, then one an interval. Raises: Unavailable and the like; then it begins anew."""
        while True:
            await self._lease.until_held()
            await self.reconcile()
            await asyncio.sleep(self._settings.reconcile_seconds)


def open_source(
    settings: SourceSettings, stores: Stores, call_seconds: float, parsers: Parsers | None = None
) -> DocumentSource:
    """What reads a source; with `parsers` the specs of an API are taken apart."""
    source = SOURCE_KINDS[settings.kind](settings, stores, call_seconds)
    return SpecSource(settings, source, parsers.expand) if parsers and settings.type == "api" else source
