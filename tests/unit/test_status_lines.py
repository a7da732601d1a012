"""What `refdesk status` tells of an index that is being put right."""

from __future__ import annotations

from typing import Any

import pytest

from refdesk.commands.status import status_lines


def status(**ingest: Any) -> dict[str, Any]:
    stats = dict.fromkeys(("document_count", "chunk_count", "embedded_count", "embeddable_count"), "9")
    project = {
        "project": "default",
        "model": "tiny",
        "stats": stats,
        "ingest": {"pending_events": "0", "sources": [], **ingest},
        "generations": [{"message": "", "name": "tiny.c1"}],
        "reports": [],
        "report_count": "0",
        "followed": True,
    }
    return {"projects": [project]}


@pytest.mark.parametrize(
    ("ingest", "told"),
    [
        (
            {"reconciling": True, "mended_count": "9"},
            "  putting the index right: 9 documents so far; until it is done, searches may miss some",
        ),
        (
            {"reconciling": False, "mended_count": "1"},
            "  the newest comparison of index and records put 1 document right",
        ),
    ],
)
def test_what_is_put_right_is_told(ingest: dict[str, Any], told: str) -> None:
    assert told in list(status_lines(status(**ingest)))


def test_an_index_that_lacks_nothing_is_not_spoken_of() -> None:
    assert not [line for line in status_lines(status(reconciling=True, mended_count="0")) if "right" in line]
