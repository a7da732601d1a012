"""A desk killed with -9 at every step of publishing comes back with an index that equals its folder: nothing lost, twice or left over."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from models import build_tiny_model
from system.audit import audit
from system.desks import SETTLE_SECONDS, DeskProcess, running, ticks

POINTS = [f"ingest.step{step}.{side}" for step in range(1, 7) for side in ("before", "after")]

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(tmp_path_factory.mktemp("model"))


def page(name: str, word: str) -> str:
    sections = "\n\n".join(
        f"## {word} part {n}\n\n{word} {name} {n} " + "and more to say of it " * 20 for n in range(3)
    )
    return f"# About {name}\n\nThe {word} of {name}.\n\n{sections}\n"


def write_folder(docs: Path, count: int) -> None:
    for n in range(count):
        path = docs / f"folder{n % 3}" / f"page{n}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(path.stem, "first"), encoding="utf-8")


def disturb(docs: Path, seed: int) -> None:
    """Edits, renames, deletes and adds, the same for the same seed."""
    rng = random.Random(seed)
    pages = sorted(docs.rglob("*.md"))
    rng.shuffle(pages)
    for path in pages[:4]:
        path.write_text(page(path.stem, f"word{rng.randrange(3)}"), encoding="utf-8")
    for path in pages[4:6]:
        path.rename(path.with_name(f"moved{rng.randrange(10**6)}-{path.name}"))
    for path in pages[6:8]:
        path.unlink()
    for _ in range(2):
        path = docs / "folder0" / f"new{rng.randrange(10**6)}.md"
        path.write_text(page(path.stem, "fresh"), encoding="utf-8")


@pytest.mark.parametrize("point", POINTS)
async def test_a_kill_at_any_step_leaves_the_index_equal_to_the_folder(point: str, model: Path, tmp_path: Path) -> None:
    docs, data = tmp_path / "handbook", tmp_path / "data"
    write_folder(docs, 14)
    with running(DeskProcess(docs, data, model)) as desk:
        desk.wait_until_settled(14)
        desk.stop()
    for time in (1, 2, 3):
        disturb(docs, hash_of(point, time))
        die_at(DeskProcess(docs, data, model, {"REFDESK_TEST_FAILPOINT": f"{point}=kill@{time}"}), hash_of(point, time))
        disturb(docs, hash_of(point, time + 10))
        with running(DeskProcess(docs, data, model)) as desk:
            desk.wait_until_settled(len(list(docs.rglob("*.md"))))
            assert desk.stop() == 0
        assert await audit(data, docs, "handbook", model) == [], f"{point}, time {time}"


def die_at(desk: DeskProcess, seed: int) -> None:
    """Runs a desk under steady edits, renames and deletes until its fail point kills it."""
    try:
        desk.start(wait=False)
        for turn, _ in enumerate(ticks(SETTLE_SECONDS, every=0.5), start=100):
            if desk.poll() is not None:
                break
            if desk.has_followed():
                edit(desk.docs, seed * 1000 + turn)
        assert desk.poll() == -signal.SIGKILL, f"its fail point was never reached: {desk.status()} {desk.tail()}"
    finally:
        if desk.poll() is None:
            desk.stop(signal.SIGKILL)


def edit(docs: Path, seed: int) -> None:
    """Two edits, the same for the same seed: of any page, and of one that is always under work."""
    rng = random.Random(seed)
    for path in (rng.choice(sorted(docs.rglob("*.md"))), docs / "folder0" / "hot.md"):
        path.write_text(page(path.stem, f"edit{rng.randrange(10**6)}"), encoding="utf-8")


def hash_of(point: str, time: int) -> int:
    return sum(point.encode()) * 100 + time
