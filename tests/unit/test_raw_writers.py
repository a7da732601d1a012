"""Several writers push the same documents at once: each answer is true, and what stands is what the revisions say."""

from __future__ import annotations

import asyncio
import random

import pytest

from fakes.pushes import PROJECT, SOURCE, content, project
from fakes.raw_store import PushDocstore
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.errors import Unavailable

pytestmark = pytest.mark.anyio


async def a_docstore(*, conditional: bool = True) -> PushDocstore:
    docstore = PushDocstore(conditional=conditional)
    docstore.projects[PROJECT] = project()
    return docstore


async def race(seed: int, *, conditional: bool = True) -> list[str]:
    """What is wrong after four writers pushed revisions 1 to 40 of two documents among them, each more than once."""
    docstore = await a_docstore(conditional=conditional)
    rng = random.Random(seed)
    pushes = [content(path, revision) for path in ("a.md", "b.md") for revision in range(1, 41)] * 2
    rng.shuffle(pushes)
    answered: list[tuple[str, int, int]] = []

    async def write(mine: list[pb.PutRawDocumentsItem]) -> None:
        for start in range(0, len(mine), 5):
            batch = mine[start : start + 5]
            response = await docstore.put_raw_documents(pb.PutRawDocumentsRequest(project=PROJECT, items=batch))
            answered.extend(
                (item.content.path, item.revision, one.outcome)
                for item, one in zip(batch, response.outcomes, strict=True)
            )

    await asyncio.gather(*(write(pushes[number::4]) for number in range(4)))
    problems = [
        f"{path} ends at {one.revision}"
        for (_, _, path), one in docstore.raw_store.records.items()
        if one.revision != 40
    ]
    answers = {outcome for path, revision, outcome in answered if revision == 40}
    if not answers <= {pb.RAW_OUTCOME_STORED, pb.RAW_OUTCOME_UNCHANGED}:
        problems.append("the newest revision was not answered as kept")
    return problems


async def test_the_newest_revision_stands_however_writers_interleave() -> None:
    for seed in range(30):
        assert await race(seed) == [], seed


async def test_without_the_conditional_put_a_newer_revision_is_lost() -> None:
    assert any([await race(seed, conditional=False) for seed in range(30)])


async def test_a_writer_that_loses_every_time_is_told_to_come_back() -> None:
    docstore = await a_docstore()
    docstore.raw_store.always_conflicts = True
    request = pb.PutRawDocumentsRequest(project=PROJECT, items=[content("a.md", 1, source=SOURCE)])
    with pytest.raises(Unavailable, match="send them again"):
        await docstore.put_raw_documents(request)
