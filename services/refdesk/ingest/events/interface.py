"""What carries change events to the workers, at least once, changed documents before bulk; knows nothing of documents' content."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from refdesk.ingest.events.event import ChangeEvent
from refdesk.ingest.events.incoming import Incoming


@dataclass(frozen=True, slots=True)
class Lane:
    """What waits in one lane: events that are not acknowledged, and since when the oldest of them (seconds since 1970; 0: none waits)."""

    pending_count: int
    oldest_at_seconds: float


@dataclass(frozen=True, slots=True)
class Room:
    """What a stream holds, and what it may hold."""

    size_bytes: int
    limit_bytes: int


@dataclass(frozen=True, slots=True)
class Backlog:
    """The queue as it is: lanes by name (changed, bulk), streams by name (events, parked)."""

    lanes: Mapping[str, Lane]
    streams: Mapping[str, Room]


class Delivery(Protocol):
    """One event in a worker's hands; without ack, retry or in_progress for 60 s it is delivered again."""

    @property
    def event(self) -> Incoming:
        """What was published, by us or by a source system."""
        ...

    @property
    def deliveries(self) -> int:
        """How often it was delivered, this time included."""
        ...

    @property
    def trace(self) -> Mapping[str, str]:
        """The trace that it belongs to, as W3C Trace Context writes it; empty where it belongs to none."""
        ...

    async def ack(self) -> None:
        """Done: it is never delivered again. Raises: Unavailable when that could not be said (it comes again)."""
        ...

    async def retry(self, delay_seconds: float) -> None:
        """Deliver it again, not before `delay_seconds`. Raises: Unavailable, and then it comes again after 60 s."""
        ...

    async def in_progress(self) -> None:
        """Still being worked on: its 60 s start anew. Raises: Unavailable."""
        ...

    async def terminate(self) -> None:
        """Never deliver it again although it was not done. Raises: Unavailable."""
        ...

    async def park(self, reason: str) -> None:
        """Sets it aside where people can look at it, and never delivers it again. Raises: Unavailable, and then it comes again."""
        ...


class Lease(Protocol):
    """The right to do what a name stands for."""

    @property
    def held(self) -> bool:
        """Whether this process has it now."""
        ...

    @property
    def told(self) -> bytes:
        """What its holder said last, where that is another process; empty where nothing is known."""
        ...

    async def until_held(self) -> None:
        """Returns as soon as this process has it."""
        ...


class AlwaysHeld:
    """Where there is one process only."""

    held = True
    told = b""

    async def until_held(self) -> None:
        """At once."""


class Events(Protocol):
    """A queue of hints, not the truth: with all of it lost, a scan of the sources announces what differs."""

    async def start(self) -> None:
        """Opens it; may be called again after close. Raises: Unavailable naming what to do."""
        ...

    async def close(self) -> None:
        """Ends it; events that were delivered and not acknowledged come again at the next start."""
        ...

    async def publish(self, events: Sequence[ChangeEvent]) -> None:
        """Returns when all of them are durable; the same id twice within 2 min is one event. May be repeated.

        Raises: Unavailable (some may be there all the same); ResourceExhausted when it is full.
        """
        ...

    async def incarnation(self) -> str:
        """Names the queue as it is now; another name than before says that what was published then may be lost. Raises: Unavailable."""
        ...

    async def fetch(self, limit: int, timeout_seconds: float) -> list[Delivery]:
        """1 to `limit` events, those of changed documents before bulk; as soon as there is one; [] after the timeout.

        A payload that is no event is delivered as one that says so. Raises: Unavailable.
        """
        ...

    async def pending(self) -> int:
        """Events that are not acknowledged, delivered or not. Raises: Unavailable."""
        ...

    async def backlog(self) -> Backlog:
        """What waits, and how much room is left. Raises: Unavailable."""
        ...

    def lease(self, name: str, tell: Callable[[], bytes], gained: Callable[[], None]) -> Lease:
        """The right to do what a name stands for, which one process has at a time.

        `tell` is asked, while this process has it, for what the others shall know; `gained` is called when it was got.
        """
        ...

    async def reachable(self) -> bool:
        """Whether it answers now, within a second."""
        ...
