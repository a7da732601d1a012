"""A real Prometheus scrapes a real desk of five processes: every dashboard has something to show, and an outage raises its own alert alone.

The rules are the chart's with their times divided by 30, in a copy of the test's own; with the times that they really have they are tried
on made-up series (`*.test.yaml`).
"""

from __future__ import annotations

import contextlib
import itertools
import signal
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

from faults.stand import ServiceProcess
from models import build_tiny_model
from monitoring.prometheus import Prometheus
from monitoring.rules import read_panels
from refdesk.telemetry.labels import source_label
from refdesk.telemetry.metrics import LIMIT_FILES, limit_of
from servers.process import CannotStart
from system.desks import DeskProcess, ticks
from system.pushing import SOURCE as PUSH_SOURCE
from system.pushing import Statement
from system.test_five import TARGETS, free_ports

pytestmark = pytest.mark.slow

QUESTIONS = ("signing key", "zebra crossing paint", "rotate", "refund", "x.y.z(42)")
UNLIMITED = "Memory limit"
"""The one panel that shows nothing where the memory of the tests is not limited."""
START_SECONDS = 120.0
RAISE_SECONDS = 90.0
"""An alert takes 15 to 30 s; a machine that is busy takes longer."""


@dataclass
class Watched:
    """A desk that is asked and changed all the time, and the Prometheus that watches it."""

    root: Path
    desk: DeskProcess
    services: dict[str, ServiceProcess]
    prometheus: Prometheus
    operator_url: str
    ended: threading.Event = field(default_factory=threading.Event)
    answered: int = 0

    def keep_asking(self) -> None:
        """Asks, changes a page, pushes one, and asks for what does not exist, until the test ends."""
        for turn in itertools.count():
            if self.ended.wait(0.25):
                return
            with contextlib.suppress(OSError, KeyError):
                self.desk.call("search_docs", {"query": f"{QUESTIONS[turn % len(QUESTIONS)]} {turn}"})
                self.answered += 1
            if turn % 8 == 0:
                self.work(turn)

    def work(self, turn: int) -> None:
        """What happens now and then."""
        text = f"# Turn {turn}\n\nThe signing key of turn {turn} is rotated.\n"
        (self.root / "handbook" / f"turn-{turn % 5}.md").write_text(text, encoding="utf-8")
        pushed = Statement("pushed.md", turn + 1, f"# Pushed\n\nWhat the wiki says in turn {turn}.\n")
        events = f"{self.desk.url}/api/projects/default/events"
        with contextlib.suppress(OSError, KeyError):
            self.desk.call("search_docs", {"query": "x", "sauce": "nowhere"})
            self.desk.call("read_document", {"path": "handbook/keys.md"})
            read(urllib.request.Request(events, pushed.text.encode(), pushed.headers))
            read(
                urllib.request.Request(
                    f"{self.operator_url}/api/operator/projects/default/sources/nowhere/sync", method="POST"
                )
            )

    def raised_until(self, done: Callable[[set[str]], bool]) -> set[str]:
        """All alerts that are raised from now on until `done` says so of those that are raised at the time."""
        seen: set[str] = set()
        for _ in ticks(RAISE_SECONDS, every=0.5):
            firing = self.prometheus.firing()
            seen |= firing
            if done(firing):
                return seen
        raise AssertionError(
            f"raised now: {firing}, since the fault: {seen}; failures: {self.failures()}; {self.desk.tail()}"
        )

    def failures(self) -> dict[str, float]:
        """How many calls have failed so far, by class."""
        return self.prometheus.by_label(
            "sum by (error_type) (mcp_server_operation_duration_seconds_count)", "error_type"
        )


def read(target: str | urllib.request.Request) -> None:
    """Asks, and does not mind an answer that is an error."""
    try:
        urllib.request.urlopen(target, timeout=10).close()
    except urllib.error.HTTPError as failure:
        failure.close()


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    root = tmp_path_factory.mktemp("watched")
    (root / "handbook").mkdir()
    (root / "handbook" / "keys.md").write_text("# Keys\n\nRotate the signing key every month.\n", encoding="utf-8")
    (root / "recipes").mkdir()
    (root / "recipes" / "bread.md").write_text("# Bread\n\nZebra crossing paint is no ingredient.\n", encoding="utf-8")
    free = iter(free_ports(2 * len(TARGETS) + 1))
    ports = {target: next(free) for target in TARGETS}
    telemetry = {target: f"127.0.0.1:{next(free)}" for target in TARGETS}
    operator = f"127.0.0.1:{next(free)}"
    sources = [{"name": name, "path": str(root / name), "poll_seconds": 2} for name in ("handbook", "recipes")]
    config = {
        "data": str(root / "data"),
        "embedder": {"model": str(build_tiny_model(root / "model"))},
        "rpc": {target: f"127.0.0.1:{ports[target]}" for target in TARGETS if target != "gateway"},
        "gateway": {"port": ports["gateway"], "operator_listen": operator, "deadline_seconds": 30},
        "projects": {"default": {"sources": [*sources, {"name": PUSH_SOURCE, "kind": "push", "language": "en"}]}},
    }
    (root / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    services = {
        target: ServiceProcess(
            target,
            {"REFDESK_RPC__LISTEN": f"127.0.0.1:{ports[target]}", "REFDESK_TELEMETRY__LISTEN": telemetry[target]},
            root / "config.yaml",
            root / "desk.log",
        )
        for target in TARGETS
    }
    desk = DeskProcess(root / "handbook", root, root / "model", url=f"http://127.0.0.1:{ports['gateway']}")
    try:
        for service in services.values():
            service.start()
        prometheus = Prometheus(root / "prometheus", telemetry)
    except CannotStart as error:
        end(services)
        pytest.fail(str(error))
    watched = Watched(root, desk, services, prometheus, f"http://{operator}")
    asking = threading.Thread(target=watched.keep_asking, daemon=True)
    try:
        wait_until_healthy(watched, asking)
        yield watched
    finally:
        watched.ended.set()
        asking.join(timeout=60)
        prometheus.stop()
        end(services)


def end(services: dict[str, ServiceProcess]) -> None:
    for service in services.values():
        if service.process is not None and service.process.poll() is None:
            service.process.kill()
            service.process.wait(timeout=20)


def wait_until_healthy(watched: Watched, asking: threading.Thread) -> None:
    """Until hybrid answers come, everything is scraped, and some time has gone by without an alert."""
    for _ in ticks(START_SECONDS, every=0.25):
        with contextlib.suppress(OSError):
            if "Mode: " not in watched.desk.text("search_docs", {"query": "signing key"}):
                break
    asking.start()
    quiet = 0
    for _ in ticks(START_SECONDS, every=0.5):
        scraped = watched.prometheus.query("count(up == 1)") == [len(TARGETS)]
        quiet = quiet + 1 if scraped and watched.answered > 20 and not watched.prometheus.firing() else 0
        if quiet == 4:
            return
    raise AssertionError(f"raised: {watched.prometheus.firing()}; {watched.desk.tail()}")


def test_an_embedder_that_is_away_raises_that_searches_lack_a_leg_and_nothing_else(watched: Watched) -> None:
    watched.services["embedder"].signal(signal.SIGKILL)
    seen = watched.raised_until(lambda firing: "RefdeskSearchDegraded" in firing)
    [labels] = watched.prometheus.labels_of("RefdeskSearchDegraded")
    assert (labels["leg"], labels["severity"]) == ("semantic", "ticket")
    watched.services["embedder"].start()
    seen |= watched.raised_until(lambda firing: not firing)
    assert seen == {"RefdeskSearchDegraded"}, watched.failures()


def test_every_query_of_every_dashboard_has_an_answer(watched: Watched) -> None:
    """After an outage, so that there is something to show of one too."""
    panels = [panel for panel in read_panels() if panel.title != UNLIMITED or limit_of(LIMIT_FILES) is not None]
    empty = {(panel.board, panel.title, query) for panel in panels for query in panel.queries}
    for _ in ticks(60, every=1):  # holdings are counted every 30 s
        empty = {one for one in empty if not watched.prometheus.query(one[2])}
        if not empty:
            return
    raise AssertionError(f"no answer: {empty}")


def test_a_source_that_cannot_be_listed_raises_that_it_is_stuck_and_nothing_else(watched: Watched) -> None:
    watched.raised_until(lambda firing: not firing)
    recipes = watched.root / "recipes"
    recipes.rename(watched.root / "elsewhere")
    seen = watched.raised_until(lambda firing: "RefdeskSourceStuck" in firing)
    [labels] = watched.prometheus.labels_of("RefdeskSourceStuck")
    assert (labels["source"], labels["severity"]) == (source_label("default", "recipes"), "ticket")
    (watched.root / "elsewhere").rename(recipes)
    seen |= watched.raised_until(lambda firing: not firing)
    assert seen == {"RefdeskSourceStuck"}, watched.failures()
