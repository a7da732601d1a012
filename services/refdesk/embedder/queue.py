"""Texts that wait for a worker, queries before passages, bounded; knows nothing of models."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from refdesk.embedder.metrics import REFUSED_TEXTS, WAITING_TEXTS
from refdesk.errors import ResourceExhausted, Unavailable

PURPOSES = ("query", "passage")
CLOSING = "the embedder is closing: try again"
SLOWNESS = 0.1
"""Share of the latest run in the moving mean that a refusal's retry time comes from."""


@dataclass(eq=False)
class Job:
    """One text's work; `future` gets what `work` returns or raises. `ends_at` is by time.monotonic."""

    purpose: str
    work: Callable[[], Any]
    ends_at: float
    future: Future[Any] = field(default_factory=Future)
    put_at: float = field(default_factory=time.monotonic)


class JobQueue:
    """Two lanes; safe to use from every thread."""

    def __init__(
        self,
        limits: dict[str, int],
        kept_seconds: float,
        workers: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`limits`: most jobs that may wait, a purpose. `kept_seconds`: how long after a query the kept worker takes no passage.

        `workers`: how many will take jobs, for the time that a refusal names.
        """
        self._limits = limits
        self._kept_seconds = kept_seconds
        self._clock = clock
        self._lanes: dict[str, deque[Job]] = {purpose: deque() for purpose in PURPOSES}
        self._changed = threading.Condition()
        self._last_query = -float("inf")
        self._mean_seconds = dict.fromkeys(PURPOSES, 0.02)
        self._closed = False
        self._workers = workers

    def put(self, jobs: Sequence[Job]) -> None:
        """Adds jobs of one purpose, all or none. More jobs than the limit are still taken by a queue that is empty.

        Raises: ResourceExhausted when they do not fit, Unavailable after close.
        """
        if not jobs:
            return
        purpose = jobs[0].purpose
        with self._changed:
            if self._closed:
                raise Unavailable(CLOSING)
            waiting = len(self._lanes[purpose])
            if waiting and waiting + len(jobs) > self._limits[purpose]:
                self._refuse(purpose, waiting, len(jobs))
            self._lanes[purpose].extend(jobs)
            if purpose == "query":
                self._last_query = self._clock()
            self._count(purpose)
            self._changed.notify_all()

    def take(self, *, kept: bool) -> Job | None:
        """The next job, the oldest query first; waits for one. None after close.

        The kept worker takes a passage only when no query came lately.
        """
        with self._changed:
            while not self._closed:
                idle_in = self._last_query + self._kept_seconds - self._clock() if kept else 0.0
                for purpose in PURPOSES if idle_in <= 0 else ("query",):
                    if self._lanes[purpose]:
                        return self._pop(purpose)
                self._changed.wait(idle_in if idle_in > 0 and self._lanes["passage"] else None)
        return None

    def discard(self, jobs: Iterable[Job]) -> None:
        """Takes out those that still wait, and cancels them; a running one ends by itself and nobody hears of it."""
        unwanted = {job for job in jobs if job.future.cancel()}
        if not unwanted:
            return
        with self._changed:
            for purpose in {job.purpose for job in unwanted}:
                self._lanes[purpose] = deque(job for job in self._lanes[purpose] if job not in unwanted)
                self._count(purpose)

    def note_run(self, purpose: str, seconds: float) -> None:
        """Remembers how long a job took."""
        with self._changed:
            self._mean_seconds[purpose] += SLOWNESS * (seconds - self._mean_seconds[purpose])

    def close(self) -> None:
        """Wakes every worker for good; whoever waits for a job hears Unavailable."""
        with self._changed:
            self._closed = True
            waiting = [job for lane in self._lanes.values() for job in lane]
            for purpose, lane in self._lanes.items():
                lane.clear()
                self._count(purpose)
            self._changed.notify_all()
        for job in waiting:
            if job.future.set_running_or_notify_cancel():
                job.future.set_exception(Unavailable(CLOSING))

    def _pop(self, purpose: str) -> Job:
        job = self._lanes[purpose].popleft()
        self._count(purpose)
        return job

    def _count(self, purpose: str) -> None:
        WAITING_TEXTS.labels(purpose).set(len(self._lanes[purpose]))

    def _refuse(self, purpose: str, waiting: int, more: int) -> None:
        REFUSED_TEXTS.labels(purpose).inc(more)
        wait_seconds = waiting * self._mean_seconds[purpose] / self._workers
        raise ResourceExhausted(
            f"{waiting} of at most {self._limits[purpose]} {purpose} texts wait for the embedder already: try again later",
            retry_after_seconds=round(max(0.05, wait_seconds), 3),
        )
