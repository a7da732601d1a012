"""A DocumentStore under any sequence of writes agrees with a model that is a dictionary and counts by looping over it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.stores import StoreEngine
from fakes.records import GENERATION, PROJECT, cut_lines, make_record, make_tombstone, name_document, to_put
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import DocumentStore, View, listing_key
from refdesk.docstore.service import DocstoreService
from refdesk.docstore.settings import DocstoreSettings

OTHER = "model-b.c1"
PATHS = ["a/1.md", "a/b/2.md", "a/b-c/3.md", "b/😀.md", "b/ü/5.md"]
WORDS = ["one", "zwei", "üç", "四", "𝟝"]


@st.composite
def writes(draw: st.DrawFn) -> tuple[str, str, list[str], dict[str, object]]:
    """(put, delete, note or conflict; path; lines; fields)."""
    fields: dict[str, object] = {
        "version": draw(st.sampled_from(["", "v1", "v2"])),
        "language": draw(st.sampled_from(["en", "de"])),
        "bulk": draw(st.booleans()),
    }
    lines = draw(st.lists(st.sampled_from(WORDS), unique=True, max_size=4))
    kind = draw(st.sampled_from(["put", "put", "delete", "note", "conflict"]))
    return kind, draw(st.sampled_from(PATHS)), lines, {**fields, "generations": draw(st.sampled_from(["a", "b", "ab"]))}


def cut(path: str, text: str, generations: object) -> list[pb.Head]:
    names = {"a": GENERATION, "b": OTHER}
    return [cut_lines(name_document(path), text, names[letter]) for letter in str(generations)]


class Model:
    """Records by path, changed as the contract says."""

    def __init__(self) -> None:
        self.records: dict[str, pb.Document] = {}

    def current(self) -> list[pb.Document]:
        return [record for _, record in sorted(self.records.items()) if not record.deleted]

    def stats(self, generation: str) -> pb.GetStatsResponse:
        stats = pb.GetStatsResponse()
        languages: Counter[str] = Counter()
        sources: dict[str, list[int]] = {}
        others: set[str] = set()
        for record in self.current():
            head = next((head for head in record.heads if head.generation == generation), None)
            counts = sources.setdefault(record.source, [0, 0])
            counts[0] += 1
            counts[1] += len(head.chunks) if head else 0
            languages[record.language] += 1
            if head is None:
                stats.other_generation_count += 1
                others.update(each.generation for each in record.heads)
            elif head.chunks:
                stats.embeddable_count += 1
                stats.embedded_count += not head.missing_vectors
                stats.missing_vector_count += len(head.missing_vectors)
        stats.document_count = sum(counts[0] for counts in sources.values())
        stats.chunk_count = sum(counts[1] for counts in sources.values())
        for name in sorted(sources):
            stats.sources.add(source=name, document_count=sources[name][0], chunk_count=sources[name][1])
        stats.versions.extend(sorted({record.version for record in self.current()} - {""}))
        stats.languages.extend(sorted(languages, key=lambda name: (-languages[name], name)))
        stats.other_generations.extend(sorted(others))
        return stats

    def unfinished(self, generation: str) -> list[str]:
        rows = [
            (record.bulk, record.put_at_milliseconds, record.document_id)
            for record in self.records.values()
            for head in record.heads
            if head.generation == generation and (head.missing_vectors or not head.swept)
        ]
        return [row[2] for row in sorted(rows)]


async def write(
    store: DocumentStore, model: Model, now: int, kind: str, path: str, lines: list[str], fields: dict[str, object]
) -> None:
    standing = model.records.get(path)
    revision = standing.revision if standing else 0
    text = "".join(f"{line}\n" for line in lines)
    rest = {name: value for name, value in fields.items() if name != "generations"}
    if kind == "note":
        note = pb.NoteDocumentsItem(
            document_id=name_document(path), project=PROJECT, generation=GENERATION, revision=revision
        )
        head = next((each for each in standing.heads if each.generation == GENERATION), None) if standing else None
        note.swept = len(lines) % 2 == 0
        note.embedded_chunk_ids.extend(head.missing_vectors[: len(lines)] if head else [])
        assert await store.note_documents([note]) == [head is not None]
        if head is not None:
            head.swept = head.swept or note.swept
            head.missing_vectors[:] = [each for each in head.missing_vectors if each not in note.embedded_chunk_ids]
        return
    if kind == "delete":
        document = make_tombstone(path, revision + 1, **rest)
    else:
        document = make_record(path, text, revision=revision + 1, heads=cut(path, text, fields["generations"]), **rest)
    expected = revision if kind != "conflict" else revision + 1
    document.revision = expected + 1
    [outcome] = await store.put_documents(to_put(document), now)
    assert (outcome.committed, outcome.revision) == ((False, revision) if kind == "conflict" else (True, revision + 1))
    if outcome.committed:
        document.put_at_milliseconds = now
        model.records[path] = document


async def check(store: DocumentStore, model: Model) -> None:
    for generation in (GENERATION, OTHER):
        assert await store.get_stats(PROJECT, generation) == model.stats(generation)
        found = await store.list_unfinished(PROJECT, generation, None, 100)
        assert [each.document.document_id for each in found] == model.unfinished(generation)
        expected = [
            (span.chunk_id, record.text[span.start : span.end], span.chunk_id not in head.missing_vectors)
            for record in model.current()
            for head in record.heads
            if head.generation == generation
            for span in head.chunks
        ]
        asked = [name for path in PATHS for name in every_chunk(path)]
        chunks = await store.hydrate_chunks(PROJECT, generation, asked, with_neighbors=False)
        assert sorted((each.chunk_id, each.text, each.has_vector) for each in chunks) == sorted(expected)
    listed = await store.list_documents(PROJECT, GENERATION, "", "", 100)
    assert [each.path for each in listed] == sorted((record.path for record in model.current()), key=listing_key)
    for path, item in zip(PATHS, await store.get_by_path(PROJECT, PATHS, View(include_text=True)), strict=True):
        assert item.HasField("document") == (path in model.records)
        if path in model.records:
            assert item.document == model.records[path]


def every_chunk(path: str) -> list[str]:
    text = "".join(f"{word}\n" for word in WORDS)
    return [chunk.chunk_id for head in cut(path, text, "ab") for chunk in head.chunks]


def in_new_store(engine: StoreEngine, work: Callable[[DocumentStore], Awaitable[None]]) -> None:
    async def run(folder: str) -> None:
        own = engine.settings()
        store = await engine.open(own, Path(folder))
        try:
            await work(store)
        finally:
            await store.close()
            await engine.forget(own)

    with TemporaryDirectory() as folder:
        asyncio.run(run(folder))


def test_any_sequence_of_writes_leaves_what_a_plain_model_has(store_engine: StoreEngine) -> None:
    @settings(max_examples=store_engine.examples, deadline=None)
    @given(st.lists(writes(), max_size=12))
    def agree(sequence: list[tuple[str, str, list[str], dict[str, object]]]) -> None:
        async def work(store: DocumentStore) -> None:
            model = Model()
            for now, (kind, path, lines, fields) in enumerate(sequence, 1):
                await write(store, model, now, kind, path, lines, fields)
                await check(store, model)

        in_new_store(store_engine, work)

    agree()


def test_documents_that_stand_are_listed_once_whatever_is_put_and_deleted_between_pages(
    store_engine: StoreEngine,
) -> None:
    @settings(max_examples=store_engine.examples, deadline=None)
    @given(
        standing=st.lists(
            st.sampled_from([f"{folder}/{name}" for folder in ("a", "a/b", "a-b", "c") for name in "mnop"]), unique=True
        ),
        coming=st.lists(
            st.sampled_from([f"{folder}/{name}" for folder in ("a", "a/b", "a-b", "b", "c") for name in "kxz"])
        ),
        size=st.integers(1, 4),
    )
    def list_amid_changes(standing: list[str], coming: list[str], size: int) -> None:
        async def work(store: DocumentStore) -> None:
            service = DocstoreService(DocstoreSettings(), store)
            await store.put_documents(to_put(*(make_record(path) for path in standing)), 1)
            revisions: Counter[str] = Counter()
            changes, listed, token = iter(coming), list[str](), ""
            for _ in range(len(standing) + len(coming) + 2):
                page = await service.list_documents(
                    pb.ListDocumentsRequest(project=PROJECT, generation=GENERATION, page_size=size, page_token=token)
                )
                listed += [each.path for each in page.documents]
                token = page.next_page_token
                if not token:
                    break
                for path in [each for each in (next(changes, ""), next(changes, "")) if each]:
                    revisions[path] += 1
                    make = make_tombstone if revisions[path] % 2 == 0 else make_record
                    await store.put_documents(to_put(make(path, revision=revisions[path])), 2)
                for path in standing[:2]:  # an edit does not move a document
                    revisions[path] += 1
                    await store.put_documents(to_put(make_record(path, "new\n", revision=revisions[path] + 1)), 3)
            assert not token
            assert listed == sorted(listed, key=listing_key)
            assert Counter(path for path in listed if path in standing) == Counter(standing)

        in_new_store(store_engine, work)

    list_amid_changes()


def test_the_model_can_fail(store_engine: StoreEngine) -> None:
    async def work(store: DocumentStore) -> None:
        model = Model()
        await write(store, model, 1, "put", PATHS[0], ["one"], {"generations": "a", "version": "", "language": "en"})
        model.records[PATHS[0]].heads[0].missing_vectors.pop()
        with pytest.raises(AssertionError):
            await check(store, model)

    in_new_store(store_engine, work)
