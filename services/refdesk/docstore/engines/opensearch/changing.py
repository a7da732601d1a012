"""Changes documents only as they were read: reads, decides, writes, and does so again where another was quicker; knows no records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from refdesk.engines.opensearch.bulk import Action, Ending, write_actions
from refdesk.engines.opensearch.client import OpenSearchClient
from refdesk.engines.opensearch.reading import Hit, get_many
from refdesk.errors import Unavailable

ATTEMPTS = 16
"""Each is lost only to a write of somebody else that was taken."""
READ_TOGETHER = 256

T = TypeVar("T")


@dataclass(frozen=True)
class Change:
    """What to write of one document."""

    body: Mapping[str, Any]
    is_whole: bool = True
    """False: `body` holds the fields that change, and the others stay."""


Decide = Callable[[str, Hit | None], Change | None]
"""What to write, by key and as it stands (None: it does not); None: nothing. Asked anew when the document has changed meanwhile."""


async def change_documents(
    client: OpenSearchClient, alias: str, keys: Sequence[str], decide: Decide, *, only: Sequence[str]
) -> list[str]:
    """Changes each, all findable when this returns; the keys of those that OpenSearch refuses to keep. `only`: the fields to read.

    Raises: Unavailable; then some may be changed.
    """
    refused: list[str] = []
    waiting = list(keys)
    for _ in range(ATTEMPTS):
        changed = [
            action
            for together in grouped(waiting, READ_TOGETHER)
            for action in await _decide_together(client, alias, together, decide, only)
        ]
        # At once, since every read sees what was answered; at the next refresh would be up to a second later for each of the steps
        # that a change takes.
        endings = await write_actions(client, changed, refresh="true")
        refused += [action.id for action, ending in zip(changed, endings, strict=True) if ending is Ending.REFUSED]
        lost = (Ending.CONFLICT, Ending.MISSING)
        waiting = [action.id for action, ending in zip(changed, endings, strict=True) if ending in lost]
        if not waiting:
            return refused
    raise Unavailable(f"{len(waiting)} documents are changed by others all the time; try again")


async def _decide_together(
    client: OpenSearchClient, alias: str, keys: Sequence[str], decide: Decide, only: Sequence[str]
) -> list[Action]:
    standing = await get_many(client, alias, keys, only=only)
    decided = ((key, hit, decide(key, hit)) for key, hit in zip(keys, standing, strict=True))
    return [_action(alias, key, hit, change) for key, hit, change in decided if change is not None]


def _action(alias: str, key: str, standing: Hit | None, change: Change) -> Action:
    if standing is None:
        return Action("create", alias, key, change.body)
    if change.is_whole:
        return Action("index", alias, key, change.body, standing.unchanged)
    return Action("update", alias, key, {"doc": change.body}, standing.unchanged)


def grouped(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The items in order, at most `size` at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
