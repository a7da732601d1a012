"""What docstore answers to pushes, near and far: an outcome an item, what it refuses, how it pages, what it drops."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.pushes import PROJECT, SOURCE, content, deletion, listing, project
from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.docstore import raw_documents
from refdesk.docstore.engines.table import document_store
from refdesk.docstore.service import DocstoreService
from refdesk.docstore.settings import DocstoreSettings
from refdesk.errors import InvalidArgument, Unavailable
from refdesk.rpc.boundary import Near
from refdesk.rpc.channel import open_channel
from refdesk.rpc.contract import CONTRACTS
from refdesk.rpc.far import Far
from refdesk.rpc.server import Server

pytestmark = pytest.mark.anyio
CONTRACT = CONTRACTS["docstore"]


class Clock:
    """Milliseconds, as the test says."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def service(tmp_path: Path, clock: Clock) -> AsyncIterator[DocstoreService]:
    service = DocstoreService(DocstoreSettings(), document_store(DocstoreSettings(), tmp_path), clock=clock)
    await service.start()
    yield service
    await service.close()


@pytest.fixture(params=["near", "far"])
async def docstore(request: pytest.FixtureRequest, service: DocstoreService) -> AsyncIterator[Docstore]:
    await service.put_project(pb.PutProjectRequest(project=project()))
    if request.param == "near":
        yield Near(service, CONTRACT)  # type: ignore[misc]
        return
    server = Server({"docstore": service}, "127.0.0.1:0")
    await server.start()
    async with open_channel(f"127.0.0.1:{server.port}") as channel:
        yield Far(channel, CONTRACT)  # type: ignore[misc]
    await server.close()


async def put(docstore: Docstore, *items: pb.PutRawDocumentsItem) -> list[str]:
    response = await docstore.put_raw_documents(pb.PutRawDocumentsRequest(project=PROJECT, items=items))
    return [pb.RawOutcome.Name(one.outcome).removeprefix("RAW_OUTCOME_").lower() for one in response.outcomes]


async def get(docstore: Docstore, *paths: str, include_content: bool = True) -> list[pb.RawItem]:
    request = pb.GetRawDocumentsRequest(project=PROJECT, source=SOURCE, paths=paths, include_content=include_content)
    return list((await docstore.get_raw_documents(request)).items)


async def stand(docstore: Docstore, *paths: str) -> list[str]:
    found = await get(docstore, *paths)
    return [pb.RawStanding.Name(one.standing).removeprefix("RAW_STANDING_").lower() for one in found]


async def test_pushes_out_of_order_leave_what_their_revisions_say(docstore: Docstore) -> None:
    assert await put(
        docstore,
        content("a.md", 3, "three", title="A"),
        content("a.md", 2, "two"),
        content("b.md", 1),
        deletion("b.md", 4),
        content("b.md", 3),
    ) == ["stored", "older", "stored", "stored", "older"]
    a, b, none = await get(docstore, "a.md", "b.md", "none.md")
    assert (a.document.content, a.document.facts.title, a.document.revision) == (b"three", "A", 3)
    assert (b.document.content, b.document.deleted) == (b"", True)
    assert not none.HasField("document")
    assert await stand(docstore, "a.md", "b.md", "none.md") == ["live", "deleted", "unknown"]


async def test_a_batch_may_say_several_things_of_one_document(docstore: Docstore) -> None:
    items = [content("a.md", revision, str(revision)) for revision in (1, 5, 3, 5)]
    assert await put(docstore, *items) == ["stored", "stored", "older", "unchanged"]
    [a] = await get(docstore, "a.md")
    assert (a.document.content, a.document.change_count) == (b"5", 1)


async def test_one_bad_item_is_refused_alone(docstore: Docstore) -> None:
    response = await docstore.put_raw_documents(
        pb.PutRawDocumentsRequest(
            project=PROJECT,
            items=[
                content("../a.md", 1),
                content("a.md", 1, source="docs"),
                content("a.md", 1, source="nowhere"),
                content("a.md", 1),
                content("a.md", 1, "other", id="other"),
            ],
        )
    )
    assert [one.outcome for one in response.outcomes] == [
        pb.RAW_OUTCOME_INVALID,
        pb.RAW_OUTCOME_UNKNOWN_SOURCE,
        pb.RAW_OUTCOME_UNKNOWN_SOURCE,
        pb.RAW_OUTCOME_STORED,
        pb.RAW_OUTCOME_CONFLICT,
    ]
    reasons = [one.reason for one in response.outcomes]
    assert reasons[1] == "project handbook has no source docs that takes pushes"
    assert reasons[1].replace("docs", "nowhere") == reasons[2], (
        "a source of another kind looks like one that is not there"
    )
    assert reasons[3] == ""
    assert "send a higher one" in reasons[4]


async def test_a_project_that_is_not_there_has_no_sources(docstore: Docstore) -> None:
    response = await docstore.put_raw_documents(pb.PutRawDocumentsRequest(project="nobody", items=[content("a.md", 1)]))
    assert [one.outcome for one in response.outcomes] == [pb.RAW_OUTCOME_UNKNOWN_SOURCE]


async def test_while_nothing_is_declared_nobody_can_tell_which_sources_there_are(service: DocstoreService) -> None:
    with pytest.raises(Unavailable, match="no project is declared yet"):
        await service.put_raw_documents(pb.PutRawDocumentsRequest(project=PROJECT, items=[content("a.md", 1)]))


async def test_a_listing_leaves_out_what_it_does_not_name_and_says_what_is_missing(docstore: Docstore) -> None:
    await put(docstore, content("a.md", 1), content("b.md", 2), content("c.md", 9))
    statement = listing(5, "b.md", "new.md", a_md=3)
    response = await docstore.put_raw_documents(pb.PutRawDocumentsRequest(project=PROJECT, items=[statement]))
    [outcome] = response.outcomes
    assert (outcome.outcome, outcome.missing_count) == (pb.RAW_OUTCOME_STORED, 2)
    assert list(outcome.missing_paths) == ["a.md", "new.md"], "older than it says, and never pushed"
    assert await stand(docstore, "a.md", "b.md", "c.md", "new.md") == ["live", "live", "live", "unknown"]
    assert await put(docstore, listing(10, "c.md")) == ["stored"]
    assert await stand(docstore, "a.md", "b.md", "c.md") == ["unlisted", "unlisted", "live"]
    assert await put(docstore, listing(11, "a.md", "b.md", "c.md")) == ["stored"]
    assert await stand(docstore, "a.md", "b.md", "c.md") == ["live", "live", "live"]


async def test_no_more_than_a_hundred_missing_documents_are_named_and_all_are_counted(docstore: Docstore) -> None:
    names = [f"{number:03}.md" for number in range(150)]
    response = await docstore.put_raw_documents(pb.PutRawDocumentsRequest(project=PROJECT, items=[listing(1, *names)]))
    assert response.outcomes[0].missing_count == 150
    assert list(response.outcomes[0].missing_paths) == names[:100]


async def test_pages_hold_everything_once_with_how_it_stands(docstore: Docstore, clock: Clock) -> None:
    await put(docstore, *(content(f"{number:02}.md", number + 1) for number in range(25)))
    await put(docstore, deletion("03.md", 30), listing(20, "01.md"))
    seen: list[tuple[str, int]] = []
    token, pages = "", 0
    while True:
        request = pb.ListRawDocumentsRequest(project=PROJECT, source=SOURCE, page_token=token, page_size=10)
        page = await docstore.list_raw_documents(request)
        assert page.listing_change_count == 1
        assert page.read_at_milliseconds == clock.now
        seen += [(item.document.path, item.standing) for item in page.items]
        token, pages = page.next_page_token, pages + 1
        if not token:
            break
    assert pages == 3
    assert [path for path, _ in seen] == [f"{number:02}.md" for number in range(25)]
    standing = dict(seen)
    assert standing["01.md"] == standing["19.md"] == standing["24.md"] == pb.RAW_STANDING_LIVE
    assert standing["02.md"] == standing["18.md"] == pb.RAW_STANDING_UNLISTED
    assert standing["03.md"] == pb.RAW_STANDING_DELETED
    with pytest.raises(InvalidArgument, match="page token"):
        await docstore.list_raw_documents(
            pb.ListRawDocumentsRequest(project=PROJECT, source="docs", page_token="bm90IGEgdG9rZW4=")
        )


async def test_what_was_put_since_a_time_is_listed_alone(docstore: Docstore, clock: Clock) -> None:
    await put(docstore, content("a.md", 1), content("b.md", 1))
    clock.now += 1000
    await put(docstore, content("b.md", 2), content("b.md", 1))
    request = pb.ListRawDocumentsRequest(project=PROJECT, source=SOURCE, put_since_milliseconds=clock.now)
    assert [item.document.path for item in (await docstore.list_raw_documents(request)).items] == ["b.md"]


async def test_contents_that_do_not_fit_into_an_answer_are_deferred(
    docstore: Docstore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(raw_documents, "CONTENT_BYTES", 100)
    await put(docstore, content("a.md", 1, "a" * 150), content("b.md", 1, "b" * 60), content("c.md", 1, "c" * 30))
    found = await get(docstore, "a.md", "b.md", "c.md")
    assert [(len(one.document.content), one.deferred) for one in found] == [(150, False), (0, True), (0, True)]
    found = await get(docstore, "b.md", "c.md", "none.md")
    assert [(len(one.document.content), one.deferred) for one in found] == [(60, False), (30, False), (0, False)]
    found = await get(docstore, "b.md", include_content=False)
    assert [(one.document.content_bytes, one.deferred) for one in found] == [(60, False)]


async def test_what_a_listing_left_out_is_dropped_once_its_document_has_been_deleted_for_long(
    docstore: Docstore, clock: Clock
) -> None:
    await put(docstore, content("gone.md", 1, "secret"), content("held.md", 1, "kept"), listing(2, "b.md"))
    names = {path: ids.document_id(PROJECT, SOURCE, path) for path in ("gone.md", "held.md")}
    records = [
        pb.Document(document_id=name, project=PROJECT, source=SOURCE, path=f"{SOURCE}/{path}", revision=1)
        for path, name in names.items()
    ]
    records[0].deleted = True
    items = [pb.PutDocumentsItem(document=record) for record in records]
    await docstore.put_documents(pb.PutDocumentsRequest(items=items))
    purge = pb.PurgeDocumentsRequest(project=PROJECT, deleted_before_milliseconds=clock.now)
    await docstore.purge_documents(purge)
    assert [one.document.content for one in await get(docstore, "gone.md", "held.md")] == [b"secret", b"kept"]
    purge.deleted_before_milliseconds = clock.now + 1
    await docstore.purge_documents(purge)
    gone, held = await get(docstore, "gone.md", "held.md")
    assert (gone.document.content, gone.document.dropped) == (b"", True)
    assert (held.document.content, held.document.dropped) == (b"kept", False)
    assert await put(docstore, listing(3, "gone.md", "held.md")) == ["stored"]
    assert await put(docstore, content("gone.md", 1, "secret", id="again")) == ["stored"]


async def test_a_request_without_project_source_or_items_is_refused(docstore: Docstore) -> None:
    with pytest.raises(InvalidArgument, match="project is empty"):
        await docstore.put_raw_documents(pb.PutRawDocumentsRequest(items=[content("a.md", 1)]))
    with pytest.raises(InvalidArgument, match="items is empty"):
        await docstore.put_raw_documents(pb.PutRawDocumentsRequest(project=PROJECT))
    with pytest.raises(InvalidArgument, match="send at most 1024"):
        await docstore.put_raw_documents(pb.PutRawDocumentsRequest(project=PROJECT, items=[deletion("a.md", 1)] * 1025))
    with pytest.raises(InvalidArgument, match="source is empty"):
        await docstore.get_raw_documents(pb.GetRawDocumentsRequest(project=PROJECT, paths=["a.md"]))
    with pytest.raises(InvalidArgument, match="paths is empty"):
        await docstore.get_raw_documents(pb.GetRawDocumentsRequest(project=PROJECT, source=SOURCE))
