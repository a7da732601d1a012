"""Each kind of fault once, from a fixed seed; `make faults` runs each twenty times, longer and from other seeds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from faults.rows import ROWS, Row
from faults.run import run_row
from models import build_tiny_model

pytestmark = pytest.mark.slow

SEED = 7
EVENTS = 120


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(tmp_path_factory.mktemp("model"))


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_nothing_is_lost_doubled_orphaned_or_said_wrongly(row: Row, model: Path, tmp_path: Path) -> None:
    if row.on_small_disk and os.geteuid() != 0:
        pytest.skip("only root can mount a small disk to fill")
    outcome = run_row(row, SEED, tmp_path / "run", model, EVENTS)
    assert outcome.problems == []
    assert outcome.edits == EVENTS
    assert outcome.asked > 20
    assert (outcome.pushed > 40) == row.takes_pushes
