"""`refdesk up` as a person meets it: starts, follows, reopens, stops, and says in one line what is wrong."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from models import build_tiny_model
from system.desks import DeskProcess, running, ticks

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(tmp_path_factory.mktemp("model"))


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    docs = tmp_path / "handbook"
    (docs / "ops").mkdir(parents=True)
    (docs / "ops" / "keys.md").write_text("# Keys\n\n## Rotation\n\nRotate the signing key with keytool every month.\n")
    (docs / "travel.md").write_text("# Travel policy\n\nBook trains before flights, within the budget of the team.\n")
    return docs


def refuse(*arguments: str, environment: dict[str, str] | None = None) -> str:
    """Runs a command that must not go on, and returns the one line that it prints."""
    command = [sys.executable, "-m", "refdesk", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, **(environment or {})}, check=False
    )
    assert done.returncode == 1, done
    assert done.stdout == ""
    lines = [line for line in done.stderr.splitlines() if line.startswith("refdesk: ")]
    assert len(lines) == 1, done.stderr
    assert "Traceback" not in done.stderr
    return lines[0]


def test_a_change_is_found_and_a_deleted_page_is_not(docs: Path, model: Path, tmp_path: Path) -> None:
    with running(DeskProcess(docs, tmp_path / "data", model)) as desk:
        desk.wait_until_settled(2)
        (docs / "ops" / "pager.md").write_text("# Pager\n\nThe zanzibar rota changes on Monday.\n")
        desk.wait_until_settled(3)
        assert "handbook/ops/pager.md" in desk.text("search_docs", {"query": "zanzibar"})
        (docs / "ops" / "pager.md").write_text("# Pager\n\nThe quetzal rota changes on Monday.\n")
        for _ in ticks(20):
            if "quetzal" in desk.text("search_docs", {"query": "quetzal"}).split("in project")[-1]:
                break
        assert "zanzibar" not in desk.text("read_document", {"path": "handbook/ops/pager.md"})
        (docs / "ops" / "pager.md").rename(docs / "ops" / "oncall.md")
        desk.wait_until_settled(3)
        for _ in ticks(20):
            if "handbook/ops/oncall.md" in desk.text("list_topics", {}):
                break
        assert "handbook/ops/oncall.md" in desk.text("read_document", {"path": "handbook/ops/pager.md"})
        (docs / "ops" / "oncall.md").unlink()
        desk.wait_until_settled(2)
        assert "oncall.md" not in desk.text("list_topics", {})


def test_a_second_start_reopens_and_indexes_only_what_changed(docs: Path, model: Path, tmp_path: Path) -> None:
    desk = DeskProcess(docs, tmp_path / "data", model)
    with running(desk):
        desk.wait_until_settled(2)
        assert desk.stop(signal.SIGINT) == 0
    (docs / "new.md").write_text("# New\n\nA page that was written while nobody looked.\n")
    with running(desk):
        status = desk.wait_until_settled(3)
        assert int(status["ingest"]["published_count"]) == 1


def test_a_killed_desk_leaves_no_process_behind(docs: Path, model: Path, tmp_path: Path) -> None:
    import psutil

    with running(DeskProcess(docs, tmp_path / "data", model)) as desk:
        desk.wait_until_settled(2)
        assert desk.process is not None
        children = psutil.Process(desk.process.pid).children(recursive=True)
        assert len(children) >= 3, "nats-server, the vector engine and the keyword writer are children"
        desk.stop(signal.SIGKILL)
        gone, alive = psutil.wait_procs(children, timeout=10)
        assert alive == [], [process.cmdline() for process in alive]
        assert len(gone) == len(children)


def test_one_index_has_one_desk(docs: Path, model: Path, tmp_path: Path) -> None:
    with running(DeskProcess(docs, tmp_path / "data", model)) as desk:
        line = refuse("up", "--docs", str(docs), "--data", str(tmp_path / "data"), "--port", "0")
        assert "another desk" in line
        assert str(desk.process.pid if desk.process else "") in line


def test_an_address_that_is_not_this_machines_is_said(docs: Path, tmp_path: Path) -> None:
    line = refuse("up", "--docs", str(docs), "--data", str(tmp_path / "data"), "--port", "0", "--host", "192.0.2.1")
    assert "192.0.2.1" in line


def test_a_folder_that_does_not_exist_is_said(tmp_path: Path) -> None:
    assert "does not exist" in refuse("up", "--docs", str(tmp_path / "nowhere"))


def test_a_file_in_place_of_a_folder_is_said(docs: Path) -> None:
    assert "is a file" in refuse("up", "--docs", str(docs / "travel.md"))


def test_a_taken_port_is_said(docs: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        line = refuse("up", "--docs", str(docs), "--data", str(tmp_path / "data"), "--port", port)
    assert f"port {port}" in line
    assert "PORT=" in line


def test_a_model_folder_without_tokenizer_is_said(docs: Path, model: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "model.onnx").write_bytes((model / "model.onnx").read_bytes())
    line = refuse("up", "--docs", str(docs), "--data", str(tmp_path / "data"), "--port", "0", "--model", str(broken))
    assert "tokenizer.json" in line


def test_an_unknown_model_is_said(docs: Path, tmp_path: Path) -> None:
    line = refuse("up", "--docs", str(docs), "--data", str(tmp_path / "data"), "--port", "0", "--model", "gpt-9")
    assert "gpt-9" in line
    assert "all-MiniLM-L6-v2" in line
    assert "reindex" not in line  # to drop the index would not help


def test_a_wrong_model_drops_no_index(docs: Path, model: Path, tmp_path: Path) -> None:
    desk = DeskProcess(docs, tmp_path / "data", model)
    with running(desk):
        desk.wait_until_settled(2)
        desk.stop()
    refuse("up", "--docs", str(docs), "--data", str(desk.data), "--port", "0", "--model", "gpt-9", "--reindex")
    config = tmp_path / "refdesk.yaml"
    config.write_text(f"projects: {{default: {{model: gpt-9, sources: [{{name: handbook, path: {docs}}}]}}}}")
    arguments = ("--config", str(config), "--data", str(desk.data), "--port", "0", "--model", str(model), "--reindex")
    assert "projects.default.model" in refuse("up", *arguments)
    assert any((desk.data / "docstore").iterdir())


def test_what_no_desk_made_is_not_dropped(docs: Path, model: Path, tmp_path: Path) -> None:
    ours = tmp_path / "home"
    (ours / "events").mkdir(parents=True)
    (ours / "events" / "party.md").write_text("# Party\n\nOn Friday.\n")
    for data in (ours, docs):
        line = refuse("up", "--docs", str(docs), "--data", str(data), "--model", str(model), "--port", "0", "--reindex")
        assert str(data) in line
        assert "DATA=" in line
    assert (ours / "events" / "party.md").exists()
    assert sorted(path.name for path in docs.iterdir()) == ["ops", "travel.md"]


def test_a_corrupt_index_is_said_and_kept(docs: Path, model: Path, tmp_path: Path) -> None:
    desk = DeskProcess(docs, tmp_path / "data", model)
    with running(desk):
        desk.wait_until_settled(2)
        desk.stop()
    database = next((desk.data / "docstore").glob("*.sqlite3"))
    for extra in desk.data.glob("docstore/*-wal"):
        extra.unlink()
    database.write_bytes(b"not a database" * 500)
    line = refuse("up", "--docs", str(docs), "--data", str(desk.data), "--port", "0", "--model", str(model))
    assert database.name in line
    assert "--reindex" in line
    assert database.read_bytes().startswith(b"not a database")
    desk.arguments = ("--reindex",)
    with running(desk):
        desk.wait_until_settled(2)


def test_an_index_of_another_model_is_said_and_reindex_mends_it(docs: Path, model: Path, tmp_path: Path) -> None:
    desk = DeskProcess(docs, tmp_path / "data", model)
    with running(desk):
        desk.wait_until_settled(2)
        desk.stop()
    desk.model = build_tiny_model(tmp_path / "another", model_id="another")
    line = refuse("up", "--docs", str(docs), "--data", str(desk.data), "--port", "0", "--model", str(desk.model))
    assert "tiny" in line
    assert "another" in line
    assert "--reindex" in line
    desk.arguments = ("--reindex",)
    with running(desk):
        desk.wait_until_settled(2)


def test_documents_that_cannot_be_indexed_are_named_and_hold_nothing_up(
    docs: Path, model: Path, tmp_path: Path
) -> None:
    (docs / "long.md").write_text("word " * 1_000_000)
    (docs / "latin.md").write_bytes("# Caf\xe9\n\nM\xfcnchen\n".encode("latin-1"))
    (docs / "empty.md").write_text("")
    (docs / "secret.md").write_text("# Outside\n")
    (docs / "link.md").symlink_to("/etc/hostname")
    with running(DeskProcess(docs, tmp_path / "data", model)) as desk:
        desk.wait_until_settled(3)
        for _ in ticks(20):
            reports = {report["path"]: report["reason"] for report in desk.status()["reports"]}
            if len(reports) == 4 and "handbook/latin.md" in desk.tail():
                break
        assert set(reports) == {f"handbook/{name}.md" for name in ("long", "latin", "empty", "link")}
        assert "max_bytes" in reports["handbook/long.md"]
        assert "UTF-8" in reports["handbook/latin.md"]
        assert "handbook/latin.md" in desk.tail()
        (docs / "latin.md").write_text("# Café\n\nMünchen\n", encoding="utf-8")
        desk.wait_until_settled(4)
        assert "handbook/latin.md" not in {report["path"] for report in desk.status()["reports"]}


def test_an_empty_folder_is_said_and_followed(model: Path, tmp_path: Path) -> None:
    docs = tmp_path / "empty"
    docs.mkdir()
    with running(DeskProcess(docs, tmp_path / "data", model)) as desk:
        for _ in ticks(20):
            if "no documents" in desk.tail():
                break
        assert "no documents" in desk.tail()
        assert "nothing" in desk.text("search_docs", {"query": "anything"}).lower()
        (docs / "first.md").write_text("# First\n\nThe first page.\n")
        desk.wait_until_settled(1)


def test_many_deletes_wait_for_a_person(model: Path, tmp_path: Path) -> None:
    docs = tmp_path / "handbook"
    docs.mkdir()
    for n in range(40):
        (docs / f"page{n}.md").write_text(f"# Page {n}\n\nText of page {n}.\n")
    with running(DeskProcess(docs, tmp_path / "data", model)) as desk:
        desk.wait_until_settled(40)
        for n in range(30):
            (docs / f"page{n}.md").unlink()
        for _ in ticks(30):
            if desk.status()["ingest"]["sources"][0]["held_deletes"] == "30":
                break
        source = desk.status()["ingest"]["sources"][0]
        assert source["held_deletes"] == "30"
        assert "--confirm-deletes" in source["message"]
        assert int(desk.status()["stats"]["document_count"]) == 40
        done = subprocess.run(
            [sys.executable, "-m", "refdesk", "source", "sync", "handbook", "--confirm-deletes"],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "REFDESK_URL": desk.url},
            check=True,
        )
        assert "deleted 30" in done.stdout
        desk.wait_until_settled(10)


def test_commands_print_answers_on_stdout_and_nothing_else(docs: Path, model: Path, tmp_path: Path) -> None:
    with running(DeskProcess(docs, tmp_path / "data", model)) as desk:
        desk.wait_until_settled(2)
        for arguments, wanted in (
            (["ask", "rotate the signing key"], "handbook/ops/keys.md"),
            (["status"], "2 documents"),
            (["doctor"], "✓"),
        ):
            done = subprocess.run(
                [sys.executable, "-m", "refdesk", *arguments],
                capture_output=True,
                text=True,
                timeout=60,
                env={**os.environ, "REFDESK_URL": desk.url, "REFDESK_EMBEDDER__MODEL": str(model)},
                check=False,
            )
            assert done.returncode == 0, done
            assert wanted in done.stdout
            assert done.stderr == ""
