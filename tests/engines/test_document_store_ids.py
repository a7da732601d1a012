"""What every DocumentStore promises of prefixes: they find all that they fit, nothing deleted, nothing of another project."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from engines.stores import OpenSearchEngine, StoreEngine, connect
from fakes.records import PROJECT, make_record, make_tombstone, name_document, put
from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import DocumentStore
from refdesk.docstore.engines.opensearch.layout import RECORDS
from refdesk.docstore.engines.sqlite import schema
from refdesk.docstore.engines.table import document_store
from refdesk.docstore.settings import DocstoreSettings

pytestmark = pytest.mark.anyio
DOCUMENT, SECTION, CONTENT = pb.ID_KIND_DOCUMENT, pb.ID_KIND_SECTION, pb.ID_KIND_CONTENT


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def sections(*names: str) -> list[pb.Section]:
    """One a name, the second of equal ones with ordinal 1."""
    return [
        pb.Section(level=1, breadcrumb=[name], ordinal=names[:place].count(name)) for place, name in enumerate(names)
    ]


async def find(
    store: DocumentStore, kind: pb.IdKind, prefix: str, project: str = PROJECT
) -> list[tuple[str, str, bool]]:
    """Path, section id and whether current, of each candidate."""
    [found] = await store.resolve_ids(project, [pb.IdQuery(kind=kind, prefix=prefix)])
    return [(one.path, one.section_id, one.current) for one in found.candidates]


@pytest.mark.parametrize("length", [4, 7, 8, 9, 13, 36])
async def test_a_document_is_found_by_any_prefix_of_its_id(store: DocumentStore, length: int) -> None:
    await put(store, make_record("g/a.md"), make_record("g/b.md"))
    prefix = name_document("g/a.md")[:length]
    assert await find(store, DOCUMENT, prefix) == [("g/a.md", "", True)]
    assert await find(store, DOCUMENT, prefix.upper().replace("-", "")) == [("g/a.md", "", True)]


@pytest.mark.parametrize("length", [4, 8, 12, 36])
async def test_a_section_is_found_by_any_prefix_of_its_id_and_equal_ones_apart(
    store: DocumentStore, length: int
) -> None:
    document = make_record("g/a.md", sections=sections("Rules", "Rules"))
    await put(store, document, make_record("g/b.md", sections=sections("Rules")))
    for ordinal in (0, 1):
        name = ids.section_id(document.document_id, ["Rules"], ordinal)
        assert await find(store, SECTION, name[:length]) == [("g/a.md", name, True)]


async def test_what_stands_above_the_first_heading_has_the_name_of_no_breadcrumb(store: DocumentStore) -> None:
    document = make_record("g/a.md", sections=[])
    await put(store, document)
    name = ids.section_id(document.document_id, [], 0)
    assert await find(store, SECTION, name[:8]) == [("g/a.md", name, True)]


async def test_sections_and_contents_are_findable_as_they_are_after_an_edit(store: DocumentStore) -> None:
    first = make_record("g/a.md", sections=sections("Old", "Kept"), content_hash=digest("1"))
    second = make_record(
        "g/a.md",
        revision=2,
        sections=sections("Kept", "New"),
        content_hash=digest("2"),
        previous_content_hashes=[digest("1")],
    )
    await put(store, first)
    await put(store, second)
    names = {name: ids.section_id(first.document_id, [name], 0) for name in ("Old", "Kept", "New")}
    assert await find(store, SECTION, names["Old"]) == []
    assert await find(store, SECTION, names["Kept"][:8]) == [("g/a.md", names["Kept"], True)]
    assert await find(store, SECTION, names["New"][:8]) == [("g/a.md", names["New"], True)]
    assert await find(store, CONTENT, digest("2")[:6]) == [("g/a.md", "", True)]
    assert await find(store, CONTENT, digest("1")[:6]) == [("g/a.md", "", False)]
    [found] = await store.resolve_ids(PROJECT, [pb.IdQuery(kind=CONTENT, prefix=digest("1")[:6])])
    assert found.candidates[0].content_hash == digest("2")


async def test_what_fits_several_is_told_whole_the_current_first_then_by_path(store: DocumentStore) -> None:
    await put(
        store,
        make_record("g/c.md", content_hash=digest("same")),
        make_record("g/a.md", content_hash=digest("new"), previous_content_hashes=[digest("same")]),
        make_record("g/b.md", content_hash=digest("same")),
    )
    found = await find(store, CONTENT, digest("same")[:6])
    assert found == [("g/b.md", "", True), ("g/c.md", "", True), ("g/a.md", "", False)]


async def test_at_most_10_candidates_are_told(store: DocumentStore) -> None:
    await put(store, *(make_record(f"g/{number:02}.md", content_hash=digest("same")) for number in range(12)))
    assert [path for path, _, _ in await find(store, CONTENT, digest("same"))] == [f"g/{n:02}.md" for n in range(10)]


async def test_a_deleted_document_is_not_found(store: DocumentStore) -> None:
    document = make_record("g/a.md", sections=sections("Rules"), content_hash=digest("1"))
    await put(store, document)
    await put(store, make_tombstone("g/a.md", 2, sections=sections("Rules"), content_hash=digest("1")))
    assert await find(store, DOCUMENT, document.document_id) == []
    assert await find(store, SECTION, ids.section_id(document.document_id, ["Rules"], 0)) == []
    assert await find(store, CONTENT, digest("1")) == []


async def test_nothing_of_another_project_is_found(store: DocumentStore) -> None:
    other = make_record("g/a.md", project="other", sections=sections("Rules"), content_hash=digest("1"))
    await put(store, other)
    section = ids.section_id(other.document_id, ["Rules"], 0)
    for kind, name in ((DOCUMENT, other.document_id), (SECTION, section), (CONTENT, digest("1"))):
        assert await find(store, kind, name) == []
        assert len(await find(store, kind, name, "other")) == 1


@pytest.mark.parametrize("prefix", ["", "abc", "not hex!", "%2e%2e", "g/a.md", "*", "f" * 65, "ａｂｃｄ"])
async def test_what_is_no_prefix_fits_nothing(store: DocumentStore, prefix: str) -> None:
    await put(store, make_record("g/a.md", content_hash=digest("1")))
    assert [await find(store, kind, prefix) for kind in (DOCUMENT, SECTION, CONTENT)] == [[], [], []]


async def test_each_query_is_answered_in_its_place(store: DocumentStore) -> None:
    await put(store, make_record("g/a.md"), make_record("g/b.md"))
    queries = [pb.IdQuery(kind=DOCUMENT, prefix=name_document(f"g/{name}.md")) for name in "bxa"]
    found = await store.resolve_ids(PROJECT, queries)
    assert [[one.path for one in item.candidates] for item in found] == [["g/b.md"], [], ["g/a.md"]]


async def check_findable(store: DocumentStore, documents: Sequence[pb.Document]) -> None:
    for document in documents:
        name = ids.section_id(document.document_id, ["Rules"], 0)
        assert await find(store, SECTION, name[:8]) == [(document.path, name, True)]
        assert await find(store, CONTENT, document.content_hash[:8]) == [(document.path, "", True)]


def some_records(count: int) -> list[pb.Document]:
    return [
        make_record(f"g/{number}.md", sections=sections("Rules"), content_hash=digest(str(number)))
        for number in range(count)
    ]


async def test_a_file_of_the_schema_before_is_opened_and_what_it_holds_can_be_found(tmp_path: Path) -> None:
    documents = some_records(600)  # more than one step names
    store = document_store(DocstoreSettings(), tmp_path)
    await store.open()
    await put(store, *documents)
    await store.close()
    path = tmp_path / "docstore" / "refdesk.sqlite3"
    with sqlite3.connect(path) as old:
        for statement in (
            "DROP TRIGGER documents_made",
            "DROP TRIGGER documents_changed",
            "DROP TABLE names",
            "DROP TABLE unnamed_documents",
            "UPDATE schema SET version = 3",
        ):
            old.execute(statement)
    old.close()
    await store.open()
    await check_findable(store, documents)
    await store.close()
    with sqlite3.connect(path) as now:
        assert now.execute("SELECT version, min_reader FROM schema").fetchone() == (schema.SCHEMA, 1)
    now.close()


async def test_what_an_earlier_release_wrote_into_the_file_meanwhile_can_be_found_after_the_next_start(
    tmp_path: Path,
) -> None:
    [document] = some_records(1)
    store = document_store(DocstoreSettings(), tmp_path)
    await store.open()
    await put(store, document)
    await store.close()
    with sqlite3.connect(tmp_path / "docstore" / "refdesk.sqlite3") as old:  # it knows the columns, not the names
        old.execute("DELETE FROM names")
        old.execute("UPDATE documents SET revision = 1")
    old.close()
    await store.open()
    await check_findable(store, [document])
    await store.close()


async def test_records_that_an_earlier_release_put_into_opensearch_are_named_when_they_are_asked_for(
    store_engine: StoreEngine, tmp_path: Path
) -> None:
    if not isinstance(store_engine, OpenSearchEngine):
        pytest.skip("of OpenSearch alone")
    own = store_engine.settings()
    store = await store_engine.open(own, tmp_path)
    documents = some_records(5)
    await put(store, *documents)
    async with connect(own) as client:
        forget = "ctx._source.remove('named'); ctx._source.remove('section_names'); ctx._source.remove('content_names')"
        body = {"script": {"source": forget}, "query": {"match_all": {}}}
        answer = await client.write("POST", f"/{RECORDS.alias(client)}/_update_by_query", body, {"refresh": "true"})
        assert answer["updated"] == 5
    await check_findable(store, documents)
    assert await find(store, CONTENT, digest("unknown")) == []
    await store.close()
    await store_engine.forget(own)
