"""Writes documents many at a time and tells how each ended; knows nothing of what stands in them."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from refdesk.engines.opensearch.action import Action as Action
from refdesk.engines.opensearch.client import OpenSearchClient, Pauses
from refdesk.engines.opensearch.faults import TOO_LARGE, Busy, Refused

Refresh = Literal["false", "true", "wait_for"]
"""When what is written can be searched: at the next refresh, at once, or at the next refresh, which is waited for."""


class Ending(enum.Enum):
    """How one action ended; whatever else may happen to it fails the whole call."""

    DONE = "done"
    CONFLICT = "conflict"
    """Its condition did not hold, or what it creates was there."""
    MISSING = "missing"
    """No such document, to update or to delete."""
    REFUSED = "refused"
    """This document cannot be taken, now or later: it is its own fault."""


_READ = "items.*.status,items.*.error.type,items.*.error.index"
"""Of an answer: the rest of thousands of items would take a tenth of a second to read."""
_NO_DOCUMENT = ("", "document_missing_exception")


async def write_actions(client: OpenSearchClient, actions: Iterable[Action], *, refresh: Refresh) -> list[Ending]:
    """How each ended, in order. No two may be of one document: those that are tried again are late.

    Raises: Unavailable (Busy when the budget is over, WriteBlocked, IndexMissing); some may be done then.
    """
    return await write_encoded(client, (action.encode() for action in actions), refresh=refresh)


async def write_encoded(client: OpenSearchClient, actions: Iterable[bytes], *, refresh: Refresh) -> list[Ending]:
    """As `write_actions`, of actions that were encoded elsewhere: encoding thousands holds up an event loop."""
    endings: list[Ending] = []
    for batch in _batches(actions, client.settings.bulk_bytes):
        endings += await _write_batch(client, batch, refresh)
    return endings


def _batches(encoded: Iterable[bytes], most_bytes: int) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size_bytes = 0
    for lines in encoded:
        if batch and size_bytes + len(lines) > most_bytes:
            yield batch
            batch, size_bytes = [], 0
        batch.append(lines)
        size_bytes += len(lines)
    if batch:
        yield batch


async def _write_batch(client: OpenSearchClient, batch: Sequence[bytes], refresh: Refresh) -> list[Ending]:
    endings: dict[int, Ending] = {}
    waiting = list(range(len(batch)))
    pauses = Pauses(client.settings.retry_seconds)
    while True:
        busy: Busy | None = None
        results = await _send(client, [batch[place] for place in waiting], refresh)
        for place, result in zip(waiting, results, strict=True):
            try:
                endings[place] = result if isinstance(result, Ending) else _read_ending(client, result)
            except Busy as error:
                busy = error
        waiting = [place for place in waiting if place not in endings]
        if busy is None:
            return [endings[place] for place in range(len(batch))]
        if not await pauses.rest():
            raise busy


async def _send(client: OpenSearchClient, lines: Sequence[bytes], refresh: Refresh) -> list[Mapping[str, Any] | Ending]:
    """What OpenSearch says of each item."""
    params = {"refresh": refresh, "require_alias": "true", "filter_path": _READ}
    try:
        answer = await client.write("POST", "/_bulk", b"".join(lines), params)
    except Refused as error:
        if error.kind != TOO_LARGE:
            raise
        if len(lines) == 1:
            return [Ending.REFUSED]
        half = len(lines) // 2
        return [*await _send(client, lines[:half], refresh), *await _send(client, lines[half:], refresh)]
    return [next(iter(item.values())) for item in answer["items"]]


def _read_ending(client: OpenSearchClient, item: Mapping[str, Any]) -> Ending:
    """How it ended. Raises: what fails the whole call."""
    status, error = int(item["status"]), item.get("error")
    cause = error if isinstance(error, Mapping) else {}
    if status < 300:
        return Ending.DONE
    if status == 409:
        return Ending.CONFLICT
    if status == 404 and cause.get("type", "") in _NO_DOCUMENT:
        return Ending.MISSING
    failure = client.faults.translate_status(status, cause)
    if isinstance(failure, Refused):
        return Ending.REFUSED
    raise failure
