"""One document on its way through the publish protocol; pure, and knows nothing of engines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.ingest import records
from refdesk.ingest.changes import Change, Ending, Outcome
from refdesk.ingest.records import Found, Generation, Origin, Verdict
from refdesk.ingest.sources.interface import RawDocument


@dataclass
class Work:
    """What the steps have found out and made of one document; `view` is the record that step 1 read, `record` what step 4 puts."""

    change: Change
    origin: Origin
    view: pb.Document | None = None
    found: Found = field(default_factory=lambda: Found(""))
    raw: RawDocument | None = None
    verdict: Verdict = Verdict.SAME
    parsed: pb.Document | None = None
    record: pb.Document | None = None
    remarks: tuple[str, ...] = ()
    reason: str = ""
    outcome: Outcome | None = None

    def end(self, ending: Ending, reason: str = "", *, unparsed: bool = False) -> None:
        """Ends it here; later steps leave it alone."""
        self.outcome = Outcome(ending, reason, unparsed)

    def ended(self, ending: Ending) -> bool:
        """Whether it ended like this."""
        return self.outcome is not None and self.outcome.ending is ending


@dataclass(frozen=True)
class Batch:
    """What was prepared and is to be written."""

    works: list[Work]
    generations: tuple[Generation, ...]

    @property
    def size_bytes(self) -> int:
        """Of what was read from the sources."""
        return sum(len(work.raw.content) for work in self.works if work.raw)


def still_open(works: Iterable[Work]) -> list[Work]:
    """Those that have not ended."""
    return [work for work in works if work.outcome is None]


def set_aside(work: Work, reason: str, *, absent: bool, generations: Sequence[Generation]) -> None:
    """Judges anew what turned out not to be indexable as it is: a draft counts as absent, undecodable bytes keep the last good text."""
    work.reason = reason
    work.found = replace(work.found, absent=absent, unusable=not absent)
    work.verdict = records.judge(work.view, work.origin, work.found, generations)


def plan_record(work: Work, generations: Sequence[Generation]) -> None:
    """Sets the record that step 4 shall put; None where nothing is put."""
    if work.verdict is Verdict.OLDER:
        work.end(Ending.UNCHANGED)
    elif work.verdict is Verdict.CUT and work.parsed is not None:
        work.record = records.cut_record(work.view, work.origin, work.found, work.parsed, generations)
    elif work.raw is None and work.found.absent and not work.origin.pushed and records.is_unrecorded(work.view):
        work.record = records.unrecorded_record(work.view, work.origin, generations)
    elif work.verdict is Verdict.BURY:
        work.record = records.buried_record(work.view, work.origin, work.found, generations)
    elif work.verdict is Verdict.TOUCH and work.view is not None:
        work.record = records.touched_record(work.view, work.origin, work.found)


def conclude(works: Iterable[Work]) -> None:
    """Ends what nothing had to be put of, and names what was put only to set it aside."""
    for work in works:
        if work.outcome is None:
            work.end(Ending.UNCHANGED)
        if work.reason and (work.ended(Ending.UNCHANGED) or work.ended(Ending.PUBLISHED)):
            work.end(Ending.SKIPPED, work.reason)


def report_of(work: Work) -> pb.Report | None:
    """What people are told of it; None where there is nothing to tell."""
    path = work.origin.path
    if work.ended(Ending.SKIPPED) and work.outcome:
        kind = pb.REPORT_KIND_PARKED if work.change.set_aside else pb.REPORT_KIND_SKIPPED
        return pb.Report(path=path, kind=kind, reason=work.outcome.reason)
    if work.ended(Ending.PUBLISHED) and work.remarks:
        return pb.Report(path=path, kind=pb.REPORT_KIND_REMARK, reason="; ".join(work.remarks))
    return None


def relative_path(record: pb.Document) -> str:
    """A record's path as its source knows it."""
    return record.path.removeprefix(f"{record.source}/")
