"""Every tool of every surface of a real desk, called by the official clients: 2.x in both eras, 1.x at the four earlier revisions."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from refdesk.gateway.surfaces.combined import ALL
from refdesk.projects import SURFACES
from system.desks import DeskProcess
from system.outside import old_python
from system.whole import ADDRESSES, CALLS, PINNED, Call

pytestmark = pytest.mark.slow
ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25", "2026-07-28": "2026-07-28"}
OLD_REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
WITH_RESOURCES = {"docs": "contextator://default/", "notes": "qmd://", ALL: "contextator://default/"}
SERVER_NAMES = {"site": "leed-docs-mcp", "notes": "qmd"}
OLD_CLIENT = Path(__file__).with_name("old_client.py")
SECONDS = 90


def calls_of(surface: str) -> list[Call]:
    """Each tool once, and the map once more: pins come to a session once, and without one with every map."""
    again = [call for call in CALLS[surface] if call.tool == "get_toc"]
    return [*CALLS[surface], *again]


def check_answers(surface: str, answers: Sequence[dict[str, Any]], *, in_session: bool) -> None:
    """Each answer says what the pages let expect, as text and as data."""
    calls = calls_of(surface)
    for call, answer in zip(calls, answers, strict=True):
        text = answer["content"][0]["text"]
        assert not answer.get("isError"), text
        assert call.says in text, call.tool
        check_data(call, text, answer.get("structuredContent"))
    pinned = [call.tool for call, answer in zip(calls, answers, strict=True) if is_pinned(answer)]
    maps = [call.tool for call in calls if call.tool == "get_toc"]
    assert pinned == (maps[:1] if in_session else maps)


def is_pinned(answer: dict[str, Any]) -> bool:
    """Whether an answer begins with the block of pins."""
    return bool(answer["content"][0]["text"].startswith(PINNED))


def check_data(call: Call, text: str, data: Any) -> None:
    """Surfaces that answer data do, the others do not."""
    owner = next(name for name in SURFACES if call in CALLS[name])
    if owner in ("docs", "procedures"):
        assert data is None
        return
    assert data, call.tool
    if owner != "notes":
        assert json.loads(text) == data
    for name, value in (call.data or {}).items():
        assert data[name] == value, (call.tool, name)


def tools_of(surface: str) -> list[str]:
    """In the order of the list."""
    return [call.tool for call in CALLS[surface]]


@pytest.mark.promise("docs.9")
@pytest.mark.anyio
@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("surface", ADDRESSES)
async def test_the_newest_client_calls_every_tool_in_both_eras(
    whole_desk: DeskProcess, surface: str, mode: str
) -> None:
    async with Client(whole_desk.url + ADDRESSES[surface], mode=mode) as client:
        assert client.protocol_version == ERAS[mode]
        assert [tool.name for tool in (await client.list_tools()).tools] == tools_of(surface)
        answers = [await client.call_tool(call.tool, call.arguments) for call in calls_of(surface)]
        resources = (await client.list_resources()).resources
        assert bool(resources) == (surface in WITH_RESOURCES)
        assert all(one.uri.startswith(WITH_RESOURCES[surface]) for one in resources)
        if mode != "2026-07-28":  # a client that asks for it by name sends no discover, and gets no instructions
            assert client.instructions
    dumped = [answer.model_dump(mode="json", by_alias=True, exclude_none=True) for answer in answers]
    check_answers(surface, dumped, in_session=ERAS[mode] != "2026-07-28")


@pytest.mark.promise("docs.9")
@pytest.mark.parametrize("revision", OLD_REVISIONS)
@pytest.mark.parametrize("surface", ADDRESSES)
def test_the_client_before_it_calls_every_tool_at_every_earlier_revision(
    whole_desk: DeskProcess, surface: str, revision: str
) -> None:
    wanted = {
        "url": whole_desk.url + ADDRESSES[surface],
        "version": revision,
        "calls": [(call.tool, call.arguments) for call in calls_of(surface)],
    }
    command = [old_python(), "-I", OLD_CLIENT]
    done = subprocess.run(
        command, input=json.dumps(wanted), capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    came = json.loads(done.stdout)
    assert (came["version"], came["session"]) == (revision, True)
    assert came["server"] == SERVER_NAMES.get(surface, "refdesk")
    assert came["instructions"]
    assert came["tools"] == tools_of(surface)
    check_answers(surface, came["answers"], in_session=True)
    assert bool(came["resources"]) == bool(came["read"]) == (surface in WITH_RESOURCES)
    assert all(uri.startswith(WITH_RESOURCES[surface]) for uri in came["resources"])
    assert all(text.startswith("# ") for text in came["read"])


def test_the_client_before_it_is_of_another_line() -> None:
    command = [old_python(), "-I", "-c", "import importlib.metadata as m; print(m.version('mcp'))"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    assert done.stdout.startswith("1.")
