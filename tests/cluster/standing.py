"""The desk that the tests share: installed once, its history of published documents, and what must hold after whatever is done to it."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cluster.cluster import wait_until
from cluster.desk import Desk, is_ready
from cluster.kubernetes import Failed
from cluster.traffic import Traffic, first_load, publish, traffic

WATCH_SECONDS = 0.5
RECOVERY_SECONDS = 10.0
"""From the moment that search is ready again until every answer must be whole."""
CALM_ANSWERS = 15
"""How many more must be given before and after something is done."""
CALM_SECONDS = 60.0


class StandingDesk:
    """A desk, what it must hold, and a folder for audits."""

    def __init__(self, desk: Desk, folder: Path) -> None:
        self.desk = desk
        self.history = Traffic()
        self._folders = (folder / f"expected{number}" for number in itertools.count())

    def install(self) -> None:
        """From nothing to a desk that holds the first load, words and vectors."""
        self.desk.prepare()
        self.desk.install()
        self.desk.make_keys()
        publish(self.desk, first_load(), self.history)
        assert self.history.wrong() == []
        self.desk.wait_until_settled(len(self.history.expected))

    @contextmanager
    def under_traffic(self) -> Iterator[Traffic]:
        """Questions and pushes go on during the block; after it, no answer was wrong and nothing is lost."""
        with watching_search(self.desk) as away, traffic(self.desk, self.history) as seen:
            seen.search_away = away
            wait_for_answers(seen)
            yield seen
            wait_for_answers(seen)
        self.history = Traffic(acknowledged=seen.acknowledged)
        print(f"\n{seen.summary()}", flush=True)
        wrong = seen.wrong()
        assert not wrong, "\n".join([seen.summary(), f"search away: {away}", *wrong[:20]])
        self.check()

    def check(self) -> None:
        """Docstore, words and vectors hold what was acknowledged, and nothing else."""
        expected = self.history.expected
        self.desk.wait_until_settled(len(expected))
        assert self.desk.audit(expected, next(self._folders)) == []


def wait_for_answers(seen: Traffic, count: int = CALM_ANSWERS) -> None:
    """Waits until as many more questions were answered whole, and as many events taken. Raises: CannotStart."""
    before = sum(one.mode == "hybrid" for one in seen.answers), len(seen.pushes)
    wait_until(
        lambda: (
            sum(one.mode == "hybrid" for one in seen.answers) >= before[0] + count
            and len(seen.pushes) >= before[1] + count
        ),
        f"no {count} whole answers more; the newest: {seen.answers[-1:]}",
        CALM_SECONDS,
    )


@contextmanager
def watching_search(desk: Desk) -> Iterator[list[tuple[float, float]]]:
    """Keeps account of when the one search pod was not ready, each time with the seconds that callers may take to find it again."""
    away: list[tuple[float, float]] = []
    ending = threading.Event()

    def watch() -> None:
        while not ending.wait(WATCH_SECONDS):
            looked_at = time.monotonic()
            with contextlib.suppress(Failed, subprocess.TimeoutExpired):  # of the API server: it is asked again
                if any(is_ready(pod) for pod in desk.pods("search")):
                    continue
                began_at = away.pop()[0] if away and away[-1][1] > looked_at else looked_at - 2 * WATCH_SECONDS
                away.append((began_at, time.monotonic() + RECOVERY_SECONDS))

    watcher = threading.Thread(target=watch, name="watching search", daemon=True)
    watcher.start()
    try:
        yield away
    finally:
        ending.set()
        watcher.join(30)
