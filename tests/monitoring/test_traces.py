"""One trace from a call of a tool down to the engines, and one from a pushed document to its publication, over five processes."""

from __future__ import annotations

import contextlib
import json
import secrets
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from faults.stand import ServiceProcess
from models import build_tiny_model
from monitoring.otlp import Collector, Span, collecting
from system.desks import DeskProcess, running, ticks
from system.pushing import SOURCE, Statement
from system.test_five import TARGETS, free_ports

pytestmark = pytest.mark.slow

SECRET_WORD = "quagga"
SECONDS = 60.0
Chain = tuple[tuple[str, str], ...]
"""Steps from the outermost in, each by its service and its name."""

SEARCHED: list[Chain] = [
    (
        ("refdesk-gateway", "tools/call search_docs"),
        ("refdesk-gateway", "search/retrieve"),
        ("refdesk-search", "search/retrieve"),
        ("refdesk-search", "leg lexical"),
        ("refdesk-search", "tantivy search"),
    ),
    (
        ("refdesk-gateway", "tools/call search_docs"),
        ("refdesk-gateway", "search/retrieve"),
        ("refdesk-search", "search/retrieve"),
        ("refdesk-search", "leg semantic"),
        ("refdesk-search", "qdrant-edge search"),
    ),
    (
        ("refdesk-search", "leg semantic"),
        ("refdesk-search", "embedder/embed_texts"),
        ("refdesk-embedder", "embedder/embed_texts"),
    ),
    (
        ("refdesk-gateway", "tools/call search_docs"),
        ("refdesk-gateway", "docstore/hydrate_chunks"),
        ("refdesk-docstore", "docstore/hydrate_chunks"),
        ("refdesk-docstore", "sqlite hydrate_chunks"),
    ),
]
PUBLISHED: list[Chain] = [
    (
        ("refdesk-gateway", "POST events"),
        ("refdesk-gateway", "docstore/put_raw_documents"),
        ("refdesk-docstore", "docstore/put_raw_documents"),
    ),
    (
        ("refdesk-gateway", "POST events"),
        ("refdesk-gateway", "ingest/hint_documents"),
        ("refdesk-ingest", "ingest/hint_documents"),
        ("refdesk-ingest", "announce changes"),
        ("refdesk-ingest", "publish documents"),
        ("refdesk-ingest", "search/write_words"),
        ("refdesk-search", "search/write_words"),
        ("refdesk-search", "tantivy write"),
    ),
    (
        ("refdesk-ingest", "publish documents"),
        ("refdesk-ingest", "docstore/put_documents"),
        ("refdesk-docstore", "docstore/put_documents"),
    ),
]


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


@pytest.fixture(scope="module")
def desk(collector: Collector, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskProcess]:
    root = tmp_path_factory.mktemp("traced")
    docs = root / "handbook"
    docs.mkdir()
    (docs / "keys.md").write_text(f"# Keys\n\nRotate the {SECRET_WORD} key every month.\n", encoding="utf-8")
    free = iter(free_ports(2 * len(TARGETS)))
    ports = {target: next(free) for target in TARGETS}
    config = {
        "data": str(root / "data"),
        "embedder": {"model": str(build_tiny_model(root / "model"))},
        "rpc": {target: f"127.0.0.1:{ports[target]}" for target in TARGETS if target != "gateway"},
        "gateway": {"port": ports["gateway"], "operator_listen": "127.0.0.1:0", "deadline_seconds": 30},
        "telemetry": {"otlp_endpoint": f"http://{collector.address}"},
        "projects": {
            "default": {
                "sources": [
                    {"name": "handbook", "path": str(docs)},
                    {"name": SOURCE, "kind": "push", "language": "en", "poll_seconds": 60},
                ]
            }
        },
    }
    (root / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    services = []
    for target in TARGETS:
        listen = {
            "REFDESK_RPC__LISTEN": f"127.0.0.1:{ports[target]}",
            "REFDESK_TELEMETRY__LISTEN": f"127.0.0.1:{next(free)}",
        }
        services.append(ServiceProcess(target, listen, root / "config.yaml", root / "desk.log"))
    desk = DeskProcess(docs, root, root / "model", url=f"http://127.0.0.1:{ports['gateway']}")
    try:
        for service in services:
            service.start()
        for _ in ticks(120, every=0.25):
            with contextlib.suppress(OSError):
                answer = desk.text("search_docs", {"query": SECRET_WORD})
                if answer.startswith("Found ") and "Mode: " not in answer and "Vectors: " not in answer:
                    break
        yield desk
    finally:
        for service in services:
            if service.process is not None and service.process.poll() is None:
                service.process.kill()
                service.process.wait(timeout=20)


def begin() -> tuple[str, str, str]:
    """A trace that a client has begun: its id, the id of the client's step, and both as W3C Trace Context writes them."""
    trace_id, span_id = secrets.token_hex(16), secrets.token_hex(8)
    return trace_id, span_id, f"00-{trace_id}-{span_id}-01"


def search(desk: DeskProcess, query: str, *, meta: str = "", header: str = "") -> None:
    """Calls search_docs, with a trace in the message, or in HTTP's header."""
    params = {"name": "search_docs", "arguments": {"query": query}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    if meta:
        params["_meta"] = {"traceparent": meta}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    if header:
        headers["traceparent"] = header
    request = urllib.request.Request(f"{desk.url}/mcp", json.dumps(message).encode(), headers)
    urllib.request.urlopen(request, timeout=30).close()


def chains(spans: dict[str, Span], above: str) -> set[Chain]:
    """Every step with all that it stands under, the outermost first; a step whose parent never came is no chain."""
    found = set()
    for span in spans.values():
        chain, one = [(span.service, span.name)], span
        while one.parent_id != above and one.parent_id in spans:
            one = spans[one.parent_id]
            chain.append((one.service, one.name))
        if one.parent_id == above:
            found.add(tuple(reversed(chain)))
    return found


def holds(found: set[Chain], wanted: Chain) -> bool:
    """Whether a chain has all these steps, one directly under the other."""
    size = len(wanted)
    return any(one[start : start + size] == wanted for one in found for start in range(len(one) - size + 1))


def wait_for(collector: Collector, trace_id: str, above: str, wanted: list[Chain]) -> dict[str, Span]:
    """The trace once it has all these chains. Raises: AssertionError with those that it does not have."""
    spans: dict[str, Span] = {}
    for _ in ticks(SECONDS, every=0.2):
        spans = collector.trace(trace_id)
        missing = [one for one in wanted if not holds(chains(spans, above), one)]
        if not missing:
            return spans
    raise AssertionError(f"missing: {missing}; there: {sorted(chains(spans, above))}")


def test_a_call_of_a_tool_is_one_trace_down_to_the_engines(desk: DeskProcess, collector: Collector) -> None:
    trace_id, span_id, parent = begin()
    search(desk, "rotate keys monthly", meta=parent)
    spans = wait_for(collector, trace_id, span_id, SEARCHED)
    orphans = [one for one in spans.values() if one.parent_id != span_id and one.parent_id not in spans]
    assert orphans == []


def test_a_trace_may_come_in_the_header_of_http_and_the_message_goes_before_it(
    desk: DeskProcess, collector: Collector
) -> None:
    by_header, by_message = begin(), begin()
    search(desk, "keys by header", header=by_header[2])
    wait_for(collector, *by_header[:2], SEARCHED[:1])
    search(desk, "keys by both", header=begin()[2], meta=by_message[2])
    wait_for(collector, *by_message[:2], SEARCHED[:1])


def test_a_call_without_a_trace_begins_one(desk: DeskProcess, collector: Collector) -> None:
    known = {one.trace_id for one in list(collector.spans)}
    search(desk, "nobody's trace")
    for _ in ticks(SECONDS, every=0.2):
        begun = [one for one in list(collector.spans) if one.name == "tools/call search_docs" and not one.parent_id]
        begun = [one for one in begun if one.trace_id not in known]
        if begun and holds(chains(collector.trace(begun[0].trace_id), ""), SEARCHED[0]):
            return
    raise AssertionError("no trace was begun")


def test_a_pushed_document_is_one_trace_until_it_is_published(desk: DeskProcess, collector: Collector) -> None:
    trace_id, span_id, parent = begin()
    statement = Statement("pushed.md", 1, f"# Pushed\n\nThe {SECRET_WORD} of the wiki.\n")
    headers = {**statement.headers, "traceparent": parent}
    request = urllib.request.Request(f"{desk.url}/api/projects/default/events", statement.text.encode(), headers)
    urllib.request.urlopen(request, timeout=30).close()
    spans = wait_for(collector, trace_id, span_id, PUBLISHED)
    [published] = [one for one in spans.values() if one.name == "publish documents"]
    assert published.attributes["refdesk.outcome"] == "published"


def test_no_step_holds_a_text_a_path_or_a_question(desk: DeskProcess, collector: Collector) -> None:
    trace_id, span_id, parent = begin()
    search(desk, f"{SECRET_WORD} question", meta=parent)
    wait_for(collector, trace_id, span_id, SEARCHED)
    told = repr(list(collector.spans))
    assert SECRET_WORD not in told and "pushed.md" not in told and "keys.md" not in told


def test_what_services_do_by_themselves_makes_no_trace(desk: DeskProcess, collector: Collector) -> None:
    """Readiness checks and counts go on all the time."""
    begun = {one.name for one in list(collector.spans) if not one.parent_id}
    assert begun <= {"announce changes", "POST events"} | {
        one.name for one in list(collector.spans) if one.name.startswith("tools/call ")
    }


def test_a_collector_that_is_away_costs_nothing_but_its_traces(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "keys.md").write_text("# Keys\n\nRotate the signing key.\n", encoding="utf-8")
    [nobody] = free_ports(1)
    away = {"REFDESK_TELEMETRY__OTLP_ENDPOINT": f"http://127.0.0.1:{nobody}"}
    desk = DeskProcess(docs, tmp_path / "data", build_tiny_model(tmp_path / "model"), environment=away)
    with running(desk):
        desk.wait_until_settled(1)
        assert desk.text("search_docs", {"query": "signing key"}).startswith("Found ")
        assert desk.stop() == 0
