"""What was deleted on purpose goes ahead without a guard; what a listing merely left out does not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pytest

from fakes.events import MemoryEvents
from fakes.pushes import PROJECT, SOURCE, content, deletion, listing, project
from fakes.raw_store import PushDocstore
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.errors import Unavailable
from refdesk.ingest.announcing import make_events
from refdesk.ingest.following import Follower
from refdesk.ingest.scan import Known, compare
from refdesk.ingest.sources.interface import ListedDocument, Listing, Skipped
from refdesk.ingest.sources.push import PushSource
from refdesk.ingest.sources.raw_reader import RawReader
from refdesk.projects import SourceSettings

pytestmark = pytest.mark.anyio


def test_what_was_removed_on_purpose_is_told_apart_and_announced_also_where_no_record_is_known_yet() -> None:
    found = Listing((ListedDocument("a.md", "1", 1),), removed={"gone.md": "7", "new.md": "9", "buried.md": "3"})
    known = {
        "a.md": Known("1", "h"),
        "gone.md": Known("1", "h"),
        "missing.md": Known("1", "h"),
        "buried.md": Known("", "h", deleted=True),
    }
    plan = compare(found, known)
    assert plan.vanished.keys() == {"gone.md", "missing.md", "new.md"}
    assert plan.removed == {"gone.md": "7", "new.md": "9"}
    first = make_events("p", "s", plan, ["gone.md"], known, "now")
    later = make_events("p", "s", compare(Listing((), removed={"gone.md": "8"}), known), ["gone.md"], known, "now")
    assert first[0].id != later[0].id, "another deletion is another event"


class Records:
    """Records that the test writes itself."""

    def __init__(self) -> None:
        self.documents: dict[str, Known] = {}

    async def known(self, paths: Collection[str] | None) -> Mapping[str, Known]:
        return {path: known for path, known in self.documents.items() if paths is None or path in paths}

    async def reported(self) -> Collection[str]:
        return []

    async def report(self, skipped: Sequence[Skipped], cleared: Sequence[str]) -> None:
        pass


class Desk:
    """A follower of pushes, with its queue and its records."""

    def __init__(self) -> None:
        self.docstore = PushDocstore()
        self.docstore.projects[PROJECT] = project()
        settings = SourceSettings(name=SOURCE, kind="push")
        self.source = PushSource(settings, RawReader(self.docstore, PROJECT, SOURCE, 5))  # type: ignore[arg-type]
        self.events = MemoryEvents()
        self.records = Records()
        self.follower = Follower(PROJECT, settings, self.source, self.events, self.records)

    async def push(self, *items: pb.PutRawDocumentsItem) -> None:
        await self.docstore.put_raw_documents(pb.PutRawDocumentsRequest(project=PROJECT, items=items))

    async def work(self) -> list[tuple[str, str]]:
        """Takes what the queue holds and brings the records up to the source."""
        done = []
        while deliveries := await self.events.fetch(1000, 0):
            for delivery in deliveries:
                path = delivery.event.path
                found = await self.source.read(path)
                hashed = found.content_hash if found else ""
                self.records.documents[path] = Known(found.revision if found else "", hashed, deleted=found is None)
                await delivery.ack()
                done.append((delivery.event.type.value, path))
        return done


@pytest.fixture
async def desk() -> Desk:
    desk = Desk()
    await desk.push(*(content(f"{number:02}.md", number + 1) for number in range(40)))
    await desk.follower.sync(False)
    assert len(await desk.work()) == 40
    return desk


async def test_deletes_of_a_publisher_are_not_held_however_many(desk: Desk) -> None:
    paths = [f"{number:02}.md" for number in range(30)]
    await desk.push(*(deletion(path, 100) for path in paths))
    assert await desk.follower.hint(paths) == 30
    assert await desk.work() == [("deleted", path) for path in paths]
    found = await desk.follower.sync(False)
    assert (found.deleted_count, found.held_deletes) == (0, 0)


async def test_what_a_listing_leaves_out_is_held_above_the_limit_until_it_is_confirmed(desk: Desk) -> None:
    await desk.push(listing(100, *(f"{number:02}.md" for number in range(20, 40))))
    assert await desk.follower.hint([]) == 0
    assert await desk.work() == []
    assert desk.follower.status().held_deletes == 20
    assert "are gone from source wiki" in desk.follower.status().message
    found = await desk.follower.sync(True)
    assert (found.deleted_count, found.held_deletes) == (20, 0)
    assert len(await desk.work()) == 20
    assert (await desk.follower.sync(False)).deleted_count == 0


async def test_deletes_of_a_publisher_do_not_let_go_what_is_held_and_a_better_listing_lifts_the_hold(
    desk: Desk,
) -> None:
    await desk.push(listing(100, *(f"{number:02}.md" for number in range(20, 40))))
    await desk.follower.hint([])
    await desk.push(deletion("39.md", 101))
    await desk.follower.hint(["39.md"])
    assert await desk.work() == [("deleted", "39.md")]
    await desk.push(listing(102, *(f"{number:02}.md" for number in range(39))))
    assert await desk.follower.hint([]) == 0
    assert desk.follower.status().held_deletes == 0
    assert await desk.work() == []


async def test_what_a_listing_names_again_after_its_deletion_is_published_again(desk: Desk) -> None:
    await desk.push(listing(100, *(f"{number:02}.md" for number in range(5, 40))))
    assert await desk.follower.hint([]) == 5, "within the limit nothing is held"
    await desk.work()
    await desk.push(listing(101, *(f"{number:02}.md" for number in range(40))))
    assert await desk.follower.hint([]) == 5
    assert await desk.work() == [("changed", f"{number:02}.md") for number in range(5)]


async def test_a_hint_without_the_queue_says_so_and_everything_is_looked_at_soon(desk: Desk) -> None:
    desk.events.is_down = True
    await desk.push(content("00.md", 200))
    with pytest.raises(Unavailable):
        await desk.follower.hint(["00.md"])
    desk.events.is_down = False
    assert desk.follower._wanted.is_set()
    assert (await desk.follower.sync(False)).changed_count == 1
