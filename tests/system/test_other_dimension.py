"""A model of another dimension under the same name: one line says what to do, nothing is overwritten, and the former model mends it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from faults.traffic import ask, page
from models import build_tiny_model
from system.desks import DeskProcess, running, ticks

pytestmark = pytest.mark.slow


def test_another_dimension_under_the_same_name_is_refused_by_setting_and_overwrites_nothing(tmp_path: Path) -> None:
    docs, model = tmp_path / "handbook", tmp_path / "model"
    docs.mkdir()
    (docs / "a.md").write_text(page("a", 0), encoding="utf-8")
    desk = DeskProcess(docs, tmp_path / "data", build_tiny_model(model), {"REFDESK_GATEWAY__STRUCTURED_OUTPUT": "true"})
    with running(desk):
        desk.wait_until_settled(1)
        before = ask(desk)
        assert desk.stop() == 0
    shutil.move(model, tmp_path / "former")
    build_tiny_model(model, dimension=32)
    from_byte = desk.log.stat().st_size
    with running(desk):
        (docs / "b.md").write_text(page("b", 0), encoding="utf-8")
        refused = ask(desk)
        assert (refused.mode, "\n" in refused.text) == ("", False)
        assert "32 numbers" in refused.text
        assert (
            "holds 64: embedder.model is another model under the same name; name the former one there" in refused.text
        )
        lines = wait_for_log(desk, "vectors cannot be made", from_byte)
        assert not any("exception" in line for line in lines)
        assert desk.stop() == 0
    shutil.rmtree(model)
    shutil.move(tmp_path / "former", model)
    with running(desk):
        desk.wait_until_settled(2)
        after = ask(desk)
        assert (before.mode, after.mode) == ("hybrid", "hybrid")
        assert "handbook/a.md" in before.text
        assert "handbook/a.md" in after.text
        assert desk.stop() == 0


def wait_for_log(desk: DeskProcess, event: str, from_byte: int) -> list[dict[str, object]]:
    for _ in ticks(20, every=0.2):
        text = desk.log.read_bytes()[from_byte:].decode()
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        if any(line.get("event") == event for line in lines):
            return lines
    raise AssertionError(f"never logged: {event}; {desk.tail()}")
