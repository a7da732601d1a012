"""The chart's rules and dashboards as data, and what metrics a query names; knows nothing of Prometheus itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
CHART = ROOT / "charts" / "refdesk"
ALERT_FILES = sorted((CHART / "alerts").glob("*.yaml"))
DASHBOARD_FILES = sorted((CHART / "dashboards").glob("*.json"))
RUNBOOKS = ROOT / "docs" / "runbooks.md"

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
WORDS = frozenset(
    [
        "and",
        "or",
        "unless",
        "by",
        "without",
        "on",
        "ignoring",
        "group_left",
        "group_right",
        "bool",
        "offset",
        "inf",
        "nan",
    ]
)
GROUPING = re.compile(r"\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
SELECTOR = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\s*\{([^}]*)\}")
DURATION = re.compile(r"\[[^\]]*\]")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass(frozen=True)
class Panel:
    """One panel of a dashboard."""

    board: str
    title: str
    raw: dict[str, Any]

    @property
    def queries(self) -> list[str]:
        """Its PromQL, as Grafana sends it once variables are filled in."""
        return [fill(target["expr"]) for target in self.raw.get("targets", [])]


def fill(expr: str) -> str:
    """A dashboard's query with its variables replaced as Grafana does for all namespaces and a short range."""
    return expr.replace("$__rate_interval", "1m").replace("$namespace", ".*")


def read_rules() -> list[dict[str, Any]]:
    """All rules, recording and alerting."""
    groups = [group for file in ALERT_FILES for group in yaml.safe_load(file.read_text(encoding="utf-8"))["groups"]]
    return [rule for group in groups for rule in group["rules"]]


def read_boards() -> list[dict[str, Any]]:
    """All dashboards."""
    return [json.loads(file.read_text(encoding="utf-8")) for file in DASHBOARD_FILES]


def read_panels() -> Iterator[Panel]:
    """All panels that show something."""
    for board in read_boards():
        for panel in board["panels"]:
            if panel["type"] != "row":
                yield Panel(board["title"], panel["title"], panel)


def metrics_of(expr: str) -> set[str]:
    """The series that a query names: what is left of its names without strings, labels, groupings, durations, functions and words."""
    bare = STRING.sub("", expr)
    bare = GROUPING.sub(" ", re.sub(r"\{[^}]*\}", " {} ", bare))
    bare = DURATION.sub(" ", bare)
    names = set()
    for found in NAME.finditer(bare):
        is_function = bare[found.end() :].lstrip().startswith("(")
        is_number_part = found.start() > 0 and bare[found.start() - 1].isdigit()
        if not is_function and not is_number_part and found[0].lower() not in WORDS:
            names.add(found[0])
    return names


def labels_of(expr: str) -> Iterator[tuple[str, set[str]]]:
    """Each series that is selected by labels, with the names of these."""
    for name, matchers in SELECTOR.findall(expr):
        yield name, set(re.findall(r"([a-zA-Z_][a-zA-Z0-9_]*)\s*(?:=~|!~|!=|=)", STRING.sub('""', matchers)))
