"""Generations on the real publishing code with engines in memory: built beside the live one, switched to, gone back to, dropped."""

from __future__ import annotations

import pytest

from fakes.desk import MADE, PROJECT, SOURCE, FakeDesk
from fakes.embedder import DIMENSION, FakeEmbedder
from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.api.embedder.v1 import embedder_pb2
from refdesk.api.search.v1 import search_pb2
from refdesk.errors import AlreadyExists, InvalidArgument, Unavailable
from refdesk.ingest import catalog as catalog_module
from refdesk.ingest import chunkers
from refdesk.ingest.changes import Change
from refdesk.ingest.generations import Generations, Moved
from refdesk.ingest.records import Generation, find_head

pytestmark = pytest.mark.anyio
WORDS, VECTORS = search_pb2.ENGINE_WORDS, search_pb2.ENGINE_VECTORS
PACKED = Generation("made", 2, 250, frozenset({"en"}))
OTHER_MODEL = embedder_pb2.Model(model_id="other", dimension=DIMENSION, window_tokens=120, languages=["en"])
OTHER = Generation("other", 1, 120, frozenset({"en"}))
DAY = 86_400.0


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.seconds = 1_000_000.0

    def __call__(self) -> float:
        return self.seconds


def page(*names: str) -> str:
    """Small sections, which the second chunker packs together."""
    return "# Page\n\n" + "\n\n".join(f"## {name}\n\n" + f"{name} and more of it. " * 4 for name in names)


async def make_desk(*names: str) -> FakeDesk:
    """Documents of these names, published and with vectors."""
    desk = FakeDesk()
    desk.embedder = FakeEmbedder(desk.weather, also=[OTHER_MODEL])
    await desk.declare()
    for name in names or ("a", "b", "c"):
        desk.source.write(f"{name}.md", page(f"{name}one", f"{name}two", f"{name}three"))
    await desk.publish(*(f"{name}.md" for name in names or ("a", "b", "c")))
    await desk.finish()
    return desk


async def settle(desk: FakeDesk, moves: Generations) -> None:
    """Works until neither vectors nor the catalog ask for anything."""
    for _ in range(50):
        await desk.finish()
        if not await moves.work():
            return
    pytest.fail("it never settles")


def project(desk: FakeDesk) -> docstore_pb2.Project:
    return desk.docstore.projects[PROJECT]


def record(desk: FakeDesk, path: str = "a.md") -> docstore_pb2.Document:
    return desk.docstore.records[ids.document_id(PROJECT, SOURCE, path)]


def chunk_count(desk: FakeDesk, generation: Generation) -> int:
    return sum(
        len(head.chunks)
        for one in desk.docstore.records.values()
        for head in one.heads
        if head.generation == generation.name
    )


async def test_a_generation_is_built_from_stored_text_and_takes_over_when_it_is_complete() -> None:
    desk = await make_desk()
    moves = desk.moves()
    desk.source.unreadable.update(desk.source.documents)  # no source is asked
    assert await moves.build("", 2, hold_switch=False) == PACKED.name
    assert list(project(desk).followed_generations) == [MADE.name, PACKED.name]
    await settle(desk, moves)
    assert (project(desk).live_generation, project(desk).model_id) == (PACKED.name, "made")
    assert 0 < chunk_count(desk, PACKED) < chunk_count(desk, MADE)
    desk.followed = [PACKED, MADE]
    assert desk.differences() == []


async def test_a_head_from_stored_text_is_the_one_that_publishing_cuts() -> None:
    desk = await make_desk("a")
    moves = desk.moves()
    await moves.build("", 2, hold_switch=True)
    await settle(desk, moves)
    built = find_head(record(desk), PACKED.name)
    desk.source.write("a.md", page("aone", "atwo", "athree") + "\n")
    await desk.publish("a.md")
    published = find_head(record(desk), PACKED.name)
    assert built and published
    assert [span.chunk_id for span in published.chunks] == [span.chunk_id for span in built.chunks]
    assert published.fingerprint == built.fingerprint


async def test_what_is_published_meanwhile_is_written_to_both_and_a_held_switch_waits_for_a_person() -> None:
    desk = await make_desk()
    moves = desk.moves()
    await moves.build("", 2, hold_switch=True)
    await settle(desk, moves)
    desk.source.write("b.md", page("edited"))
    desk.source.write("new.md", page("fresh"))
    desk.source.remove("c.md")
    await desk.publish("b.md", "new.md", "c.md")
    desk.followed = [MADE, PACKED]
    assert desk.unfounded() == []
    await settle(desk, moves)
    assert desk.differences() == []
    assert project(desk).live_generation == MADE.name
    moved = await moves.switch()
    assert (moved.generation, moved.previous_generation) == (PACKED.name, MADE.name)
    await settle(desk, moves)
    assert desk.differences() == []


async def test_texts_that_the_live_generation_has_vectors_of_are_not_embedded_again() -> None:
    desk = await make_desk("a")
    moves = desk.moves()
    before = len(desk.embedder.embedded)
    desk.source_settings = desk.source_settings.model_copy(update={"chunk_tokens": 100})
    desk.source.write("long.md", "# Long\n\n" + "\n\n".join(f"## s{n}\n\n" + f"part{n} " * 80 for n in range(3)))
    await desk.publish("long.md")
    await desk.finish()
    long_chunks = len(desk.embedder.embedded) - before
    assert long_chunks > 2
    await moves.build("", 2, hold_switch=True)
    before = len(desk.embedder.embedded)
    await settle(desk, moves)
    assert len(desk.embedder.embedded) - before == 1, "only the packed sections of a.md are new"


async def test_a_generation_of_another_model_has_vectors_and_sizes_of_that_model() -> None:
    desk = await make_desk("a")
    moves = desk.moves()
    await moves.build("other", 0, hold_switch=False)
    await settle(desk, moves)
    assert (project(desk).live_generation, project(desk).model_id) == (OTHER.name, "other")
    live, old = (desk.search.index(VECTORS, PROJECT, one.name) for one in (OTHER, MADE))
    assert live.keys() and old.keys()
    hashes = [{entry.text_hash for entry in index.values()} - {""} for index in (live, old)]
    assert not hashes[0] & hashes[1]


async def test_nothing_switches_while_a_document_is_not_cut_or_waits_for_vectors() -> None:
    desk = await make_desk()
    moves = desk.moves()
    await moves.build("other", 0, hold_switch=False)
    before = project(desk).revision
    with pytest.raises(Unavailable, match="3 documents are not cut for it yet"):
        await moves.switch()
    await desk.growth().fill()
    with pytest.raises(Unavailable, match="3 documents wait for vectors"):
        await moves.switch()
    assert not await moves.work()
    assert (project(desk).live_generation, project(desk).revision) == (MADE.name, before)


async def test_deleted_documents_and_those_in_other_languages_hold_nothing_up() -> None:
    desk = await make_desk()
    german = "Diese Seite ist auf Deutsch geschrieben und handelt von den Schlüsseln der Abteilung. " * 4
    desk.source.write("d.md", f"---\nlanguage: de\n---\n# Seite\n\n{german}")
    desk.source.remove("c.md")
    await desk.publish("c.md", "d.md")
    await desk.finish()
    moves = desk.moves()
    await moves.build("", 2, hold_switch=False)
    await settle(desk, moves)
    assert project(desk).live_generation == PACKED.name
    assert record(desk, "c.md").revision == 2


async def test_a_document_that_keeps_its_last_good_text_and_one_of_no_source_are_built_too() -> None:
    desk = await make_desk("a", "b")
    desk.source.write("a.md", b"\xff\xff not text")
    await desk.publish("a.md")
    gone = record(desk, "b.md")
    gone.source, gone.path = "former", "former/b.md"
    moves = desk.moves()
    await moves.build("", 2, hold_switch=False)
    await settle(desk, moves)
    assert project(desk).live_generation == PACKED.name
    assert all(find_head(one, PACKED.name) for one in desk.docstore.records.values())


async def test_a_rollback_is_the_same_move_and_is_refused_once_the_generation_is_followed_no_more() -> None:
    desk, clock = await make_desk(), Clock()
    moves = desk.moves(now=clock, rollback_days=7)
    with pytest.raises(InvalidArgument, match="followed for rollback any more"):
        await moves.roll_back()
    await moves.build("", 2, hold_switch=False)
    await settle(desk, moves)
    desk.source.write("a.md", page("after"))
    await desk.publish("a.md")
    await settle(desk, moves)
    until = int((clock.seconds + 7 * DAY) * 1000)
    assert await moves.roll_back() == Moved(MADE.name, PACKED.name, until)
    desk.followed = [MADE, PACKED]
    await settle(desk, moves)
    assert desk.differences() == []
    assert await moves.switch(PACKED.name) == Moved(PACKED.name, MADE.name, until)
    clock.seconds += 7 * DAY
    await settle(desk, moves)
    with pytest.raises(InvalidArgument, match="followed for rollback any more"):
        await moves.roll_back()
    with pytest.raises(InvalidArgument, match=r"made\.c1 of project handbook is not followed any more, but made\.c2"):
        await moves.switch(MADE.name)
    desk.followed = [PACKED]
    assert desk.differences() == [], "its heads and entries are gone"


async def test_a_rollback_is_refused_while_the_generation_is_behind() -> None:
    desk = await make_desk()
    moves = desk.moves()
    await moves.build("other", 0, hold_switch=False)
    await settle(desk, moves)
    desk.weather.down.add("embedder")
    desk.source.write("a.md", page("changed"))
    await desk.publish("a.md")
    with pytest.raises(Unavailable, match=r"1 documents wait for vectors \(guide/a.md is one\)"):
        await moves.roll_back()
    assert project(desk).live_generation == OTHER.name


def lose_words(desk: FakeDesk, generation: Generation) -> str:
    """Takes one entry out of an engine, as a damaged disk would, of documents that were put long ago."""
    for one in desk.docstore.records.values():
        one.put_at_milliseconds = 0
    head = find_head(record(desk), generation.name)
    assert head
    lost = head.chunks[0].chunk_id
    del desk.search.index(WORDS, PROJECT, generation.name)[lost]
    return lost


async def test_reconciling_runs_at_once_after_a_move() -> None:
    desk = await make_desk()
    moves = desk.moves()
    await moves.build("", 2, hold_switch=False)
    await settle(desk, moves)
    lost = lose_words(desk, MADE)
    await moves.roll_back()
    await moves.work()
    assert lost in desk.entries(WORDS, generation=MADE.name)


async def test_a_generation_that_never_answered_is_compared_with_the_engines_before_it_does() -> None:
    desk = await make_desk()
    moves = desk.moves()
    await moves.build("", 2, hold_switch=True)
    await settle(desk, moves)
    lost = lose_words(desk, PACKED)
    with pytest.raises(Unavailable, match="1 documents were not whole in the indices and are written again"):
        await moves.switch()
    assert lost in desk.entries(WORDS, generation=PACKED.name)
    await desk.finish()
    assert (await moves.switch()).generation == PACKED.name


async def test_a_batch_that_was_cut_before_a_generation_was_followed_starts_again() -> None:
    desk = await make_desk()
    slow = desk.publisher()
    desk.source.write("new.md", page("late"))
    prepared = await slow.prepare([Change(SOURCE, "new.md")])
    moves = desk.moves()
    await moves.build("", 2, hold_switch=False)
    await settle(desk, moves)
    await slow.write(prepared)
    assert find_head(record(desk, "new.md"), PACKED.name), "or the live generation would not have it"
    await settle(desk, moves)
    desk.followed = [PACKED, MADE]
    assert desk.differences() == []


async def test_entries_that_a_slow_worker_left_of_a_deleted_document_are_swept_in_a_generation_that_it_has_no_head_of() -> (
    None
):
    desk = await make_desk("a")
    desk.source.remove("a.md")
    await desk.publish("a.md")
    await desk.moves().build("", 2, hold_switch=True)
    orphan = search_pb2.WordDocument(document_id=record(desk).document_id, stamp=2, text="x", chunks=[{"id": "x"}])  # type: ignore[list-item]
    await desk.stores.write_words(PACKED.name, [orphan])
    await desk.reconciler().run()
    assert desk.entries(WORDS, generation=PACKED.name) == {}


async def test_an_upgrade_with_another_chunker_cuts_nothing_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = await make_desk()
    before = {one: copy.SerializeToString() for one, copy in desk.docstore.records.items()}
    monkeypatch.setattr(catalog_module, "DEFAULT_CHUNKER", 2)
    puts = desk.docstore.puts
    await desk.declare()
    await desk.publish("a.md")
    await desk.reconciler().run()
    await settle(desk, desk.moves())
    assert list(project(desk).followed_generations) == [MADE.name]
    assert desk.docstore.puts == puts + 1, "the event of a.md puts, as every event does"
    del before[record(desk).document_id]
    assert {one: desk.docstore.records[one].SerializeToString() for one in before} == before
    assert catalog_module.wanted_project("new", desk_settings(), "made", None).live_generation == PACKED.name


def desk_settings() -> catalog_module.ProjectSettings:
    return catalog_module.ProjectSettings()


async def test_a_release_without_the_live_chunker_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = await make_desk()
    monkeypatch.setattr(chunkers, "CHUNKERS", {2: chunkers.CHUNKERS[2]})
    with pytest.raises(InvalidArgument, match=r"answers from generation made\.c1, but this release has no chunker 1"):
        await desk.declare()


async def test_a_followed_generation_whose_model_is_hosted_no_more_falls_behind_and_holds_nothing_up() -> None:
    desk = await make_desk()
    moves = desk.moves()
    await moves.build("other", 0, hold_switch=False)
    await settle(desk, moves)
    made, desk.embedder.model, desk.embedder.also = desk.embedder.model, OTHER_MODEL, []
    await desk.declare(model="other")
    moves = desk.moves()
    desk.source.write("a.md", page("changed"))
    assert await desk.publish("a.md") == ["published"]
    await desk.finish()
    with pytest.raises(InvalidArgument, match=r"made is not hosted .* add it to embedder\.also_host"):
        await moves.roll_back()
    desk.embedder.also = [made]
    await desk.reconciler().run()
    await desk.finish()
    assert (await moves.roll_back()).generation == MADE.name


async def test_a_build_can_be_dropped_and_begun_again_once_it_is_gone() -> None:
    desk, clock = await make_desk(), Clock()
    moves = desk.moves(now=clock, generation_grace_seconds=10)
    await moves.build("", 2, hold_switch=True)
    await settle(desk, moves)
    with pytest.raises(InvalidArgument, match=r"made\.c1 answers project handbook: switch"):
        await moves.drop(MADE.name)
    assert await moves.drop() == PACKED.name
    await settle(desk, moves)
    assert desk.entries(WORDS, generation=PACKED.name), "what is under way may still name it"
    with pytest.raises(Unavailable, match="is being dropped"):
        await moves.build("", 2, hold_switch=True)
    clock.seconds += 10
    await settle(desk, moves)
    desk.followed = [MADE]
    assert desk.differences() == []
    await moves.build("", 2, hold_switch=True)
    await settle(desk, moves)
    desk.followed = [MADE, PACKED]
    assert desk.differences() == []


async def test_what_a_stalled_writer_left_of_a_dropped_generation_goes_later() -> None:
    desk, clock = await make_desk("a"), Clock()
    moves = desk.moves(now=clock)
    await moves.build("", 2, hold_switch=True)
    await settle(desk, moves)
    stalled = docstore_pb2.Document()
    stalled.CopyFrom(record(desk))
    await moves.drop()
    await settle(desk, moves)
    stalled.revision += 1
    await desk.stores.put([stalled])
    await desk.stores.write_words(PACKED.name, [search_pb2.WordDocument(document_id="d", stamp=1, text="x")])
    clock.seconds += 3600
    await settle(desk, moves)
    await desk.reconciler().run()
    desk.followed = [MADE]
    assert desk.differences() == []
    assert list(project(desk).dropped_generations) == []


async def test_what_is_over_the_window_is_cut_anew_from_stored_text_in_every_generation_and_stays_as_declared() -> None:
    desk = await make_desk("a")
    moves = desk.moves()
    await moves.build("", 2, hold_switch=True)
    await settle(desk, moves)
    before, text = record(desk).revision, record(desk).text
    assert await desk.growth().recut({record(desk).document_id: 1.5, "nobody": 2.0}) == {record(desk).document_id}
    await settle(desk, moves)
    changed = record(desk)
    assert (changed.revision, changed.token_scale, changed.text) == (before + 1, 1.5, text)
    assert all("x1.5 " in head.fingerprint for head in changed.heads)
    await desk.reconciler().run()
    assert record(desk).revision == before + 1, "it is what its source declares"
    desk.followed = [MADE, PACKED]
    assert desk.differences() == []


async def test_one_generation_is_built_at_a_time_and_what_is_followed_needs_no_building() -> None:
    desk = await make_desk()
    moves = desk.moves()
    with pytest.raises(InvalidArgument, match=r"made\.c1 answers project handbook already"):
        await moves.build("", 0, hold_switch=False)
    with pytest.raises(InvalidArgument, match="no chunker 7"):
        await moves.build("", 7, hold_switch=False)
    with pytest.raises(InvalidArgument, match="model nobody is not hosted"):
        await moves.build("nobody", 0, hold_switch=False)
    await moves.build("", 2, hold_switch=True)
    with pytest.raises(AlreadyExists, match=r"made\.c2 of project handbook is being built: drop"):
        await moves.build("other", 0, hold_switch=False)
    assert await moves.build("", 2, hold_switch=False) == PACKED.name, "asked again, it is only held no more"
    await settle(desk, moves)
    with pytest.raises(InvalidArgument, match="is followed for rollback: switch to it"):
        await moves.build("made", 1, hold_switch=False)


async def test_a_project_may_be_declared_with_any_followed_model_and_with_no_other() -> None:
    desk = await make_desk()
    with pytest.raises(InvalidArgument, match="indexed with model made and is declared with other.*generation build"):
        await desk.declare(model="other")
    moves = desk.moves()
    await moves.build("other", 0, hold_switch=False)
    await desk.declare(model="other")
    await settle(desk, moves)
    await desk.declare(model="made")
    assert (project(desk).live_generation, project(desk).model_id) == (OTHER.name, "other")
    await moves.drop(MADE.name)
    with pytest.raises(InvalidArgument, match="indexed with model other and is declared with made.*--reindex"):
        await desk.declare(model="made")
