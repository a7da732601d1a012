"""The publish protocol step by step, on engines in memory."""

from __future__ import annotations

import pytest

from fakes.desk import MADE, PROJECT, SOURCE, FakeDesk
from refdesk import failpoints, ids
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.search.v1 import search_pb2
from refdesk.errors import Unavailable
from refdesk.ingest.changes import Change, Ending
from refdesk.ingest.records import Generation

pytestmark = pytest.mark.anyio
WORDS, VECTORS = search_pb2.ENGINE_WORDS, search_pb2.ENGINE_VECTORS


def page(*sections: str) -> str:
    """A page with a section each, long enough to be a chunk of its own."""
    body = [f"## {name}\n\n" + " ".join(f"{name}{number}" for number in range(60)) for name in sections]
    return "# Page\n\n" + "\n\n".join(body) + "\n"


def record_of(desk: FakeDesk, path: str) -> pb.Document:
    return desk.docstore.records[ids.document_id(PROJECT, SOURCE, path)]


async def test_a_new_document_is_searchable_by_words_before_its_vectors_are_there() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha", "beta"))
    assert await desk.publish("a.md") == ["published"]
    record = record_of(desk, "a.md")
    listed = [span.chunk_id for span in record.heads[0].chunks]
    assert len(listed) >= 2
    assert desk.entries(WORDS).keys() == {*listed, record.document_id}
    assert desk.entries(VECTORS) == {}
    assert list(record.heads[0].missing_vectors) == listed
    assert record.heads[0].swept
    await desk.finish()
    assert desk.differences() == []


async def test_an_edit_writes_and_embeds_only_what_changed() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha", "beta", "gamma"))
    await desk.publish("a.md")
    await desk.finish()
    before = desk.entries(WORDS)
    embedded = len(desk.embedder.embedded)
    desk.source.write("a.md", page("alpha", "delta", "gamma"))
    await desk.publish("a.md")
    after = desk.entries(WORDS)
    document_id = record_of(desk, "a.md").document_id
    assert [one for one in after if after[one] == 2 and one != document_id] == [
        one for one in after if one not in before
    ]
    fresh = len(after.keys() - before.keys())
    await desk.finish()
    assert 0 < fresh < len(before) / 2
    assert len(desk.embedder.embedded) == embedded + fresh
    assert desk.differences() == []


async def test_a_rename_embeds_nothing_and_remembers_the_old_path() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha", "beta"))
    await desk.publish("a.md")
    await desk.finish()
    embedded = len(desk.embedder.embedded)
    desk.source.write("b.md", page("alpha", "beta"))
    desk.source.remove("a.md")
    await desk.publisher().publish([Change(SOURCE, "b.md", moved_from="a.md"), Change(SOURCE, "a.md")])
    await desk.finish()
    assert len(desk.embedder.embedded) == embedded
    assert list(record_of(desk, "b.md").previous_paths) == ["guide/a.md"]
    assert record_of(desk, "a.md").deleted
    assert desk.differences() == []


async def test_a_deleted_document_leaves_a_record_whose_heads_list_nothing() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    await desk.finish()
    desk.source.remove("a.md")
    assert await desk.publish("a.md") == ["published"]
    record = record_of(desk, "a.md")
    assert record.deleted
    assert record.text
    assert [list(head.chunks) for head in record.heads] == [[]]
    assert desk.entries(WORDS) == {}
    assert desk.entries(VECTORS) == {}


async def test_a_document_that_was_never_recorded_and_is_gone_leaves_a_tombstone() -> None:
    desk = FakeDesk()
    assert await desk.publish("never.md") == ["published"]
    assert record_of(desk, "never.md").revision == 1
    assert record_of(desk, "never.md").deleted


async def test_a_folder_puts_at_every_event_and_writes_no_chunk_for_the_same_content() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    written = desk.search.calls["write_words"]
    await desk.publish("a.md")
    record = record_of(desk, "a.md")
    assert (record.revision, desk.search.calls["write_words"]) == (2, written)
    assert record.text
    assert record.heads[0].missing_vectors


async def test_a_put_carries_over_the_vectors_that_are_still_missing() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha", "beta"))
    await desk.publish("a.md")
    desk.source.write("a.md", page("beta", "gamma"))
    await desk.publish("a.md")
    head = record_of(desk, "a.md").heads[0]
    assert set(head.missing_vectors) == {span.chunk_id for span in head.chunks}
    await desk.finish()
    assert desk.differences() == []


async def test_new_content_drops_the_head_of_a_generation_that_the_worker_does_not_know() -> None:
    desk = FakeDesk()
    other = Generation("made", 2, 250)
    desk.followed = [MADE, other]
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    assert len(record_of(desk, "a.md").heads) == 2
    desk.followed = [MADE]
    await desk.publish("a.md")
    assert len(record_of(desk, "a.md").heads) == 2  # the same content: it stays
    desk.source.write("a.md", page("beta"))
    await desk.publish("a.md")
    assert [head.generation for head in record_of(desk, "a.md").heads] == [MADE.name]


async def test_undecodable_bytes_keep_the_last_good_text_and_are_reported() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    good = record_of(desk, "a.md").text
    desk.source.write("a.md", b"# caf\xe9 " * 50)
    assert await desk.publish("a.md") == ["skipped"]
    record = record_of(desk, "a.md")
    assert record.text == good
    assert record.source_revision == desk.source.documents["a.md"].revision
    assert desk.docstore.reports["guide/a.md"].kind == pb.REPORT_KIND_SKIPPED
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    assert desk.docstore.reports == {}


async def test_undecodable_bytes_of_a_new_document_leave_nothing_but_a_report_and_a_tombstone() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", b"\xff\xfe\xfa" + b"\xe9" * 40)
    assert await desk.publish("a.md") == ["skipped"]
    record = record_of(desk, "a.md")
    assert record.deleted
    assert record.source_revision == desk.source.documents["a.md"].revision
    assert "guide/a.md" in desk.docstore.reports


async def test_a_draft_is_not_published_and_says_so() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    desk.source.write("a.md", "---\ndraft: true\n---\n" + page("alpha"))
    assert await desk.publish("a.md") == ["skipped"]
    assert record_of(desk, "a.md").deleted
    assert desk.entries(WORDS) == {}


async def test_a_document_that_fails_in_its_parser_holds_up_nothing_else() -> None:
    desk = FakeDesk()
    desk.parsers.refused = "poison"
    desk.source.write("a.md", page("alpha"))
    desk.source.write("bad.md", "poison")
    assert await desk.publish("bad.md", "a.md") == ["failed", "published"]


async def test_a_document_that_an_engine_refuses_holds_up_nothing_else() -> None:
    desk = FakeDesk()
    desk.search.refused_texts.add("poison")
    desk.source.write("bad.md", page("poison"))
    for number in range(4):
        desk.source.write(f"{number}.md", page("alpha"))
    assert await desk.publish("0.md", "1.md", "bad.md", "2.md", "3.md") == [
        "published",
        "published",
        "failed",
        "published",
        "published",
    ]


async def test_a_record_that_docstore_refuses_holds_up_nothing_else() -> None:
    desk = FakeDesk()
    desk.docstore.refused_ids.add(ids.document_id(PROJECT, SOURCE, "bad.md"))
    desk.source.write("bad.md", page("alpha"))
    desk.source.write("a.md", page("alpha"))
    assert await desk.publish("bad.md", "a.md") == ["failed", "published"]
    assert record_of(desk, "a.md").revision == 1


async def test_a_parked_document_keeps_its_last_good_text_and_is_known_by_the_revision_that_was_parked() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    desk.source.write("a.md", "poison")
    await desk.publisher().park(Change(SOURCE, "a.md", set_aside="parsing failed"))
    record = record_of(desk, "a.md")
    assert "alpha" in record.text
    assert record.source_revision == desk.source.documents["a.md"].revision
    report = desk.docstore.reports["guide/a.md"]
    assert (report.kind, report.reason) == (pb.REPORT_KIND_PARKED, "parsing failed")


async def test_an_unreadable_document_stays_as_it_is_known() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    desk.source.unreadable.add("a.md")
    assert await desk.publish("a.md") == ["skipped"]
    assert record_of(desk, "a.md").revision == 1
    assert not record_of(desk, "a.md").deleted


async def test_a_source_that_cannot_be_reached_holds_its_documents_and_blames_none() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    desk.weather.down.add("source")
    assert await desk.publish("a.md") == ["held"]
    assert desk.docstore.records == {}


async def test_the_same_document_twice_in_a_batch_ends_as_the_source_has_it() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    assert await desk.publish("a.md", "a.md") == ["published", "published"]
    await desk.finish()
    assert desk.differences() == []


async def test_a_batch_is_one_call_a_step() -> None:
    desk = FakeDesk()
    for number in range(20):
        desk.source.write(f"{number}.md", page("alpha"))
    await desk.publish(*(f"{number}.md" for number in range(20)))
    assert desk.search.calls["write_words"] == 1
    assert desk.docstore.puts == 20


@pytest.mark.parametrize("step", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("side", ["before", "after"])
async def test_a_failure_at_each_step_is_made_good_by_the_next_delivery(step: int, side: str) -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha", "beta"))
    await desk.publish("a.md")
    await desk.finish()
    desk.source.write("a.md", page("beta", "gamma"))
    failpoints.arm(f"ingest.step{step}.{side}=fail")
    try:
        outcomes = await desk.publisher().publish([Change(SOURCE, "a.md")])
        assert step == 6
        assert outcomes[0].ending is Ending.PUBLISHED
    except Unavailable:
        assert step != 6
        await desk.publish("a.md")
    finally:
        failpoints.arm("")
    await desk.finish()
    assert desk.differences() == []


@pytest.mark.parametrize("side", ["before", "after"])
async def test_a_failure_around_step_5_leaves_the_vectors_pending_or_done(side: str) -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha", "beta"))
    await desk.publish("a.md")
    failpoints.arm(f"ingest.step5.{side}=fail")
    try:
        with pytest.raises(Unavailable):
            await desk.finish()
    finally:
        failpoints.arm("")
    await desk.finish()
    assert desk.differences() == []
