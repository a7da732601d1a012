"""Makes change events of a plan, and remembers which were announced; pure: knows nothing of queues or clocks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from refdesk.ingest.events.event import ChangeEvent, ChangeType, event_id
from refdesk.ingest.scan import Known, Plan

BULK_ABOVE = 50
"""A scan that makes more events than this is a load, and lets single changes go before it."""
ABSENT = "absent"


def make_events(
    project: str, source: str, plan: Plan, deletes: Iterable[str], known: Mapping[str, Known], time: str
) -> list[ChangeEvent]:
    """Changed documents first, so that what moved is never missing; then `deletes` and what moved away."""
    moved_from = {move.new: move.old for move in plan.moves}
    changed = {**plan.new, **plan.edited}
    gone = sorted({*deletes, *(move.old for move in plan.moves)})
    bulk = len(changed) + len(gone) > BULK_ABOVE

    def make(path: str, change: ChangeType, revision: str) -> ChangeEvent:
        identity = event_id(project, source, path, change, revision, _state(known.get(path)))
        return ChangeEvent(identity, project, source, path, change, time, bulk, moved_from.get(path))

    events = [make(path, ChangeType.CHANGED, changed[path]) for path in sorted(changed)]
    return events + [make(path, ChangeType.DELETED, plan.removed.get(path, "")) for path in gone]


def _state(known: Known | None) -> str:
    """As no other moment's: a page that goes, comes back as it was and goes again has gone twice."""
    return ABSENT if known is None else f"{known.record_revision} {known.revision}"


class Announced:
    """What was announced of late and may still wait in the queue: a scan that finds it again says nothing.

    A queue of another incarnation holds nothing of it.
    """

    def __init__(self, lasting_seconds: float) -> None:
        self._lasting_seconds = lasting_seconds
        self._by_path: dict[str, tuple[ChangeEvent, float]] = {}
        self._incarnation = ""

    def begin(self, incarnation: str) -> None:
        """What follows is announced to the queue of this name."""
        if incarnation != self._incarnation:
            self._by_path.clear()
        self._incarnation = incarnation

    def leave_out(self, events: Iterable[ChangeEvent], now_seconds: float) -> list[ChangeEvent]:
        """The events that were not announced of late."""
        since = now_seconds - self._lasting_seconds
        return [event for event in events if not self._holds(event, since)]

    def note(self, events: Iterable[ChangeEvent], now_seconds: float) -> None:
        """These are in the queue now."""
        self._by_path |= {event.path: (event, now_seconds) for event in events}

    def keep(self, paths: Collection[str]) -> None:
        """Forgets what a full scan does not find any more: it was worked off."""
        self._by_path = {path: entry for path, entry in self._by_path.items() if path in paths}

    def deletes(self) -> set[str]:
        """Paths whose delete was announced."""
        return {path for path, (event, _) in self._by_path.items() if event.type is ChangeType.DELETED}

    def _holds(self, event: ChangeEvent, since_seconds: float) -> bool:
        noted, time_seconds = self._by_path.get(event.path, (None, 0.0))
        return noted is not None and noted.id == event.id and time_seconds > since_seconds
