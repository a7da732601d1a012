"""Everything that ingest holds of one project: its source followers, publisher, vectors and reconciler; knows nothing of the queue."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Mapping

from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.search.v1.search_protocol import Search
from refdesk.ingest.catalog import Catalog
from refdesk.ingest.changes import Followed
from refdesk.ingest.embedding import Embedding
from refdesk.ingest.events.interface import Events
from refdesk.ingest.following import Follower
from refdesk.ingest.guard import DeleteLimit
from refdesk.ingest.parsing import Parsers
from refdesk.ingest.publish import Publisher
from refdesk.ingest.reconcile import Findings, Reconciler
from refdesk.ingest.settings import IngestSettings
from refdesk.ingest.source_records import SourceRecords
from refdesk.ingest.sources.folder import FolderSource
from refdesk.ingest.sources.interface import DocumentSource
from refdesk.ingest.sources.push import PushSource
from refdesk.ingest.sources.raw_reader import RawReader
from refdesk.ingest.stores import Stores
from refdesk.ingest.vectors import Vectors
from refdesk.projects import ProjectSettings, SourceSettings

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
        stores = Stores(slug, docstore, search, settings.call_seconds)
        generations = functools.partial(catalog.generations, slug)
        sources = {
            source.name: Followed(source, open_source(source, stores, settings.call_seconds))
            for source in declared.sources
        }
        self.vectors = Vectors(
            stores, embedding, generations, lambda changes: self.publisher.publish(changes), settings, loads
        )
        self.publisher = Publisher(stores, sources, parsers, generations, behind=self.vectors)
        self.reconciler = Reconciler(
            stores,
            sources,
            generations,
            self.publisher.publish,
            changed=self.vectors.kick,
            purge_days=settings.purge_days,
        )
        limit = DeleteLimit(share=settings.delete_share)
        self.followers = {
            name: Follower(slug, one.settings, one.reader, events, SourceRecords(stores, name), limit=limit)
            for name, one in sources.items()
        }

    async def reconcile(self) -> Findings:
        """One run; a second caller waits for its own. Raises: Unavailable and the like."""
        async with self._reconciling:
            findings = await self.reconciler.run()
        self.vectors.kick()
        return findings

    async def reconcile_for_ever(self) -> None:
        """A run at once, then one an interval. Raises: Unavailable and the like; then it begins anew."""
        while True:
            await self.reconcile()
            await asyncio.sleep(self._settings.reconcile_seconds)


def open_source(settings: SourceSettings, stores: Stores, call_seconds: float) -> DocumentSource:
    """What reads a source."""
    return SOURCE_KINDS[settings.kind](settings, stores, call_seconds)
