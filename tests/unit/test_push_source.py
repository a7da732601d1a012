"""Pushed documents as a source: what is listed, what is read, and what is noticed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from fakes.pushes import PROJECT, SOURCE, content, deletion, listing, project
from fakes.raw_store import PushDocstore
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore import raw_documents
from refdesk.errors import Unavailable
from refdesk.ingest.sources import push
from refdesk.ingest.sources.interface import DocumentUnreadable, RawDocument, Stated
from refdesk.ingest.sources.push import PushSource
from refdesk.ingest.sources.raw_reader import RawReader
from refdesk.projects import SourceSettings

pytestmark = pytest.mark.anyio


class Desk:
    """A docstore that takes pushes, and a source that reads them."""

    def __init__(self) -> None:
        self.docstore = PushDocstore()
        self.docstore.projects[PROJECT] = project()
        settings = SourceSettings(name=SOURCE, kind="push", max_bytes=1000)
        self.source = PushSource(settings, RawReader(self.docstore, PROJECT, SOURCE, 5))  # type: ignore[arg-type]

    async def push(self, *items: pb.PutRawDocumentsItem) -> None:
        response = await self.docstore.put_raw_documents(pb.PutRawDocumentsRequest(project=PROJECT, items=items))
        assert {one.outcome for one in response.outcomes} <= {pb.RAW_OUTCOME_STORED, pb.RAW_OUTCOME_OLDER}

    async def list(self, within: Sequence[str] | None = None) -> list[tuple[str, str]]:
        return [(one.path, one.revision) for one in (await self.source.list(within)).documents]


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_what_was_pushed_is_listed_with_its_publishers_revision(desk: Desk) -> None:
    await desk.push(content("b.md", 17), content("a.md", 4), content("a.md", 3), content("c/d.md", 5))
    assert await desk.list() == [("a.md", "4"), ("b.md", "17"), ("c/d.md", "5")]
    assert await desk.list(["a.md", "none.md"]) == [("a.md", "4")]
    assert await desk.list(["c/"]) == [("c/d.md", "5")]


async def test_what_was_deleted_on_purpose_is_told_apart_from_what_a_listing_left_out(desk: Desk) -> None:
    await desk.push(content("a.md", 1), content("b.md", 2), content("c.md", 3), deletion("a.md", 9), listing(8, "c.md"))
    found = await desk.source.list()
    assert [one.path for one in found.documents] == ["c.md"]
    assert found.removed == {"a.md": "9"}
    assert found.complete
    assert await desk.source.read("a.md") is None
    assert await desk.source.read("b.md") is None
    assert (await desk.source.list(["b.md"])).removed == {}


async def test_a_listing_of_many_documents_goes_page_by_page(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refdesk.ingest.sources.raw_reader.PAGE_SIZE", 7)
    await desk.push(*(content(f"{number:02}.md", number + 1) for number in range(20)))
    assert [path for path, _ in await desk.list()] == [f"{number:02}.md" for number in range(20)]


async def test_a_document_is_read_with_all_that_was_said_of_it(desk: Desk) -> None:
    await desk.push(content("a.md", 3, "# A\n", title="T", url="https://w/a", version="v2", kind="api", language="en"))
    stated = Stated("T", "https://w/a", "v2", "api", "en")
    assert await desk.source.read("a.md") == RawDocument(b"# A\n", "3", stated)
    assert await desk.source.read("none.md") is None


async def test_what_is_said_of_a_document_is_part_of_its_content_and_nothing_said_changes_nothing() -> None:
    plain = RawDocument(b"text", "1")
    assert plain.content_hash == RawDocument(b"text", "2", Stated()).content_hash
    said = [RawDocument(b"text", "1", Stated(title="T")), RawDocument(b"text", "1", Stated(url="T")), plain]
    assert len({one.content_hash for one in said}) == 3


@pytest.mark.parametrize(("text", "reason"), [("x" * 1001, r"larger than 1,000 bytes \(1,001\)"), ("", "empty")])
async def test_what_cannot_be_indexed_is_named_and_counts_as_not_there(desk: Desk, text: str, reason: str) -> None:
    item = content("a.md", 1)
    item.content.content = text.encode()
    await desk.push(item, content("b.md", 1))
    found = await desk.source.list()
    assert [one.path for one in found.documents] == ["b.md"]
    [skipped] = found.skipped
    assert skipped.path == "a.md"
    assert not skipped.unreadable
    assert skipped.reason.startswith(reason.replace("\\", ""))
    assert await desk.source.read("a.md") is None


async def test_a_document_that_came_back_without_its_text_is_named_with_what_to_do(desk: Desk) -> None:
    await desk.push(content("a.md", 1), deletion("a.md", 2), listing(3, "a.md"))
    found = await desk.source.list()
    assert (found.documents, found.removed) == ((), {})
    [skipped] = found.skipped
    assert skipped.unreadable, "what is known of it stays as it is"
    assert "has to send it again" in skipped.reason
    with pytest.raises(DocumentUnreadable, match=r"wiki/a\.md: its text was dropped"):
        await desk.source.read("a.md")
    await desk.push(content("a.md", 1, id="again"))
    assert await desk.list() == [("a.md", "1")]


async def test_documents_that_are_read_side_by_side_are_asked_for_in_one_request(desk: Desk) -> None:
    names = [f"{number}.md" for number in range(40)]
    await desk.push(*(content(name, 1, f"text of {name}") for name in names))
    desk.docstore.asked.clear()
    found = await asyncio.gather(*(desk.source.read(name) for name in [*names, "0.md"]))
    assert [one.content.decode() for one in found if one] == [f"text of {name}" for name in [*names, "0.md"]]
    assert desk.docstore.asked == [40]


async def test_what_does_not_fit_into_one_answer_is_asked_for_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_documents, "CONTENT_BYTES", 1500)
    names = [f"{number}.md" for number in range(7)]
    await desk.push(*(content(name, 1, name * 125) for name in names))
    found = await asyncio.gather(*(desk.source.read(name) for name in names))
    assert [one.content.decode() for one in found if one] == [name * 125 for name in names]
    assert desk.docstore.asked == [7, 4, 1]


async def test_an_outage_reaches_every_reader_and_one_that_gives_up_takes_nothing_from_the_others(desk: Desk) -> None:
    await desk.push(content("a.md", 1), content("b.md", 1))
    desk.docstore.weather.down.add("docstore")
    found = await asyncio.gather(desk.source.read("a.md"), desk.source.read("b.md"), return_exceptions=True)
    assert [type(one) for one in found] == [Unavailable, Unavailable]
    with pytest.raises(Unavailable):
        await desk.source.list()
    desk.docstore.weather.down.clear()
    first, second = asyncio.create_task(desk.source.read("a.md")), asyncio.create_task(desk.source.read("a.md"))
    await asyncio.sleep(0)
    first.cancel()
    assert await second is not None


async def test_watching_begins_with_anything_and_then_names_what_comes(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(push, "RECENT_SECONDS", 0.01)
    await desk.push(content("old.md", 1))
    desk.docstore.clock += 60_000
    watching = desk.source.watch()
    assert await anext(watching) is None
    desk.docstore.clock += 60_000
    await desk.push(content("a.md", 1), content("b.md", 1))
    assert await anext(watching) == {"a.md", "b.md"}
    coming = asyncio.ensure_future(anext(watching))
    await desk.push(content("a.md", 2))
    assert await coming == {"a.md"}, "what was told is not told again"
    await desk.push(deletion("b.md", 3))
    assert await anext(watching) == {"b.md"}
    await desk.push(listing(9, "a.md"))
    assert await anext(watching) is None, "after a listing anything may stand otherwise"
    await watching.aclose()  # type: ignore[attr-defined]


async def test_watching_goes_on_after_an_outage_and_has_missed_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(push, "RECENT_SECONDS", 0.01)
    watching = desk.source.watch()
    assert await anext(watching) is None
    coming = asyncio.ensure_future(anext(watching))
    desk.docstore.weather.down.add("docstore")
    await asyncio.sleep(0.05)
    desk.docstore.weather.down.clear()
    await desk.push(content("a.md", 1))
    assert await coming == {"a.md"}
    await watching.aclose()  # type: ignore[attr-defined]
