"""What every DocumentStore promises of chunks: only what a head lists, with the right text and neighbours."""

from __future__ import annotations

import pytest

from fakes.records import (
    GENERATION,
    PROJECT,
    cut_lines,
    hydrate,
    make_record,
    name_chunk,
    name_document,
    put,
    read,
)
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.docstore.engines.interface import DocumentStore

pytestmark = pytest.mark.anyio
OTHER = "model-b.c1"


async def test_chunks_are_hydrated_in_the_order_asked_with_place_and_neighbours(store: DocumentStore) -> None:
    text = "zero\none\ntwo\n"
    document = make_record("guide/a.md", text, url="https://d/a/", version="v2")
    await put(store, document, make_record("guide/b.md", "other\n"))
    ids = [chunk.chunk_id for chunk in document.heads[0].chunks]
    unlisted = name_chunk(document.document_id, "gone\n")
    found = await store.hydrate_chunks(PROJECT, GENERATION, [ids[2], unlisted, ids[0], ids[1]], with_neighbors=True)
    assert [(each.text, each.before, each.after) for each in found] == [
        ("two\n", "one\n", ""),
        ("zero\n", "", "one\n"),
        ("one\n", "zero\n", "two\n"),
    ]
    assert found[0] == pb.HydratedChunk(
        chunk_id=ids[2],
        document_id=document.document_id,
        path="guide/a.md",
        title="a.md",
        breadcrumb=["Top", "Line 3"],
        ordinal=2,
        chunk_count=3,
        text="two\n",
        before="one\n",
        has_vector=False,
        first_line=3,
        last_line=3,
        revision=1,
        source="guide",
        version="v2",
        url="https://d/a/",
        kind="documentation",
    )


async def test_offsets_count_characters_of_any_script_and_lead_and_tail_are_put_around(store: DocumentStore) -> None:
    text = "é𝔸😀\0漢字\nnext😀\n"
    document = make_record("guide/日本語/é😀.md", text)
    span = document.heads[0].chunks[1]
    span.lead, span.tail = "```py\n", "```\n"
    await put(store, document)
    first, second = (chunk.chunk_id for chunk in document.heads[0].chunks)
    assert await hydrate(store, second, first) == ["```py\nnext😀\n```\n", "é𝔸😀\0漢字\n"]
    assert (await read(store, "guide/日本語/é😀.md")).document.text == text


async def test_a_chunk_is_current_in_the_asked_generation_and_project_only(store: DocumentStore) -> None:
    identifier = name_document("guide/a.md")
    heads = [cut_lines(identifier, "one\n"), cut_lines(identifier, "one\n", OTHER)]
    await put(store, make_record("guide/a.md", "one\n", heads=heads))
    here, there = heads[0].chunks[0].chunk_id, heads[1].chunks[0].chunk_id
    assert await hydrate(store, here, there) == ["one\n"]
    assert await hydrate(store, there, generation=OTHER) == ["one\n"]
    assert await hydrate(store, here, there, project="other") == []
    assert await hydrate(store, "not an id") == []


async def test_an_edit_keeps_unchanged_chunks_and_drops_the_others_at_once(store: DocumentStore) -> None:
    await put(store, make_record("guide/a.md", "same\nold\n"))
    same, old, new = (name_chunk(name_document("guide/a.md"), line) for line in ("same\n", "old\n", "new\n"))
    assert await hydrate(store, same, old, new) == ["same\n", "old\n"]
    await put(store, make_record("guide/a.md", "new\nsame\n", revision=2))
    assert await hydrate(store, same, old, new) == ["same\n", "new\n"]


async def test_a_hydrated_chunk_says_when_its_vector_has_come(store: DocumentStore) -> None:
    document = make_record("guide/a.md", "one\n")
    silent = make_record("guide/b.md", "zwei\n")
    silent.heads[0].embeddable = False
    del silent.heads[0].missing_vectors[:]
    await put(store, document, silent)
    ids = [each.heads[0].chunks[0].chunk_id for each in (document, silent)]

    async def vectors() -> list[bool]:
        return [each.has_vector for each in await store.hydrate_chunks(PROJECT, GENERATION, ids, with_neighbors=False)]

    assert await vectors() == [False, False]
    note = pb.NoteDocumentsItem(
        document_id=document.document_id, project=PROJECT, generation=GENERATION, revision=1, embedded_chunk_ids=ids[:1]
    )
    assert await store.note_documents([note]) == [True]
    assert await vectors() == [True, False]
