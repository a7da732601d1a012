"""How a source is followed: what is announced, when, and what never is."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.events import MemoryEvents
from refdesk.api.ingest.v1 import ingest_pb2 as pb
from refdesk.errors import Unavailable
from refdesk.ingest import following
from refdesk.ingest.events.event import ChangeEvent
from refdesk.ingest.following import Follower
from refdesk.ingest.guard import DeleteLimit
from refdesk.ingest.scan import Known
from refdesk.ingest.sources import watching
from refdesk.ingest.sources.folder import FolderSource
from refdesk.ingest.sources.interface import Skipped
from refdesk.projects import SourceSettings

pytestmark = pytest.mark.anyio
WAIT_SECONDS = 10.0


class FakeRecords:
    """Records that a worker of one line keeps: it reads the source, as the real one does."""

    def __init__(self) -> None:
        self.documents: dict[str, Known] = {}
        self.reports: dict[str, str] = {}
        self.is_down = False

    async def known(self, paths: Collection[str] | None) -> Mapping[str, Known]:
        if self.is_down:
            raise Unavailable("docstore does not answer")
        return {path: known for path, known in self.documents.items() if paths is None or path in paths}

    async def reported(self) -> Collection[str]:
        return list(self.reports)

    async def report(self, skipped: Sequence[Skipped], cleared: Sequence[str]) -> None:
        self.reports |= {one.path: one.reason for one in skipped}
        for path in cleared:
            del self.reports[path]


class Desk:
    """A follower of a folder, with its queue and its records."""

    def __init__(self, folder: Path, *, limit: DeleteLimit | None = None, poll_seconds: float = 3600) -> None:
        self.folder = folder
        settings = SourceSettings(name="handbook", path=str(folder), max_bytes=1000, poll_seconds=poll_seconds)
        self.source = FolderSource(settings)
        self.events = MemoryEvents()
        self.records = FakeRecords()
        self.follower = Follower("default", settings, self.source, self.events, self.records, limit=limit)

    def write(self, *paths: str, content: str = "") -> None:
        for path in paths:
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            draft = file.with_name("." + file.name)
            draft.write_text(content or f"text of {path}", encoding="utf-8")
            draft.rename(file)

    def remove(self, *paths: str) -> None:
        for path in paths:
            (self.folder / path).unlink()

    async def sync(self, *, confirm_deletes: bool = False) -> tuple[int, int, int, int]:
        """Changed, deleted, moved, held."""
        counts = await self.follower.sync(confirm_deletes)
        return counts.changed_count, counts.deleted_count, counts.moved_count, counts.held_deletes

    async def work(self, timeout_seconds: float = 0) -> list[ChangeEvent]:
        """Takes what the queue holds and brings the records up to the folder."""
        done: list[ChangeEvent] = []
        while deliveries := await self.events.fetch(1000, timeout_seconds):
            for delivery in deliveries:
                path = delivery.event.path
                found = await self.source.read(path)
                if found is not None:
                    self.records.documents[path] = Known(found.revision, hashlib.sha256(found.content).hexdigest())
                elif path in self.records.documents:
                    self.records.documents[path] = replace(self.records.documents[path], deleted=True)
                await delivery.ack()
                done.append(delivery.event)
            timeout_seconds = 0
        return done

    def alive(self) -> set[str]:
        return {path for path, known in self.records.documents.items() if not known.deleted}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "docs").mkdir()
    return Desk(tmp_path / "docs")


def names(events: Sequence[ChangeEvent]) -> list[tuple[str, str]]:
    return [(event.type.value, event.path) for event in events]


async def test_everything_is_announced_once_and_then_nothing(desk: Desk) -> None:
    desk.write("a.md", "ops/b.md")
    assert await desk.sync() == (2, 0, 0, 0)
    assert names(await desk.work()) == [("changed", "a.md"), ("changed", "ops/b.md")]
    published = len(desk.events.published)
    assert await desk.sync() == (0, 0, 0, 0)
    assert len(desk.events.published) == published


async def test_edits_deletes_and_moves_are_told_apart(desk: Desk) -> None:
    desk.write("a.md", "b.md", "c.md", "d.md")
    await desk.sync()
    await desk.work()
    desk.write("a.md", content="new text")
    desk.remove("b.md")
    (desk.folder / "ops").mkdir()
    (desk.folder / "c.md").rename(desk.folder / "ops/c.md")
    assert await desk.sync() == (2, 1, 1, 0)
    done = await desk.work()
    assert names(done) == [("changed", "a.md"), ("changed", "ops/c.md"), ("deleted", "b.md"), ("deleted", "c.md")]
    assert [event.moved_from for event in done] == [None, "c.md", None, None]
    assert desk.alive() == {"a.md", "d.md", "ops/c.md"}


async def test_a_document_that_comes_back_is_announced_again(desk: Desk) -> None:
    desk.write("a.md")
    for _ in range(2):
        await desk.sync()
        await desk.work()
        assert desk.alive() == {"a.md"}
        (desk.folder / "a.md").rename(desk.folder / "a.txt")
        await desk.sync()
        await desk.work()
        assert desk.alive() == set()
        (desk.folder / "a.txt").rename(desk.folder / "a.md")


async def test_a_sync_that_is_asked_for_is_announced_though_the_queue_saw_the_same_change_a_moment_ago(
    desk: Desk,
) -> None:
    desk.write("a.md")
    await desk.sync()
    await desk.sync()  # nothing was worked off: records that were set back look the same
    assert names(desk.events.published) == [("changed", "a.md")] * 2


async def test_what_a_queue_lost_is_announced_again_at_the_next_scan(desk: Desk) -> None:
    desk.write(*(f"{number}.md" for number in range(30)))
    await desk.sync()
    await desk.work()
    desk.write("0.md", content="edited")
    desk.remove(*(f"{number}.md" for number in range(20, 26)))
    await desk.follower.hint([])
    desk.events.lose()
    assert await desk.work() == []
    assert await desk.follower.hint([]) == 7
    lost = [("changed", "0.md"), *(("deleted", f"{number}.md") for number in range(20, 26))]
    assert names(desk.events.published)[-7:] == lost
    assert names(await desk.work()) == lost


async def test_a_load_is_bulk_and_an_edit_is_not(desk: Desk) -> None:
    desk.write(*(f"{number}.md" for number in range(51)))
    await desk.sync()
    assert {event.bulk for event in await desk.work()} == {True}
    desk.write("0.md", content="edited")
    await desk.sync()
    assert {event.bulk for event in await desk.work()} == {False}


async def test_too_many_deletes_wait_for_a_person_while_edits_go_on(desk: Desk) -> None:
    desk.write(*(f"{number}.md" for number in range(30)))
    await desk.sync()
    await desk.work()
    desk.remove(*(f"{number}.md" for number in range(11)))
    desk.write("29.md", content="edited")
    assert await desk.sync() == (1, 0, 0, 11)
    assert names(await desk.work()) == [("changed", "29.md")]
    status = desk.follower.status()
    assert (status.state, status.held_deletes, status.listed_count) == (pb.SOURCE_STATE_HELD, 11, 19)
    assert status.message == (
        "11 of 30 documents are gone from source handbook and are kept until you run:"
        " refdesk source sync handbook --confirm-deletes"
    )
    assert await desk.sync(confirm_deletes=True) == (0, 11, 0, 0)
    await desk.work()
    assert len(desk.alive()) == 19
    assert desk.follower.status().state == pb.SOURCE_STATE_FOLLOWED
    assert desk.follower.status().message == ""


async def test_documents_that_return_end_the_hold(desk: Desk) -> None:
    desk.write(*(f"{number}.md" for number in range(30)))
    await desk.sync()
    await desk.work()
    desk.folder.rename(desk.folder.parent / "away")
    desk.folder.mkdir()
    assert await desk.sync() == (0, 0, 0, 30)
    desk.folder.rmdir()
    (desk.folder.parent / "away").rename(desk.folder)
    assert await desk.sync() == (0, 0, 0, 0)
    assert desk.follower.status().state == pb.SOURCE_STATE_FOLLOWED
    assert len(desk.alive()) == 30


async def test_moves_are_not_held_however_many(desk: Desk) -> None:
    desk.write(*(f"old/{number}.md" for number in range(30)))
    await desk.sync()
    await desk.work()
    (desk.folder / "old").rename(desk.folder / "new")
    assert await desk.sync() == (30, 0, 30, 0)
    await desk.work()
    assert desk.alive() == {f"new/{number}.md" for number in range(30)}


async def test_half_of_a_followed_folder_may_go(tmp_path: Path) -> None:
    desk = Desk(tmp_path, limit=DeleteLimit(share=0.5))
    desk.write(*(f"{number}.md" for number in range(40)))
    await desk.sync()
    await desk.work()
    desk.remove(*(f"{number}.md" for number in range(20)))
    assert await desk.sync() == (0, 20, 0, 0)
    await desk.work()
    desk.remove(*(f"{number}.md" for number in range(20, 31)))
    assert await desk.sync() == (0, 0, 0, 11)


async def test_a_scan_that_fails_says_why_and_deletes_nothing(desk: Desk) -> None:
    desk.write("a.md")
    await desk.sync()
    await desk.work()
    desk.folder.rename(desk.folder.parent / "away")
    with pytest.raises(Unavailable, match="does not exist"):
        await desk.sync(confirm_deletes=True)
    status = desk.follower.status()
    assert status.state == pb.SOURCE_STATE_FAILED
    assert "does not exist: create it" in status.message
    assert await desk.work() == []
    (desk.folder.parent / "away").rename(desk.folder)
    assert await desk.sync() == (0, 0, 0, 0)
    assert desk.follower.status().state == pb.SOURCE_STATE_FOLLOWED


async def test_an_outage_of_queue_or_records_is_a_failed_scan_and_is_made_good(desk: Desk) -> None:
    desk.write("a.md")
    for broken in (desk.events, desk.records):
        broken.is_down = True
        with pytest.raises(Unavailable):
            await desk.sync()
        assert desk.follower.status().state == pb.SOURCE_STATE_FAILED
        broken.is_down = False
    await desk.sync()
    await desk.work()
    assert desk.alive() == {"a.md"}


async def test_what_is_not_taken_is_reported_and_cleared_when_it_is_gone(desk: Desk) -> None:
    desk.write("big.md", content="x" * 1001)
    desk.write("fixed.md", content="x" * 1001)
    desk.records.reports["stale.md"] = "from an earlier life"
    await desk.sync()
    assert set(desk.records.reports) == {"big.md", "fixed.md"}
    assert "larger than 1,000 bytes" in desk.records.reports["big.md"]
    desk.remove("big.md")
    desk.write("fixed.md", content="small")
    await desk.sync()
    assert set(desk.records.reports) == {"fixed.md"}, (
        "whoever indexes a document clears its report, for it may fail again"
    )


async def test_a_document_that_grew_too_large_is_taken_out_and_reported(desk: Desk) -> None:
    desk.write("a.md")
    await desk.sync()
    await desk.work()
    desk.write("a.md", content="x" * 1001)
    assert await desk.sync() == (0, 1, 0, 0)
    assert set(desk.records.reports) == {"a.md"}


# From here on the follower runs by itself, on a real folder that is really watched.


@pytest.fixture
async def running(desk: Desk) -> AsyncIterator[Desk]:
    desk.write("a.md", "ops/b.md", "ops/deep/c.md")
    desk.follower.start()
    async with asyncio.timeout(WAIT_SECONDS):
        while len(desk.alive()) < 3:
            await desk.work(timeout_seconds=1)
    await until(lambda: desk.follower.status().state == pb.SOURCE_STATE_FOLLOWED)
    await settle(desk)
    yield desk
    await desk.follower.close()


async def until(holds: Callable[[], bool | Awaitable[bool]]) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            found = holds()
            if found if isinstance(found, bool) else await found:
                return
            await asyncio.sleep(0.01)


async def until_alive(desk: Desk, expected: set[str]) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while desk.alive() != expected:
            await desk.work(timeout_seconds=0.5)


async def settle(desk: Desk) -> None:
    """Until changes are seen: a file is written again and again until it is announced by the watch alone."""
    number = 0
    async with asyncio.timeout(WAIT_SECONDS):
        while "settled.md" not in desk.alive():
            number += 1
            desk.write("settled.md", content=f"{number}")
            await desk.work(timeout_seconds=0.5)
    desk.remove("settled.md")
    await until_alive(desk, {"a.md", "ops/b.md", "ops/deep/c.md"})


STANDING = {"a.md", "ops/b.md", "ops/deep/c.md"}


async def test_a_saved_document_is_announced_within_a_second(running: Desk) -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    running.write("ops/b.md", content="saved")
    done = await running.work(timeout_seconds=WAIT_SECONDS)
    assert names(done) == [("changed", "ops/b.md")]
    assert loop.time() - begun < 1


async def test_new_folders_are_followed_with_what_is_put_in_them_later(running: Desk) -> None:
    running.write("new/folder/d.md")
    await until_alive(running, STANDING | {"new/folder/d.md"})
    running.write("new/folder/e.md")
    await until_alive(running, STANDING | {"new/folder/d.md", "new/folder/e.md"})


async def test_a_renamed_folder_moves_its_documents(running: Desk) -> None:
    (running.folder / "ops").rename(running.folder / "operations")
    moved = {"a.md", "operations/b.md", "operations/deep/c.md"}
    await until_alive(running, moved)
    events = {
        event.path: event.moved_from for event in running.events.published if event.path.startswith("operations/")
    }
    assert events == {"operations/b.md": "ops/b.md", "operations/deep/c.md": "ops/deep/c.md"}
    running.write("operations/deep/d.md")
    await until_alive(running, moved | {"operations/deep/d.md"})


async def test_a_renamed_document_is_one_move(running: Desk) -> None:
    (running.folder / "a.md").rename(running.folder / "z.md")
    await until_alive(running, {"z.md", "ops/b.md", "ops/deep/c.md"})
    [event] = [event for event in running.events.published if event.path == "z.md"]
    assert event.moved_from == "a.md"


async def test_a_removed_folder_takes_its_documents_away(running: Desk) -> None:
    shutil.rmtree(running.folder / "ops")
    await until_alive(running, {"a.md"})


async def test_a_hint_looks_at_that_document_alone(running: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Collection[str] | None] = []
    known = running.records.known

    async def remember(paths: Collection[str] | None) -> Mapping[str, Known]:
        asked.append(paths)
        return await known(paths)

    monkeypatch.setattr(running.records, "known", remember)
    running.write("a.md", content="saved")
    await running.work(timeout_seconds=WAIT_SECONDS)
    assert asked == [{"a.md"}]


async def test_what_the_rules_leave_out_wakes_nobody(running: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    (running.folder / ".git").mkdir()
    running.write(".git/HEAD", ".git/x.md", "note.txt", "ops/picture.png")
    running.write("last.md")
    done = await running.work(timeout_seconds=WAIT_SECONDS)
    assert {path for _, path in names(done)} == {"last.md"}


async def test_links_out_of_the_folder_are_not_watched(desk: Desk) -> None:
    outside = desk.folder.parent / "outside"
    (outside / "deep").mkdir(parents=True)
    (desk.folder / "sub").mkdir()
    (desk.folder / "link").symlink_to(outside)
    folders = watching.list_folders(os.path.realpath(desk.folder), desk.source._rules)
    assert sorted(os.path.relpath(folder, desk.folder) for folder in folders) == [".", "sub"]


async def test_deletes_in_small_steps_are_held_as_well(running: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [f"n/{number:02}.md" for number in range(27)]
    running.write(*files)
    await until_alive(running, STANDING | {*files})
    await running.sync()
    for done in (4, 8):
        running.remove(*files[done - 4 : done])
        await until_alive(running, STANDING | {*files[done:]})
    running.remove(*files[8:12])
    await until(lambda: running.follower.status().state == pb.SOURCE_STATE_HELD)
    assert running.follower.status().held_deletes == 4
    assert await running.work() == []
    monkeypatch.setattr(following, "ONE_GO_SECONDS", 0)
    assert await running.sync() == (0, 0, 0, 4), "held is held, also when the rest was long ago"
    assert await running.sync(confirm_deletes=True) == (0, 4, 0, 0)
    await until_alive(running, STANDING | {*files[12:]})


async def test_a_folder_that_goes_away_fails_and_recovers_by_itself(
    running: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "RETRY_SECONDS", 0.05)
    running.folder.rename(running.folder.parent / "away")
    await until(lambda: running.follower.status().state == pb.SOURCE_STATE_FAILED)
    assert running.alive() == STANDING
    (running.folder.parent / "away").rename(running.folder)
    await until(lambda: running.follower.status().state == pb.SOURCE_STATE_FOLLOWED)
    assert running.alive() == STANDING


async def test_without_watching_the_folder_is_polled(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MAX_FOLDERS", 0)
    polled = Desk(desk.folder, poll_seconds=1)
    polled.follower.start()
    polled.write("a.md")
    await until_alive(polled, {"a.md"})
    polled.write("b.md")
    await until_alive(polled, {"a.md", "b.md"})
    await polled.follower.close()


async def test_closing_ends_every_task_at_once(running: Desk) -> None:
    async with asyncio.timeout(2):
        await running.follower.close()
    assert not [task for task in asyncio.all_tasks() if "handbook" in task.get_name()]
