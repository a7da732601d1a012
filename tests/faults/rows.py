"""The faults, one row each: how to break, how long, how to mend, and what answers must be meanwhile (OPERATIONS' outage table)."""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from faults.judge import WHOLE, Fault
from faults.proxy import Mood
from faults.stand import Stand

ANY = frozenset({"hybrid", "lexical", "semantic", ""})

BY_WORDS = frozenset({"lexical"})
ERROR = frozenset({""})
PAUSE_SECONDS = 5.0
"""Longer than every deadline of a question."""
OUTAGES: Mapping[str, frozenset[str]] = {
    "embedder": BY_WORDS,
    "docstore": ERROR,
    "search": ERROR,
    "gateway": ERROR,
    "ingest": WHOLE,
    "nats": WHOLE,
    "opensearch": ERROR,
}
"""What answers are while a service is away."""

Break = Callable[[Stand, random.Random], list[Fault]]


@dataclass(frozen=True)
class Row:
    """A kind of fault: each call breaks and mends once and tells what was broken when."""

    name: str
    breaks: tuple[Break, ...]
    on_opensearch: bool = False
    on_small_disk: bool = False
    """What the services keep lies on a small tmpfs, which only root can mount."""
    sets_back: bool = False
    """Records end up older than the index."""
    takes_pushes: bool = False
    """A source system pushes documents over HTTP meanwhile."""


def kill(name: str) -> Break:
    """kill -9, some seconds without it, a start."""

    def run(stand: Stand, rng: random.Random) -> list[Fault]:
        began_at = time.monotonic()
        stand.services[name].signal(signal.SIGKILL)
        time.sleep(rng.uniform(1.0, 4.0))
        ended_at = time.monotonic()
        stand.services[name].start()
        stand.wait_until_ready(name)
        return [Fault(f"{name} was killed", began_at, ended_at, OUTAGES[name])]

    return run


def pause(name: str) -> Break:
    """SIGSTOP: connections stay open and nothing is answered; then it goes on."""

    def run(stand: Stand, rng: random.Random) -> list[Fault]:
        began_at = time.monotonic()
        stand.services[name].signal(signal.SIGSTOP)
        time.sleep(PAUSE_SECONDS)
        ended_at = time.monotonic()
        stand.services[name].signal(signal.SIGCONT)
        return [Fault(f"{name} was paused", began_at, ended_at, OUTAGES[name])]

    return run


def cut(link: str, mood: Mood) -> Break:
    """The way to a service misbehaves for some seconds."""

    def run(stand: Stand, rng: random.Random) -> list[Fault]:
        began_at = time.monotonic()
        stand.proxies[link].turn(mood)
        time.sleep(PAUSE_SECONDS)
        ended_at = time.monotonic()
        stand.proxies[link].turn(Mood.PASS)
        modes = OUTAGES[link] if mood in (Mood.DROP, Mood.STALL) else ANY
        return [Fault(f"the way to {link}: {mood.value}", began_at, ended_at, modes)]

    return run


def kill_child(service: str, module: str, modes: frozenset[str]) -> Break:
    """kill -9 of an embedded engine's process; its service starts it again when it is needed."""

    def run(stand: Stand, rng: random.Random) -> list[Fault]:
        began_at = time.monotonic()
        child = stand.services[service].child(module)
        if child is not None:
            child.kill()
        time.sleep(rng.uniform(0.5, 2.0))
        return [Fault(f"{module} was killed", began_at, time.monotonic(), modes)]

    return run


def kill_nats(stand: Stand, rng: random.Random) -> list[Fault]:
    """kill -9 of the nats-server, some seconds without it, a start on the same folder."""
    assert stand.nats is not None
    began_at = time.monotonic()
    stand.nats.process.kill()
    time.sleep(rng.uniform(1.0, 4.0))
    stand.restart_nats()
    return [Fault("nats was killed", began_at, time.monotonic(), WHOLE)]


def kill_opensearch(stand: Stand, rng: random.Random) -> list[Fault]:
    """kill -9 of the node that keeps words and records, some seconds without it, a start on the same folder."""
    assert stand.opensearch is not None
    began_at = time.monotonic()
    stand.opensearch.process.kill()
    time.sleep(rng.uniform(1.0, 4.0))
    stand.restart_opensearch()
    return [Fault("opensearch was killed", began_at, time.monotonic(), ERROR)]


def pause_opensearch(stand: Stand, rng: random.Random) -> list[Fault]:
    """SIGSTOP of the node."""
    assert stand.opensearch is not None
    began_at = time.monotonic()
    stand.opensearch.process.pause()
    time.sleep(PAUSE_SECONDS)
    stand.opensearch.process.resume()
    return [Fault("opensearch was paused", began_at, time.monotonic(), ERROR)]


def restore_old_files(stand: Stand, rng: random.Random) -> list[Fault]:
    """Docstore's files are put back as they were some seconds ago, beside newer indices; then reconciling, until nothing differs."""
    docstore, old = stand.data / "docstore", stand.data / "old"
    stand.services["docstore"].signal(signal.SIGKILL)
    began_at = time.monotonic()
    shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(docstore, old)
    stand.services["docstore"].start()
    stand.wait_until_ready("docstore")
    time.sleep(rng.uniform(3.0, 6.0))
    stand.services["docstore"].signal(signal.SIGKILL)
    shutil.rmtree(docstore)
    shutil.copytree(old, docstore)
    stand.services["docstore"].start()
    stand.wait_until_ready("docstore")
    ended_at = time.monotonic()
    stand.sync()
    stand.reconcile_until_nothing_differs()
    return [Fault("docstore was set back", began_at, ended_at, ANY)]


def fill_disk(stand: Stand, rng: random.Random) -> list[Fault]:
    """The disk of all that the services keep has no byte left; then it has again."""
    filler = stand.data / "filler"
    began_at = time.monotonic()
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(65_536))
    time.sleep(PAUSE_SECONDS)
    filler.unlink()
    return [Fault("the disk was full", began_at, time.monotonic(), ANY)]


def hint_twice(stand: Stand, rng: random.Random) -> list[Fault]:
    """Every page is hinted at again and again, in any order, as a queue that delivers twice and out of order does."""
    began_at = time.monotonic()
    for _ in range(3):
        stand.publish_hints(rng)
    return [Fault("events came twice and out of order", began_at, time.monotonic(), WHOLE)]


def lose_streams(stand: Stand, rng: random.Random) -> list[Fault]:
    """The nats-server comes back with nothing: every stream, consumer and lease is gone."""
    assert stand.nats is not None
    began_at = time.monotonic()
    stand.nats.process.kill()
    shutil.rmtree(stand.queue / "jetstream", ignore_errors=True)
    stand.restart_nats()
    return [Fault("the streams were lost", began_at, time.monotonic(), WHOLE)]


SERVICES = ("docstore", "embedder", "search", "ingest", "gateway")
ROWS = (
    Row("kill", tuple(kill(name) for name in SERVICES)),
    Row("pause", tuple(pause(name) for name in SERVICES if name != "gateway")),
    *(
        Row(mood.value, tuple(cut(link, mood) for link in ("docstore", "embedder", "search", "nats")))
        for mood in (Mood.DROP, Mood.STALL, Mood.DELAY, Mood.HALF_CLOSE)
    ),
    Row(
        "engines",
        (
            kill_child("search", "tantivy_writer", WHOLE),
            kill_child("search", "edge_process", frozenset({"lexical", "hybrid"})),
            kill_child("ingest", "parse_child", WHOLE),
            kill_nats,
        ),
    ),
    Row("streams", (lose_streams,)),
    Row("pushes", (lose_streams, kill("docstore"), kill("ingest")), takes_pushes=True),
    Row("set-back", (restore_old_files,), sets_back=True),
    Row("twice", (hint_twice,)),
    Row("disk-full", (fill_disk,), on_small_disk=True),
    Row(
        "opensearch",
        (
            kill_opensearch,
            pause_opensearch,
            *(cut("opensearch", mood) for mood in (Mood.DROP, Mood.STALL, Mood.DELAY, Mood.HALF_CLOSE)),
        ),
        on_opensearch=True,
    ),
    Row("on-opensearch", tuple(kill(name) for name in SERVICES), on_opensearch=True),
)
