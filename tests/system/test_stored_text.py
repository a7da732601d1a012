"""read_document gives what was indexed and stored, and never looks at a file: neither one beside the index nor its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from models import build_tiny_model
from system.desks import DeskProcess, running, ticks

pytestmark = pytest.mark.slow
KEYS = "# Keys\n\nRotate the signing key every month.\n"
SECRET = "the canary of a file that is not indexed"
AWAY_SECONDS = 60.0


@pytest.fixture
def desk(tmp_path: Path) -> DeskProcess:
    docs = tmp_path / "handbook"
    docs.mkdir()
    (docs / "keys.md").write_text(KEYS, encoding="utf-8")
    (docs / "secret.txt").write_text(SECRET, encoding="utf-8")
    (tmp_path / "beside.md").write_text(SECRET, encoding="utf-8")
    return DeskProcess(docs, tmp_path / "data", build_tiny_model(tmp_path / "model"))


@pytest.mark.promise("docs.45", "docs.49")
def test_files_are_not_read_and_a_page_outlives_its_folder(desk: DeskProcess) -> None:
    whole = f"File: handbook/keys.md\nTitle: Keys\n---\n{KEYS.strip()}"
    with running(desk):
        desk.wait_until_settled(1)
        assert desk.text("read_document", {"path": "handbook/keys.md"}) == whole
        beside = desk.docs.parent / "beside.md"
        for path in ("handbook/secret.txt", "handbook/../beside.md", "../beside.md", str(beside), beside.as_uri()):
            answer = desk.call("read_document", {"path": path})
            assert answer["isError"], path
            assert SECRET not in str(answer)
        desk.docs.rename(desk.docs.with_name("elsewhere"))
        for _ in ticks(AWAY_SECONDS):
            if any("FAILED" in str(source["state"]) for source in desk.status()["ingest"]["sources"]):
                break
        else:
            raise AssertionError(f"nobody has seen that the folder is away: {desk.status()['ingest']}")
        assert desk.text("read_document", {"path": "handbook/keys.md"}) == whole
        assert "• handbook/keys.md — Keys (1 chunk)" in desk.text("list_topics", {})
