"""What an outage does, exactly: five processes on a real OpenSearch and NATS, each row of the table broken once for some seconds."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from faults.judge import LIES, RECOVERY_SECONDS, SETTLING_SECONDS
from faults.outages import TABLE, Outage
from faults.stand import Stand, stand
from faults.traffic import ask, page
from models import build_tiny_model
from system.audit import audit
from system.desks import ticks
from system.pushing import SOURCE, Statement, post, write_folder

pytestmark = pytest.mark.slow

PAGES = 6
ANSWER_SECONDS = 5.0
"""The gateway's deadline: whatever is down, nobody waits longer."""
HELD_SECONDS = 2.0
"""How long a change that is held is looked at, to see that it stays so; words are published within one."""
PUBLISH_SECONDS = 5.0


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    """Ends with the invariants: whatever was down, nothing is lost, nothing is there twice."""
    root = tmp_path_factory.mktemp("outages")
    docs, data, model = root / "handbook", root / "data", build_tiny_model(root / "model")
    docs.mkdir()
    for number in range(PAGES):
        (docs / f"page{number}.md").write_text(page(f"page{number}", 0), encoding="utf-8")
    with stand(docs, data, model, on_opensearch=True, takes_pushes=True) as one:
        yield one
        assert one.end() == [0] * 5
        beside = {SOURCE: write_folder(root / "pushed", one.pushed)}
        assert asyncio.run(audit(data, docs, docs.name, model, one.engines, beside=beside)) == []


@pytest.mark.parametrize("number", range(len(TABLE)), ids=[outage.name for outage in TABLE])
def test_an_outage_does_what_the_table_says_and_is_over_within_ten_seconds(deployment: Stand, number: int) -> None:
    outage, one = TABLE[number], deployment
    before, log_bytes = count(one, outage), one.desk.log.stat().st_size
    outage.breaks(one)
    try:
        name, marker = f"page{number % PAGES}", f"quokka{number}word"
        path = one.docs / f"{name}.md"
        path.write_text(page(name, number + 1) + f"\n\nThe {marker} stands here.\n", encoding="utf-8")
        pushed = Statement(f"row{number}.md", number + 1, page(f"row{number}", number + 1) + f"\n\nPushed{marker}.\n")
        push(one, outage, pushed)
        time.sleep(SETTLING_SECONDS)
        check_questions(one, outage)
        check_reading(one, outage)
        check_publishing(one, outage, name, marker)
        assert (one.desk.get_status("/readyz") == 200) == outage.is_ready
        check_growth(one, outage, before)
        check_log(one, outage, log_bytes)
    finally:
        outage.mends(one)
    report(outage, *recover(one, name, marker, pushed))


def push(one: Stand, outage: Outage, pushed: Statement) -> None:
    """A push is acknowledged only where it is kept; one that is not is sent again by its publisher, afterwards."""
    status, body = post(one.desk, [pushed], "structured")
    if outage.takes_pushes:
        assert status == 202, body
        one.pushed[pushed.path] = pushed.text
    else:
        assert status == 503, body
        assert "retry in" in body


def check_questions(one: Stand, outage: Outage) -> None:
    for _ in range(2):
        asked = ask(one.desk)
        assert asked.mode == outage.mode, asked
        assert dict(reason.split(": ") for reason in asked.reasons) == outage.not_searched
        assert outage.says in asked.text
        assert asked.text.startswith("temporarily unavailable, retry in") == (outage.mode == "")
        assert ("Mode: " in asked.text) == bool(outage.not_searched)
        assert not any(lie in asked.text for lie in LIES)
        assert asked.ended_at - asked.began_at < ANSWER_SECONDS


def check_reading(one: Stand, outage: Outage) -> None:
    for tool, arguments, shows in (
        ("list_topics", {}, f"{one.docs.name}/page1.md"),
        ("read_document", {"path": f"{one.docs.name}/page1.md"}, "The signing key of page1 is rotated"),
    ):
        began_at = time.monotonic()
        answer = one.desk.call(tool, arguments)
        text = "\n".join(part["text"] for part in answer["content"])
        assert answer["isError"] != outage.reads, text
        assert (shows if outage.reads else "temporarily unavailable, retry in") in text
        assert time.monotonic() - began_at < ANSWER_SECONDS


def check_publishing(one: Stand, outage: Outage, name: str, marker: str) -> None:
    if not outage.reads:
        return
    shows = {"path": f"{one.docs.name}/{name}.md", "max_tokens": 4000}
    if not outage.publishes_words:
        for _ in ticks(HELD_SECONDS, every=0.5):
            assert marker not in one.desk.text("read_document", shows)
        return
    for _ in ticks(PUBLISH_SECONDS, every=0.2):
        if f"The {marker} stands here" in one.desk.text("search_docs", {"query": marker}):
            break
    else:
        raise AssertionError(f"{marker} is not found by its words: {one.desk.tail()}")
    missing = int(one.operator.status()["stats"]["missing_vector_count"])  # an operator can see it meanwhile
    assert (missing > 0) != outage.publishes_vectors


def count(one: Stand, outage: Outage) -> Mapping[tuple[str, str], float]:
    """What each sample of the row is now; one that begins with the given text counts with all that do."""
    found = {service: one.metrics(service) for service, _ in outage.counts}
    return {
        (service, sample): sum(value for name, value in found[service].items() if name.startswith(sample))
        for service, sample in outage.counts
    }


def check_growth(one: Stand, outage: Outage, before: Mapping[tuple[str, str], float]) -> None:
    for _ in ticks(PUBLISH_SECONDS, every=0.5):
        after = count(one, outage)
        flat = [sample for sample in outage.counts if after[sample] <= before[sample]]
        if not flat:
            return
    raise AssertionError(f"{flat} did not grow")


def check_log(one: Stand, outage: Outage, from_byte: int) -> None:
    for _ in ticks(PUBLISH_SECONDS, every=0.5):
        lines = read_log(one.desk.log, from_byte)
        absent = [wanted for wanted in outage.logs if not any(holds(line, wanted) for line in lines)]
        if not absent:
            return
    raise AssertionError(f"no line with {absent} in {lines}")


def read_log(log: Path, from_byte: int) -> list[dict[str, Any]]:
    with log.open("rb") as file:
        file.seek(from_byte)
        return [json.loads(line) for line in file.read().decode().splitlines() if line.startswith("{")]


def holds(line: Mapping[str, Any], wanted: Mapping[str, str]) -> bool:
    return all(text in str(line.get(name, "")) for name, text in wanted.items())


def recover(one: Stand, name: str, marker: str, pushed: Statement) -> tuple[float, float, float]:
    """Seconds from the end of the outage until an answer is whole, until changes are found, and until their vectors are there."""
    mended_at = time.monotonic()
    for _ in ticks(RECOVERY_SECONDS, every=0.05):
        asked = ask(one.desk)
        if asked.mode == "hybrid":
            break
    assert asked.mode == "hybrid", asked
    assert not asked.reasons
    answered = asked.ended_at - mended_at
    assert answered < RECOVERY_SECONDS
    if pushed.path not in one.pushed:
        assert post(one.desk, [pushed], "structured")[0] == 202
        one.pushed[pushed.path] = pushed.text
    shows = {f"{one.docs.name}/{name}.md": marker, f"{SOURCE}/{pushed.path}": f"Pushed{marker}"}
    for _ in ticks(RECOVERY_SECONDS, every=0.1):
        texts = {path: one.desk.text("read_document", {"path": path, "max_tokens": 4000}) for path in shows}
        if all(word in texts[path] for path, word in shows.items()):
            break
    else:
        raise AssertionError(f"not published within {RECOVERY_SECONDS} s: {one.desk.tail()}")
    published = time.monotonic() - mended_at
    one.wait_until_whole(30)
    return answered, published, time.monotonic() - mended_at


def report(outage: Outage, answered: float, published: float, whole: float) -> None:
    print(
        f"\n{outage.name}: whole answers after {answered:.2f} s, changes after {published:.2f} s, vectors {whole:.2f} s"
    )
