"""DocstoreService as its callers hold it, near and far: what it refuses, how it pages, what its errors say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes.records import GENERATION, PROJECT, make_record, make_tombstone, name_chunk, name_document, to_put
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.docstore.engines.table import document_store
from refdesk.docstore.service import DocstoreService
from refdesk.docstore.settings import DocstoreSettings
from refdesk.errors import AlreadyExists, InvalidArgument, NotFound, Unavailable
from refdesk.rpc.boundary import Near
from refdesk.rpc.channel import open_channel
from refdesk.rpc.contract import CONTRACTS
from refdesk.rpc.far import Far
from refdesk.rpc.server import Server

pytestmark = pytest.mark.anyio
CONTRACT = CONTRACTS["docstore"]
NOW = 1_700_000_000_000


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[DocstoreService]:
    settings = DocstoreSettings(max_text_characters=10_000)
    service = DocstoreService(settings, document_store(settings, tmp_path), clock=lambda: NOW)
    await service.start()
    yield service
    await service.close()


@pytest.fixture(params=["near", "far"])
async def docstore(request: pytest.FixtureRequest, service: DocstoreService) -> AsyncIterator[Docstore]:
    if request.param == "near":
        yield Near(service, CONTRACT)  # type: ignore[misc]
        return
    server = Server({"docstore": service}, "127.0.0.1:0")
    await server.start()
    async with open_channel(f"127.0.0.1:{server.port}") as channel:
        yield Far(channel, CONTRACT)  # type: ignore[misc]
    await server.close()


async def put(docstore: Docstore, *documents: pb.Document) -> list[tuple[bool, int]]:
    response = await docstore.put_documents(pb.PutDocumentsRequest(items=to_put(*documents)))
    return [(each.committed, each.revision) for each in response.outcomes]


async def test_a_document_is_put_read_noted_hydrated_and_counted(docstore: Docstore) -> None:
    document = make_record("guide/a.md", "één\n𝔸 two\n")
    assert await put(docstore, document, make_record("guide/a.md", "late\n")) == [(True, 1), (False, 1)]
    asked = pb.GetDocumentsRequest(project=PROJECT, paths=["guide/a.md", "guide/none.md"], include_text=True)
    found, unknown = (await docstore.get_documents(asked)).items
    document.put_at_milliseconds = NOW
    assert found.document == document
    assert unknown.HasField("unknown")
    chunk_ids = [chunk.chunk_id for chunk in document.heads[0].chunks]
    note = pb.NoteDocumentsItem(
        document_id=document.document_id,
        project=PROJECT,
        generation=GENERATION,
        revision=1,
        embedded_chunk_ids=chunk_ids,
    )
    noted = await docstore.note_documents(pb.NoteDocumentsRequest(items=[note]))
    assert [each.noted for each in noted.outcomes] == [True]
    hydrated = await docstore.hydrate_chunks(
        pb.HydrateChunksRequest(
            project=PROJECT, generation=GENERATION, chunk_ids=chunk_ids[::-1], include_neighbors=True
        )
    )
    assert [(each.text, each.before, each.has_vector) for each in hydrated.chunks] == [
        ("𝔸 two\n", "één\n", True),
        ("één\n", "", True),
    ]
    stats = await docstore.get_stats(pb.GetStatsRequest(project=PROJECT, generation=GENERATION))
    assert (stats.document_count, stats.embeddable_count, stats.embedded_count) == (1, 1, 1)


async def test_no_items_are_no_error_where_nothing_is_changed(docstore: Docstore) -> None:
    assert not (await docstore.get_documents(pb.GetDocumentsRequest(project=PROJECT))).items
    empty = pb.HydrateChunksRequest(project=PROJECT, generation=GENERATION)
    assert not (await docstore.hydrate_chunks(empty)).chunks


@pytest.mark.parametrize(
    "method",
    [
        "get_documents",
        "list_documents",
        "list_records",
        "list_unfinished",
        "hydrate_chunks",
        "suggest_paths",
        "get_stats",
        "report_documents",
        "list_reports",
        "purge_documents",
        "get_project",
    ],
)
async def test_no_project_is_refused_and_never_means_every_project(docstore: Docstore, method: str) -> None:
    request = next(each.request for each in CONTRACT.methods if each.name == method)
    with pytest.raises(InvalidArgument, match="project is empty"):
        await getattr(docstore, method)(request())


async def test_every_method_of_the_contract_answers(docstore: Docstore) -> None:
    for method in CONTRACT.methods:
        try:
            await getattr(docstore, method.name)(method.request())
        except InvalidArgument:
            continue


async def test_calls_above_their_limit_are_refused_with_the_limit(docstore: Docstore) -> None:
    many = [name_document(f"g/{number}") for number in range(1025)]
    for call in (
        docstore.get_documents(pb.GetDocumentsRequest(project=PROJECT, document_ids=many)),
        docstore.get_documents(pb.GetDocumentsRequest(project=PROJECT, paths=many)),
        docstore.hydrate_chunks(pb.HydrateChunksRequest(project=PROJECT, generation=GENERATION, chunk_ids=many)),
        docstore.put_documents(pb.PutDocumentsRequest(items=[pb.PutDocumentsItem()] * 1025)),
        docstore.note_documents(pb.NoteDocumentsRequest(items=[pb.NoteDocumentsItem()] * 1025)),
    ):
        with pytest.raises(InvalidArgument, match="at most 1024"):
            await call
    for call in (
        docstore.list_documents(pb.ListDocumentsRequest(project=PROJECT, page_size=1001)),
        docstore.suggest_paths(pb.SuggestPathsRequest(project=PROJECT, path="x", limit=21)),
        docstore.list_reports(pb.ListReportsRequest(project=PROJECT, limit=10_001)),
    ):
        with pytest.raises(InvalidArgument, match=r"ask for at most (1000|20|10000)$"):
            await call


async def test_one_wrong_record_of_a_batch_is_refused_before_anything_is_put(docstore: Docstore) -> None:
    wrong = make_record("guide/b.md", source="")
    with pytest.raises(InvalidArgument, match="source of a record is empty"):
        await put(docstore, make_record("guide/a.md"), wrong)
    [item] = (await docstore.get_documents(pb.GetDocumentsRequest(project=PROJECT, paths=["guide/a.md"]))).items
    assert item.HasField("unknown")


async def test_pages_are_two_hundred_where_no_size_is_asked_and_end_with_an_empty_token(docstore: Docstore) -> None:
    documents = [make_record(f"g/{number:03}.md", f"{number}\n") for number in range(401)]
    await put(docstore, *documents)
    sizes, paths, token = list[int](), list[str](), ""
    for _ in range(3):
        page = await docstore.list_documents(pb.ListDocumentsRequest(project=PROJECT, page_token=token))
        sizes.append(len(page.documents))
        paths += [each.path for each in page.documents]
        token = page.next_page_token
    assert (sizes, token) == ([200, 200, 1], "")
    assert paths == [document.path for document in documents]


async def test_records_and_unfinished_heads_are_paged_without_gap_or_repeat(docstore: Docstore) -> None:
    documents = [make_record(f"g/{number}.md", bulk=number % 2 == 0) for number in range(7)]
    await put(docstore, *documents)
    await put(docstore, make_tombstone("g/3.md", 2))
    ids = {document.document_id for document in documents}
    records, token = list[pb.Document](), ""
    for _ in range(4):
        page = await docstore.list_records(
            pb.ListRecordsRequest(project=PROJECT, page_token=token, page_size=2, without_heads=True)
        )
        records += page.documents
        token = page.next_page_token
    assert not token
    assert [each.document_id for each in records] == sorted(ids)
    assert not any(each.heads or each.text or each.sections for each in records)
    found, token = list[str](), ""
    for _ in range(7):
        request = pb.ListUnfinishedRequest(project=PROJECT, generation=GENERATION, page_token=token, page_size=1)
        unfinished = await docstore.list_unfinished(request)
        found += [each.document_id for each in unfinished.documents]
        token = unfinished.next_page_token
    assert not token
    changed = sorted(name_document(f"g/{number}.md") for number in (1, 3, 5))
    assert found == changed + sorted(ids - set(changed))


async def test_a_page_token_of_another_project_or_listing_is_refused(docstore: Docstore) -> None:
    await put(docstore, *(make_record(f"g/{number}.md") for number in range(3)))
    first = await docstore.list_documents(pb.ListDocumentsRequest(project=PROJECT, generation=GENERATION, page_size=1))
    token = first.next_page_token
    assert token
    for call in (
        docstore.list_documents(pb.ListDocumentsRequest(project="other", generation=GENERATION, page_token=token)),
        docstore.list_documents(pb.ListDocumentsRequest(project=PROJECT, generation="b", page_token=token)),
        docstore.list_documents(
            pb.ListDocumentsRequest(project=PROJECT, generation=GENERATION, source="g", page_token=token)
        ),
        docstore.list_records(pb.ListRecordsRequest(project=PROJECT, page_token=token)),
        docstore.list_unfinished(pb.ListUnfinishedRequest(project=PROJECT, generation=GENERATION, page_token=token)),
        docstore.list_documents(pb.ListDocumentsRequest(project=PROJECT, generation=GENERATION, page_token="x")),
    ):
        with pytest.raises(InvalidArgument, match="start again without a page token"):
            await call


async def test_reports_carry_the_time_they_were_noted_and_need_a_kind(docstore: Docstore) -> None:
    report = pb.Report(path="g/a.md", kind=pb.REPORT_KIND_PARKED, reason="cannot be read")
    request = pb.ReportDocumentsRequest(project=PROJECT, source="g", reports=[report])
    assert (await docstore.report_documents(request)).report_count == 1
    listed = await docstore.list_reports(pb.ListReportsRequest(project=PROJECT))
    report.reported_at_milliseconds = NOW
    assert (list(listed.reports), listed.report_count) == ([report], 1)
    request.reports[0].kind = pb.REPORT_KIND_UNSPECIFIED
    with pytest.raises(InvalidArgument, match="no known kind"):
        await docstore.report_documents(request)


async def test_the_catalog_says_not_found_and_refuses_an_old_revision(docstore: Docstore) -> None:
    project = pb.Project(slug="p", live_generation=GENERATION, followed_generations=[GENERATION])
    with pytest.raises(NotFound, match="project p does not exist"):
        await docstore.get_project(pb.GetProjectRequest(project="p"))
    written = (await docstore.put_project(pb.PutProjectRequest(project=project))).project
    assert written.revision == 1
    with pytest.raises(AlreadyExists, match="read it again"):
        await docstore.put_project(pb.PutProjectRequest(project=project))
    assert (await docstore.get_project(pb.GetProjectRequest(project="p"))).project == written
    assert list((await docstore.list_projects(pb.ListProjectsRequest())).projects) == [written]


async def test_heads_of_a_followed_generation_are_not_dropped(docstore: Docstore) -> None:
    await put(docstore, make_record("g/a.md"))
    project = pb.Project(slug=PROJECT, live_generation=GENERATION, followed_generations=[GENERATION])
    await docstore.put_project(pb.PutProjectRequest(project=project))
    with pytest.raises(InvalidArgument, match="is followed"):
        await docstore.drop_heads(pb.DropHeadsRequest(project=PROJECT, generation=GENERATION))
    dropped = await docstore.drop_heads(pb.DropHeadsRequest(project=PROJECT, generation="model-b.c1"))
    assert dropped.dropped_count == 0


async def test_paths_are_suggested_and_deleted_texts_purged(docstore: Docstore) -> None:
    await put(docstore, *(make_record(f"g/{name}.md") for name in ("install", "instill", "zebra")))
    found = await docstore.suggest_paths(pb.SuggestPathsRequest(project=PROJECT, path="g/instal.md"))
    assert found.paths[0] == "g/install.md"
    await put(docstore, make_tombstone("g/zebra.md", 2, text="secret\n"))
    for before, count in ((NOW, 0), (NOW + 1, 1)):
        request = pb.PurgeDocumentsRequest(project=PROJECT, deleted_before_milliseconds=before)
        assert (await docstore.purge_documents(request)).purged_count == count


async def test_it_is_ready_between_start_and_close_only(tmp_path: Path) -> None:
    service = DocstoreService(DocstoreSettings(), document_store(DocstoreSettings(), tmp_path))
    assert service.not_ready_reason() == "docstore has not started"
    await service.start()
    assert service.not_ready_reason() == ""
    await service.close()
    assert service.not_ready_reason() == "docstore is closed"
    with pytest.raises(Unavailable, match="docstore is not open"):
        await service.get_stats(pb.GetStatsRequest(project=PROJECT))


async def test_a_chunk_that_no_head_lists_is_left_out_near_and_far(docstore: Docstore) -> None:
    await put(docstore, make_record("g/a.md", "one\n"))
    asked = [name_chunk(name_document("g/a.md"), line) for line in ("gone\n", "one\n")]
    request = pb.HydrateChunksRequest(project=PROJECT, generation=GENERATION, chunk_ids=asked)
    assert [each.text for each in (await docstore.hydrate_chunks(request)).chunks] == ["one\n"]


async def test_ids_are_resolved_by_prefix_and_a_query_of_no_kind_is_refused(docstore: Docstore) -> None:
    document = make_record("guide/a.md")
    await put(docstore, document)
    query = pb.IdQuery(kind=pb.ID_KIND_DOCUMENT, prefix=document.document_id[:8])
    nothing = pb.IdQuery(kind=pb.ID_KIND_SECTION, prefix="no hex")
    found = await docstore.resolve_ids(pb.ResolveIdsRequest(project=PROJECT, queries=[query, nothing]))
    assert [[one.path for one in item.candidates] for item in found.items] == [["guide/a.md"], []]
    for wrong in (
        pb.ResolveIdsRequest(queries=[query]),
        pb.ResolveIdsRequest(project=PROJECT),
        pb.ResolveIdsRequest(project=PROJECT, queries=[query] * 65),
        pb.ResolveIdsRequest(project=PROJECT, queries=[pb.IdQuery(prefix="0123")]),
    ):
        with pytest.raises(InvalidArgument):
            await docstore.resolve_ids(wrong)
