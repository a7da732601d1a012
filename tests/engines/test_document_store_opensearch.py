"""What the OpenSearch engine promises besides: outages are never emptiness, races have one winner, and no start overwrites anything."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from engines.stores import OpenSearchEngine, connect
from fakes.records import GENERATION, PROJECT, TEXT, cut_lines, hydrate, make_record, name_document, put, read, to_put
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import DocumentStore, View
from refdesk.docstore.engines.opensearch.layout import INDICES, RECORDS
from refdesk.docstore.engines.opensearch.store import OpenSearchStore
from refdesk.docstore.engines.raw_interface import RawPut
from refdesk.docstore.settings import DocstoreSettings
from refdesk.engines.opensearch.faults import WriteBlocked
from refdesk.engines.opensearch.indices import drop_index
from refdesk.errors import InvalidArgument, Unavailable
from servers.gate import Gate, open_gate
from servers.opensearch import OpenSearchServer

pytestmark = pytest.mark.anyio
Call = Callable[[DocumentStore], Awaitable[object]]
READS: dict[str, Call] = {
    "get_by_id": lambda store: store.get_by_id(PROJECT, [name_document("g/a.md")], TEXT),
    "get_by_path": lambda store: store.get_by_path(PROJECT, ["g/a.md"], TEXT),
    "list_documents": lambda store: store.list_documents(PROJECT, GENERATION, "", "", 10),
    "list_records": lambda store: store.list_records(PROJECT, "", "", 10, with_heads=True),
    "list_unfinished": lambda store: store.list_unfinished(PROJECT, GENERATION, None, 10),
    "hydrate_chunks": lambda store: store.hydrate_chunks(PROJECT, GENERATION, ["x"], with_neighbors=True),
    "suggest_paths": lambda store: store.suggest_paths(PROJECT, "g/b.md", 5),
    "resolve_ids": lambda store: store.resolve_ids(PROJECT, [pb.IdQuery(kind=pb.ID_KIND_SECTION, prefix="0123")]),
    "get_stats": lambda store: store.get_stats(PROJECT, GENERATION),
    "list_reports": lambda store: store.list_reports(PROJECT, "", 10),
    "get_project": lambda store: store.get_project("p"),
    "get_keys": lambda store: store.get_keys(["0123456789ab"]),
    "list_calls": lambda store: store.list_calls(PROJECT, pb.CALL_SELECTION_UNSPECIFIED, 0, 10),
    "list_keys": lambda store: store.list_keys(),
    "list_projects": lambda store: store.list_projects(),
    "get_raw": lambda store: store.get_raw(PROJECT, "s", ["a"], with_content=True),
    "list_raw": lambda store: store.list_raw(PROJECT, "s", "", 10),
}
WRITES: dict[str, Call] = {
    "put_documents": lambda store: store.put_documents(to_put(make_record("g/new.md")), 1),
    "note_documents": lambda store: store.note_documents([swept("g/a.md")]),
    "purge_documents": lambda store: store.purge_documents(PROJECT, 10**15),
    "drop_heads": lambda store: store.drop_heads(PROJECT, GENERATION, 10),
    "report_documents": lambda store: store.report_documents(PROJECT, "g", [pb.Report(path="g/x")], [], 1),
    "put_project": lambda store: store.put_project(pb.Project(slug="p"), 0),
    "put_calls": lambda store: store.put_calls([pb.CallRecord(call_id="a")]),
    "put_key": lambda store: store.put_key(pb.AccessKey(key_id="0123456789ab"), 0),
    "put_raw": lambda store: store.put_raw([RawPut(pb.RawDocument(path="a", change_count=1), 0)], 1),
}


def swept(path: str, revision: int = 1) -> pb.NoteDocumentsItem:
    return pb.NoteDocumentsItem(
        document_id=name_document(path), project=PROJECT, generation=GENERATION, revision=revision, swept=True
    )


@pytest.fixture
async def own(opensearch_server: OpenSearchServer) -> AsyncIterator[DocstoreSettings]:
    """Settings with a prefix that nobody else has."""
    engine = OpenSearchEngine(opensearch_server)
    settings = engine.settings()
    yield settings
    await engine.forget(settings)


@pytest.fixture
async def gate(opensearch_server: OpenSearchServer) -> AsyncIterator[Gate]:
    async with open_gate(opensearch_server.address) as opened:
        yield opened


def through(gate: Gate, settings: DocstoreSettings, **changes: object) -> DocumentStore:
    """The same store by way of the gate."""
    opensearch = settings.opensearch.model_copy(update={"retry_seconds": 0.2, **changes})
    changed = settings.model_copy(update={"url": f"opensearch://{gate.address}", "opensearch": opensearch})
    return OpenSearchStore(changed)


@pytest.fixture
async def store(gate: Gate, own: DocstoreSettings) -> AsyncIterator[DocumentStore]:
    """Behind the gate, with a record in it."""
    opened = through(gate, own)
    await opened.open()
    await put(opened, make_record("g/a.md"))
    gate.seen.clear()
    yield opened
    await opened.close()


# Outages


async def test_no_call_takes_an_engine_out_of_reach_for_an_empty_one(own: DocstoreSettings) -> None:
    async with open_gate(own.url.partition("://")[2]) as gate:
        store = through(gate, own)
        await store.open()
        await put(store, make_record("g/a.md"))
    for call in [*READS.values(), *WRITES.values()]:
        with pytest.raises(Unavailable, match="cannot be reached"):
            await call(store)
    await store.close()


async def test_no_call_takes_a_lost_index_for_an_empty_one_and_none_makes_it_anew(
    store: DocumentStore, own: DocstoreSettings
) -> None:
    async with connect(own) as client:
        for index in INDICES:
            await drop_index(client, index)
    for call in (*READS.values(), *WRITES.values(), *READS.values()):
        with pytest.raises(Unavailable, match="is missing or closed"):
            await call(store)


async def test_an_engine_that_comes_back_is_used_at_once(store: DocumentStore, gate: Gate) -> None:
    gate.answers += [(503, "bad gateway")] * 100
    with pytest.raises(Unavailable):
        await read(store, "g/a.md")
    gate.answers.clear()
    assert (await read(store, "g/a.md")).document.revision == 1


async def test_a_full_disk_holds_puts_and_parks_nothing(store: DocumentStore, own: DocstoreSettings) -> None:
    async with connect(own) as client:
        place = f"/{RECORDS.name(client)}/_settings"
        await client.write("PUT", place, {"index.blocks.read_only_allow_delete": True})
        for _ in range(2):
            with pytest.raises(WriteBlocked):
                await put(store, make_record("g/a.md", "new\n", revision=2))
        assert (await read(store, "g/a.md")).document.revision == 1
        await client.write("PUT", place, {"index.blocks.read_only_allow_delete": None})
    assert await put(store, make_record("g/a.md", "new\n", revision=2)) == [(True, 2)]


async def test_a_put_whose_answer_was_lost_is_unavailable_and_found_when_read_again(
    store: DocumentStore, gate: Gate
) -> None:
    gate.before = cut_off_after_bulk = CutOff(gate)
    with pytest.raises(Unavailable):
        await put(store, make_record("g/a.md", "new\n", revision=2))
    assert cut_off_after_bulk.bulks == 1
    gate.loses_answers, gate.before = False, None
    assert (await read(store, "g/a.md")).document.text == "new\n"
    assert await put(store, make_record("g/a.md", "new\n", revision=2)) == [(False, 2)]


class CutOff:
    """Loses the answers from the first bulk request on."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.bulks = 0

    async def __call__(self, path: str, _: str) -> None:
        if path == "/_bulk":
            self.bulks += 1
            self._gate.loses_answers = True


# Races


async def test_a_note_between_the_read_and_the_write_of_a_put_does_not_make_it_conflict(
    store: DocumentStore, gate: Gate, own: DocstoreSettings
) -> None:
    other = OpenSearchStore(own)
    await other.open()
    noted: list[bool] = []

    async def note_once(path: str, _: str) -> None:
        if path == "/_bulk" and not noted:
            noted.extend(await other.note_documents([swept("g/a.md")]))

    gate.before = note_once
    assert await put(store, make_record("g/a.md", "new\n", revision=2)) == [(True, 2)]
    assert noted == [True]
    assert not (await read(store, "g/a.md")).document.heads[0].swept
    await other.close()


async def test_a_put_between_the_read_and_the_write_of_another_makes_that_one_conflict(
    store: DocumentStore, gate: Gate, own: DocstoreSettings
) -> None:
    other = OpenSearchStore(own)
    await other.open()
    won: list[tuple[bool, int]] = []

    async def put_once(path: str, _: str) -> None:
        if path == "/_bulk" and not won:
            won.extend(await put(other, make_record("g/a.md", "theirs\n", revision=2)))

    gate.before = put_once
    assert await put(store, make_record("g/a.md", "mine\n", revision=2), make_record("g/b.md")) == [
        (False, 2),
        (True, 1),
    ]
    assert won == [(True, 2)]
    assert (await read(store, "g/a.md")).document.text == "theirs\n"
    won.clear()
    assert await store.note_documents([swept("g/a.md", 2)]) == [True]
    await other.close()


async def test_of_many_that_put_at_once_one_wins_each_revision(own: DocstoreSettings) -> None:
    stores = [OpenSearchStore(own) for _ in range(3)]
    await asyncio.gather(*(store.open() for store in stores))  # and of many that start at once none fails
    wins: list[int] = []

    async def work(store: DocumentStore) -> None:
        revision = 0
        while revision < 12:
            [(committed, now)] = await put(store, make_record("g/a.md", f"{id(store)}\n", revision=revision + 1))
            if committed:
                wins.append(now)
            revision = now

    async with asyncio.timeout(120):
        await asyncio.gather(*(work(store) for store in stores * 2))
    assert sorted(wins) == list(range(1, len(wins) + 1))
    assert len(wins) >= 12
    for store in stores:
        await store.close()


# Documents


async def test_large_documents_are_kept_whole_and_hydrated(store: DocumentStore) -> None:
    lines = [f"{number:05} " + "wörter über wörter " * 26 + "\n" for number in range(2_000)]
    text = "".join(lines)
    assert len(text.encode()) > 1_048_576
    records = [make_record(f"g/large-{number}.md", text) for number in range(6)]
    assert await put(store, *records) == [(True, 1)] * 6
    [item] = await store.get_by_id(PROJECT, [records[5].document_id], TEXT)
    assert (item.document.text, list(item.document.heads)) == (text, list(records[5].heads))
    spans = records[0].heads[0].chunks
    assert await hydrate(store, spans[0].chunk_id, spans[-1].chunk_id) == [lines[0], lines[-1]]
    listed = await store.list_records(PROJECT, "", "", 100, with_heads=True)
    assert {len(record.heads[0].chunks) for record in listed} == {2, 2_000}


async def test_a_record_that_cannot_be_kept_is_named_and_the_others_of_its_batch_are_put(store: DocumentStore) -> None:
    bad = make_record("g/bad.md", previous_paths=["x" * 40_000])
    with pytest.raises(InvalidArgument, match=r"^g/bad\.md cannot be kept"):
        await put(store, make_record("g/b.md"), bad, make_record("g/c.md"))
    outcomes = [
        item.WhichOneof("outcome")
        for item in await store.get_by_path(PROJECT, ["g/b.md", "g/bad.md", "g/c.md"], View())
    ]
    assert outcomes == ["document", "unknown", "document"]


async def test_a_made_up_id_reaches_no_record_of_another_project(store: DocumentStore) -> None:
    theirs = make_record("g/a.md", "theirs\n", project="a:b")
    await put(store, theirs)
    [item] = await store.get_by_id("a", [f"b:{theirs.document_id}"], TEXT)
    assert item.HasField("unknown")


async def test_a_dropped_head_is_hydrated_no_more_even_from_what_was_read_lately(store: DocumentStore) -> None:
    other = "model-b.c1"
    heads = [cut_lines(name_document("g/b.md"), "one\n", name) for name in (GENERATION, other)]
    await put(store, make_record("g/b.md", "one\n", heads=heads))
    mine, theirs = (head.chunks[0].chunk_id for head in heads)
    assert await hydrate(store, mine, theirs, generation=other) == ["one\n"]
    assert await store.drop_heads(PROJECT, other, 10) == 1
    assert await hydrate(store, mine, theirs, generation=other) == []
    assert await hydrate(store, mine, theirs) == ["one\n"]


# Starts


async def test_a_wrong_password_stops_the_start_by_the_settings_name(
    own: DocstoreSettings, gate: Gate, tmp_path: Path
) -> None:
    gate.password = "desk:right"
    (tmp_path / "password").write_text("wrong", encoding="utf-8")
    store = through(gate, own, user="desk", password_file=str(tmp_path / "password"))
    with pytest.raises(InvalidArgument, match=r"refuses user 'desk'; check docstore\.opensearch\.user"):
        await store.open()
    with pytest.raises(Unavailable, match=r"docstore\.url is not open"):
        await store.get_project("p")


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        ({"_meta": {"refdesk": {"version": 9, "min_reader": 9}}}, "was written by a newer release"),
        ({"_meta": {}}, "was not made by refdesk, or only in part"),
    ],
)
async def test_an_index_of_a_newer_release_or_half_made_stops_the_start_and_keeps_what_it_holds(
    store: DocumentStore, own: DocstoreSettings, damage: dict[str, object], why: str
) -> None:
    async with connect(own) as client:
        await client.write("PUT", f"/{RECORDS.name(client)}/_mapping", damage)
    again = OpenSearchStore(own)
    with pytest.raises(InvalidArgument, match=why) as caught:
        await again.open()
    assert "docstore.opensearch.index_prefix" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert (await read(store, "g/a.md")).document.text == "one\ntwo\n"


@pytest.mark.slow
async def test_what_was_acknowledged_is_there_after_the_engine_was_killed(tmp_path: Path) -> None:
    server = OpenSearchServer(tmp_path)
    server.start()
    settings = OpenSearchEngine(server).settings()
    store = OpenSearchStore(settings)
    await store.open()
    for batch in range(5):
        await put(store, *(make_record(f"g/{batch}-{number}.md", f"text {batch}\n") for number in range(10)))
    server.process.kill()
    with pytest.raises(Unavailable):
        await put(store, make_record("g/late.md"))
    await store.close()
    server.start()
    store = OpenSearchStore(settings.model_copy(update={"url": server.url}))
    await store.open()
    assert len(await store.list_documents(PROJECT, GENERATION, "", "", 1000)) == 50
    assert (await store.get_stats(PROJECT, GENERATION)).chunk_count == 50
    await store.close()
    server.stop()
