"""A source system pushes to a real desk, out of order and twice, while it is killed and its queue is lost: what was acknowledged stands."""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import nats
import pytest

from models import build_tiny_model
from servers.nats import NatsProcess
from system.audit import audit
from system.desks import running, ticks
from system.pushing import PROJECT, SOURCE, Publisher, PushDesk, Statement, expected, make_history, post, write_folder

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_model(tmp_path_factory.mktemp("model"))


async def test_what_was_acknowledged_stands_after_kills_and_with_the_queue_lost(model: Path, tmp_path: Path) -> None:
    data, rng, publisher = tmp_path / "data", random.Random(7), Publisher(7)
    history = make_history(200, seed=7)
    arriving = history + rng.sample(history, 60)  # some of it twice
    for start in range(0, len(arriving), 40):  # and out of order, as far as forty apart
        arriving[start : start + 40] = rng.sample(arriving[start : start + 40], len(arriving[start : start + 40]))
    # After docstore has it and before the answer; between answers and publishing; around the commit.
    points = ["gateway.events.stored=kill@30", "ingest.step1.before=kill@2"]
    points += ["ingest.step4.before=kill@2", "ingest.step4.after=kill@3"]
    share = len(arriving) // (len(points) + 1)
    for point in points:
        desk = PushDesk(tmp_path, data, model, {"REFDESK_TEST_FAILPOINT": point})
        try:
            desk.start()
            some, arriving = arriving[:share], arriving[share:]
            publisher.send(desk, some)
            for _ in ticks(30, every=0.1):
                if desk.poll() is not None:
                    break
            assert desk.poll() == -signal.SIGKILL, f"{point} was never reached: {desk.tail()}"
        finally:
            if desk.poll() is None:
                desk.stop(signal.SIGKILL)
        shutil.rmtree(data / "events" / "store")
    acknowledged, unknown = list(publisher.acknowledged), list(publisher.unknown)
    with running(PushDesk(tmp_path, data, model)) as desk:
        desk.wait_until_settled()
        assert stale(desk, acknowledged, unknown) == []
        publisher.send(desk, arriving)
        assert publisher.unknown == []
        wanted = expected(history)
        desk.wait_until_settled(len(wanted))
        assert desk.stop() == 0
    assert await audit(data, write_folder(tmp_path / "wanted", wanted), SOURCE, model) == []


def stale(desk: PushDesk, acknowledged: list[Statement], unknown: list[Statement]) -> list[str]:
    """Documents of which the desk shows something else than what was acknowledged, where no unanswered push may have changed that."""
    open_paths = {one.path for one in unknown}
    wanted = expected(acknowledged)
    problems = []
    for path in sorted({one.path for one in acknowledged} - open_paths):
        answer = desk.call("read_document", {"path": f"{SOURCE}/{path}", "max_tokens": 4000})
        text = "\n".join(part["text"] for part in answer["content"])
        shown = wanted.get(path, "").rsplit("\n", 1)[-1].strip()
        if path in wanted and (answer["isError"] or shown not in text):
            problems.append(f"{path} is not shown as it was acknowledged: {text[:200]}")
        if path not in wanted and not answer["isError"]:
            problems.append(f"{path} is shown although its deletion was acknowledged")
    return problems


async def test_a_pushed_document_is_found_within_seconds_and_gone_within_seconds(model: Path, tmp_path: Path) -> None:
    with running(PushDesk(tmp_path, tmp_path / "data", model)) as desk:
        page = Statement("ops/zebra.md", 1, "# Zebra\n\n" + "The zebrafoal crossing is painted every spring. " * 9)
        assert post(desk, [page], "binary")[0] == 202
        question = {"query": "zebrafoal crossing"}
        assert seconds_until(lambda: "painted every spring" in desk.text("search_docs", question)) < 10
        assert post(desk, [Statement("ops/zebra.md", 2)], "structured")[0] == 202
        assert seconds_until(lambda: "zebrafoal" not in desk.text("list_topics", {}) and not found(desk)) < 10
        status, body = post(desk, [Statement("ops/zebra.md", 1, page.text)], "structured")
        assert (status, json.loads(body)["events"][0]["outcome"]) == (200, "unchanged")
        status, body = post(desk, [Statement("ops/zebra.md", 1, page.text + "late")], "binary")
        assert status == 200
        assert not found(desk)


def found(desk: PushDesk) -> bool:
    return not desk.call("read_document", {"path": f"{SOURCE}/ops/zebra.md"})["isError"]


def seconds_until(holds: Callable[[], bool]) -> float:
    began = time.monotonic()
    for _ in ticks(20, every=0.1):
        if holds():
            break
    return time.monotonic() - began


async def test_a_source_system_publishes_over_nats_and_what_contradicts_itself_is_shown(
    model: Path, tmp_path: Path
) -> None:
    server = NatsProcess(tmp_path / "nats")
    server.start()
    data, history = tmp_path / "data", make_history(40, seed=3)
    rng = random.Random(3)
    try:
        desk = PushDesk(
            tmp_path, data, model, config={"ingest": {"events": server.url, "events_max_bytes": 16_777_216}}
        )
        with running(desk):
            client = await nats.connect(server.url)
            stream = client.jetstream()
            for one in rng.sample(history, len(history)) + rng.sample(history, 10):
                kind = "pushed" if one.text else "removed"
                headers = {"Nats-Msg-Id": one.envelope["id"]}
                subject = f"refdesk.events.{PROJECT}.{SOURCE}.{kind}"
                await stream.publish(subject, json.dumps(one.envelope).encode(), headers=headers)
            strange = Statement("strange.md", 1, "# Strange")
            await stream.publish(f"refdesk.events.{PROJECT}.{SOURCE}.removed", json.dumps(strange.envelope).encode())
            await client.close()
            wanted = expected(history)
            for _ in ticks(60, every=0.2):
                if int(desk.status()["stats"]["document_count"]) == len(wanted) and desk.status()["reports"]:
                    break
            status = await asyncio.to_thread(desk.wait_until_settled, len(wanted))
            [report] = status["reports"]
            assert report["path"] == SOURCE
            assert "the subject says type removed and the event says pushed" in report["reason"]
            assert desk.stop() == 0
    finally:
        server.stop()
    assert await audit(data, write_folder(tmp_path / "wanted", wanted), SOURCE, model) == []


async def test_with_the_queue_away_pushes_are_kept_and_published_when_it_is_back(model: Path, tmp_path: Path) -> None:
    server = NatsProcess(tmp_path / "nats")
    server.start()
    data, history = tmp_path / "data", make_history(30, seed=5)
    config = {"ingest": {"events": server.url, "events_max_bytes": 16_777_216}}
    with running(PushDesk(tmp_path, data, model, config=config)) as desk:
        publisher = Publisher(5)
        publisher.send(desk, history[:10])
        server.process.kill()
        publisher.send(desk, history[10:])
        assert publisher.unknown == []
        server.restart_at(server.url)
        for _ in ticks(30, every=0.2):  # it says that the queue is away until it has found it again
            if desk.get_status("/api/operator/status") == 200:
                break
        desk.wait_until_settled(len(expected(history)))
        assert desk.stop() == 0
    server.stop()
    wanted = write_folder(tmp_path / "wanted", expected(history))
    assert await audit(data, wanted, SOURCE, model) == []
