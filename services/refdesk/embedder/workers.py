"""Threads that do the queue's jobs one by one; knows nothing of models."""

from __future__ import annotations

import threading
import time

from refdesk.embedder.metrics import RUN_SECONDS, WAIT_SECONDS
from refdesk.embedder.queue import Job, JobQueue
from refdesk.errors import DeadlineExceeded

JOIN_SECONDS = 10.0


class Workers:
    """As many threads as texts may run side by side; with two or more the first is the one kept for queries."""

    def __init__(self, count: int, queue: JobQueue) -> None:
        self._queue = queue
        self._threads = [
            threading.Thread(
                target=self._work, args=(number == 0 and count > 1,), name=f"embedder-{number}", daemon=True
            )
            for number in range(count)
        ]

    def start(self) -> None:
        """Starts the threads; once."""
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Waits, for a bounded time, until the threads ended after the queue was closed."""
        for thread in self._threads:
            if thread.is_alive():
                thread.join(JOIN_SECONDS)

    def _work(self, kept: bool) -> None:
        while (job := self._queue.take(kept=kept)) is not None:
            if job.future.set_running_or_notify_cancel():
                self._do(job)

    def _do(self, job: Job) -> None:
        started = time.monotonic()
        WAIT_SECONDS.labels(job.purpose).observe(started - job.put_at)
        if started >= job.ends_at:
            job.future.set_exception(
                DeadlineExceeded(f"the {job.purpose} waited for the embedder until its time was over")
            )
            return
        try:
            outcome = job.work()
        except Exception as error:
            job.future.set_exception(error)
            return
        seconds = time.monotonic() - started
        RUN_SECONDS.labels(job.purpose).observe(seconds)
        self._queue.note_run(job.purpose, seconds)
        job.future.set_result(outcome)
