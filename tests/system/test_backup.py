"""A desk that lost its records or its indices is made whole again: from a backup, or from docstore alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from models import build_tiny_model
from system.audit import audit
from system.desks import DeskProcess, running
from system.test_kill import disturb, write_folder

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
PAGES = 14


def refdesk(desk: DeskProcess, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "REFDESK_URL": desk.url}
    command = [sys.executable, "-m", "refdesk", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


async def test_both_indices_are_built_again_from_docstore_alone(tmp_path: Path) -> None:
    docs, data, model = tmp_path / "handbook", tmp_path / "data", build_tiny_model(tmp_path / "model")
    write_folder(docs, PAGES)
    with running(DeskProcess(docs, data, model)) as desk:
        desk.wait_until_settled(PAGES)
        desk.stop()
    for folder in ("words", "vectors", "events"):
        shutil.rmtree(data / folder)
    with running(DeskProcess(docs, data, model)) as desk:
        desk.wait_until_settled(PAGES)
        assert refdesk(desk, "reconcile").returncode == 0
        desk.wait_until_settled(PAGES)
        desk.stop()
    assert await audit(data, docs, "handbook", model) == []


async def test_a_backup_gives_records_back_though_the_engines_bear_later_stamps(tmp_path: Path) -> None:
    docs, data, model = tmp_path / "handbook", tmp_path / "data", build_tiny_model(tmp_path / "model")
    write_folder(docs, PAGES)
    with running(DeskProcess(docs, data, model)) as desk:
        desk.wait_until_settled(PAGES)
        taken = refdesk(desk, "backup", str(tmp_path / "one.gz"))
        assert taken.returncode == 0, taken.stderr
        again = refdesk(desk, "backup", str(tmp_path / "one.gz"))
        assert again.returncode == 1 and "exists already" in again.stderr
        for seed in range(3):  # what the backup does not know
            disturb(docs, seed)
            desk.wait_until_settled(len(list(docs.rglob("*.md"))))
        desk.stop()
    away = docs.rename(tmp_path / "away")
    docs.mkdir()
    shutil.rmtree(data / "docstore")
    with running(DeskProcess(docs, data, model)) as desk:
        done = refdesk(desk, "restore", str(tmp_path / "one.gz"))
        assert done.returncode == 0, done.stderr
        assert f"restored {PAGES} documents" in done.stdout
        for page in sorted(away.rglob("*.md")):
            target = docs / page.relative_to(away)
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(page, target)
        assert refdesk(desk, "source", "sync", "handbook", "--confirm-deletes").returncode == 0
        desk.wait_until_settled(len(list(docs.rglob("*.md"))))
        assert refdesk(desk, "reconcile").returncode == 0
        desk.wait_until_settled(len(list(docs.rglob("*.md"))))
        desk.stop()
    assert await audit(data, docs, "handbook", model) == []


async def test_a_file_that_is_no_backup_is_refused_with_a_line(tmp_path: Path) -> None:
    docs, model = tmp_path / "handbook", build_tiny_model(tmp_path / "model")
    write_folder(docs, 1)
    (tmp_path / "bad.gz").write_bytes(b"this is no gzip file")
    with running(DeskProcess(docs, tmp_path / "data", model)) as desk:
        for name, reason in (("bad.gz", "not a backup"), ("none.gz", "there is no file")):
            refused = refdesk(desk, "restore", str(tmp_path / name))
            assert refused.returncode == 1 and reason in refused.stderr, refused.stderr
