"""Runs the protocol's own conformance suite against a server, and says which of its checks a server of documents cannot pass, and why."""

from __future__ import annotations

import functools
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from system.outside import CONFORMANCE, node, npm_program

RUN_SECONDS = 180
REVISIONS = ("2025-11-25", "2026-07-28")


@dataclass(frozen=True)
class Check:
    """One check of a scenario: SUCCESS, FAILURE, WARNING, SKIPPED or INFO."""

    scenario: str
    id: str
    status: str
    message: str

    @property
    def is_bad(self) -> bool:
        """A warning counts."""
        return self.status in ("FAILURE", "WARNING")


@dataclass(frozen=True)
class Exemption:
    """A check that fails, the words (a pattern) with which it says so, and why it may."""

    check: str
    says: str
    reason: str

    def covers(self, check: Check) -> bool:
        """Whether the check failed for this reason and no other."""
        return check.id == self.check and re.search(self.says, check.message) is not None


def run_suite(url: str, revision: str, results: Path) -> list[Check]:
    """All checks of all scenarios of one revision of the protocol."""
    program = npm_program(CONFORMANCE)
    command = [node(), program, "server", "--url", url, "--suite", "all", "--spec-version", revision, "-o", results]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS, check=False)
    reports = sorted(results.rglob("checks.json"))
    assert reports, f"the suite at {revision} left no report: {_plain(done.stdout + done.stderr)[-500:]}"
    return [
        Check(_scenario(report), check["id"], check["status"], check.get("errorMessage", ""))
        for report in reports
        for check in json.loads(report.read_text(encoding="utf-8"))
    ]


@functools.cache
def listed_scenarios(revision: str) -> set[str]:
    """The scenarios for servers that the suite has of a revision, as it lists them itself."""
    command = [node(), npm_program(CONFORMANCE), "list"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS, check=True)
    servers = _plain(done.stdout).partition("Server scenarios")[2].partition("Client scenarios")[0]
    found = re.findall(r"^ *- (\S+) \[(.*)\]$", servers, re.MULTILINE)
    return {name for name, revisions in found if revision in revisions.split(",")}


def _scenario(report: Path) -> str:
    """server-tools-list-2026-12-01T00-00-00-000Z"""
    return re.sub(r"-\d{4}-\d\d-\d\dT.*$", "", report.parent.name).removeprefix("server-")


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _no_tool(reason: str, **tools: str) -> list[Exemption]:
    return [Exemption(check.replace("_", "-"), f'no tool "{tool}"', reason) for check, tool in tools.items()]


NO_MEDIA = "documents are text: no tool answers images or sound"
NO_QUESTIONS = "no tool asks its caller anything: there is nothing to elicit, to sample or to list"
NO_LOGGING = "no log messages are sent to clients: the protocol gives logging up"
NO_PROMPTS = "there are no prompts, so prompts/list is empty and prompts/get is no method"
NO_SUBSCRIPTIONS = "no notices of changes are sent, and none are offered"
NO_PROGRESS = "calls last a fraction of a second: none tells its progress"
NO_BINARY = "documents are text: no resource is binary"
NO_RESOURCES = "this surface has no resources"
NO_HEADERS = "no argument is repeated in a header"

EXEMPTIONS = [
    *_no_tool(NO_MEDIA, tools_call_image="test_image_content", tools_call_audio="test_audio_content"),
    *_no_tool(NO_MEDIA, tools_call_mixed_content="test_multiple_content_types"),
    *_no_tool(NO_PROGRESS, tools_call_with_progress="test_tool_with_progress"),
    *_no_tool(
        NO_QUESTIONS,
        tools_call_sampling="test_sampling",
        tools_call_elicitation="test_elicitation",
        elicitation_sep1034_general="test_elicitation_sep1034_defaults",
        elicitation_sep1330_general="test_elicitation_sep1330_enums",
        sep_2322_elicitation_incomplete="test_input_required_result_elicitation",
        sep_2322_sampling_incomplete="test_input_required_result_sampling",
        sep_2322_list_roots_incomplete="test_input_required_result_list_roots",
        sep_2322_request_state_incomplete="test_input_required_result_request_state",
        sep_2322_multiple_inputs_incomplete="test_input_required_result_multiple_inputs",
        sep_2322_result_type_included="test_input_required_result_elicitation",
        sep_2322_respect_client_capabilities="test_input_required_result_capabilities",
        sep_2322_ignore_unexpected_params="test_input_required_result_elicitation",
    ),
    Exemption("sep-2322-multi-round-r1", "Expected InputRequiredResult", NO_QUESTIONS),
    Exemption("sep-2322-missing-response-rerequests", "instead of re-requesting via InputRequiredResult", NO_QUESTIONS),
    Exemption("sep-2322-non-tool-incomplete", "Method not found", NO_QUESTIONS),
    Exemption("sep-2322-reject-tampered-state", "could not get initial InputRequiredResult", NO_QUESTIONS),
    Exemption("sep-2575-server-rejects-undeclared-capability", "'test_missing_capability'", NO_QUESTIONS),
    Exemption("sep-2575-missing-capability-http-400", "'test_missing_capability'", NO_QUESTIONS),
    Exemption("sep-2575-http-server-no-independent-requests-on-stream", "'test_streaming_elicitation'", NO_QUESTIONS),
    Exemption("sep-2575-server-no-log-without-loglevel", "'test_logging_tool'", NO_LOGGING),
    Exemption("logging-set-level", "Method not found", NO_LOGGING),
    Exemption("tools-call-with-logging", "Method not found", NO_LOGGING),
    *(
        Exemption(f"prompts-get-{kind}", "Method not found", NO_PROMPTS)
        for kind in ("simple", "with-args", "embedded-resource", "with-image")
    ),
    Exemption("resources-subscribe", "Method not found", NO_SUBSCRIPTIONS),
    Exemption("resources-unsubscribe", "Method not found", NO_SUBSCRIPTIONS),
    Exemption("resources-read-binary", f"test://static-binary|{NO_RESOURCES}", NO_BINARY),
    *(
        Exemption(f"sep-2243-server-{part}", "no tool with x-mcp-header annotations", NO_HEADERS)
        for part in (
            *("no-xmcp-tool", "decode-base64", "validate-param-match"),
            *("reject-invalid-param-chars", "reject-param-mismatch"),
        )
    ),
]
"""Of any server that reads documents and does nothing else."""

FIXTURE = (
    "the scenario calls a tool or resource of its own, which no project has: they are run on a surface made for it"
)
ON_A_FIXTURE = [
    *_no_tool(
        FIXTURE,
        tools_call_simple_text="test_simple_text",
        tools_call_error="test_error_handling",
        tools_call_embedded_resource="test_embedded_resource",
    ),
    Exemption("json-schema-2020-12-tool-found", "'json_schema_2020_12_tool' not found", FIXTURE),
    Exemption("resources-read-text", f"test://static-text|{NO_RESOURCES}", FIXTURE),
    Exemption("resources-templates-read", f"test://template/123/data|{NO_RESOURCES}", FIXTURE),
]
"""Of a desk besides: what can be passed with fixtures, and is, on a surface that has them."""
