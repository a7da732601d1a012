"""Ten thousand seeds of the simulations, and each clause that they are there for taken out of the real code: they notice it soon."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import structlog

from mutants import change
from refdesk.docstore import raw_documents, raw_order
from refdesk.docstore.engines import cuts
from refdesk.docstore.engines.sqlite import hydration, noting, putting
from refdesk.engines.opensearch import bulk
from refdesk.ingest import entries, records
from refdesk.ingest import following as refdesk_following
from refdesk.ingest.publish import Publisher
from refdesk.ingest.vectors import Vectors
from refdesk.search.engines import opensearch_writer
from simulations import following, pushes
from simulations.generations import GenerationSimulation
from simulations.publishing import FEW, BulkSimulation, Simulation
from simulations.run import KINDS
from simulations.weather import STEPS

Simulate = Callable[..., tuple[list[str], Counter[str]]]
Edit = tuple[Any, str, tuple[tuple[str, str], ...]]
TESTS = Path(__file__).resolve().parent.parent
SECONDS = 900
"""Of the ten thousand: ten times what they take on two threads that do nothing else."""


@dataclass(frozen=True)
class Mutant:
    """The real code without a clause: by module or class and function, what is put in place of what. Found within `most_seeds`."""

    simulate: Simulate
    edits: tuple[Edit, ...]
    most_seeds: int
    settings: dict[str, Any] = field(default_factory=dict)


def edit(where: Any, name: str, *clauses: tuple[str, str]) -> Edit:
    return where, name, clauses


BUSY = {"crashing": 0.0, "workers": 5, "changes": 20}
"""What is rare in a short run with few workers is not in one of these."""
UNLISTED_ROWS_STAY = edit(
    putting,
    "_write_chunks",
    ("[(chunk_id, row) for chunk_id in standing - current]", "[]"),
    ("INSERT INTO", "INSERT OR IGNORE INTO"),
)
MUTANTS = {
    "a put whatever revision stands": Mutant(
        Simulation.simulate,
        (
            edit(putting, "_put", ("if revision != item.expected_revision:", "if False:")),
            edit(putting, "_write_heads", ("if document.revision > 1:", "if True:")),  # else SQLite refuses for it
        ),
        50,
    ),
    "a note whatever revision stands": Mutant(
        Simulation.simulate, (edit(noting, "_note", ("AND d.revision = ?", "AND d.revision >= 0 * ?")),), 300, BUSY
    ),
    "a hit is shown though no head lists it": Mutant(
        Simulation.simulate,
        (
            UNLISTED_ROWS_STAY,
            edit(hydration, "hydrate_chunks", ("if names[packed] in cuts[document].ordinals:", "if True:")),
            edit(cuts.Cut, "hydrate", ("self.ordinals[chunk_id]", "self.ordinals.get(chunk_id, 0)")),
        ),
        200,
    ),
    "a hit is shown as an earlier revision had it": Mutant(
        Simulation.simulate,
        (edit(cuts.CutCache, "get", ("if found is None or found[0] != stamp:", "if found is None:")),),
        50,
    ),
    "an item's status is not read": Mutant(
        BulkSimulation.simulate, (edit(bulk, "_read_ending", ("if status < 300:", "if True:")),), 50
    ),
    "an item that is busy is not sent again": Mutant(
        BulkSimulation.simulate, (edit(bulk, "_write_batch", ("busy = error", "endings[place] = Ending.DONE")),), 50
    ),
    "a refused item is not told": Mutant(
        BulkSimulation.simulate,
        (edit(opensearch_writer.Writer, "write", ("if ending is Ending.REFUSED:", "if False:")),),
        50,
    ),
    "deletes without a limit": Mutant(
        following.simulate,
        (
            edit(
                refdesk_following,
                "judge",
                ("if not vanished or confirmed or (within_limit and not held_before):", "if True:"),
            ),
        ),
        20,
    ),
    "deletes on the word of a listing that ended early": Mutant(
        following.simulate, (edit(refdesk_following, "judge", ("if not complete:", "if False:")),), 50
    ),
    "what went away before it was put is left": Mutant(
        following.simulate,
        (edit(Publisher, "_read_source", (" and work.view and not work.view.deleted:", ":")),),
        200,
    ),
    "an engine lowers stamps": Mutant(
        Simulation.simulate,
        (),
        600,
        {"monotone": False, "crashing": 0.0, "stalling": 0.15, "workers": 5, "changes": 20, "contents": FEW},
    ),
    "a sweep goes one revision too far": Mutant(
        Simulation.simulate, (edit(entries, "sweep_item", ("=record.revision,", "=record.revision + 1,")),), 200
    ),
    "the same content is not put": Mutant(
        Simulation.simulate, (edit(records, "judge", ("found.always_puts or ", "")),), 300, {"changes": 6}
    ),
    "a lost note sweeps nothing": Mutant(
        Simulation.simulate, (edit(Vectors, "_write", ("await self._resume(generation, lost)", "pass")),), 300, BUSY
    ),
    "missing vectors are not carried over": Mutant(
        Simulation.simulate,
        (edit(records, "missing_vectors", ("has_vector.difference_update(old.missing_vectors)", "pass")),),
        200,
    ),
    "a switch that looks at nothing": Mutant(GenerationSimulation.simulate, (), 100, {"checks": False}),
    "the last push to come wins": Mutant(pushes.simulate, (), 10),
}


def careless(record: Any, listing: raw_order.Listing, item: Any) -> raw_order.Decision:
    """Decides as if nothing had come before."""
    if record is not None:
        record.revision = record.stated_revision = 0
        del record.events[:]
    return raw_order.decide(record, listing, item)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Each failure that a simulation makes is logged; thousands of them say nothing."""
    with structlog.testing.capture_logs():
        yield


def seek(mutant: Mutant) -> tuple[int, str]:
    """How many seeds it takes, and what the last of them shows; "" where none shows anything."""
    for seed in range(mutant.most_seeds):
        found, _ = mutant.simulate(seed, **mutant.settings)
        if found:
            return seed + 1, found[0]
    return mutant.most_seeds, ""


@pytest.mark.parametrize("name", MUTANTS)
def test_without_the_clause_a_seed_shows_it(
    name: str, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    mutant = MUTANTS[name]
    for where, function, clauses in mutant.edits:
        change(monkeypatch, where, function, *clauses)
    if mutant.simulate is pushes.simulate:
        monkeypatch.setattr(raw_documents, "decide", careless)
    seeds, finding = seek(mutant)
    record_property("seeds", seeds)
    print(f"{name}: seed {seeds} of at most {mutant.most_seeds} shows it: {finding}")
    assert finding, f"{mutant.most_seeds} seeds show nothing"
    assert "ended with" not in finding  # the change broke something else


def test_either_of_two_guards_suffices_against_hits_that_no_head_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    change(monkeypatch, *UNLISTED_ROWS_STAY[:2], *UNLISTED_ROWS_STAY[2])
    assert not [seed for seed in range(20) if Simulation.simulate(seed)[0]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_says_what_it_did_and_does_the_same_again(kind: str) -> None:
    simulate, _ = KINDS[kind]
    assert simulate(7) == simulate(7)


def test_ten_thousand_seeds_show_no_defect() -> None:
    assert sum(count for _, count in KINDS.values()) == 10_000
    done = subprocess.run(
        [sys.executable, "-m", "simulations.run"],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    for step in STEPS[:12]:
        assert f"publish: killed at {step}" in done.stdout
