"""What a worker has in hand of one document: its change, and the deliveries that hinted at it; pure, knows no queue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from refdesk.ingest.changes import Change
from refdesk.ingest.events.event import ChangeEvent, ChangeType
from refdesk.ingest.events.interface import Delivery


@dataclass(frozen=True)
class Job:
    """One document's change, and the deliveries that hinted at it."""

    project: str
    change: Change
    deliveries: tuple[Delivery, ...]

    @property
    def key(self) -> tuple[str, str, str]:
        """Names the document."""
        return self.project, self.change.source, self.change.path


def change_of(event: ChangeEvent) -> Change:
    """What one of our own events asks for.

    Whether what is gone may be deleted was decided when that was announced: an event of a change deletes nothing.
    """
    keep_absent = event.type is ChangeType.CHANGED
    return Change(event.source, event.path, event.moved_from or "", event.bulk, keep_absent=keep_absent)


def group(changes: Iterable[tuple[Delivery, str, Change]]) -> dict[str, list[Job]]:
    """The documents that are hinted at, by project, each once."""
    jobs: dict[tuple[str, str, str], Job] = {}
    for delivery, project, change in changes:
        job = Job(project, change, (delivery,))
        before = jobs.get(job.key)
        jobs[job.key] = merge(before, job) if before else job
    grouped: dict[str, list[Job]] = {}
    for job in jobs.values():
        grouped.setdefault(job.project, []).append(job)
    return grouped


def deliveries_of(jobs: Iterable[Job]) -> list[Delivery]:
    """All that hinted at these documents."""
    return [delivery for job in jobs for delivery in job.deliveries]


def merge(before: Job, job: Job) -> Job:
    """Two hints at one document as one: a change goes before bulk, a known old path is kept, and a deletion stays one."""
    change = replace(
        job.change,
        bulk=before.change.bulk and job.change.bulk,
        keep_absent=before.change.keep_absent and job.change.keep_absent,
        moved_from=job.change.moved_from or before.change.moved_from,
    )
    return Job(job.project, change, before.deliveries + job.deliveries)
