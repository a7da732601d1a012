"""The official Inspector on every surface of a real desk: it lists every tool in both eras, and has nothing to say against any schema."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from refdesk.gateway.surfaces.combined import ALL
from system.desks import DeskProcess
from system.outside import INSPECTOR, node, npm_program
from system.whole import ADDRESSES, CALLS, STRUCTURED

pytestmark = pytest.mark.slow
SECONDS = 120


def inspect(url: str, home: Path, *arguments: str) -> tuple[int, Any, str]:
    """Exit code, the result and what it said beside. It keeps its own files below `home`."""
    command = [node(), npm_program(INSPECTOR), "--cli", url, "--transport", "http", "--format", "json", *arguments]
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment, check=False)
    assert done.stdout, done.stderr[-2_000:]
    return done.returncode, json.loads(done.stdout)["result"], done.stderr


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("surface", ADDRESSES)
def test_strict_inspection_of_every_tool_finds_nothing(
    whole_desk: DeskProcess, surface: str, era: str, tmp_path: Path
) -> None:
    strictly = ("--method", "tools/list", "--strict", "--protocol-era", era)
    code, result, said = inspect(whole_desk.url + ADDRESSES[surface], tmp_path, *strictly)
    assert (code, said.strip()) == (0, "")
    assert [tool["name"] for tool in result["tools"]] == [call.tool for call in CALLS[surface]]


@pytest.mark.parametrize("surface", ["docs", ALL])
def test_output_schemas_that_are_switched_on_are_as_strict(
    whole_desk: DeskProcess, surface: str, tmp_path: Path
) -> None:
    url = f"{whole_desk.url}/mcp/{STRUCTURED}/{surface}"
    code, result, said = inspect(url, tmp_path, "--method", "tools/list", "--strict")
    assert (code, said.strip()) == (0, "")
    without = {tool["name"] for tool in result["tools"] if "outputSchema" not in tool}
    assert without == (set() if surface == "docs" else {call.tool for call in CALLS["procedures"]})


@pytest.mark.parametrize("surface", ADDRESSES)
def test_it_calls_a_tool_and_reads_its_answer(whole_desk: DeskProcess, surface: str, tmp_path: Path) -> None:
    call = CALLS[surface][1]
    arguments = ("--tool-name", call.tool, "--tool-args-json", json.dumps(call.arguments))
    code, result, _ = inspect(whole_desk.url + ADDRESSES[surface], tmp_path, "--method", "tools/call", *arguments)
    assert code == 0
    assert call.says in result["content"][0]["text"]
