"""Compares a listing with what is known and plans what to announce; pure: knows nothing of files, records or queues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from refdesk.ingest.sources.interface import Listing


@dataclass(frozen=True, slots=True)
class Known:
    """What is on record of a document. A parked one is known by the revision that was parked, so that it is not announced anew."""

    revision: str
    content_hash: str
    deleted: bool = False
    record_revision: int = 0
    """Counts what was put of it: a source's revision may come back, this one never does."""


UNRECORDED = Known("", "")


@dataclass(frozen=True, slots=True)
class Move:
    """Content that stood at `old` and now stands at `new`."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What differs, in path order: `new` and `edited` map paths to the revisions listed, `vanished` to what is known of them.

    `removed` maps those of `vanished` that were deleted on purpose to the revisions of that. A move's new path stays in `new`, since it is
    announced like any other; its old path is not in `vanished`.
    """

    new: Mapping[str, str]
    edited: Mapping[str, str]
    vanished: Mapping[str, Known]
    moves: tuple[Move, ...] = ()
    unchanged_count: int = 0
    removed: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to announce."""
        return not (self.new or self.edited or self.vanished or self.moves)


def compare(listing: Listing, known: Mapping[str, Known], within: Collection[str] | None = None) -> Plan:
    """Plans for what stands at or under `within` (None: everywhere). What could not be read stays as it is known."""
    listed = {document.path: document.revision for document in listing.documents}
    new = {path: revision for path, revision in listed.items() if path not in known or known[path].deleted}
    edited = {
        path: revision for path, revision in listed.items() if path not in new and known[path].revision != revision
    }
    # What was removed before its record was seen may be on its way into one.
    known = {**dict.fromkeys(listing.removed, UNRECORDED), **known}
    kept = [skipped.path for skipped in listing.skipped if skipped.unreadable]
    vanished = {
        path: record
        for path, record in sorted(known.items())
        if not record.deleted
        and path not in listed
        and is_within(path, within)
        and not (kept and is_within(path, kept))
    }
    return Plan(
        new,
        edited,
        vanished,
        unchanged_count=len(listed) - len(new) - len(edited),
        removed={path: revision for path, revision in listing.removed.items() if path in vanished},
    )


def is_within(path: str, places: Collection[str] | None) -> bool:
    """Whether a path is one of `places` or lies under one of them; None is everywhere. Places may end with a slash."""
    if places is None or path in places:
        return True
    return any(path.startswith(place.rstrip("/") + "/") for place in places)


def pair_moves(plan: Plan, new_hashes: Mapping[str, str]) -> Plan:
    """The plan with each vanished document paired with a new one of the same content, one to one, equal file names first.

    `new_hashes` maps paths of `plan.new` to their content's hash; what is not in it moves nowhere.
    """
    candidates: dict[str, list[str]] = defaultdict(list)
    for path in sorted(new_hashes):
        candidates[new_hashes[path]].append(path)
    moves: list[Move] = []
    for alike in (True, False):
        for old in sorted(plan.vanished.keys() - {move.old for move in moves}):
            found = _choose(old, candidates.get(plan.vanished[old].content_hash, []), alike)
            if found:
                candidates[plan.vanished[old].content_hash].remove(found)
                moves.append(Move(old, found))
    return _without(plan, moves)


def _choose(old: str, paths: list[str], alike: bool) -> str | None:
    if alike:
        paths = [path for path in paths if path.rpartition("/")[2] == old.rpartition("/")[2]]
    return paths[0] if paths else None


def _without(plan: Plan, moves: list[Move]) -> Plan:
    gone = {move.old for move in moves}
    vanished = {path: known for path, known in plan.vanished.items() if path not in gone}
    return replace(plan, vanished=vanished, moves=tuple(sorted(moves, key=lambda move: move.old)))
