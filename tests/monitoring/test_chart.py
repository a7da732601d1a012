"""What the chart makes of rules and dashboards is what stands in their files, and its ServiceMonitor finds every component's metrics."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from chart.rendering import COMPONENTS, of_kind, render
from monitoring.rules import ALERT_FILES, DASHBOARD_FILES

RUNBOOKS = "https://docs.example.com/runbooks#"


@pytest.fixture(scope="module")
def objects() -> list[dict[str, Any]]:
    return render(
        {
            "monitoring": {
                "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
                "prometheusRule": {"enabled": True, "runbookUrl": RUNBOOKS},
                "dashboards": {"enabled": True, "label": "board", "labelValue": "yes", "folder": "Search"},
            }
        }
    )


def test_without_being_asked_for_nothing_of_it_is_made() -> None:
    quiet = render({})
    assert not of_kind(quiet, "ServiceMonitor") and not of_kind(quiet, "PrometheusRule")
    assert not [name for name in of_kind(quiet, "ConfigMap") if "dashboard" in name]


def test_rules_are_as_in_their_files_with_the_runbooks_where_they_are_said_to_be(objects: list[dict[str, Any]]) -> None:
    made = {name.rpartition("-")[2]: rule["spec"] for name, rule in of_kind(objects, "PrometheusRule").items()}
    assert made == {
        file.stem: yaml.safe_load(file.read_text(encoding="utf-8").replace("docs/runbooks.md#", RUNBOOKS))
        for file in ALERT_FILES
    }
    urls = [rule["annotations"]["runbook_url"] for group in made["alerts"]["groups"] for rule in group["rules"]]
    assert urls and all(url.startswith(RUNBOOKS) for url in urls)


def test_dashboards_are_as_in_their_files_and_found_by_their_label(objects: list[dict[str, Any]]) -> None:
    maps = {name: one for name, one in of_kind(objects, "ConfigMap").items() if "dashboard" in name}
    made = {}
    for one in maps.values():
        assert one["metadata"]["labels"]["board"] == "yes"
        assert one["metadata"]["annotations"]["grafana_folder"] == "Search"
        made.update({name: json.loads(text) for name, text in one["data"].items()})
    assert made == {f"refdesk-{file.name}": json.loads(file.read_text(encoding="utf-8")) for file in DASHBOARD_FILES}


def test_the_service_monitor_finds_one_service_with_metrics_of_each_component(objects: list[dict[str, Any]]) -> None:
    [monitor] = of_kind(objects, "ServiceMonitor").values()
    wanted = monitor["spec"]["selector"]["matchLabels"].items()
    [endpoint] = monitor["spec"]["endpoints"]
    found = [one for one in of_kind(objects, "Service").values() if wanted <= one["metadata"]["labels"].items()]
    assert {one["metadata"]["labels"]["app.kubernetes.io/component"] for one in found} == set(COMPONENTS)
    assert len(found) == len(COMPONENTS)
    assert all([port["name"] for port in one["spec"]["ports"]] == [endpoint["port"]] for one in found)
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
