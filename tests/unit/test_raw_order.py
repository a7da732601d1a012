"""What decides between statements of a publisher: its revision, in whatever order they come."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.pushes import content, deletion, listing
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.raw_order import LISTING_PATH, Decision, decide, read_listing, stand
from refdesk.docstore.raw_validation import check_item
from refdesk.errors import InvalidArgument

STORED, UNCHANGED, OLDER, CONFLICT = (
    pb.RAW_OUTCOME_STORED,
    pb.RAW_OUTCOME_UNCHANGED,
    pb.RAW_OUTCOME_OLDER,
    pb.RAW_OUTCOME_CONFLICT,
)
PATH = "a.md"


class Shelf:
    """The records of one source, as a service keeps them."""

    def __init__(self, *items: pb.PutRawDocumentsItem) -> None:
        self.records: dict[str, pb.RawDocument] = {}
        self.outcomes = [self.put(item).outcome for item in items]

    def put(self, item: pb.PutRawDocumentsItem) -> Decision:
        statement = item.WhichOneof("statement")
        path = LISTING_PATH if statement == "listing" else getattr(item, statement or "").path
        decision = decide(self.records.get(path), self.listing, item)
        if decision.record is not None:
            self.records[path] = decision.record
        return decision

    @property
    def listing(self):  # type: ignore[no-untyped-def]
        return read_listing(self.records.get(LISTING_PATH))

    def standing(self, path: str = PATH) -> str:
        return pb.RawStanding.Name(stand(self.records.get(path), self.listing)).removeprefix("RAW_STANDING_").lower()

    def text(self, path: str = PATH) -> str:
        return self.records[path].content.decode()


@pytest.mark.parametrize(
    ("items", "outcomes", "standing", "text"),
    [
        ([content(PATH, 2, "two"), content(PATH, 1, "one")], [STORED, OLDER], "live", "two"),
        ([content(PATH, 1, "one"), content(PATH, 2, "two")], [STORED, STORED], "live", "two"),
        ([content(PATH, 1, "one"), content(PATH, 1, "one", id="other")], [STORED, UNCHANGED], "live", "one"),
        ([content(PATH, 1, "one"), content(PATH, 1, "uno", id="other")], [STORED, CONFLICT], "live", "one"),
        ([content(PATH, 1, "one"), content(PATH, 1, "one", id="o", title="T")], [STORED, CONFLICT], "live", "one"),
        ([content(PATH, 1, "one"), deletion(PATH, 2)], [STORED, STORED], "deleted", ""),
        ([deletion(PATH, 2), content(PATH, 1, "one")], [STORED, OLDER], "deleted", ""),
        ([deletion(PATH, 2), content(PATH, 2, "one", id="o")], [STORED, CONFLICT], "deleted", ""),
        ([content(PATH, 2, "two"), deletion(PATH, 1)], [STORED, OLDER], "live", "two"),
        ([content(PATH, 2, "two"), deletion(PATH, 2, id="o")], [STORED, CONFLICT], "live", "two"),
        ([deletion(PATH, 2), deletion(PATH, 2, id="o"), deletion(PATH, 1)], [STORED, UNCHANGED, OLDER], "deleted", ""),
        ([content(PATH, 1, "one"), deletion(PATH, 2), content(PATH, 3, "x")], [STORED] * 3, "live", "x"),
        ([content(PATH, 1, "one"), listing(2, "b.md")], [STORED, STORED], "unlisted", "one"),
        ([content(PATH, 1, "one"), listing(2, PATH)], [STORED, STORED], "live", "one"),
        ([content(PATH, 3, "one"), listing(2, "b.md")], [STORED, STORED], "live", "one"),
        ([listing(2, "b.md"), content(PATH, 1, "one")], [STORED, OLDER], "unlisted", "one"),
        ([listing(2, "b.md"), content(PATH, 2, "one")], [STORED, STORED], "live", "one"),
        ([content(PATH, 1, "one"), listing(2), listing(3, PATH)], [STORED] * 3, "live", "one"),
        ([content(PATH, 1, "one"), listing(3, PATH), listing(2)], [STORED, STORED, OLDER], "live", "one"),
        ([listing(2, PATH), listing(2, PATH, id="o"), listing(2, id="p")], [STORED, UNCHANGED, CONFLICT], "unknown", ""),
        ([content(PATH, 1, "one"), listing(5, PATH), deletion(PATH, 4)], [STORED, STORED, OLDER], "live", "one"),
        ([content(PATH, 1, "one"), listing(5), deletion(PATH, 4)], [STORED, STORED, STORED], "deleted", ""),
        ([content(PATH, 1, "one"), listing(5), content(PATH, 4, "x"), listing(6, PATH)], [STORED, STORED, OLDER, STORED], "live", "x"),
    ],
)  # fmt: skip
def test_the_revision_decides_whatever_came_first(
    items: list[pb.PutRawDocumentsItem], outcomes: list[int], standing: str, text: str
) -> None:
    shelf = Shelf(*items)
    assert shelf.outcomes == outcomes
    assert shelf.standing() == standing
    if PATH in shelf.records:
        assert shelf.text() == text


def test_a_listing_brings_back_what_was_deleted_and_its_old_content_may_be_sent_again() -> None:
    shelf = Shelf(content(PATH, 1, "one"), deletion(PATH, 2), listing(3, PATH))
    assert (shelf.standing(), shelf.records[PATH].dropped) == ("live", True)
    assert shelf.put(content(PATH, 1, "one", id="again")).outcome == STORED
    assert (shelf.standing(), shelf.text()) == ("live", "one")


def test_an_event_that_comes_twice_is_one_and_one_whose_id_is_used_again_is_refused() -> None:
    shelf = Shelf(content(PATH, 1, "one", id="e"), content(PATH, 1, "uno", id="e"))
    assert shelf.outcomes == [STORED, UNCHANGED]
    decision = shelf.put(content(PATH, 2, "two", id="e"))
    assert (decision.outcome, decision.reason) == (
        CONFLICT,
        "event id e was sent before with revision 1: give every event an id of its own",
    )


def test_a_deletion_leaves_nothing_of_what_the_document_said() -> None:
    shelf = Shelf(content(PATH, 1, "secret", title="secret", url="https://secret"), deletion(PATH, 2))
    assert b"secret" not in shelf.records[PATH].SerializeToString()


def test_every_change_counts_and_the_newest_five_events_are_remembered() -> None:
    shelf = Shelf(*(content(PATH, revision) for revision in range(1, 8)))
    record = shelf.records[PATH]
    assert record.change_count == 7
    assert [event.revision for event in record.events] == [3, 4, 5, 6, 7]


PATHS = ("a.md", "b.md", "c.md")
Statement = tuple[str, tuple[str, ...]]
statements = st.lists(
    st.one_of(
        st.tuples(st.just("content"), st.sampled_from([(path,) for path in PATHS])),
        st.tuples(st.just("deletion"), st.sampled_from([(path,) for path in PATHS])),
        st.tuples(st.just("listing"), st.sets(st.sampled_from(PATHS)).map(lambda paths: tuple(sorted(paths)))),
    ),
    min_size=1,
    max_size=8,
)


def build(statement: Statement, revision: int) -> pb.PutRawDocumentsItem:
    kind, paths = statement
    if kind == "listing":
        return listing(revision, *paths)
    return content(paths[0], revision) if kind == "content" else deletion(paths[0], revision)


def exists(history: Sequence[Statement], path: str) -> bool:
    """By the newest statement that speaks of the path; revisions count from 1 in the order of the history."""
    for kind, paths in reversed(history):
        if kind == "listing" or paths == (path,):
            return kind != "deletion" and path in paths
    return False


@given(statements, st.randoms(use_true_random=False), st.data())
def test_what_stands_does_not_depend_on_the_order_of_arrival(
    history: list[Statement], random: object, data: st.DataObject
) -> None:
    items = [build(statement, revision) for revision, statement in enumerate(history, start=1)]
    arriving = data.draw(st.permutations(items + data.draw(st.lists(st.sampled_from(items), max_size=4))))
    shelf = Shelf(*arriving)
    assert CONFLICT not in shelf.outcomes
    for path in PATHS:
        record = shelf.records.get(path)
        assert (shelf.standing(path) == "live") == (exists(history, path) and record is not None)
        pushed = [revision for revision, one in enumerate(history, start=1) if one == ("content", (path,))]
        if shelf.standing(path) == "live" and not shelf.records[path].dropped:
            assert shelf.records[path].revision == max(pushed)


@pytest.mark.parametrize(
    ("item", "complaint"),
    [
        (content("", 1), "1 to 1024 characters"),
        (content("x" * 1025, 1, id="e"), "1 to 1024 characters"),
        (content("/a.md", 1), "relative"),
        (content("../a.md", 1), "relative"),
        (content("a//b.md", 1), "relative"),
        (content("a\u0000.md", 1), "cannot be shown"),
        (content("a\n.md", 1), "cannot be shown"),
        (content("u\u0308.md", 1), "Unicode NFC"),
        (content("a.md", 0), "whole number from 1"),
        (content("a.md", -4), "whole number from 1"),
        (content("a.md", 1, id="i" * 257), "event's id"),
        (content("a.md", 1, url="javascript:alert(1)"), "http"),
        (content("a.md", 1, title="two\nlines"), "one line"),
        (content("a.md", 1, version="v" * 65), "at most 64"),
        (content("a.md", 1, kind="blog"), "documentation or api"),
        (content("a.md", 1, language="English please"), "language"),
        (deletion("a/../b.md", 1), "relative"),
        (listing(1, "a.md", "a.md"), "twice"),
        (listing(1, "/a.md"), "relative"),
        (pb.PutRawDocumentsItem(source="wiki", event_id="e", revision=1), "states nothing"),
    ],
)
def test_a_statement_that_cannot_be_kept_is_refused_with_what_to_do(
    item: pb.PutRawDocumentsItem, complaint: str
) -> None:
    with pytest.raises(InvalidArgument, match=complaint):
        check_item(item)


def test_bytes_that_are_no_text_are_refused_by_their_place() -> None:
    item = content("a.md", 1)
    item.content.content = b"caf\xe9"
    with pytest.raises(InvalidArgument, match=r"content of a\.md is not UTF-8 at byte 3"):
        check_item(item)
