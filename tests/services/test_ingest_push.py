"""Pushed documents through the whole of ingest, near and far: from docstore's raw records to the index, with engines in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from fakes.embedder import FakeEmbedder
from fakes.events import MemoryEvents
from fakes.pushes import content, deletion, listing
from fakes.raw_store import PushDocstore
from fakes.search import FakeSearch
from fakes.waiting import until
from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.api.ingest.v1 import ingest_pb2 as pb
from refdesk.api.ingest.v1.ingest_protocol import Ingest
from refdesk.errors import InvalidArgument, NotFound, Unavailable
from refdesk.ingest.service import IngestService
from refdesk.ingest.settings import IngestSettings
from refdesk.ingest.sources import push
from refdesk.projects import ProjectSettings, SourceSettings
from refdesk.rpc.boundary import Near
from refdesk.rpc.channel import open_channel
from refdesk.rpc.contract import CONTRACTS
from refdesk.rpc.far import Far
from refdesk.rpc.server import Server

pytestmark = pytest.mark.anyio
CONTRACT = CONTRACTS["ingest"]
PROJECT, SOURCE = "handbook", "wiki"
SETTINGS = IngestSettings(outage_seconds=0.1, retry_seconds=0.05, vector_poll_seconds=0.2)


class Desk:
    """What surrounds the service."""

    def __init__(self) -> None:
        self.docstore = PushDocstore()
        self.search = FakeSearch()
        self.events = MemoryEvents()

    def service(self) -> IngestService:
        source = SourceSettings(name=SOURCE, kind="push", language="en", base_url="https://wiki/", version="v1")
        projects = {PROJECT: ProjectSettings(sources=(source,))}
        return IngestService(SETTINGS, projects, self.docstore, self.search, FakeEmbedder(), self.events)

    async def push(self, *items: docstore_pb2.PutRawDocumentsItem) -> None:
        request = docstore_pb2.PutRawDocumentsRequest(project=PROJECT, items=items)
        for one in (await self.docstore.put_raw_documents(request)).outcomes:
            assert one.reason == ""

    def live(self) -> dict[str, docstore_pb2.Document]:
        return {record.path: record for record in self.docstore.records.values() if not record.deleted}

    def settled(self) -> bool:
        heads = [head for record in self.docstore.records.values() for head in record.heads]
        return all(head.swept and not head.missing_vectors for head in heads)


def page(word: str) -> str:
    return f"# {word}\n\n" + " ".join(f"{word}{number}" for number in range(80))


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
async def service(desk: Desk) -> AsyncIterator[IngestService]:
    service = desk.service()
    await service.start()
    yield service
    await service.close()


@pytest.fixture(params=["near", "far"])
async def ingest(request: pytest.FixtureRequest, service: IngestService) -> AsyncIterator[Ingest]:
    if request.param == "near":
        yield Near(service, CONTRACT)  # type: ignore[misc]
        return
    server = Server({"ingest": service}, "127.0.0.1:0")
    await server.start()
    async with open_channel(f"127.0.0.1:{server.port}") as channel:
        yield Far(channel, CONTRACT)  # type: ignore[misc]
    await server.close()


async def hint(ingest: Ingest, *paths: str) -> int:
    request = pb.HintDocumentsRequest(project=PROJECT, source=SOURCE, paths=paths)
    return int((await ingest.hint_documents(request)).announced_count)


async def test_a_push_is_published_with_what_its_publisher_says_of_it(desk: Desk, ingest: Ingest) -> None:
    facts = {"title": "Keys", "url": "https://wiki/page/7", "version": "v2", "kind": "api", "language": "de"}
    text = "---\ntitle: Front\nversion: v9\n---\n" + page("schluessel")
    await desk.push(content("ops/keys", 7, text, **facts), content("plain.md", 8, page("plain")))
    assert await hint(ingest, "ops/keys", "plain.md") == 2
    await until(lambda: len(desk.live()) == 2)
    keys, plain = desk.live()["wiki/ops/keys"], desk.live()["wiki/plain.md"]
    assert (keys.title, keys.url, keys.version, keys.kind, keys.language) == tuple(facts.values())
    assert keys.source_revision == "7"
    assert (plain.title, plain.url, plain.version) == ("plain", "https://wiki/plain/", "v1")
    await until(desk.settled)
    puts = desk.docstore.puts
    assert await hint(ingest, "ops/keys", "plain.md") == 0
    assert desk.docstore.puts == puts


async def test_another_title_of_the_same_text_is_published(desk: Desk, ingest: Ingest) -> None:
    await desk.push(content("a.md", 1, page("alpha"), title="One"))
    await hint(ingest, "a.md")
    await until(lambda: bool(desk.live()))
    await desk.push(content("a.md", 2, page("alpha"), title="Two"))
    assert await hint(ingest, "a.md") == 1
    await until(lambda: desk.live()["wiki/a.md"].title == "Two")


async def test_a_deleted_document_goes_and_comes_back_with_a_higher_revision(desk: Desk, ingest: Ingest) -> None:
    await desk.push(content("a.md", 1, page("alpha")))
    await hint(ingest, "a.md")
    await until(lambda: bool(desk.live()))
    await desk.push(deletion("a.md", 2))
    assert await hint(ingest, "a.md") == 1
    await until(lambda: not desk.live())
    await desk.push(content("a.md", 3, page("beta")))
    assert await hint(ingest, "a.md") == 1
    await until(lambda: bool(desk.live()))
    await until(desk.settled)
    assert "beta" in desk.live()["wiki/a.md"].text


async def test_a_listing_that_leaves_out_too_much_is_held_until_it_is_confirmed(desk: Desk, ingest: Ingest) -> None:
    names = [f"{number:02}.md" for number in range(24)]
    await desk.push(*(content(name, number + 1, page(name[:2])) for number, name in enumerate(names)))
    await hint(ingest)
    await until(lambda: len(desk.live()) == 24)
    await desk.push(listing(100, *names[:10]))
    assert await hint(ingest) == 0
    [status] = (await ingest.get_status(pb.GetStatusRequest(project=PROJECT))).sources
    assert (status.kind, status.state, status.held_deletes) == ("push", pb.SOURCE_STATE_HELD, 14)
    await ingest.sync_source(pb.SyncSourceRequest(project=PROJECT, source=SOURCE, confirm_deletes=True))
    await until(lambda: desk.live().keys() == {f"wiki/{name}" for name in names[:10]})
    await until(desk.settled)


async def test_a_push_that_nobody_hinted_at_is_found_by_asking(
    desk: Desk, service: IngestService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(push, "RECENT_SECONDS", 0.05)
    await until(lambda: service._projects[PROJECT].followers[SOURCE].status().state == pb.SOURCE_STATE_FOLLOWED)
    await desk.push(content("a.md", 1, page("alpha")))
    await until(lambda: desk.live().keys() == {"wiki/a.md"})
    await desk.push(deletion("a.md", 2))
    await until(lambda: not desk.live())


async def test_what_was_pushed_while_ingest_was_away_is_published_at_its_start(desk: Desk) -> None:
    first = desk.service()
    await first.start()
    await first.close()
    await desk.push(content("a.md", 5, page("alpha")), content("b.md", 6, page("beta")), deletion("b.md", 7))
    second = desk.service()
    await second.start()
    await until(lambda: desk.live().keys() == {"wiki/a.md"} and desk.settled())
    await second.close()


async def test_what_was_pushed_while_the_queue_was_away_is_published_when_it_is_back(
    desk: Desk, service: IngestService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(push, "RECENT_SECONDS", 0.05)
    monkeypatch.setattr("refdesk.ingest.following.RETRY_SECONDS", 0.05)
    desk.events.is_down = True
    await desk.push(content("a.md", 1, page("alpha")))
    with pytest.raises(Unavailable):
        await service.hint_documents(pb.HintDocumentsRequest(project=PROJECT, source=SOURCE, paths=["a.md"]))
    await until(lambda: service._projects[PROJECT].followers[SOURCE].status().state == pb.SOURCE_STATE_FAILED)
    assert desk.live() == {}
    desk.events.is_down = False
    await until(lambda: desk.live().keys() == {"wiki/a.md"})


async def test_a_hint_at_what_is_not_known_is_not_found_and_too_many_are_refused(ingest: Ingest) -> None:
    with pytest.raises(NotFound, match="project handbook has no source nothing"):
        await ingest.hint_documents(pb.HintDocumentsRequest(project=PROJECT, source="nothing"))
    with pytest.raises(NotFound, match="project nobody is not followed here"):
        await ingest.hint_documents(pb.HintDocumentsRequest(project="nobody", source=SOURCE))
    with pytest.raises(InvalidArgument, match="at most 1024"):
        await hint(ingest, *(f"{number}.md" for number in range(1025)))


def test_a_push_source_takes_no_folder_and_no_globs() -> None:
    for values in ({"path": "/docs"}, {"include": ("*.md",)}, {"exclude": ("x",)}):
        with pytest.raises(ValueError, match="of kind push takes no"):
            SourceSettings.model_validate({"name": "wiki", "kind": "push", **values})


async def test_an_event_that_was_set_aside_is_shown_until_somebody_has_looked(
    desk: Desk, service: IngestService
) -> None:
    await until(lambda: service._projects[PROJECT].followers[SOURCE].status().state == pb.SOURCE_STATE_FOLLOWED)
    desk.events.arrive(f"refdesk.events.{PROJECT}.{SOURCE}.pushed", b"no event")
    await until(lambda: SOURCE in desk.docstore.reports)
    assert desk.docstore.reports[SOURCE].reason.startswith("an event was set aside: ")
    await service._projects[PROJECT].followers[SOURCE].sync(False)
    assert SOURCE in desk.docstore.reports, "a listing by the clock leaves it"
    await service.sync_source(pb.SyncSourceRequest(project=PROJECT, source=SOURCE))
    assert desk.docstore.reports == {}
