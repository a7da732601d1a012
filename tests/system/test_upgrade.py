"""An index that an older release laid out is filled anew by reconciling, while the desk answers, and its operator is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from models import build_tiny_model
from refdesk.search.engines.interface import Grain
from refdesk.search.engines.tantivy_schema import SCHEMA_VERSIONS
from system.audit import audit
from system.desks import SETTLE_SECONDS, DeskProcess, running, ticks
from system.test_backup import refdesk
from system.test_kill import write_folder

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
PAGES = 24
WORD = "zanzibar"


def lex(desk: DeskProcess) -> str:
    """What a search through whole documents says: it needs the layout of this release."""
    searches = [{"type": "lex", "query": f"{WORD} monthly"}]
    return str(desk.call("query", {"searches": searches}, "/mcp/default/notes")["content"][0]["text"])


def lay_out_as_before(data: Path) -> int:
    """The words of whole documents in a folder of the layout before; how many there were."""
    newest = SCHEMA_VERSIONS[Grain.DOCUMENT]
    folders = list((data / "words").rglob(f"documents.v{newest}"))
    for folder in folders:
        folder.rename(folder.with_name(f"documents.v{newest - 1}"))
    return len(folders)


async def test_words_of_an_older_layout_are_filled_anew_while_the_desk_answers(tmp_path: Path) -> None:
    docs, data, model = tmp_path / "handbook", tmp_path / "data", build_tiny_model(tmp_path / "model")
    write_folder(docs, PAGES)
    (docs / "keys.md").write_text(f"# Keys\n\nRotate the {WORD} key monthly.\n", encoding="utf-8")
    desk = DeskProcess(docs, data, model)
    with running(desk):
        desk.wait_until_settled(PAGES + 1)
        assert "handbook/keys.md" in lex(desk)
        desk.stop()
    assert lay_out_as_before(data) == 1
    with running(desk):
        for _ in ticks(SETTLE_SECONDS, every=0.2):
            # Chunks are laid out as before: by them it is found at every moment.
            assert "handbook/keys.md" in desk.text("search_docs", {"query": WORD})
            if "handbook/keys.md" in lex(desk):
                break
        else:
            raise AssertionError(desk.tail())
        status = desk.wait_until_settled(PAGES + 1)
        for _ in ticks(SETTLE_SECONDS, every=0.2):
            status = desk.status()
            if not status["ingest"].get("reconciling"):
                break
        assert int(status["ingest"]["mended_count"]) == PAGES + 1
        told = refdesk(desk, "status").stdout
        assert f"the newest comparison of index and records put {PAGES + 1} documents right" in told
        desk.stop()
    assert await audit(data, docs, "handbook", model) == []
