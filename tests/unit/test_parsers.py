"""Parsing in real child processes: what hurts its parser hurts nobody else."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator

import anyio
import pytest

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.errors import InvalidArgument, Unavailable
from refdesk.ingest import parsers as parsers_module
from refdesk.ingest.changes import origin_of
from refdesk.ingest.parse_child import chunk_settings, parse_document
from refdesk.ingest.parsers import SHARE_BYTES, ChildParsers, share_out
from refdesk.ingest.parsing import ParseTask
from refdesk.ingest.records import Generation
from refdesk.projects import SourceSettings

MADE = Generation("made", 1, 250, frozenset({"en"}))
SOURCE = SourceSettings(name="guide", path="/", language="en")


def task(content: str | bytes, path: str = "a.md", *, scale: float = 1.0) -> ParseTask:
    raw = content if isinstance(content, bytes) else content.encode()
    return ParseTask(raw, origin_of("handbook", SOURCE, path), (MADE,), scale)


@pytest.fixture
async def parsers() -> AsyncIterator[ChildParsers]:
    made = ChildParsers(children=1, memory_bytes=1 << 30, document_seconds=10)
    await made.start()
    yield made
    await made.close()


@pytest.mark.anyio
async def test_a_batch_is_answered_in_order(parsers: ChildParsers) -> None:
    answers = await parsers.parse([task(f"# Page {number}\n\ntext", f"{number}.md") for number in range(40)])
    titles = [pb.Document.FromString(answer.record).title for answer in answers]
    assert titles == [f"Page {number}" for number in range(40)]


@pytest.mark.anyio
async def test_a_child_that_is_killed_at_work_is_started_anew(parsers: ChildParsers) -> None:
    pid = parsers._children[0].pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    (answer,) = await parsers.parse([task("# Page\n\ntext")])
    assert answer.record


@pytest.mark.anyio
async def test_a_document_that_stalls_its_child_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsers_module, "CHILD_MODULE", "fakes.parse_child")
    made = ChildParsers(children=1, memory_bytes=1 << 30, document_seconds=4)
    try:
        answers = await made.parse([task("one"), task("stall"), task("die"), task("two")])
        reasons = [answer.failure for answer in answers]
        assert reasons == ["", "parsing took longer than 4 s", parsers_module.DIED, ""]
    finally:
        await made.close()


@pytest.mark.anyio
async def test_children_that_cannot_live_are_an_outage_and_no_documents_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsers_module, "CHILD_MODULE", "fakes.no_such_module")
    made = ChildParsers(children=1, memory_bytes=1 << 30, document_seconds=4)
    with pytest.raises(Unavailable, match="documents cannot be parsed"):
        await made.parse([task("one")])
    await made.close()


def test_shares_keep_the_order_and_their_size() -> None:
    tasks = [task(b"x" * (SHARE_BYTES // 3), f"{number}.md") for number in range(7)]
    shares = share_out(tasks)
    assert [one for share in shares for one in share] == tasks
    assert [len(share) for share in shares] == [4, 3]
    assert share_out([]) == []


def test_front_matter_goes_before_what_the_source_declares() -> None:
    text = "---\nversion: v9\nlanguage: de-AT\nurl: javascript:alert(1)\ntype: nonsense\n---\n# Page\n\ntext"
    record = pb.Document.FromString(parse_document(task(text)).record)
    assert (record.version, record.language, record.url, record.kind) == ("v9", "de", "", "documentation")


def test_a_front_matter_that_cannot_be_read_is_a_remark() -> None:
    answer = parse_document(task("---\n: [\n---\n# Page\n\ntext"))
    assert answer.record
    assert answer.remarks


def test_equal_chunks_of_a_document_have_names_of_their_own() -> None:
    text = "# Page\n\n" + "## Same\n\nThe very same words stand here, again and again, in each of them.\n\n" * 5
    (head,) = pb.Document.FromString(parse_document(task(text)).record).heads
    listed = [span.chunk_id for span in head.chunks]
    assert len(set(listed)) == len(listed)


def test_sizes_fit_the_window_whatever_the_scale() -> None:
    for scale in (1.0, 1.5, 2.4):
        sizes = chunk_settings(40, 250, scale)
        assert sizes.chunk_tokens <= sizes.max_tokens == 250


def test_a_window_that_leaves_no_room_is_a_failure_that_says_so() -> None:
    assert "window of 250 tokens is too small" in parse_document(task("# Page\n\ntext", scale=5.0)).failure


@pytest.mark.anyio
async def test_a_spec_is_taken_apart_in_a_child_and_a_hostile_one_is_refused_in_a_second(parsers: ChildParsers) -> None:
    made = await parsers.expand(b"openapi: 3.0.0\npaths: {/a: {get: {summary: Says a}}}")
    assert [page.path for page in made.pages] == ["get-a.md", "overview.md"]
    lines = [
        b"openapi: 3.0.0",
        b"a0: &a0 [x]",
        *(b"a%d: &a%d [%s]" % (n, n, b", ".join([b"*a%d" % (n - 1)] * 9)) for n in range(1, 30)),
    ]
    with anyio.fail_after(10), pytest.raises(InvalidArgument, match="what its aliases stand for"):
        await parsers.expand(b"\n".join(lines))


@pytest.mark.anyio
async def test_a_spec_that_stalls_or_kills_its_child_is_a_bad_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsers_module, "CHILD_MODULE", "fakes.parse_child")
    made = ChildParsers(children=1, memory_bytes=1 << 30, document_seconds=4)
    try:
        with pytest.raises(InvalidArgument, match="took longer than 4 s"):
            await made.expand(b"stall")
        with pytest.raises(InvalidArgument, match="ended its process"):
            await made.expand(b"die")
        assert await made.expand(b"one") == b"one"  # type: ignore[comparison-overlap]
    finally:
        await made.close()
