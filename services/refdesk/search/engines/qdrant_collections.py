"""Keeps the collections of generations: their settings, how one is made, completed and refused; knows no entries.

A collection is made in three steps that may each be repeated, by any number of processes at once: the collection, the payload indexes, and
last its label, a point outside every project that says whose vectors it holds. A collection without a label is unfinished: nothing was ever
written to it, and the next write finishes it. What is there is never changed: where it does not fit, one line says what to do.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

import structlog
from qdrant_client import AsyncQdrantClient, models

from refdesk import failpoints
from refdesk.errors import InvalidArgument, RefdeskError, Unavailable
from refdesk.search.engines.dimensions import check_dimension
from refdesk.search.engines.qdrant_calls import Calls
from refdesk.search.engines.qdrant_scope import Scope
from refdesk.search.settings import SearchSettings

SCHEMA_VERSION = 1
"""Of the settings and fields below; a change that older releases cannot read raises MIN_READER to it as well."""
MIN_READER = 1
OLDEST_SERVER = (1, 18)
"""The first that was tried. One that does not know conditional upserts would write unconditionally and say nothing."""
MOST_HITS = 1000
"""Strict mode's limit of one answer, also of a page of a scroll."""

ORDERING = models.WriteOrdering.MEDIUM
HNSW = models.HnswConfigDiff(m=0, payload_m=16)
"""A graph for each project and none across them: no search ever crosses projects."""
STRICT_MODE = models.StrictModeConfig(
    enabled=True,
    unindexed_filtering_retrieve=False,
    unindexed_filtering_update=False,
    max_query_limit=MOST_HITS,
)
_KEYWORD = models.PayloadSchemaType.KEYWORD
_RANGE = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=False, range=True)
INDEXES: dict[str, models.PayloadSchemaType | models.KeywordIndexParams | models.IntegerIndexParams] = {
    "project": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    "document": _KEYWORD,
    "grain": _KEYWORD,
    "source": _KEYWORD,
    "folders": _KEYWORD,
    "version": _KEYWORD,
    "kind": _KEYWORD,
    "text_hash": _KEYWORD,
    "stamp": _RANGE,
    "document_order": _RANGE,
}
"""Every field that a filter names; strict mode refuses any other."""

LABEL_SCOPE = "@label"
"""Stands in the label's field for the project; no project can be called so."""
LABEL_ID = str(uuid5(NAMESPACE_URL, "refdesk label"))

_log = structlog.get_logger()


class Collection(NamedTuple):
    """A finished collection: vectors of one model and dimension."""

    name: str
    model_id: str
    dimension: int

    def check(self, model_id: str, vectors: Sequence[bytes]) -> None:
        """Raises: InvalidArgument where vectors are of another model (none: any) or dimension."""
        if model_id and model_id != self.model_id:
            raise InvalidArgument(
                f"collection {self.name} holds vectors of {self.model_id}, not of {model_id}; index again with {model_id}"
            )
        check_dimension(vectors, self.dimension, f"collection {self.name}", self.model_id)


class Collections:
    """The collections of one server, each opened once."""

    def __init__(self, settings: SearchSettings, calls: Calls) -> None:
        self._settings = settings
        self._calls = calls
        self._opened: dict[str, Collection] = {}
        self._opening = asyncio.Lock()

    async def check(self) -> None:
        """Looks at the server and at every collection of ours. Raises: InvalidArgument for one that cannot be used; Unavailable."""
        version = (await self._calls.read(lambda client: client.info())).version
        numbers = re.match(r"(\d+)\.(\d+)", version)
        if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST_SERVER:
            least = ".".join(map(str, OLDEST_SERVER))
            raise InvalidArgument(
                f"{self._calls.place} runs Qdrant {version}; search.vector_url needs {least} or newer"
            )
        listed = await self._calls.read(lambda client: client.get_collections())
        for name in sorted(collection.name for collection in listed.collections):
            if name.partition("__")[0] == self._settings.vector_collection_prefix:
                await self._open(name)

    async def find(self, generation: str) -> Collection | None:
        """The generation's collection; None where none was finished. Raises: InvalidArgument for one that cannot be used."""
        name = self._name(generation)
        if name in self._opened:
            return self._opened[name]
        if not await self._calls.read(lambda client: client.collection_exists(name)):
            return None
        return await self._open(name)

    async def obtain(self, generation: str, model_id: str, dimension: int) -> Collection:
        """The generation's collection, made or finished where it is not yet. Raises: as find."""
        async with self._opening:
            if (found := await self.find(generation)) is not None:
                return found
            name = self._name(generation)
            if not await self._calls.read(lambda client: client.collection_exists(name)):
                await self._create(name, dimension)
            await self._finish(name, model_id, dimension)
            finished = await self._open(name)
        if finished is None:
            raise Unavailable(f"collection {name} was made and does not show it; try again")
        return finished

    def forget(self, generation: str) -> None:
        """Has the collection looked at anew: it is gone."""
        self._opened.pop(self._name(generation), None)

    def _name(self, generation: str) -> str:
        return f"{self._settings.vector_collection_prefix}__{quote(generation, safe='')}"

    async def _open(self, name: str) -> Collection | None:
        info = await self._calls.read(lambda client: client.get_collection(name))
        dimension = self._read_dimension(name, info)
        label = await self._read_label(name)
        if label is None:
            if info.points_count:
                raise self._refuse(name, "holds points that are not refdesk's")
            return None
        if label["min_reader"] > SCHEMA_VERSION:
            raise InvalidArgument(
                f"collection {name} has schema {label['schema']} of a newer release, this one reads up to {SCHEMA_VERSION}; "
                "run that release, or set search.vector_collection_prefix to another name and index again"
            )
        await self._complete_indexes(name, info)
        self._opened[name] = Collection(name, label["model_id"], dimension)
        return self._opened[name]

    async def _create(self, name: str, dimension: int) -> None:
        settings = self._settings
        try:
            await self._calls.write(
                lambda client: client.create_collection(
                    name,
                    vectors_config=models.VectorParams(size=dimension, distance=models.Distance.COSINE),
                    hnsw_config=HNSW,
                    strict_mode_config=STRICT_MODE,
                    shard_number=settings.vector_shard_count,
                    replication_factor=settings.vector_replication_factor,
                    write_consistency_factor=settings.vector_write_consistency,
                )
            )
        except RefdeskError:  # another process may have been first; Qdrant has had more than one status for it
            if not await self._calls.read(lambda client: client.collection_exists(name)):
                raise
        _log.info("vector collection made", collection=name, dimension=dimension)

    async def _finish(self, name: str, model_id: str, dimension: int) -> None:
        info = await self._calls.read(lambda client: client.get_collection(name))
        if (held := self._read_dimension(name, info)) != dimension:
            raise self._refuse(name, f"is made for vectors of {held} numbers, and {model_id} makes {dimension}")
        await self._complete_indexes(name, info)
        failpoints.reach("vectors_created")
        await self._write_label(name, model_id, dimension)

    async def _complete_indexes(self, name: str, info: models.CollectionInfo) -> None:
        for field, schema in INDEXES.items():
            present = info.payload_schema.get(field)
            wanted = schema if isinstance(schema, models.PayloadSchemaType) else schema.type
            if present is None:
                create = partial(
                    AsyncQdrantClient.create_payload_index,
                    collection_name=name,
                    field_name=field,
                    field_schema=schema,
                    wait=True,
                )
                await self._calls.write(create)
            elif present.data_type.value != wanted.value:
                raise self._refuse(name, f"indexes {field} as {present.data_type.value}, not as {wanted.value}")

    def _read_dimension(self, name: str, info: models.CollectionInfo) -> int:
        vectors = info.config.params.vectors
        if not isinstance(vectors, models.VectorParams) or vectors.distance != models.Distance.COSINE:
            raise self._refuse(name, "does not hold one vector a point, compared by cosine")
        return vectors.size

    def _refuse(self, name: str, why: str) -> InvalidArgument:
        return InvalidArgument(
            f"collection {name} {why}; set search.vector_collection_prefix to another name, or delete the collection, and index again"
        )

    async def _read_label(self, name: str) -> dict[str, Any] | None:
        # By its id and without a filter: strict mode takes none before there are indexes.
        records = await self._calls.read(
            lambda client: client.retrieve(name, ids=[LABEL_ID], with_payload=True, with_vectors=False)
        )
        return records[0].payload if records else None

    async def _write_label(self, name: str, model_id: str, dimension: int) -> None:
        """Writes the label unless there is one: the first writer's stays."""
        payload = {
            "project": LABEL_SCOPE,
            "schema": SCHEMA_VERSION,
            "min_reader": MIN_READER,
            "model_id": model_id,
            "stamp": 1,
        }
        point = models.PointStruct(id=LABEL_ID, vector=[1.0, *[0.0] * (dimension - 1)], payload=payload)
        await self._calls.write(partial(upsert, name=name, points=[point], over=Scope(LABEL_SCOPE).nothing()))


async def upsert(
    client: AsyncQdrantClient, *, name: str, points: list[models.PointStruct], over: models.Filter
) -> None:
    """Writes points that are not there, and over those that `over` matches. Raises: Unavailable where it was not done in time.

    `wait` is on: the answer comes when the points are durable and can be found. Ordering is medium: where shards are replicated, writes go
    through one leader each, so that all replicas meet conditional writes and sweeps in one order and none keeps what another deleted. Weak
    lets replicas differ; strong would stop all writes while the one permanent leader is down.
    """
    result = await client.upsert(name, points=points, wait=True, ordering=ORDERING, update_filter=over)
    _check_done(result)


async def delete(client: AsyncQdrantClient, *, name: str, over: models.Filter) -> None:
    """Deletes points that `over` matches when the delete is carried out. Raises: as upsert, and waits and orders as it does."""
    result = await client.delete(name, points_selector=models.FilterSelector(filter=over), wait=True, ordering=ORDERING)
    _check_done(result)


def _check_done(result: models.UpdateResult) -> None:
    if result.status != models.UpdateStatus.COMPLETED:
        raise Unavailable("qdrant took a write and did not finish it in time; try again")
