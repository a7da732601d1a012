"""Runs many seeds of every simulation in two processes and prints what was done to the workers; exits 1 where a seed shows a defect.

PYTHONPATH=tests python -m simulations.run                             # the 10,000 that the tests run
PYTHONPATH=tests python -m simulations.run publish --seeds 100000      # more of one kind
PYTHONPATH=tests python -m simulations.run pushes --first 4711 --seeds 1
"""

from __future__ import annotations

import argparse
import gc
import logging
import multiprocessing
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor

import structlog

from simulations import following, publishing, pushes
from simulations.generations import GenerationSimulation

Simulate = Callable[[int], tuple[list[str], Counter[str]]]
KINDS: dict[str, tuple[Simulate, int]] = {
    "publish": (publishing.Simulation.simulate, 7_750),
    "bulk": (publishing.BulkSimulation.simulate, 800),
    "pushes": (pushes.simulate, 1_000),
    "generations": (GenerationSimulation.simulate, 300),
    "following": (following.simulate, 150),
}
"""Each with how many of its seeds the tests run."""
TOGETHER = 25
PROCESSES = 2


def main(arguments: list[str]) -> int:
    """Runs what the command line asks for."""
    parser = argparse.ArgumentParser(prog="simulations.run", description=__doc__)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; all where none is named")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--seeds", type=int, default=0, help="how many of each kind; as in the tests where it is left out"
    )
    asked = parser.parse_args(arguments)
    started, found, total, counts = time.monotonic(), list[str](), 0, Counter[str]()
    with ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("spawn"), initializer=be_quiet) as pool:
        work = list(slice_seeds(asked.kinds or list(KINDS), asked.first, asked.seeds))
        for (kind, seeds), (wrong, some) in zip(work, pool.map(simulate_some, work), strict=True):
            total += len(seeds)
            counts.update({f"{kind}: {what}": count for what, count in some.items()})
            found += wrong
    for what, count in sorted(counts.items()):
        print(f"{count:>9,} {what}")
    for line in found:
        print(line)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds, cpu_seconds = time.monotonic() - started, used.ru_utime + used.ru_stime
    print(f"{total:,} seeds in {seconds:.0f} s, {cpu_seconds:.0f} s of processor time: {len(found)} show a defect")
    return 1 if found else 0


def slice_seeds(kinds: list[str], first: int, count: int) -> Iterator[tuple[str, range]]:
    """Some seeds of one kind at a time, the slowest kinds first, so that both processes end together."""
    for kind in reversed([one for one in KINDS if one in kinds]):
        end = first + (count or KINDS[kind][1])
        for start in range(first, end, TOGETHER):
            yield kind, range(start, min(start + TOGETHER, end))


def simulate_some(work: tuple[str, range]) -> tuple[list[str], Counter[str]]:
    """What is wrong in these seeds, by kind and seed, and how often what happened."""
    kind, seeds = work
    found, counts = list[str](), Counter[str]()
    for seed in seeds:
        wrong, some = KINDS[kind][0](seed)
        found += [f"{kind} {seed}: {wrong[0]}"] if wrong else []
        counts.update(some)
    return found, counts


def be_quiet() -> None:
    """The workers' logs tell of every failure that a simulation makes; and what was imported is no garbage."""
    gc.freeze()
    gc.set_threshold(50_000)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
