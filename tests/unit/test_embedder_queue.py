"""The queue and its workers: order, bounds, what a caller hears."""

from __future__ import annotations

import threading
import time
from concurrent.futures import CancelledError

import pytest

from refdesk.embedder.queue import Job, JobQueue
from refdesk.embedder.workers import Workers
from refdesk.errors import DeadlineExceeded, InvalidArgument, ResourceExhausted, Unavailable

PATIENCE_SECONDS = 10


class Clock:
    """Time that only a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def make_queue(kept_seconds: float = 1.0, most: int = 4) -> tuple[JobQueue, Clock]:
    clock = Clock()
    return JobQueue({"query": most, "passage": most}, kept_seconds, clock=clock), clock


def job(purpose: str = "passage", outcome: str = "done", ends_in: float = PATIENCE_SECONDS) -> Job:
    return Job(purpose, lambda: outcome, time.monotonic() + ends_in)


def test_queries_go_before_passages_that_came_earlier() -> None:
    queue, _ = make_queue()
    passages, queries = [job(), job()], [job("query"), job("query")]
    queue.put(passages)
    queue.put(queries)
    assert [queue.take(kept=False) for _ in range(4)] == [*queries, *passages]


def test_the_kept_worker_takes_a_passage_only_when_no_query_came_lately() -> None:
    queue, clock = make_queue(kept_seconds=1.0)
    query, passage = job("query"), job()
    queue.put([query])
    queue.put([passage])
    assert queue.take(kept=True) is query
    taken: list[Job | None] = []
    waiting = threading.Thread(target=lambda: taken.append(queue.take(kept=True)))
    waiting.start()
    waiting.join(0.05)
    assert taken == []
    clock.now += 1.0
    waiting.join(PATIENCE_SECONDS)
    assert taken == [passage]


def test_the_kept_worker_helps_with_passages_while_nobody_asks() -> None:
    queue, _ = make_queue()
    passage = job()
    queue.put([passage])
    assert queue.take(kept=True) is passage


def test_a_full_lane_refuses_all_of_a_request_and_says_when_to_come_back() -> None:
    queue, _ = make_queue(most=4)
    queue.put([job(), job(), job()])
    with pytest.raises(ResourceExhausted, match="3 of at most 4 passage texts") as refusal:
        queue.put([job(), job()])
    assert refusal.value.retry_after_seconds is not None
    assert 0.05 <= refusal.value.retry_after_seconds < 5
    queue.put([job()])
    queue.put([job("query")])


def test_a_request_above_the_bound_is_taken_when_nothing_waits() -> None:
    queue, _ = make_queue(most=4)
    queue.put([job() for _ in range(9)])
    with pytest.raises(ResourceExhausted):
        queue.put([job()])


def test_discarded_jobs_leave_the_queue_and_make_room() -> None:
    queue, _ = make_queue(most=4)
    unwanted, wanted = [job(), job(), job()], job()
    queue.put(unwanted)
    queue.put([wanted])
    queue.discard(unwanted)
    assert all(each.future.cancelled() for each in unwanted)
    queue.put([job(), job(), job()])
    assert queue.take(kept=False) is wanted


def test_workers_answer_with_what_the_work_returns_or_raises() -> None:
    queue, _ = make_queue()

    def fail() -> None:
        raise InvalidArgument("as asked")

    good, bad = job(outcome="vector"), Job("query", fail, time.monotonic() + PATIENCE_SECONDS)
    workers = Workers(2, queue)
    workers.start()
    queue.put([good])
    queue.put([bad])
    assert good.future.result(PATIENCE_SECONDS) == "vector"
    with pytest.raises(InvalidArgument, match="as asked"):
        bad.future.result(PATIENCE_SECONDS)
    queue.close()
    workers.join()


def test_a_job_whose_time_is_over_is_not_run() -> None:
    queue, _ = make_queue()
    ran = threading.Event()
    late = Job("passage", ran.set, time.monotonic() - 1)
    workers = Workers(1, queue)
    workers.start()
    queue.put([late])
    with pytest.raises(DeadlineExceeded):
        late.future.result(PATIENCE_SECONDS)
    assert not ran.is_set()
    queue.close()
    workers.join()


def test_one_worker_alone_is_not_kept_from_passages() -> None:
    queue, _ = make_queue(kept_seconds=1000.0)
    query, passage = job("query"), job()
    queue.put([passage])
    queue.put([query])
    workers = Workers(1, queue)
    workers.start()
    assert passage.future.result(PATIENCE_SECONDS) == "done"
    queue.close()
    workers.join()


def test_closing_ends_workers_and_tells_those_that_wait() -> None:
    queue, _ = make_queue()
    left = job()
    queue.put([left])
    queue.close()
    with pytest.raises(Unavailable):
        left.future.result(PATIENCE_SECONDS)
    with pytest.raises(Unavailable):
        queue.put([job()])
    assert queue.take(kept=False) is None


def test_a_job_cancelled_by_its_caller_is_skipped() -> None:
    queue, _ = make_queue()
    dropped, next_one = job(), job(outcome="next")
    queue.put([dropped, next_one])
    dropped.future.cancel()
    workers = Workers(1, queue)
    workers.start()
    assert next_one.future.result(PATIENCE_SECONDS) == "next"
    with pytest.raises(CancelledError):
        dropped.future.result(PATIENCE_SECONDS)
    queue.close()
    workers.join()
