"""The gateway against the protocol's own conformance suite, at both revisions, where a scenario needs no fixture tools."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from surfaces.desks import Desk, served
from system.conformance import installed_suite, run_scenario

SCENARIOS = [
    ("2026-07-28", "tools-list"),
    ("2026-07-28", "resources-list"),
    ("2026-07-28", "prompts-list"),
    ("2026-07-28", "completion-complete"),
    ("2026-07-28", "sep-2164-resource-not-found"),
    ("2026-07-28", "caching"),
    ("2026-07-28", "http-header-validation"),
    ("2026-07-28", "dns-rebinding-protection"),
    ("2026-07-28", "server-sse-multiple-streams"),
    ("2026-07-28", "server-stateless"),
    ("2025-11-25", "server-initialize"),
    ("2025-11-25", "ping"),
    ("2025-11-25", "tools-list"),
    ("2025-11-25", "resources-list"),
    ("2025-11-25", "prompts-list"),
    ("2025-11-25", "completion-complete"),
    ("2025-11-25", "dns-rebinding-protection"),
]
NEEDS_FIXTURE_TOOLS = {
    "sep-2575-server-rejects-undeclared-capability": "test_missing_capability",
    "sep-2575-missing-capability-http-400": "test_missing_capability",
    "sep-2575-http-server-no-independent-requests-on-stream": "test_streaming_elicitation",
    "sep-2575-server-no-log-without-loglevel": "test_logging_tool",
}
"""Checks of server-stateless that call a diagnostic tool, which a desk does not have, and that say so by name."""


@pytest.mark.slow
@pytest.mark.anyio
async def test_every_scenario_without_fixtures_has_no_failure(tmp_path: Path) -> None:
    program = await asyncio.to_thread(installed_suite)
    checks = []
    async with served(Desk().gateway()) as url:
        for revision, scenario in SCENARIOS:
            found = await asyncio.to_thread(run_scenario, program, f"{url}/mcp", scenario, revision, tmp_path)
            assert any(check.status == "SUCCESS" for check in found), f"{scenario} at {revision} checked nothing"
            checks += [(revision, check) for check in found]
    failures = [
        f"{revision} {check.scenario} {check.id}: {check.message}"
        for revision, check in checks
        if check.status in ("FAILURE", "WARNING") and f"'{NEEDS_FIXTURE_TOOLS.get(check.id, '-')}'" not in check.message
    ]
    assert not failures, "\n".join(failures)
    assert len(checks) >= 70
