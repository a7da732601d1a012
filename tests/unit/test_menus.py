"""Menus are followed: read from their source, kept, changed and dropped with it; and what is held back is not there."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from fakes.desk import PROJECT, SOURCE, FakeDesk
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.errors import InvalidArgument
from refdesk.ingest.menus import Menus
from refdesk.ingest.sources.folder import FolderSource
from refdesk.ingest.sources.rules import read_globs
from refdesk.projects import SourceSettings

pytestmark = pytest.mark.anyio
KEY = (PROJECT, SOURCE)


def follow(desk: FakeDesk, folder: Path, **settings: Any) -> Menus:
    """Menus of one source in a folder, by a process that has just started."""
    source = SourceSettings(name=SOURCE, kind="folder", path=str(folder), **settings)
    return Menus(desk.stores, {SOURCE: source}, FolderSource)


def pages_of(desk: FakeDesk) -> list[str]:
    return [node.page for node in desk.docstore.menus[KEY].nodes]


async def test_a_menu_follows_its_file_and_is_dropped_with_it(tmp_path: Path) -> None:
    desk = FakeDesk()
    file = tmp_path / "nav" / "menu.yml"
    file.parent.mkdir()
    file.write_text("- b.md\n- a.md\n")
    menus = follow(desk, tmp_path, navigation="nav/menu.yml", navigation_root="")
    await menus.update()
    assert pages_of(desk) == ["b.md", "a.md"]
    file.write_text("- a.md\n")
    await menus.update()
    assert pages_of(desk) == ["a.md"]
    file.unlink()
    await menus.update()
    assert pages_of(desk) == []


async def test_a_menu_that_cannot_be_read_leaves_the_last_good_one(tmp_path: Path) -> None:
    desk = FakeDesk()
    (tmp_path / "menu.yml").write_text("- a.md\n")
    menus = follow(desk, tmp_path, navigation="menu.yml")
    await menus.update()
    (tmp_path / "menu.yml").write_text("- {titel: x}\n")
    await menus.update()
    assert pages_of(desk) == ["a.md"]


async def test_a_menu_that_stands_as_it_was_is_not_put_again(tmp_path: Path) -> None:
    desk = FakeDesk()
    (tmp_path / "menu.yml").write_text("- a.md\n")
    await follow(desk, tmp_path, navigation="menu.yml").update()
    kept = desk.docstore.menus[KEY]
    await follow(desk, tmp_path, navigation="menu.yml").update()
    assert desk.docstore.menus[KEY] is kept
    await follow(desk, tmp_path, navigation="menu.yml", navigation_root="docs").update()
    assert pages_of(desk) == ["docs/a.md"]


async def test_a_menu_declared_no_more_is_dropped_and_one_that_came_from_elsewhere_stays(tmp_path: Path) -> None:
    desk = FakeDesk()
    (tmp_path / "menu.yml").write_text("- a.md\n")
    await follow(desk, tmp_path, navigation="menu.yml").update()
    await follow(desk, tmp_path).drop_undeclared()
    assert pages_of(desk) == []
    desk.docstore.menus[KEY] = pb.Menu(nodes=[pb.MenuNode(page="op.md")], content_hash="spec:1")
    await follow(desk, tmp_path).drop_undeclared()
    assert pages_of(desk) == ["op.md"]


async def test_a_menu_behind_a_link_that_leads_out_of_its_source_is_not_read(tmp_path: Path) -> None:
    desk = FakeDesk()
    (tmp_path / "secret.yml").write_text("- secret.md\n")
    source = tmp_path / "source"
    source.mkdir()
    (source / "menu.yml").symlink_to(tmp_path / "secret.yml")
    await follow(desk, source, navigation="menu.yml").update()
    assert KEY not in desk.docstore.menus


@pytest.mark.parametrize("path", ["../menu.yml", "/menu.yml", "a/../../menu.yml", "a\\menu.yml"])
def test_a_menu_outside_of_its_source_cannot_be_declared(path: str) -> None:
    with pytest.raises(ValueError, match="within the source"):
        SourceSettings(name=SOURCE, kind="folder", path="/x", navigation=path)


def hold_back(desk: FakeDesk, **settings: Any) -> None:
    """From here on the desk's source is declared so."""
    declared = desk.source_settings.model_copy(update=settings)
    desk.sources[SOURCE] = dataclasses.replace(desk.sources[SOURCE], settings=declared)


@pytest.mark.promise("site.40")
async def test_what_a_source_holds_back_is_buried_and_comes_back_when_it_is_published() -> None:
    desk = FakeDesk()
    for path in ("a.md", "drafts/b.md", "SUMMARY.md"):
        desk.source.write(path, f"# {path}\n\nText.\n")
    await desk.publish("a.md", "drafts/b.md", "SUMMARY.md")
    hold_back(desk, unpublished=("drafts/",), navigation="SUMMARY.md")
    await desk.reconciler().run()
    alive = {record.path for record in desk.docstore.records.values() if not record.deleted}
    assert alive == {f"{SOURCE}/a.md"}
    assert await desk.publish("drafts/b.md") in (["skipped"], ["unchanged"], ["published"])
    assert {record.path for record in desk.docstore.records.values() if not record.deleted} == alive
    hold_back(desk, unpublished=(), navigation="")
    await desk.publish("drafts/b.md")
    assert f"{SOURCE}/drafts/b.md" in {one.path for one in desk.docstore.records.values() if not one.deleted}


def test_a_glob_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="a glob cannot be read among: !"):
        read_globs(("!",))
