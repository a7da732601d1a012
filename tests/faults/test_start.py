"""Services that start before their engines wait for them, say so, and end well by themselves."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from faults.stand import stand
from faults.traffic import ask, page
from models import build_tiny_model
from system.audit import audit

pytestmark = pytest.mark.slow


def test_services_that_start_before_opensearch_and_nats_end_well_by_themselves(tmp_path: Path) -> None:
    docs, data, model = tmp_path / "handbook", tmp_path / "data", build_tiny_model(tmp_path / "model")
    docs.mkdir()
    for number in range(12):
        (docs / f"page{number}.md").write_text(page(f"page{number}", 0), encoding="utf-8")
    with stand(docs, data, model, on_opensearch=True, engines_last=True) as one:
        assert ask(one.desk).mode == "hybrid"
        assert not any(one.end())
        assert asyncio.run(audit(data, docs, docs.name, model, one.engines)) == []
