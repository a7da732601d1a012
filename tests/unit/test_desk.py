"""How commands find the running desk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from refdesk.desk import Desk, default_data, find_url, read_note, remove_note, source_name, write_note
from refdesk.errors import InvalidArgument, NotFound


def note(folder: Path, url: str, pid: int) -> Desk:
    folder.mkdir(parents=True)
    desk = Desk(url, pid, str(folder))
    write_note(desk)
    return desk


def test_the_newest_running_desk_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REFDESK_URL", raising=False)
    note(Path(".refdesk/a-1"), "http://127.0.0.1:1", os.getpid())
    note(Path(".refdesk/b-2"), "http://127.0.0.1:2", 2**22 + 1)  # above Linux' largest process id: not running
    os.utime(".refdesk/a-1/desk.json", (1, 1))
    assert find_url() == "http://127.0.0.1:1"


def test_no_desk_says_how_to_start_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REFDESK_URL", raising=False)
    with pytest.raises(NotFound, match="make up"):
        find_url()


def test_the_variable_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFDESK_URL", "http://127.0.0.1:9/")
    assert find_url() == "http://127.0.0.1:9"


@pytest.mark.parametrize("url", ["notaurl", "127.0.0.1:8080", "file:///etc/passwd", "http://"])
def test_a_variable_that_is_no_address_is_said(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("REFDESK_URL", url)
    with pytest.raises(InvalidArgument, match="REFDESK_URL"):
        find_url()


def test_a_torn_note_is_no_note(tmp_path: Path) -> None:
    (tmp_path / "desk.json").write_text('{"url": ', encoding="utf-8")
    assert read_note(tmp_path) is None


def test_only_our_own_note_is_removed(tmp_path: Path) -> None:
    ours = note(tmp_path / "d", "http://127.0.0.1:1", os.getpid())
    theirs = Desk("http://127.0.0.1:2", 7, ours.data)
    write_note(theirs)
    remove_note(ours)
    assert read_note(tmp_path / "d") == theirs
    remove_note(theirs)
    assert read_note(tmp_path / "d") is None


@pytest.mark.parametrize(
    ("folder", "name"), [("docs", "docs"), ("My Docs (2)", "My-Docs-2"), ("文書", "documents"), (".hidden", "hidden")]
)
def test_a_folder_names_its_source(tmp_path: Path, folder: str, name: str) -> None:
    assert source_name(tmp_path / folder) == name


def test_folders_of_one_name_have_data_folders_of_their_own(tmp_path: Path) -> None:
    assert default_data(tmp_path / "a" / "docs") != default_data(tmp_path / "b" / "docs")
    assert default_data(tmp_path / "docs") == default_data(tmp_path / "x" / ".." / "docs")
