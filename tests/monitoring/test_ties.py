"""Metrics, rules, dashboards and runbooks belong together: nothing names what is not there, and nothing is there that nobody looks at."""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Mapping

import pytest
from prometheus_client import REGISTRY

from monitoring.rules import RUNBOOKS, labels_of, metrics_of, read_boards, read_panels, read_rules
from refdesk import errors
from refdesk.gateway.call_log import SEARCHES
from refdesk.gateway.metrics import OPERATION_SECONDS

COMPONENTS = ("rpc", "gateway", "embedder", "search", "docstore", "ingest", "telemetry")
PAGES = {
    "RefdeskSearchFailing",
    "RefdeskSearchSlow",
    "RefdeskGatewayGone",
    "RefdeskCommitsStalled",
    "RefdeskEventStreamFull",
}
"""The search budget, stalled commits, and a stream over 80 % full: nobody is called for anything else."""
NOT_LOOKED_AT = {
    "refdesk_docstore_heads_dropped_total": "moves only while a generation is dropped, which a person watches",
    "refdesk_ingest_generation_heads_built_total": "`refdesk generation list` says how far a generation is",
    "refdesk_ingest_generation_moves_total": "each move was asked for by a person",
    "refdesk_ingest_leases_held_count": "for a look at a cluster by hand; who holds a lease is nobody's trouble",
    "refdesk_ingest_source_events_total": "the same pushes are on a dashboard as docstore counts them",
}
"""Metrics that no dashboard and no alert shows, and why."""
SCRAPED = {"namespace", "job", "instance", "pod", "le"}
"""Labels that Prometheus or a histogram adds."""
ANYBODYS = {"process_cpu_seconds_total", "process_open_fds", "ALERTS"}
"""Metrics of the client library, and what Prometheus says of its own alerts."""


def series() -> Mapping[str, tuple[str, set[str]]]:
    """Every series that our code can give: its name to the metric that it belongs to, and that metric's labels."""
    for component in COMPONENTS:
        importlib.import_module(f"refdesk.{component}.metrics")
    found: dict[str, tuple[str, set[str]]] = {}
    for collector in set(REGISTRY._collector_to_names):
        for family in collector.describe() if hasattr(collector, "describe") else ():
            if not family.name.startswith(("refdesk_", "mcp_")):
                continue
            ends = {"counter": ["_total"], "histogram": ["_bucket", "_count", "_sum"]}.get(family.type, [""])
            metric = f"{family.name}_total" if family.type == "counter" else family.name
            labels = set(getattr(collector, "_labelnames", ())) or {"process"}
            found.update({family.name + end: (metric, labels) for end in ends})
    return found


def expressions() -> list[str]:
    """All queries of rules and dashboards."""
    return [rule["expr"] for rule in read_rules()] + [query for panel in read_panels() for query in panel.queries]


def recorded() -> set[str]:
    return {rule["record"] for rule in read_rules() if "record" in rule}


def alerts() -> dict[str, dict[str, object]]:
    return {rule["alert"]: rule for rule in read_rules() if "alert" in rule}


def test_every_series_that_is_asked_for_is_one_that_the_code_gives() -> None:
    known = series().keys() | recorded() | ANYBODYS
    asked = set(itertools.chain.from_iterable(map(metrics_of, expressions())))
    assert asked - known == set()


def test_every_metric_of_the_code_is_looked_at_or_excused_by_name() -> None:
    known = series()
    asked = {known[name][0] for expr in expressions() for name in metrics_of(expr) if name in known}
    unseen = {metric for metric, _ in known.values()} - asked
    assert unseen == set(NOT_LOOKED_AT)


def test_every_label_that_is_asked_for_is_one_that_the_metric_has() -> None:
    known = series()
    for expr in expressions():
        for name, labels in labels_of(expr):
            if name in known:
                assert labels <= known[name][1] | SCRAPED, (name, expr)


def test_every_recorded_series_is_used() -> None:
    used = set(itertools.chain.from_iterable(map(metrics_of, expressions())))
    assert recorded() <= used


def test_searches_are_the_tools_that_the_gateway_counts_as_such_and_failures_are_classes_of_ours() -> None:
    rules = [rule["expr"] for rule in read_rules()]
    tools = set(re.findall(r'gen_ai_tool_name=~"([^"]+)"', "\n".join(rules)))
    assert [set(one.split("|")) for one in tools] == [SEARCHES]
    classes = {
        one for text in re.findall(r'(?:error_type|reason)=~"([^"]+)"', "\n".join(rules)) for one in text.split("|")
    }
    assert classes <= {kind.reason for kind in errors.CLASSES}
    assert {"UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL"} <= classes


def test_the_bound_of_a_slow_answer_is_one_of_the_buckets() -> None:
    bounds = {text for rule in read_rules() for text in re.findall(r'le="([^"]+)"', rule["expr"])}
    assert bounds and {float(text) for text in bounds} <= set(OPERATION_SECONDS._upper_bounds)


def test_every_alert_has_a_section_in_the_runbooks_and_every_section_an_alert() -> None:
    sections = re.findall(r"^## (Refdesk\w+)$", RUNBOOKS.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(sections) == sorted(alerts())


def test_every_section_says_what_it_means_how_to_look_and_what_to_do() -> None:
    parts = re.split(r"^## (?=Refdesk)", RUNBOOKS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    for part in parts:
        for asked in ("**What it means.**", "**How to look.**", "**What to do.**"):
            assert part.count(asked) == 1, (part.splitlines()[0], asked)


@pytest.mark.parametrize("name", sorted(alerts()))
def test_an_alert_says_where_its_runbook_is_and_who_is_called(name: str) -> None:
    rule = alerts()[name]
    annotations, labels = rule["annotations"], rule["labels"]
    assert isinstance(annotations, dict) and isinstance(labels, dict)
    assert annotations["runbook_url"] == f"docs/runbooks.md#{name.lower()}"
    assert annotations["summary"] and annotations["description"]
    assert labels["severity"] == ("page" if name in PAGES else "ticket")
    assert rule["for"]


def test_dashboards_have_names_of_their_own_and_choose_their_data_source() -> None:
    boards = read_boards()
    assert len(boards) == 4
    for one in ("uid", "title"):
        assert len({board[one] for board in boards}) == len(boards)
    for board in boards:
        variables = {variable["name"]: variable for variable in board["templating"]["list"]}
        assert variables["datasource"]["type"] == "datasource" and variables["datasource"]["query"] == "prometheus"
        assert board["description"] and board["uid"].startswith("refdesk-")


def test_every_panel_says_what_it_shows_in_which_unit_and_stands_in_nobodys_place() -> None:
    for board in read_boards():
        taken: dict[tuple[int, int], str] = {}
        assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
        for panel in board["panels"]:
            place = panel["gridPos"]
            assert place["x"] + place["w"] <= 24
            for spot in itertools.product(
                range(place["x"], place["x"] + place["w"]), range(place["y"], place["y"] + place["h"])
            ):
                assert taken.setdefault(spot, panel["title"]) == panel["title"], (board["title"], panel["title"], spot)
            if panel["type"] == "row":
                continue
            assert panel["description"] and panel["fieldConfig"]["defaults"]["unit"], panel["title"]
            assert panel["datasource"]["uid"] == "${datasource}"
            assert all(target["datasource"]["uid"] == "${datasource}" for target in panel["targets"])
            assert all('namespace=~"$namespace"' in target["expr"] for target in panel["targets"]), panel["title"]


def test_names_are_read_out_of_queries() -> None:
    query = 'sum by (le, source) (rate(a_bucket{x=~"b_total|c", y="d"}[5m])) / on (e) group_left rate(f_total[1h] offset 5m) > bool 1e3'
    assert metrics_of(query) == {"a_bucket", "f_total"}
    assert dict(labels_of(query)) == {"a_bucket": {"x", "y"}}
