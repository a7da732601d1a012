"""A real desk moves to another chunker and back while pages change and agents ask: nothing fails, mixes, or is left behind."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from models import build_tiny_model
from servers.opensearch import OpenSearchServer
from system.audit import audit
from system.desks import SETTLE_SECONDS, DeskProcess, running, ticks

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
OWN_DOCS = Path(__file__).resolve().parents[2] / "docs"
FIRST, SECOND = "tiny.c1", "tiny.c2"
STABLE_CHUNKS = {FIRST: 6, SECOND: 2}
"""Of a stable page: its long beginning and five small sections; the second chunker packs some with it and some together."""
ENVIRONMENT = {"MCP_STRUCTURED_OUTPUT": "1", "REFDESK_INGEST__GENERATION_GRACE_SECONDS": "1"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(tmp_path_factory.mktemp("model"), window_tokens=512)  # nothing is over it, so counts stay


def stable_page(number: int) -> str:
    beginning = "Aardvarks dig at night and sleep by day in burrows of their own. " * 11
    sections = "\n\n".join(f"## Part {part}\n\nThe aardvark of part {part} on page {number} digs." for part in range(5))
    return f"# Aardvark {number}\n\n{beginning}\n\n{sections}\n"


def write_folder(docs: Path, *, own: bool = False) -> int:
    """Pages that stay as they are, pages that change, and our own documentation; how many."""
    docs.mkdir()
    if own:
        shutil.copytree(OWN_DOCS, docs / "own", ignore=shutil.ignore_patterns("*.yaml", "*.json"))
    for number in range(6):
        (docs / f"stable{number}.md").write_text(stable_page(number), encoding="utf-8")
    for number in range(12):
        change(docs, number, "first")
    return len(list(docs.rglob("*.md")))


def change(docs: Path, number: int, word: str) -> None:
    sections = "\n\n".join(f"## {word} {part}\n\n{word} of section {part} and no more." for part in range(4))
    (docs / f"edited{number}.md").write_text(f"# Edited {number}\n\n{sections}\n", encoding="utf-8")


class Background:
    """Does something again and again in a thread of its own, until it is stopped; what it raises ends it and is kept."""

    def __init__(self, work: Callable[[int], None], pause_seconds: float) -> None:
        self._work = work
        self._pause_seconds = pause_seconds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.count = 0
        self.failures: list[str] = []

    def _run(self) -> None:
        while not self._stop.wait(self._pause_seconds):
            try:
                self._work(self.count)
            except Exception as failure:
                self.failures.append(repr(failure))
            self.count += 1

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Runs while the block does."""
        self._thread.start()
        try:
            yield
        finally:
            self._stop.set()
            self._thread.join(timeout=40)
        assert not self._thread.is_alive()


class Asker:
    """Asks of pages that never change and remembers which generation each answer was of."""

    def __init__(self, desk: DeskProcess) -> None:
        self.desk = desk
        self.seen: list[str] = []

    def ask(self, number: int) -> None:
        """One question; its answer must come from one generation, whichever."""
        query = f"aardvark part {number % 5} digs"
        result = self.desk.call("search_docs", {"query": query, "limit": 8, "path_prefix": "handbook"})
        assert not result["isError"], result
        rows = [row for row in result["structuredContent"]["results"] if row["path"].startswith("handbook/stable")]
        assert rows, "the pages that never change are not found"
        counts = {row["chunk_count"] for row in rows}
        names = [name for name, count in STABLE_CHUNKS.items() if counts == {count}]
        assert names, f"one answer of two generations: {counts}"
        self.seen.append(names[0])


def operate(desk: DeskProcess, verb: str = "", *, post: bool = True) -> dict[str, Any]:
    """Calls a path below the project's generations."""
    url = f"{desk.url}/api/operator/projects/default/generations{f'/{verb}' if verb else ''}"
    request = urllib.request.Request(url, method="POST" if post else "GET")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return dict(json.load(answer))


def roles(desk: DeskProcess) -> dict[str, str]:
    """What each generation is, by name."""
    found = operate(desk, post=False)["generations"]
    return {one["generation"]: one["role"].removeprefix("GENERATION_ROLE_") for one in found}


def wait_until(desk: DeskProcess, holds: Callable[[], bool], what: str) -> None:
    for _ in ticks(SETTLE_SECONDS):
        assert desk.poll() is None, f"the desk ended with {desk.poll()}: {desk.tail()}"
        if holds():
            return
    raise AssertionError(f"not within {SETTLE_SECONDS} s: {what}; {operate(desk, post=False)}\n{desk.tail()}")


def command(desk: DeskProcess, *arguments: str) -> str:
    """Runs a verb of `refdesk generation` on the desk; what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "refdesk", "generation", *arguments],
        capture_output=True,
        text=True,
        timeout=90,
        env={**os.environ, "REFDESK_URL": desk.url},
        check=False,
    )
    assert done.returncode == 0, done
    return done.stdout


def folders(data: Path) -> set[str]:
    """Names of the generations that either engine has a folder of."""
    return {path.name for path in [*data.glob("words/default/*"), *data.glob("vectors/*")]}


async def test_a_desk_moves_to_another_chunker_and_back_under_edits_and_questions(model: Path, tmp_path: Path) -> None:
    docs, data = tmp_path / "handbook", tmp_path / "data"
    count = write_folder(docs, own=True)
    desk = DeskProcess(docs, data, model, ENVIRONMENT)
    asker = Asker(desk)
    rng = random.Random(4)
    with running(desk):
        desk.wait_until_settled(count)
        asker.ask(0)
        questions = Background(asker.ask, 0.02)
        edits = Background(lambda number: change(docs, rng.randrange(12), f"word{number}"), 0.1)
        with questions.running(), edits.running():
            assert SECOND in command(desk, "build", "--chunker", "2")
            wait_until(desk, lambda: roles(desk).get(SECOND) == "LIVE", "the second generation answers")
            before = edits.count
            wait_until(desk, lambda: edits.count > before + 10, "edits go on")
        desk.wait_until_settled(count)
        asker.ask(1)
        assert questions.failures == []
        assert edits.failures == []
        assert (asker.seen[0], asker.seen[-1]) == (FIRST, SECOND)
        assert asker.seen == sorted(asker.seen), "once the second one answers, the first one does no more"
        assert roles(desk) == {SECOND: "LIVE", FIRST: "ROLLBACK"}
        check_commands(desk, tmp_path)
        assert desk.stop() == 0
    assert await audit(data, docs, "handbook", model) == []
    with running(desk):
        change(docs, 0, "zanzibar")
        desk.wait_until_settled(count)
        command(desk, "rollback")
        asker.ask(2)
        assert asker.seen[-1] in (FIRST, SECOND)  # the catalog may be a second old
        wait_until(desk, lambda: asker.ask(3) is None and asker.seen[-1] == FIRST, "the first generation answers again")
        assert "zanzibar" in desk.text("search_docs", {"query": "zanzibar"}).partition("\n")[2]
        assert "is followed no more" in command(desk, "drop", SECOND)
        wait_until(desk, lambda: roles(desk) == {FIRST: "LIVE"}, "the second one is dropped")
        assert folders(data) == {FIRST}
        assert desk.stop() == 0
    assert await audit(data, docs, "handbook", model) == []


def check_commands(desk: DeskProcess, folder: Path) -> None:
    """What the verbs print of two generations that are both complete."""
    questions = folder / "questions.txt"
    questions.write_text("aardvark digs\nhow do I take a backup\nreconcile\n", encoding="utf-8")
    listed = command(desk, "list").splitlines()
    assert listed[0].startswith(f"{SECOND}  answers: words")
    assert listed[1].startswith(f"{FIRST}  is followed until ")
    compared = command(desk, "compare", "--questions", str(questions)).splitlines()
    assert compared[0].startswith("3 questions, documents that both have")
    assert [line.split()[0] for line in compared[2:4]] == [SECOND, FIRST]


@pytest.mark.parametrize(
    "point", ["ingest.grow.before", "ingest.grow.after", "ingest.switch.before", "ingest.switch.after"]
)
async def test_a_build_that_is_killed_goes_on_at_the_next_start(point: str, model: Path, tmp_path: Path) -> None:
    docs, data = tmp_path / "handbook", tmp_path / "data"
    count = write_folder(docs)
    with running(DeskProcess(docs, data, model, ENVIRONMENT)) as desk:
        desk.wait_until_settled(count)
        desk.stop()
    die_at(DeskProcess(docs, data, model, ENVIRONMENT | failing(point)), lambda desk: operate(desk, "build?chunker=2"))
    change(docs, 0, "meanwhile")
    with running(DeskProcess(docs, data, model, ENVIRONMENT)) as desk:
        wait_until(desk, lambda: roles(desk) == {SECOND: "LIVE", FIRST: "ROLLBACK"}, "the second generation answers")
        desk.wait_until_settled(count)
        assert desk.stop() == 0
    assert await audit(data, docs, "handbook", model) == []


@pytest.mark.parametrize("point", ["ingest.drop.between", "ingest.drop.after"])
async def test_a_drop_that_is_killed_goes_on_at_the_next_start(point: str, model: Path, tmp_path: Path) -> None:
    docs, data = tmp_path / "handbook", tmp_path / "data"
    count = write_folder(docs)
    with running(DeskProcess(docs, data, model, ENVIRONMENT)) as desk:
        desk.wait_until_settled(count)
        operate(desk, "build?chunker=2")
        wait_until(desk, lambda: roles(desk).get(SECOND) == "LIVE", "the second generation answers")
        desk.stop()
    die_at(
        DeskProcess(docs, data, model, ENVIRONMENT | failing(point)),
        lambda desk: operate(desk, f"drop?generation={FIRST}"),
    )
    with running(DeskProcess(docs, data, model, ENVIRONMENT)) as desk:
        wait_until(desk, lambda: roles(desk) == {SECOND: "LIVE"}, "the first one is dropped")
        desk.wait_until_settled(count)
        assert folders(data) == {SECOND}
        assert desk.stop() == 0
    assert await audit(data, docs, "handbook", model) == []


def failing(point: str) -> dict[str, str]:
    return {"REFDESK_TEST_FAILPOINT": f"{point}=kill"}


def die_at(desk: DeskProcess, act: Callable[[DeskProcess], object]) -> None:
    """Starts a desk, does something, and waits until its fail point has killed it."""
    try:
        desk.start()
        with contextlib.suppress(urllib.error.URLError, ConnectionError):  # it may die at once
            act(desk)
        for _ in ticks(SETTLE_SECONDS):
            if desk.poll() is not None:
                break
        assert desk.poll() == -signal.SIGKILL, f"its fail point was never reached: {desk.tail()}"
    finally:
        if desk.poll() is None:
            desk.stop(signal.SIGKILL)


async def test_a_model_is_changed_while_the_desk_answers(model: Path, tmp_path: Path) -> None:
    docs, data = tmp_path / "handbook", tmp_path / "data"
    count = write_folder(docs)
    second = build_tiny_model(tmp_path / "second", model_id="second", dimension=48, window_tokens=512)
    hosting = {**ENVIRONMENT, "REFDESK_EMBEDDER__ALSO_HOST": json.dumps([str(second)])}
    desk = DeskProcess(docs, data, model, hosting)
    with running(desk):
        desk.wait_until_settled(count)
        command(desk, "build", "--model", "second", "--hold")
        wait_until(desk, lambda: "complete and held" in command(desk, "list"), "it is complete")
        assert roles(desk) == {FIRST: "LIVE", "second.c1": "BUILDING"}
        command(desk, "switch")
        wait_until(desk, lambda: desk.status()["model"] == "second", "the second model answers")
        assert "handbook/stable" in desk.text("search_docs", {"query": "aardvark digs"})
        assert desk.stop() == 0
    desk.model, desk.environment = second, {**ENVIRONMENT, "REFDESK_EMBEDDER__ALSO_HOST": json.dumps([str(model)])}
    with running(desk):
        desk.wait_until_settled(count)
        assert desk.stop() == 0
    assert await audit(data, docs, "handbook", second, also=model) == []


async def test_a_desk_on_opensearch_moves_to_another_chunker_and_drops_the_first(
    opensearch_server: OpenSearchServer, model: Path, tmp_path: Path
) -> None:
    docs, data = tmp_path / "handbook", tmp_path / "data"
    count = write_folder(docs)
    own = {"index_prefix": "moving"}
    docstore, search = {"url": opensearch_server.url}, {"keyword_url": opensearch_server.url}
    engines = {"docstore": {**docstore, "opensearch": own}, "search": {**search, "opensearch": own}}
    places = {
        "REFDESK_DOCSTORE__URL": opensearch_server.url,
        "REFDESK_SEARCH__KEYWORD_URL": opensearch_server.url,
        "REFDESK_DOCSTORE__OPENSEARCH__INDEX_PREFIX": "moving",
        "REFDESK_SEARCH__OPENSEARCH__INDEX_PREFIX": "moving",
    }
    desk = DeskProcess(docs, data, model, {**ENVIRONMENT, **places})
    asker = Asker(desk)
    with running(desk):
        desk.wait_until_settled(count)
        questions = Background(asker.ask, 0.05)
        with questions.running():
            command(desk, "build", "--chunker", "2")
            wait_until(desk, lambda: roles(desk).get(SECOND) == "LIVE", "the second generation answers")
        assert questions.failures == []
        change(docs, 0, "zanzibar")
        desk.wait_until_settled(count)
        command(desk, "drop", FIRST)
        wait_until(desk, lambda: roles(desk) == {SECOND: "LIVE"}, "the first one is dropped")
        assert "zanzibar" in desk.text("search_docs", {"query": "zanzibar"}).partition("\n")[2]
        assert desk.stop() == 0
    assert await audit(data, docs, "handbook", model, engines) == []
    names = list_indices(opensearch_server, "moving-*")
    assert [name for name in names if SECOND in name]
    assert not [name for name in names if FIRST in name]


def list_indices(server: OpenSearchServer, pattern: str) -> list[str]:
    with urllib.request.urlopen(f"http://{server.address}/_cat/indices/{pattern}?h=index", timeout=30) as answer:
        return str(answer.read().decode()).split()
