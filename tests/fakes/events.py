"""Events kept in memory, for tests that need a queue and no server; held to the same conformance suite as JetStream."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from refdesk.errors import Unavailable
from refdesk.ingest.events.event import ChangeEvent
from refdesk.ingest.events.incoming import Incoming, read_incoming
from refdesk.ingest.events.interface import AlwaysHeld, Backlog, Delivery, Lane, Lease, Room


class MemoryDelivery:
    """An event in a worker's hands."""

    def __init__(self, queue: MemoryEvents, event: Incoming, deliveries: int) -> None:
        self._queue = queue
        self.event = event
        self.deliveries = deliveries
        self.trace: dict[str, str] = {}

    async def ack(self) -> None:
        self._queue.settle(self)

    async def retry(self, delay_seconds: float) -> None:
        self._queue.settle(self)
        self._queue.add(self.event, self.deliveries, delay_seconds)

    async def in_progress(self) -> None:
        pass

    async def terminate(self) -> None:
        self._queue.settle(self)

    async def park(self, reason: str) -> None:
        self._queue.settle(self)
        self._queue.parked.append((self.event, reason))


class MemoryEvents:
    """Two lists, changed and bulk. `is_down` makes every call fail; `published` holds all that was ever taken in.

    `parked` holds what was set aside.
    """

    def __init__(self) -> None:
        self.is_down = False
        self.losses = 0
        self.published: list[ChangeEvent] = []
        self.parked: list[tuple[Incoming, str]] = []
        self._ids: set[str] = set()
        self._lanes: dict[bool, list[tuple[float, Incoming, int]]] = {False: [], True: []}
        self._held: list[MemoryDelivery] = []
        self._came_at: dict[int, float] = {}
        self._changed = asyncio.Event()

    async def start(self) -> None:
        """What was delivered and not acknowledged is there again."""
        self._check()
        held, self._held = self._held, []
        for delivery in held:
            self.add(delivery.event, delivery.deliveries, 0)

    async def close(self) -> None:
        pass

    async def publish(self, events: Sequence[ChangeEvent]) -> None:
        self._check()
        for event in events:
            if event.id not in self._ids:
                self._ids.add(event.id)
                self.published.append(event)
                self.add(event, 0, 0)

    async def incarnation(self) -> str:
        self._check()
        return str(self.losses)

    def lose(self) -> None:
        """All that it holds and knows is gone, as when its server comes back with an empty disk."""
        self.losses += 1
        self._ids.clear()
        self._lanes = {False: [], True: []}
        self._held = []

    async def fetch(self, limit: int, timeout_seconds: float) -> list[Delivery]:
        self._check()
        ends_at = self._time() + timeout_seconds
        while not (taken := self._take(limit)) and self._time() < ends_at:
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), max(0.001, min(self._next_due(), ends_at) - self._time()))
            except TimeoutError:
                continue
        return taken

    async def pending(self) -> int:
        self._check()
        return sum(map(len, self._lanes.values())) + len(self._held)

    async def backlog(self) -> Backlog:
        self._check()
        lanes = {}
        for name, bulk in (("changed", False), ("bulk", True)):
            held = [one.event for one in self._held if one.event.bulk is bulk]
            waiting = [event for _, event, _ in self._lanes[bulk]] + held
            lanes[name] = Lane(len(waiting), min((self._came_at[id(event)] for event in waiting), default=0.0))
        return Backlog(lanes, {"events": Room(len(self.published), 1000), "parked": Room(len(self.parked), 1000)})

    def lease(self, name: str, tell: Callable[[], bytes], gained: Callable[[], None]) -> Lease:
        return AlwaysHeld()

    async def reachable(self) -> bool:
        return not self.is_down

    def arrive(self, subject: str, payload: bytes, **headers: str) -> None:
        """A message of a source system, as it comes over the wire; `_` in names of headers stands for a hyphen."""
        named = {name.replace("_", "-"): value.encode() for name, value in headers.items()}
        self.add(read_incoming(subject, named, payload), 0, 0)

    def add(self, event: Incoming, deliveries: int, delay_seconds: float) -> None:
        self._came_at.setdefault(id(event), time.time())
        self._lanes[event.bulk].append((self._time() + delay_seconds, event, deliveries))
        self._changed.set()

    def settle(self, delivery: MemoryDelivery) -> None:
        if delivery in self._held:
            self._held.remove(delivery)

    def _check(self) -> None:
        if self.is_down:
            raise Unavailable("the event queue does not answer; it is tried again")

    def _time(self) -> float:
        return asyncio.get_running_loop().time()

    def _next_due(self) -> float:
        return min((due for lane in self._lanes.values() for due, _, _ in lane), default=float("inf"))

    def _take(self, limit: int) -> list[Delivery]:
        taken: list[Delivery] = []
        for bulk in (False, True):
            for entry in [entry for entry in self._lanes[bulk] if entry[0] <= self._time()][: limit - len(taken)]:
                self._lanes[bulk].remove(entry)
                delivery = MemoryDelivery(self, entry[1], entry[2] + 1)
                self._held.append(delivery)
                taken.append(delivery)
        return taken
