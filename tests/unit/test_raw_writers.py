"""Several writers push the same documents at once: each answer is true, and what stands is what the revisions say."""

from __future__ import annotations

import asyncio
import random

import pytest

from fakes.pushes import PROJECT, SOURCE, content, project
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.raw_interface import RawPut
from refdesk.docstore.raw_documents import RawDocuments
from refdesk.errors import Unavailable

pytestmark = pytest.mark.anyio


class MemoryStore:
    """The part of an engine that pushes need; other tasks get their turn before and after everything it does."""

    def __init__(self, *, conditional: bool = True) -> None:
        self.records: dict[str, pb.RawDocument] = {}
        self.conditional = conditional
        self.always_conflicts = False

    async def get_project(self, slug: str) -> pb.Project | None:
        return project() if slug == PROJECT else None

    async def list_projects(self) -> list[pb.Project]:
        return [project()]

    async def get_raw(
        self, project: str, source: str, paths: list[str], *, with_content: bool
    ) -> list[pb.RawDocument | None]:
        await asyncio.sleep(0)
        found = [self.records.get(path) for path in paths]
        await asyncio.sleep(0)
        return [pb.RawDocument.FromString(one.SerializeToString()) if one else None for one in found]

    async def put_raw(self, puts: list[RawPut], put_at_milliseconds: int) -> list[bool]:
        await asyncio.sleep(0)
        done = []
        for put in puts:
            standing = self.records[put.record.path].change_count if put.record.path in self.records else 0
            fits = standing == put.expected_change_count or not self.conditional
            done.append(fits and not self.always_conflicts)
            if done[-1]:
                self.records[put.record.path] = pb.RawDocument.FromString(put.record.SerializeToString())
        await asyncio.sleep(0)
        return done


async def race(store: MemoryStore, seed: int) -> list[str]:
    """What is wrong after four writers pushed revisions 1 to 40 of two documents among them, each more than once."""
    raw = RawDocuments(store, lambda: 1)  # type: ignore[arg-type]
    rng = random.Random(seed)
    pushes = [content(path, revision) for path in ("a.md", "b.md") for revision in range(1, 41)] * 2
    rng.shuffle(pushes)
    answered: list[tuple[str, int, int]] = []

    async def write(mine: list[pb.PutRawDocumentsItem]) -> None:
        for start in range(0, len(mine), 5):
            batch = mine[start : start + 5]
            response = await raw.put_documents(pb.PutRawDocumentsRequest(project=PROJECT, items=batch))
            answered.extend(
                (item.content.path, item.revision, one.outcome)
                for item, one in zip(batch, response.outcomes, strict=True)
            )

    await asyncio.gather(*(write(pushes[number::4]) for number in range(4)))
    problems = [f"{path} ends at {one.revision}" for path, one in store.records.items() if one.revision != 40]
    answers = {outcome for path, revision, outcome in answered if revision == 40}
    if not answers <= {pb.RAW_OUTCOME_STORED, pb.RAW_OUTCOME_UNCHANGED}:
        problems.append("the newest revision was not answered as kept")
    return problems


async def test_the_newest_revision_stands_however_writers_interleave() -> None:
    for seed in range(30):
        assert await race(MemoryStore(), seed) == [], seed


async def test_without_the_conditional_put_a_newer_revision_is_lost() -> None:
    assert any([await race(MemoryStore(conditional=False), seed) for seed in range(30)])


async def test_a_writer_that_loses_every_time_is_told_to_come_back() -> None:
    store = MemoryStore()
    store.always_conflicts = True
    request = pb.PutRawDocumentsRequest(project=PROJECT, items=[content("a.md", 1, source=SOURCE)])
    with pytest.raises(Unavailable, match="send them again"):
        await RawDocuments(store, lambda: 1).put_documents(request)  # type: ignore[arg-type]
