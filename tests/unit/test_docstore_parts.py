"""The pure parts of docstore: page tokens, what a record must be, packed ids, likeness of paths."""

from __future__ import annotations

import base64
import json
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.records import GENERATION, make_record, make_tombstone, to_put
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore import cursor, validation
from refdesk.docstore.engines import packing
from refdesk.docstore.engines.cuts import CutCache
from refdesk.docstore.engines.interface import listing_key
from refdesk.docstore.engines.likeness import rank_paths
from refdesk.docstore.engines.sqlite import rows
from refdesk.errors import InvalidArgument

PATHS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\x01\x02"), max_size=20)
SCOPE = ("documents", "p", "g", "")


@given(PATHS, st.integers(0, 2**60), st.booleans())
def test_a_token_gives_back_the_key_it_was_made_of(path: str, number: int, flag: bool) -> None:
    assert cursor.decode(cursor.encode(SCOPE, (flag, number, path)), SCOPE, (bool, int, str)) == [flag, number, path]


@given(
    st.one_of(
        st.text(min_size=1, max_size=60), st.binary(min_size=1).map(lambda raw: base64.urlsafe_b64encode(raw).decode())
    )
)
def test_a_token_that_we_never_made_is_refused_and_nothing_worse(token: str) -> None:
    with pytest.raises(InvalidArgument, match="start again without a page token"):
        cursor.decode(token, SCOPE, (str,))


@pytest.mark.parametrize(
    "content",
    [
        [list(SCOPE), [1]],
        [list(SCOPE), []],
        [list(SCOPE), ["a", "b"]],
        [["records"], ["a"]],
        [],
        {},
        1,
        [list(SCOPE), None],
    ],
)
def test_a_token_with_another_scope_or_other_types_is_refused(content: object) -> None:
    token = base64.urlsafe_b64encode(json.dumps(content).encode()).decode()
    with pytest.raises(InvalidArgument):
        cursor.decode(token, SCOPE, (str,))


def test_the_longest_path_fits_into_a_token() -> None:
    token = cursor.encode(SCOPE, ("😀" * validation.MAX_PATH_CHARACTERS,))
    assert cursor.decode(token, SCOPE, (str,)) is not None


@pytest.mark.parametrize("key", ['"\\ud800"', "1e400", "9223372036854775808", "true"])
def test_a_token_with_half_a_character_or_too_large_a_number_is_refused(key: str) -> None:
    token = base64.urlsafe_b64encode(f"[{json.dumps(list(SCOPE))},[{key}]]".encode()).decode()
    for kind in (str, int):
        with pytest.raises(InvalidArgument):
            cursor.decode(token, SCOPE, (kind,))


def test_the_empty_token_is_the_first_page() -> None:
    assert cursor.decode("", SCOPE, (str,)) is None


def broken(**fields: object) -> pb.Document:
    return make_record("guide/a.md", **fields)  # type: ignore[arg-type]


def with_head(document: pb.Document, **fields: object) -> pb.Document:
    """The record with one chunk of its head changed."""
    for name, value in fields.items():
        setattr(document.heads[0].chunks[0], name, value)
    return document


def without_text(document: pb.Document) -> pb.Document:
    document.ClearField("text")
    document.ClearField("sections")
    return document


def listing_twice(document: pb.Document) -> pb.Document:
    document.heads[0].chunks.append(document.heads[0].chunks[0])
    return document


def missing_another(document: pb.Document) -> pb.Document:
    document.heads[0].missing_vectors.append("00000000-0000-0000-0000-000000000000")
    return document


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (pb.Document(), "document_id of a record is empty"),
        (broken(source=""), "source of a record is empty"),
        (broken(source="other"), "must begin with its source 'other'"),
        (make_record("guide/" + "a" * 5000), "at most 4096 characters"),
        (make_record("guide/a\0b"), "must begin with its source"),
        (broken(previous_paths=["x"] * 6), "more than 5 previous paths"),
        (broken(text="x" * 1001), "has 1001 characters; at most 1000"),
        (broken(heads=[pb.Head()]), "must each name a generation"),
        (broken(heads=[pb.Head(generation="a"), pb.Head(generation="a")]), "must each name a generation"),
        (broken(sections=[pb.Section(start=3, end=2)]), "a section of guide/a.md does not stand"),
        (broken(sections=[pb.Section(start=0, end=99)]), "a section of guide/a.md does not stand"),
        (with_head(broken(), start=5), "a chunk of guide/a.md does not stand"),
        (with_head(broken(), chunk_id="x"), "chunk_id 'x' of guide/a.md is not a lowercase UUID"),
        (without_text(broken()), "put the record with its text"),
        (listing_twice(broken()), "lists a chunk twice"),
        (missing_another(broken()), "misses vectors of chunks that it does not list"),
        (broken(deleted=True), "its heads must list no chunk"),
    ],
)
def test_a_record_that_could_not_be_read_back_is_refused(document: pb.Document, says: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        validation.check_put(pb.PutDocumentsItem(document=document, expected_revision=document.revision - 1), 1000)
    assert says in caught.value.message
    assert len(caught.value.message) < 400


def test_an_id_that_is_no_uuid_and_a_revision_that_is_not_the_next_are_refused() -> None:
    [item] = to_put(make_record("guide/a.md"))
    item.document.document_id = item.document.document_id.upper()
    with pytest.raises(InvalidArgument, match="not a lowercase UUID"):
        validation.check_put(item, 1000)
    [item] = to_put(make_record("guide/a.md"))
    for expected in (1, 2, -1):
        item.expected_revision = expected
        with pytest.raises(InvalidArgument, match="plus 1"):
            validation.check_put(item, 1000)


def test_records_that_are_right_are_let_through() -> None:
    for document in (
        make_record("guide/a.md"),
        make_tombstone("guide/a.md", 2),
        make_tombstone("guide/a.md", 2, text="x"),
    ):
        validation.check_put(to_put(document)[0], 1000)


def test_a_note_needs_as_many_counts_as_chunks_or_none() -> None:
    note = pb.NoteDocumentsItem(document_id="d", project="p", generation=GENERATION, embedded_chunk_ids=["a", "b"])
    validation.check_note(note)
    note.token_counts.append(1)
    with pytest.raises(InvalidArgument, match="1 token_counts for 2 chunks"):
        validation.check_note(note)


@pytest.mark.parametrize("slug", ["", "-a", "a-", "A", "a_b", "a" * 64, "ä", "a\n"])
def test_a_bad_slug_is_refused(slug: str) -> None:
    project = pb.Project(slug=slug, live_generation="g", followed_generations=["g"])
    with pytest.raises(InvalidArgument, match="must be a-z, 0-9 and hyphen"):
        validation.check_project(project, 0)


def test_a_project_follows_its_live_generation_and_names_its_sources_apart() -> None:
    project = pb.Project(slug="a", live_generation="g", followed_generations=["f", "g"])
    validation.check_project(project, 0)
    project.sources.add(name="s")
    project.sources.add(name="s")
    with pytest.raises(InvalidArgument, match="a name of their own"):
        validation.check_project(project, 0)
    for live in ("", "h"):
        with pytest.raises(InvalidArgument, match="must follow its live generation"):
            validation.check_project(pb.Project(slug="a", live_generation=live, followed_generations=["g"]), 0)


@pytest.mark.parametrize("other", ["g", "h"])
def test_what_is_built_or_kept_for_rollback_is_followed_beside_the_live_generation(other: str) -> None:
    following = {"slug": "a", "live_generation": "g", "followed_generations": ["g", "f"]}
    kept = pb.RollbackGeneration(generation="f", until_milliseconds=1)
    validation.check_project(pb.Project(**following, building_generation="f"), 0)  # type: ignore[arg-type]
    validation.check_project(pb.Project(**following, rollback_generations=[kept]), 0)  # type: ignore[arg-type]
    kept.generation = other
    for wrong in ({"building_generation": other}, {"rollback_generations": [kept]}):
        with pytest.raises(InvalidArgument, match=f"must follow generation {other} beside"):
            validation.check_project(pb.Project(**following, **wrong), 0)  # type: ignore[arg-type]


@given(st.uuids())
def test_an_id_is_packed_as_the_uuid_library_does(identifier: UUID) -> None:
    assert rows.pack_id(str(identifier)) == identifier.bytes
    assert rows.unpack_id(identifier.bytes) == str(identifier)


@pytest.mark.parametrize("wrong", ["", "x", "00", "00000000-0000-0000-0000-00000000000g", "é"])
def test_what_is_no_id_packs_to_nothing(wrong: str) -> None:
    assert rows.pack_id(wrong) == b""


@given(st.lists(st.lists(PATHS.filter(lambda part: "/" not in part), min_size=1, max_size=4).map("/".join)))
def test_folder_keys_sort_paths_as_the_listing_does(paths: list[str]) -> None:
    by_key = sorted(paths, key=lambda path: (packing.folder_key(path).encode(), path.encode()))
    assert by_key == sorted(paths, key=listing_key)


def test_a_source_range_holds_its_folders_and_no_neighbour() -> None:
    first, last = rows.source_range("a")
    inside = [
        path for path in ("a/1", "a/b/1", "a-b/1", "ab/1", "b/1", "A/1") if first <= packing.folder_key(path) < last
    ]
    assert inside == ["a/1", "a/b/1"]


def test_the_same_file_name_is_nearer_than_any_likeness() -> None:
    paths = ["guide/setup/instal.md", "very/far/away/install.md", "guide/setup/install.mdx"]
    assert rank_paths("guide/setup/install.md", paths, 2)[0] == "very/far/away/install.md"


@pytest.mark.parametrize("wanted", ["/d/v3/glossary/index.md", "d/v3/Glossary/index.md", "v3/glossary/index.md"])
def test_among_files_of_one_name_the_nearest_path_comes_first(wanted: str) -> None:
    paths = [f"d/{version}/{folder}/index.md" for version in ("v1", "v2", "v3") for folder in ("faq", "glossary", "x")]
    assert rank_paths(wanted, paths, 5)[0] == "d/v3/glossary/index.md"


def test_nothing_is_suggested_for_what_is_like_nothing_nor_the_path_itself() -> None:
    assert rank_paths("qqqq/zzzz", ["guide/a.md", "guide/b.md"], 5) == []
    assert rank_paths("guide/a.md", ["guide/a.md"], 5) == []


def test_a_misspelt_folder_still_leads_to_the_page_among_twenty_thousand() -> None:
    paths = [f"guide/part-{number}/page-{number}.md" for number in range(20_000)] + [
        "operate/clusters/upgrade-nodes.md"
    ]
    assert rank_paths("operate/cluster/upgrade-node.md", paths, 1) == ["operate/clusters/upgrade-nodes.md"]


class _Sized:
    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes


def test_the_cache_drops_the_oldest_above_its_size_and_what_has_changed() -> None:
    cache = CutCache(100)
    first, second, third = _Sized(40), _Sized(40), _Sized(60)
    cache.put((1, "g"), (1, 0), first)  # type: ignore[arg-type]
    cache.put((2, "g"), (1, 0), second)  # type: ignore[arg-type]
    assert cache.get((1, "g"), (1, 0)) is first
    assert cache.get((1, "g"), (1, 1)) is None
    assert cache.get((1, "other"), (1, 0)) is None
    cache.put((3, "g"), (1, 0), third)  # type: ignore[arg-type]
    assert cache.get((2, "g"), (1, 0)) is None
    assert (cache.get((1, "g"), (1, 0)), cache.get((3, "g"), (1, 0))) == (first, third)
    cache.put((4, "g"), (1, 0), _Sized(101))  # type: ignore[arg-type]
    assert cache.get((4, "g"), (1, 0)) is None
