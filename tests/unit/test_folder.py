"""What a folder source lists and reads, and what it never does."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.errors import InvalidArgument, Unavailable
from refdesk.ingest.sources import tree
from refdesk.ingest.sources.folder import FolderSource
from refdesk.ingest.sources.interface import DocumentUnreadable, Listing
from refdesk.ingest.sources.places import is_plain
from refdesk.ingest.sources.rules import PathRules
from refdesk.projects import SourceSettings

pytestmark = pytest.mark.anyio
NOBODY = 65534


def write(folder: Path, *paths: str, content: str = "text") -> None:
    for path in paths:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")


def source_of(folder: Path, **settings: object) -> FolderSource:
    return FolderSource(SourceSettings.model_validate({"name": "handbook", "path": str(folder), **settings}))


def paths_of(listing: Listing) -> list[str]:
    return [document.path for document in listing.documents]


def reasons_of(listing: Listing) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in listing.skipped}


async def test_documents_are_listed_in_path_order_with_size_and_revision(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.mdx", "a/b/c.markdown", "a.txt", "picture.png")
    listing = await source_of(tmp_path).list()
    assert paths_of(listing) == ["a/b/c.markdown", "a/z.mdx", "b.md"]
    assert {document.size_bytes for document in listing.documents} == {4}
    assert listing.complete
    assert listing.skipped == ()
    assert listing == await source_of(tmp_path).list()


@pytest.mark.parametrize(
    ("include", "exclude", "taken"),
    [
        (["**/*.md"], [], ["a/b/deep.md", "a/in.md", "drafts/x.md", "top.md"]),
        (["*.md"], [], ["a/b/deep.md", "a/in.md", "drafts/x.md", "top.md"]),
        (["/*.md"], [], ["top.md"]),
        (["a/*.md"], [], ["a/in.md"]),
        (["a/**"], [], ["a/b/deep.md", "a/in.md", "a/note.txt"]),
        (["**/*.md"], ["drafts/**"], ["a/b/deep.md", "a/in.md", "top.md"]),
        (["**/*.md"], ["drafts/"], ["a/b/deep.md", "a/in.md", "top.md"]),
        (["**/*.md"], ["b"], ["a/in.md", "drafts/x.md", "top.md"]),
        (["**/*.md", "!a/**"], [], ["drafts/x.md", "top.md"]),
        (["**/*.m?"], ["top.md", "a/[a-c]/*"], ["a/in.md", "drafts/x.md"]),
    ],
)
async def test_globs_are_read_as_in_gitignore(
    tmp_path: Path, include: list[str], exclude: list[str], taken: list[str]
) -> None:
    write(tmp_path, "top.md", "a/in.md", "a/note.txt", "a/b/deep.md", "drafts/x.md")
    assert paths_of(await source_of(tmp_path, include=include, exclude=exclude).list()) == taken


async def test_hidden_folders_and_node_modules_are_left_out_unless_they_are_named(tmp_path: Path) -> None:
    write(tmp_path, "a.md", ".git/b.md", ".obsidian/c.md", "x/node_modules/d.md", ".hidden.md", ".github/e.md")
    assert paths_of(await source_of(tmp_path).list()) == ["a.md"]
    named = source_of(tmp_path, include=["**/*.md", ".github/**/*.md"])
    assert paths_of(await named.list()) == [".github/e.md", "a.md"]
    assert await named.read(".obsidian/c.md") is None


def test_a_glob_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="glob cannot be read"):
        source_of(tmp_path, include=["!"])


async def test_what_is_not_taken_is_reported_by_name(tmp_path: Path) -> None:
    write(tmp_path, "good.md", "empty.md", "exact.md", "big.md")
    (tmp_path / "empty.md").write_bytes(b"")
    (tmp_path / "exact.md").write_bytes(b"x" * 100)
    (tmp_path / "big.md").write_bytes(b"x" * 5_242_880)
    os.mkfifo(tmp_path / "pipe.md")
    listing = await source_of(tmp_path, max_bytes=100).list()
    assert paths_of(listing) == ["exact.md", "good.md"]
    assert reasons_of(listing) == {
        "big.md": "larger than 100 bytes (5,242,880); raise max_bytes to index it",
        "empty.md": "empty; it is indexed once there is something in it",
        "pipe.md": "not a regular file but a pipe, a socket or a device",
    }
    assert not any(skipped.unreadable for skipped in listing.skipped)


async def test_reading_what_is_not_listed_gives_nothing_and_never_waits(tmp_path: Path) -> None:
    write(tmp_path, "big.md", content="x" * 101)
    write(tmp_path, "note.txt", "folder.md/in.md")
    (tmp_path / "empty.md").touch()
    os.mkfifo(tmp_path / "pipe.md")
    source = source_of(tmp_path, max_bytes=100)
    for path in ("big.md", "empty.md", "pipe.md", "note.txt", "missing.md", "folder.md", "big.md/under.md"):
        assert await source.read(path) is None


async def test_reading_gives_the_bytes_and_the_listed_revision(tmp_path: Path) -> None:
    write(tmp_path, "a/b.md", content="caf\u00e9 \r\n")
    source = source_of(tmp_path)
    [document] = (await source.list()).documents
    found = await source.read("a/b.md")
    assert found is not None
    assert (found.content, found.revision) == (b"caf\xc3\xa9 \r\n", document.revision)


async def test_a_file_of_exactly_the_bound_is_read_whole(tmp_path: Path) -> None:
    write(tmp_path, "a.md", content="x" * 100)
    found = await source_of(tmp_path, max_bytes=100).read("a.md")
    assert found is not None
    assert len(found.content) == 100


async def test_an_edit_that_keeps_size_and_modification_time_is_another_revision(tmp_path: Path) -> None:
    write(tmp_path, "a.md", content="one")
    source = source_of(tmp_path)
    before = await source.read("a.md")
    status = os.stat(tmp_path / "a.md")
    write(tmp_path, "a.md", content="two")
    os.utime(tmp_path / "a.md", ns=(status.st_atime_ns, status.st_mtime_ns))
    after = await source.read("a.md")
    assert before is not None
    assert after is not None
    assert after.content == b"two"
    assert after.revision != before.revision


async def test_a_read_right_after_a_write_cannot_share_its_revision_with_a_later_write(tmp_path: Path) -> None:
    source = source_of(tmp_path)
    for number in range(20):
        write(tmp_path, "a.md", content=f"{number:02}")
        found = await source.read("a.md")
        write(tmp_path, "a.md", content="99")
        later = await source.list()
        assert found is not None
        assert found.content == b"99" or found.revision != later.documents[0].revision


@pytest.mark.parametrize(
    "path",
    ["../outside.md", "/etc/passwd.md", "a/../../outside.md", "a//b.md", "./a.md", "a/./b.md", "", "..", "a\x00.md"],
)
async def test_a_path_that_leads_out_is_never_read(tmp_path: Path, path: str) -> None:
    write(tmp_path, "outside.md", "root/a/b.md", "root/a.md")
    source = source_of(tmp_path / "root", include=["**"])
    assert await source.read(path) is None
    assert await source.list({path} if path else {"/"}) in (Listing(()), await source.list({"none"}))


@given(st.lists(st.sampled_from(["..", ".", "", "a", "b.md", "link"]), max_size=6).map("/".join))
def test_a_plain_path_joined_to_a_root_stays_under_it(path: str) -> None:
    if is_plain(path):
        assert os.path.normpath(f"/root/{path}").startswith("/root/")
    assert is_plain(path) == (bool(path) and os.path.normpath(path) == path and not path.startswith(("..", "/", ".")))


async def test_links_that_resolve_inside_are_taken(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "docs/.data/v1/b.md")
    (tmp_path / "docs/to-a.md").symlink_to("a.md")
    (tmp_path / "docs/b.md").symlink_to(".data/v1/b.md")
    (tmp_path / "docs/folder").mkdir()
    write(tmp_path, "docs/folder/c.md")
    (tmp_path / "docs/linked").symlink_to(tmp_path / "docs/folder")
    source = source_of(tmp_path / "docs")
    listing = await source.list()
    assert paths_of(listing) == ["a.md", "b.md", "folder/c.md", "linked/c.md", "to-a.md"]
    for document in listing.documents:
        found = await source.read(document.path)
        assert found is not None
        assert found.revision == document.revision


async def test_links_that_lead_out_are_reported_and_never_followed(tmp_path: Path) -> None:
    write(tmp_path, "secret/s.md", "secret.md", "docs/a.md")
    (tmp_path / "docs/out.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "docs/out").symlink_to(tmp_path / "secret")
    (tmp_path / "docs/dots.md").symlink_to("../secret.md")
    (tmp_path / "docs/twice.md").symlink_to("out.md")
    source = source_of(tmp_path / "docs")
    listing = await source.list()
    assert paths_of(listing) == ["a.md"]
    assert sorted(reasons_of(listing)) == ["dots.md", "out.md", "out/", "twice.md"]
    assert all("leads out of the folder" in reason for reason in reasons_of(listing).values())
    for path in ("out.md", "out/s.md", "dots.md", "twice.md"):
        assert await source.read(path) is None
    assert paths_of(await source.list({"out/s.md", "out/", "out.md"})) == []


async def test_a_folder_whose_name_begins_like_the_sources_is_outside(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "docs-private/s.md")
    (tmp_path / "docs/link.md").symlink_to(tmp_path / "docs-private/s.md")
    source = source_of(tmp_path / "docs")
    assert paths_of(await source.list()) == ["a.md"]
    assert await source.read("link.md") is None


async def test_links_in_a_circle_or_to_nowhere_are_reported(tmp_path: Path) -> None:
    write(tmp_path, "a/b/c.md")
    (tmp_path / "a/b/up").symlink_to(tmp_path)
    (tmp_path / "a/self").symlink_to("self")
    (tmp_path / "self.md").symlink_to("self.md")
    (tmp_path / "broken.md").symlink_to("missing.md")
    (tmp_path / "x").symlink_to("y")
    (tmp_path / "y").symlink_to("x")
    listing = await source_of(tmp_path).list()
    assert paths_of(listing) == ["a/b/c.md"]
    assert set(reasons_of(listing)) == {"a/b/up/", "broken.md", "self.md"}


async def test_the_sources_own_folder_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path, "real/a.md")
    (tmp_path / "docs").symlink_to("real")
    source = source_of(tmp_path / "docs")
    assert paths_of(await source.list()) == ["a.md"]
    assert await source.read("a.md") is not None


def swap_file(folder: Path) -> None:
    (folder / "docs/in/a.md").unlink()
    (folder / "docs/in/a.md").symlink_to(folder / "secret/a.md")


def swap_folder(folder: Path) -> None:
    shutil.rmtree(folder / "docs/in")
    (folder / "docs/in").symlink_to(folder / "secret")


@pytest.mark.parametrize(("swap", "name"), [(swap_file, "a.md"), (swap_folder, "in")])
async def test_what_is_swapped_for_a_link_right_before_it_is_opened_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swap: Callable[[Path], None], name: str
) -> None:
    write(tmp_path, "secret/a.md", content="secret")
    write(tmp_path, "docs/in/a.md")
    source = source_of(tmp_path / "docs")
    swaps = [swap]
    really_open = os.open

    def swap_and_open(place: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if place == name and dir_fd is not None and swaps:
            swaps.pop()(tmp_path)
        return really_open(place, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", swap_and_open)
    assert await source.read("in/a.md") is None
    assert not swaps


@pytest.mark.parametrize("swap", [swap_file, swap_folder])
async def test_what_a_link_led_to_swapped_for_another_link_right_after_it_was_resolved_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swap: Callable[[Path], None]
) -> None:
    write(tmp_path, "secret/a.md", content="secret")
    write(tmp_path, "docs/in/a.md")
    (tmp_path / "docs/way").symlink_to("in")
    source = source_of(tmp_path / "docs")
    assert await source.read("way/a.md") is not None
    swaps = [swap]
    resolve = os.path.realpath

    def resolve_and_swap(place: str, *, strict: bool = False) -> str:
        resolved = resolve(place, strict=strict)
        if strict and swaps:
            swaps.pop()(tmp_path)
        return resolved

    monkeypatch.setattr(os.path, "realpath", resolve_and_swap)
    assert await source.read("way/a.md") is None
    assert not swaps


async def test_reads_leave_no_descriptor_open(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "deep/in/b.md")
    (tmp_path / "link.md").symlink_to("a.md")
    (tmp_path / "out.md").symlink_to("/etc/hostname")
    source = source_of(tmp_path)
    await source.read("a.md")  # whatever the first read opens for good
    before = os.listdir("/proc/self/fd")
    for path in ("a.md", "deep/in/b.md", "deep/b.md", "deep/in/missing.md", "link.md", "out.md", "a.md/b.md"):
        await source.read(path)
    assert os.listdir("/proc/self/fd") == before


async def test_many_reads_at_once_get_each_its_own_file(tmp_path: Path) -> None:
    paths = [f"{number % 7}/{number}.md" for number in range(100)]
    for path in paths:
        write(tmp_path, path, content=path)
    source = source_of(tmp_path)
    found = await asyncio.gather(*(source.read(path) for path in [*paths, "missing.md"]))
    assert [one.content.decode() for one in found[:-1] if one] == paths
    assert found[-1] is None


async def test_names_are_compared_in_nfc_whatever_the_disk_holds(tmp_path: Path) -> None:
    composed = "caf\u00e9/\u304c.md"
    decomposed = unicodedata.normalize("NFD", composed)
    assert composed != decomposed
    write(tmp_path, decomposed)
    source = source_of(tmp_path)
    assert paths_of(await source.list()) == [composed]
    assert paths_of(await source.list({composed})) == [composed]
    assert paths_of(await source.list({"caf\u00e9/"})) == [composed]
    assert await source.read(composed) is not None


async def test_two_names_that_are_one_in_nfc_are_one_document_and_a_report(tmp_path: Path) -> None:
    write(tmp_path, "\u00e9.md", unicodedata.normalize("NFD", "\u00e9.md"))
    listing = await source_of(tmp_path).list()
    assert paths_of(listing) == ["\u00e9.md"]
    assert "rename one" in reasons_of(listing)["\u00e9.md"]


async def test_letter_case_is_kept_and_told_apart(tmp_path: Path) -> None:
    write(tmp_path, "README.md", "readme.md", "Ops/A.md")
    assert paths_of(await source_of(tmp_path).list()) == ["Ops/A.md", "README.md", "readme.md"]


async def test_names_that_cannot_be_shown_are_reported(tmp_path: Path) -> None:
    write(tmp_path, "good name.md", "line\nbreak.md")
    (tmp_path / os.fsdecode(b"latin-\xe9.md")).write_text("x")
    (tmp_path / os.fsdecode(b"latin-\xe9.png")).write_text("x")
    listing = await source_of(tmp_path).list()
    assert paths_of(listing) == ["good name.md"]
    assert sorted(reasons_of(listing)) == ["latin-\ufffd.md", "line\ufffdbreak.md"]
    assert all("rename it" in reason for reason in reasons_of(listing).values())


@pytest.fixture
def as_nobody() -> Iterator[Path]:
    """A folder that everybody may enter, and a process that has root's rights no more."""
    folder = Path(tempfile.mkdtemp(prefix="refdesk-test-"))
    folder.chmod(0o755)
    user = os.geteuid()
    yield folder
    if user == 0:
        os.seteuid(0)
    shutil.rmtree(folder)


async def test_what_may_not_be_read_is_reported_and_stays_as_it_is_known(as_nobody: Path) -> None:
    write(as_nobody, "a.md", "locked.md", "vault/b.md")
    (as_nobody / "locked.md").chmod(0)
    (as_nobody / "vault").chmod(0)
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    source = source_of(as_nobody)
    listing = await source.list()
    assert paths_of(listing) == ["a.md"]
    assert [(one.path, one.unreadable) for one in listing.skipped] == [("locked.md", True), ("vault/", True)]
    assert all("give refdesk read access" in reason for reason in reasons_of(listing).values())
    assert listing.complete
    hinted = await source.list({"vault/b.md", "locked.md"})
    assert [(one.path, one.unreadable) for one in hinted.skipped] == [("locked.md", True), ("vault/b.md", True)]
    with pytest.raises(DocumentUnreadable, match=r"handbook/locked\.md cannot be read"):
        await source.read("locked.md")
    with pytest.raises(DocumentUnreadable):
        await source.read("vault/b.md")


async def test_a_folder_that_may_not_be_opened_is_a_failed_listing(as_nobody: Path) -> None:
    (as_nobody / "docs").mkdir(mode=0o700)
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    else:
        (as_nobody / "docs").chmod(0)
    with pytest.raises(Unavailable, match="cannot be opened: give refdesk read access"):
        await source_of(as_nobody / "docs").list()


async def test_a_missing_folder_is_named_with_what_to_do(tmp_path: Path) -> None:
    missing = source_of(tmp_path / "missing")
    with pytest.raises(
        Unavailable, match=r"folder .*/missing does not exist: create it, mount it, or give source handbook"
    ):
        await missing.list()
    with pytest.raises(Unavailable, match="does not exist"):
        await missing.read("a.md")


async def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    with pytest.raises(Unavailable, match="is not a folder"):
        await source_of(tmp_path / "a.md").list()
    with pytest.raises(Unavailable, match="is not a folder"):
        await source_of(tmp_path / "a.md").read("b.md")


async def test_a_folder_that_is_gone_is_a_failed_listing_and_no_deleted_document(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md")
    source = source_of(tmp_path / "docs")
    assert len((await source.list()).documents) == 1
    (tmp_path / "docs").rename(tmp_path / "elsewhere")
    for attempt in (source.list(), source.list({"a.md"}), source.read("a.md")):
        with pytest.raises(Unavailable):
            await attempt


async def test_a_folder_replaced_while_it_is_listed_is_not_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "docs/a.md", "other/b.md")
    go = tree._Walk.go

    def go_and_replace(self: tree._Walk) -> None:
        (tmp_path / "docs").rename(tmp_path / "old")
        (tmp_path / "other").rename(tmp_path / "docs")
        go(self)

    monkeypatch.setattr(tree._Walk, "go", go_and_replace)
    assert not (await source_of(tmp_path / "docs").list()).complete


async def test_a_listing_that_meets_too_much_ends_early_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, *(f"{number}/a.md" for number in range(20)))
    monkeypatch.setattr(tree, "MAX_ENTRIES", 25)
    assert not (await source_of(tmp_path).list()).complete


async def test_files_that_vanish_while_they_are_listed_are_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.md", "b.md", "gone/c.md")
    visit = tree._Walk._visit

    def vanish(self: tree._Walk, place: str, *rest: object) -> None:
        if place.endswith("b.md"):
            os.unlink(place)
        if place.endswith("gone"):
            shutil.rmtree(place)
        visit(self, place, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(tree._Walk, "_visit", vanish)
    listing = await source_of(tmp_path).list()
    assert (paths_of(listing), listing.skipped, listing.complete) == (["a.md"], (), True)


async def test_hinted_paths_alone_are_looked_at(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.md", "ops/c.md", "ops/deep/d.md", "drafts/e.md", ".git/f.md")
    source = source_of(tmp_path, exclude=["drafts/"])
    assert paths_of(await source.list({"a.md", "missing.md"})) == ["a.md"]
    assert paths_of(await source.list({"ops/"})) == ["ops/c.md", "ops/deep/d.md"]
    assert paths_of(await source.list({"drafts/", "drafts/e.md", ".git/", ".git/f.md"})) == []
    assert paths_of(await source.list(set())) == []


@pytest.fixture
def deep_folder(tmp_path: Path) -> Iterator[Path]:
    """1,200 folders, one in the other; taken down step by step, since nobody else's removal gets that deep."""
    here, depth = os.getcwd(), 1200
    os.chdir(tmp_path)
    for _ in range(depth):
        os.mkdir("d")
        os.chdir("d")
    Path("a.md").write_text("x")
    yield tmp_path
    os.unlink("a.md")
    for _ in range(depth):
        os.chdir("..")
        os.rmdir("d")
    os.chdir(here)


async def test_a_tree_deeper_than_pythons_stack_is_listed_and_read(deep_folder: Path) -> None:
    source = source_of(deep_folder)
    [document] = (await source.list()).documents
    found = await source.read(document.path)
    assert found is not None
    assert found.content == b"x"


def test_rules_tell_folders_that_need_no_visit() -> None:
    rules = PathRules(["**/*.md"], ["drafts/**", "/build"])
    assert [rules.enter(path) for path in ("", "a", "drafts", "a/drafts", "build", ".git", "a/node_modules")] == [
        True, True, False, True, False, False, False,
    ]  # fmt: skip
