"""Specs in a source as documents by the operation: what is listed, read and covered, and what a bad spec leaves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pytest

from fakes.events import MemoryEvents
from fakes.source import FakeSource
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.errors import Unavailable
from refdesk.ingest.following import Follower
from refdesk.ingest.parse_child import parse_document
from refdesk.ingest.parsing import ParseTask
from refdesk.ingest.records import Generation, Origin
from refdesk.ingest.scan import Known, compare
from refdesk.ingest.sources import spec_pages
from refdesk.ingest.sources.interface import SPEC, DocumentUnreadable, Listing, RawDocument, Skipped, Stated
from refdesk.ingest.sources.openapi import SpecSource
from refdesk.openapi.pages import SpecPages, make_pages
from refdesk.projects import SourceSettings

SPEC_TEXT = """openapi: 3.0.0
info: {title: Shop}
paths:
  /orders:
    get: {tags: [orders], summary: List, responses: {}}
    post: {tags: [orders], summary: Place, responses: {}}
"""
LESS = SPEC_TEXT.rsplit("    post", 1)[0]
PAGES = ["api/shop.yaml/orders/get-orders.md", "api/shop.yaml/orders/post-orders.md", "api/shop.yaml/overview.md"]
MADE = Generation("made", 1, 250, frozenset({"en"}))


class Shelf:
    """A source of type api over a source in memory."""

    def __init__(self, **settings: object) -> None:
        self.files = FakeSource()
        self.expanded = 0
        declared = SourceSettings.model_validate({"name": "shop", "path": "/", "type": "api", **settings})
        self.source = SpecSource(declared, self.files, self.expand)

    async def expand(self, content: bytes) -> SpecPages:
        self.expanded += 1
        return make_pages(content)

    async def list(self, *within: str) -> Listing:
        return await self.source.list(within or None)

    async def paths(self, *within: str) -> list[str]:
        return [one.path for one in (await self.list(*within)).documents]

    async def revisions(self) -> dict[str, str]:
        return {one.path: one.revision for one in (await self.list()).documents}

    async def read(self, path: str) -> RawDocument:
        found = await self.source.read(path)
        assert found is not None
        return found


@pytest.fixture
def shelf() -> Shelf:
    made = Shelf()
    made.files.write("api/shop.yaml", SPEC_TEXT)
    made.files.write("guide.md", "# Guide\n\nopenapi: is how it begins")
    return made


@pytest.mark.anyio
async def test_a_spec_is_listed_with_its_pages_below_it_in_path_order(shelf: Shelf) -> None:
    assert await shelf.paths() == ["api/shop.yaml", *PAGES, "guide.md"]


@pytest.mark.anyio
async def test_a_page_is_read_by_whoever_has_not_listed_the_source(shelf: Shelf) -> None:
    page = await shelf.read(PAGES[1])
    assert page.content.startswith(b"# POST /orders\n\nPlace\n")
    assert page.stated == Stated(title="POST /orders", kind="api")
    listed = await shelf.revisions()
    assert page.revision == listed[PAGES[1]]
    assert await shelf.source.read("api/shop.yaml/orders/no-such.md") is None
    assert await shelf.source.read("api/none.yaml/overview.md") is None


@pytest.mark.anyio
async def test_the_spec_itself_is_kept_whole_and_has_nothing_that_is_searched(shelf: Shelf) -> None:
    raw = await shelf.read("api/shop.yaml")
    assert (raw.content.decode(), raw.stated) == (SPEC_TEXT, Stated(title="Shop", kind=SPEC))
    origin = Origin("id", "p", "shop", "shop/api/shop.yaml", kind="api")
    record = pb.Document.FromString(
        parse_document(ParseTask(raw.content, origin, (MADE,), 1.0, stated=raw.stated)).record
    )
    assert (record.text, record.title, record.kind) == (SPEC_TEXT, "Shop", SPEC)
    assert [(head.generation, len(head.chunks)) for head in record.heads] == [(MADE.name, 0)]
    again = parse_document(ParseTask(record.SerializeToString(), origin, (MADE,), 1.0, stored=True))
    assert [(head.generation, len(head.chunks)) for head in pb.Document.FromString(again.record).heads] == [
        (MADE.name, 0)
    ]


@pytest.mark.anyio
async def test_an_edit_of_one_operation_changes_its_revision_and_the_specs_alone(shelf: Shelf) -> None:
    before = await shelf.revisions()
    shelf.files.write("api/shop.yaml", SPEC_TEXT.replace("Place", "Place one"))
    after = await shelf.revisions()
    # The overview lists operations with their summaries.
    assert {path for path in before if before[path] != after[path]} == {"api/shop.yaml", PAGES[1], PAGES[2]}


@pytest.mark.anyio
async def test_a_spec_is_taken_apart_once_a_content(shelf: Shelf) -> None:
    await shelf.list()
    await shelf.list()
    await shelf.read(PAGES[0])
    await shelf.read(PAGES[1])
    assert shelf.expanded == 1
    shelf.files.write("api/copy.yaml", SPEC_TEXT)
    await shelf.list()
    assert shelf.expanded == 1


@pytest.mark.anyio
async def test_texts_beyond_what_is_kept_are_made_anew(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spec_pages, "MAX_TEXT_BYTES", 1)
    shelf.files.write("api/other.yaml", SPEC_TEXT.replace("Shop", "Other"))
    assert (await shelf.read(PAGES[0])).content == (await shelf.read("api/other.yaml/orders/get-orders.md")).content
    assert (await shelf.read(PAGES[0])).content.startswith(b"# GET /orders")
    assert shelf.expanded == 3


@pytest.mark.anyio
async def test_places_within_a_source_cover_the_pages_of_specs(shelf: Shelf) -> None:
    assert await shelf.paths("api/shop.yaml") == ["api/shop.yaml", *PAGES]
    assert await shelf.paths("api/") == ["api/shop.yaml", *PAGES]
    assert await shelf.paths(PAGES[0]) == [PAGES[0]]
    assert await shelf.paths("guide.md") == ["guide.md"]
    assert shelf.source.covering(["api/shop.yaml", "guide.md", "x/"]) == {
        "api/shop.yaml",
        "api/shop.yaml/",
        "guide.md",
        "x/",
    }


BAD = {
    "broken": SPEC_TEXT + "  bad: [",
    "hostile": "openapi: 3.0.0\npaths: {a: &a [*a, *a]}\n",
    "of another version": SPEC_TEXT.replace("3.0.0", "9.0"),
    "a spec no more": SPEC_TEXT.replace("openapi", "opanapi"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.anyio
async def test_a_spec_that_turns_bad_is_named_and_keeps_its_pages(shelf: Shelf, name: str) -> None:
    known = {path: Known(revision, "") for path, revision in (await shelf.revisions()).items()}
    shelf.files.write("api/shop.yaml", BAD[name])
    listing = await shelf.list()
    assert [(one.path, one.unreadable) for one in listing.skipped] == [("api/shop.yaml", True)]
    assert compare(listing, known).is_empty
    for path in ("api/shop.yaml", *PAGES):
        with pytest.raises(DocumentUnreadable):
            await shelf.source.read(path)


@pytest.mark.anyio
async def test_what_an_edit_took_out_was_taken_out_on_purpose_also_after_a_bad_one(shelf: Shelf) -> None:
    await shelf.list()
    shelf.files.write("api/shop.yaml", BAD["broken"])
    assert (await shelf.list()).removed == {}
    shelf.files.write("api/shop.yaml", LESS)
    listing = await shelf.list()
    assert {*listing.removed} == {PAGES[1]}
    shelf.files.write("api/shop.yaml", SPEC_TEXT)
    assert (await shelf.list()).removed == {}


@pytest.mark.anyio
async def test_a_spec_that_is_gone_leaves_its_pages_to_the_guard_of_deletes(shelf: Shelf) -> None:
    await shelf.list()
    shelf.files.remove("api/shop.yaml")
    listing = await shelf.list()
    assert ([one.path for one in listing.documents], listing.removed) == (["guide.md"], {})
    assert await shelf.source.read(PAGES[0]) is None


@pytest.mark.anyio
async def test_data_that_is_no_spec_is_named_and_other_files_stay_what_they_are() -> None:
    shelf = Shelf(navigation="menu.yml")
    shelf.files.write("package.json", '{"name": "x"}')
    shelf.files.write("menu.yml", "- guide.md\n")
    shelf.files.write("notes", "openapi: is a word that may begin a note")
    shelf.files.write("shop", SPEC_TEXT)
    listing = await shelf.list()
    assert [one.path for one in listing.skipped] == ["package.json"]
    assert [one.path for one in listing.documents if "/" not in one.path] == ["menu.yml", "notes", "shop"]
    assert (await shelf.read("notes")).stated == Stated()
    assert (await shelf.read("shop/overview.md")).stated.title == "Shop"


@pytest.mark.anyio
async def test_a_page_that_was_really_written_goes_before_one_made_of_a_spec(shelf: Shelf) -> None:
    shelf.files.write(PAGES[2], "# By hand")
    assert (await shelf.read(PAGES[2])).content == b"# By hand"
    assert (await shelf.revisions())[PAGES[2]] == "v3"


@pytest.mark.anyio
async def test_a_parser_that_cannot_work_is_an_outage_and_makes_no_spec_a_bad_one(shelf: Shelf) -> None:
    async def fail(content: bytes) -> SpecPages:
        raise Unavailable("the parser does not start")

    source = SpecSource(SourceSettings(name="shop", path="/", type="api"), shelf.files, fail)
    with pytest.raises(Unavailable):
        await source.list()
    with pytest.raises(Unavailable):
        await source.read(PAGES[0])


class Records:
    """Records of everything that a source listed at some moment."""

    def __init__(self, revisions: Mapping[str, str]) -> None:
        self._known = {path: Known(revision, "") for path, revision in revisions.items()}

    async def known(self, paths: Collection[str] | None) -> Mapping[str, Known]:
        return {path: known for path, known in self._known.items() if paths is None or path in paths}

    async def reported(self) -> Collection[str]:
        return []

    async def report(self, skipped: Sequence[Skipped], cleared: Sequence[str]) -> None:
        return


@pytest.mark.anyio
async def test_a_hint_at_a_spec_announces_the_pages_that_differ_and_those_that_are_gone(shelf: Shelf) -> None:
    events = MemoryEvents()
    settings = SourceSettings(name="shop", path="/", type="api")
    records = Records(await shelf.revisions())
    follower = Follower("p", settings, shelf.source, events, records, covering=shelf.source.covering)
    shelf.files.write("api/shop.yaml", LESS.replace("List", "List all"))
    assert await follower.hint(["api/shop.yaml"]) == 4
    said = {(event.path, event.type.name) for event in events.published}
    assert said == {
        ("api/shop.yaml", "CHANGED"),
        (PAGES[0], "CHANGED"),
        (PAGES[1], "DELETED"),
        (PAGES[2], "CHANGED"),
    }


def test_a_folder_of_an_api_takes_specs_where_nothing_else_is_declared() -> None:
    declared = SourceSettings(name="a", path="/", type="api")
    assert {"**/*.yaml", "**/*.yml", "**/*.json", "**/*.md"} <= {*declared.include}
    assert SourceSettings(name="a", path="/", type="api", include=("*.md",)).include == ("*.md",)
    assert SourceSettings(name="a", kind="push", type="api").type == "api"
