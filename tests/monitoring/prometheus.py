"""A Prometheus of its own for a test: what it scrapes, the rules that it evaluates, and what it says; knows nothing of desks."""

from __future__ import annotations

import json
import math
import re
import urllib.parse
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from monitoring.debian import find_program
from monitoring.rules import ALERT_FILES
from servers.process import ServerProcess
from system.desks import closing_failures
from system.test_five import free_ports

NAMESPACE = "docs"
READY_SECONDS = 60.0
FACTOR = 30
"""The rules' times are divided by this: what takes ten minutes takes 20 s. What raises an alert stays as it is."""
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
OF_THE_MACHINE = {"RefdeskDiskTight", "RefdeskMemoryTight"}
"""What else is done on it may well raise these; they are tried on made-up series."""
SECONDS = {"300": "10", "600": "20", "120": "15"}
"""Bounds in seconds within expressions; the queue is looked at every 5 s, so 120 becomes no less than 15."""


def shorten(text: str) -> str:
    """A rule's text with all times divided."""

    def divide(found: re.Match[str]) -> str:
        seconds = max(2, int(found["number"]) * UNITS[found["unit"]] // FACTOR)
        return f"{found['before']}{seconds}s{found['after']}"

    time = r"(?P<number>\d+)(?P<unit>[smhd])"
    text = re.sub(rf"(?P<before>\[){time}(?P<after>\])", divide, text)
    text = re.sub(rf"(?P<before>(?:for|interval): ){time}(?P<after>)(?=\n)", divide, text)
    return re.sub(r"(?<=[>+] )(300|600|120)\b|(?<=bool )(300)\b", lambda found: SECONDS[found[0]], text)


class Prometheus:
    """One server on a free loopback port."""

    def __init__(self, folder: Path, targets: Mapping[str, str]) -> None:
        """`targets` are addresses by job. Raises: CannotStart where Prometheus cannot be had."""
        binary = find_program("prometheus", "prometheus")
        folder.mkdir(parents=True)
        for file in ALERT_FILES:
            (folder / file.name).write_text(shorten(file.read_text(encoding="utf-8")), encoding="utf-8")
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s", "scrape_timeout": "1s"},
            "rule_files": ["*.yaml"],
            "scrape_configs": [
                {"job_name": job, "static_configs": [{"targets": [address], "labels": {"namespace": NAMESPACE}}]}
                for job, address in targets.items()
            ],
        }
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
        [port] = free_ports(1)
        self.url = f"http://127.0.0.1:{port}"
        command = (
            binary,
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
            "--log.level=warn",
        )
        self._process = ServerProcess(command, folder / "prometheus.log")
        self._process.wait_until(self._ready, READY_SECONDS)

    def stop(self) -> None:
        """Ends it."""
        self._process.stop()

    def query(self, expr: str) -> list[float]:
        """The values of all series that a query gives now, those that are no number left out."""
        found = self._get("query", query=expr)["result"]
        values = [float(one["value"][1]) for one in found]
        return [value for value in values if not math.isnan(value)]

    def by_label(self, expr: str, label: str) -> dict[str, float]:
        """The values that a query gives now, by a label."""
        return {
            one["metric"].get(label, ""): float(one["value"][1]) for one in self._get("query", query=expr)["result"]
        }

    def firing(self) -> set[str]:
        """Names of the alerts that are raised now, those aside that are about this machine."""
        firing = {one["labels"]["alertname"] for one in self._get("alerts")["alerts"] if one["state"] == "firing"}
        return firing - OF_THE_MACHINE

    def labels_of(self, alert: str) -> list[dict[str, str]]:
        """The labels of an alert, for each time that it is raised."""
        return [one["labels"] for one in self._get("alerts")["alerts"] if one["labels"]["alertname"] == alert]

    def _get(self, path: str, **parameters: str) -> dict[str, Any]:
        address = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with closing_failures(), urllib.request.urlopen(address, timeout=20) as answer:
            return dict(json.load(answer)["data"])

    def _ready(self) -> str:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=5) as answer:
                return "ready" if answer.status == 200 else ""
        except OSError:
            return ""
