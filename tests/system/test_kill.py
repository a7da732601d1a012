"""A desk killed with -9 at every step of publishing comes back with an index that equals its folder: nothing lost, twice or left over."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from models import build_tiny_model
from system.audit import audit
from system.desks import DeskProcess, running

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
        desk = DeskProcess(docs, data, model, {"REFDESK_TEST_FAILPOINT": f"{point}=kill@{time}"})
        try:
            desk.start(wait=False)
            assert desk.wait_until_dead() == -signal.SIGKILL, f"{point} was never reached: {desk.tail()}"
        finally:
            if desk.poll() is None:
                desk.stop(signal.SIGKILL)
        disturb(docs, hash_of(point, time + 10))
        with running(DeskProcess(docs, data, model)) as desk:
            desk.wait_until_settled(len(list(docs.rglob("*.md"))))
            assert desk.stop() == 0
        assert await audit(data, docs, "handbook", model) == [], f"{point}, time {time}"


def hash_of(point: str, time: int) -> int:
    return sum(point.encode()) * 100 + time
