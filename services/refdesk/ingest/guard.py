"""Decides whether documents that vanished from a source may be deleted; pure: knows nothing of how they vanished."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeleteLimit:
    """More than `documents` AND more than `share` of the source at once wait for a person."""

    documents: int = 10
    share: float = 0.1


@dataclass(frozen=True, slots=True)
class Verdict:
    """The deletes that go ahead, how many wait, and one line for people where any do."""

    allowed: tuple[str, ...]
    held_count: int = 0
    message: str = ""


def judge(
    source: str,
    vanished: Collection[str],
    known_count: int,
    *,
    complete: bool,
    limit: DeleteLimit,
    deleted_before: int = 0,
    held_before: bool = False,
    confirmed: bool = False,
) -> Verdict:
    """All deletes or none. `vanished` without moves; `known_count` documents were there before; `deleted_before` of late, not in it.

    What is `held_before` stays held until it is confirmed. A listing that is not complete deletes nothing, confirmed or not.
    """
    if not complete:
        return Verdict((), 0, f"source {source} could not be listed to its end; nothing was deleted")
    count = len(vanished) + deleted_before
    total = known_count + deleted_before
    within_limit = count <= limit.documents or count <= limit.share * total
    if not vanished or confirmed or (within_limit and not held_before):
        return Verdict(tuple(sorted(vanished)))
    message = (
        f"{len(vanished):,} of {known_count:,} documents are gone from source {source} and are kept until you run:"
        f" refdesk source sync {source} --confirm-deletes"
    )
    return Verdict((), len(vanished), message)
