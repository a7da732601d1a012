"""Every surface of a real desk against the protocol's conformance suite at both revisions; what it cannot pass is named with a reason."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from surfaces.desks import served
from system.conformance import (
    EXEMPTIONS,
    ON_A_FIXTURE,
    REVISIONS,
    Check,
    Exemption,
    listed_scenarios,
    run_suite,
)
from system.desks import DeskProcess
from system.fixture_surface import FixtureGateway
from system.whole import ADDRESSES

pytestmark = pytest.mark.slow
OF_A_DESK = [*EXEMPTIONS, *ON_A_FIXTURE]
LEAST_PASSED = {"2025-11-25": 41, "2026-07-28": 92}
"""Checks that passed on every surface when this was written: a suite that stops checking is seen."""

SILENT = {"server-sse-polling"}
"""It reports nothing of a server without event streams."""


def judge(checks: Sequence[Check], exemptions: Sequence[Exemption], revision: str) -> None:
    """Fails for a check that failed without an exemption, for too few that passed, and for a scenario that did not run."""
    failures = [
        f"{check.scenario} {check.id} {check.status}: {check.message}"
        for check in checks
        if check.is_bad and not any(exemption.covers(check) for exemption in exemptions)
    ]
    assert not failures, "\n".join(failures)
    assert sum(check.status == "SUCCESS" for check in checks) >= LEAST_PASSED[revision]
    ran = {check.scenario for check in checks}
    missing = {name for name in listed_scenarios(revision) if name not in ran}
    assert missing <= SILENT, f"left no report: {missing - SILENT}"


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("surface", ADDRESSES)
def test_no_check_of_the_suite_fails_on_any_surface(
    whole_desk: DeskProcess, surface: str, revision: str, tmp_path: Path
) -> None:
    checks = run_suite(whole_desk.url + ADDRESSES[surface], revision, tmp_path)
    judge(checks, OF_A_DESK, revision)
    bad = [check for check in checks if check.is_bad]
    unused = [one for one in OF_A_DESK if one.check in {check.id for check in checks} and not any(map(one.covers, bad))]
    assert unused == [], "what passes needs no exemption"


@pytest.mark.anyio
async def test_with_the_fixtures_that_it_calls_the_suite_fails_in_nothing_that_we_serve(tmp_path: Path) -> None:
    seen: set[str] = set()
    async with served(FixtureGateway()) as url:
        for revision in REVISIONS:
            checks = await asyncio.to_thread(run_suite, f"{url}/mcp", revision, tmp_path / revision)
            judge(checks, EXEMPTIONS, revision)
            seen |= {check.id for check in checks}
    assert {one.check for one in OF_A_DESK} <= seen, "an exemption of a check that is no longer there"
