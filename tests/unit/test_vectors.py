"""What comes behind the words: who goes first, what is embedded, what happens when a text is too long or the embedder away."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from fakes.desk import MADE, PROJECT, SOURCE, FakeDesk
from fakes.embedder import made_vector
from fakes.waiting import until
from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.search.v1 import search_pb2
from refdesk.ingest import entries, metrics

pytestmark = pytest.mark.anyio
VECTORS = search_pb2.ENGINE_VECTORS


def page(*names: str) -> str:
    return "# Page\n\n" + "\n\n".join(
        f"## {name}\n\n" + " ".join(f"{name}{number}" for number in range(40)) for name in names
    )


def record_of(desk: FakeDesk, path: str) -> pb.Document:
    return desk.docstore.records[ids.document_id(PROJECT, SOURCE, path)]


async def test_changed_documents_are_embedded_before_bulk() -> None:
    desk = FakeDesk()
    for number in range(30):
        desk.source.write(f"bulk{number}.md", page(f"bulk{number}"))
    await desk.publish(*(f"bulk{number}.md" for number in range(30)), bulk=True)
    desk.source.write("changed.md", page("changed"))
    await desk.publish("changed.md")
    await desk.vectors().work()
    assert "changed" in desk.embedder.embedded[0]
    assert len(desk.embedder.embedded) < 31


async def test_equal_texts_are_embedded_once() -> None:
    desk = FakeDesk()
    for number in range(5):
        desk.source.write(f"{number}.md", page("alpha"))
    await desk.publish(*(f"{number}.md" for number in range(5)))
    await desk.finish()
    assert len(desk.embedder.embedded) == len(set(desk.embedder.embedded))
    assert desk.differences() == []


async def test_a_documents_vector_is_the_normalised_mean_of_its_chunks() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha", "beta", "gamma"))
    await desk.publish("a.md")
    await desk.finish()
    record = record_of(desk, "a.md")
    rows = [np.frombuffer(made_vector(entries.text_to_embed(record, span)), "<f4") for span in record.heads[0].chunks]
    mean = np.sum(rows, axis=0) / len(rows)
    index = desk.search.index(VECTORS, PROJECT, MADE.name)
    whole = np.frombuffer(index[record.document_id].vector, "<f4")
    assert whole == pytest.approx(mean / np.sqrt((mean**2).sum()), abs=1e-6)


async def test_a_documents_vector_follows_when_it_only_loses_chunks() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha", "beta", "gamma"))
    vectors = desk.vectors()
    await desk.publisher(vectors).publish([desk.change("a.md")])
    while await vectors.work():
        pass
    desk.source.write("a.md", page("alpha", "beta"))
    await desk.publisher(vectors).publish([desk.change("a.md")])
    while await vectors.work():
        pass
    record = record_of(desk, "a.md")
    rows = [made_vector(entries.text_to_embed(record, span)) for span in record.heads[0].chunks]
    index = desk.search.index(VECTORS, PROJECT, MADE.name)
    assert index[record.document_id].vector == entries.mean_vector(rows)


async def test_a_language_that_the_model_does_not_speak_gets_no_vectors_and_is_not_pending() -> None:
    desk = FakeDesk()
    desk.source.write("de.md", "---\nlanguage: de\n---\n" + page("alpha"))
    await desk.publish("de.md")
    head = record_of(desk, "de.md").heads[0]
    assert not head.embeddable
    assert not head.missing_vectors
    await desk.finish()
    assert desk.embedder.embedded == []
    assert desk.entries(VECTORS) == {}


async def test_a_chunk_over_the_window_is_cut_again_and_never_cut_short() -> None:
    desk = FakeDesk()
    desk.embedder.tokens_a_word = 4.0
    desk.source.write("a.md", page("alpha", "beta"))
    await desk.publish("a.md")
    first = len(record_of(desk, "a.md").heads[0].chunks)
    desk.embedder.model.window_tokens = 150
    await desk.finish()
    record = record_of(desk, "a.md")
    assert record.token_scale >= 1.05
    assert len(record.heads[0].chunks) > first
    assert max(map(desk.embedder.count, desk.embedder.embedded)) <= 150
    assert desk.differences() == []


async def test_what_is_over_the_window_is_published_again_together() -> None:
    desk = FakeDesk()
    desk.embedder.tokens_a_word = 4.0
    desk.embedder.model.window_tokens = 60
    names = [f"{word}.md" for word in ("alpha", "beta", "gamma", "delta")]
    for name in names:
        desk.source.write(name, page(name.removesuffix(".md")))
    await desk.publish(*names)
    written = desk.search.calls["write_words"]
    await desk.vectors().work()
    assert [record_of(desk, name).revision for name in names] == [2, 2, 2, 2]
    assert desk.search.calls["write_words"] == written + 1


async def test_exact_token_counts_replace_the_estimates() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha"))
    await desk.publish("a.md")
    await desk.finish()
    record = record_of(desk, "a.md")
    for span in record.heads[0].chunks:
        assert span.token_count == desk.embedder.count(entries.text_to_embed(record, span))


async def test_an_embedder_that_is_away_holds_up_no_words_and_is_gone_on_with_when_it_is_back() -> None:
    desk = FakeDesk()
    desk.weather.down.add("embedder")
    desk.source.write("a.md", page("alpha"))
    vectors = desk.vectors()
    assert [one.ending.value for one in await desk.publisher(vectors).publish([desk.change("a.md")])] == ["published"]
    running = asyncio.create_task(vectors.run())
    for _ in range(20):
        await asyncio.sleep(0)
    assert desk.entries(VECTORS) == {}
    desk.weather.down.clear()
    await until(lambda: not desk.differences())
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_while_the_embedder_is_away_the_lanes_wait_and_end_not() -> None:
    desk = FakeDesk()
    desk.source.write("a.md", page("alpha", "beta"))
    await desk.publish("a.md")
    desk.weather.down.add("embedder")
    before = metrics.OUTAGES.labels("vectors")._value.get()
    running = asyncio.create_task(desk.vectors().run())
    await until(lambda: metrics.OUTAGES.labels("vectors")._value.get() > before)
    assert not running.done()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_the_embedder_is_kept_busy_with_more_than_one_request() -> None:
    desk = FakeDesk()
    desk.weather.turns = 3
    for number in range(20):
        desk.source.write(f"{number}.md", page(f"alpha{number}"))
    await desk.publish(*(f"{number}.md" for number in range(20)))
    await desk.finish()
    assert desk.embedder.most_in_flight == 4  # two requests of two texts: what the fake desk allows


async def test_two_lanes_never_work_on_one_document() -> None:
    desk = FakeDesk()
    desk.weather.turns = 4
    for number in range(20):
        desk.source.write(f"{number}.md", page(f"alpha{number}"))
    await desk.publish(*(f"{number}.md" for number in range(20)))
    vectors = desk.vectors()
    while any(await asyncio.gather(vectors.work(), vectors.work())):
        pass
    assert len(desk.embedder.embedded) == len(set(desk.embedder.embedded))
    assert desk.differences() == []
