"""Reading parts of a document: sections by breadcrumb, ranges of chunks, and cuts that lose nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.errors import InvalidArgument, NotFound, RefdeskError
from refdesk.gateway.budgets import Packer
from refdesk.gateway.surfaces.docs import instructions
from refdesk.gateway.surfaces.docs.cutting import Cutter
from refdesk.gateway.surfaces.docs.document import ReadDocument
from refdesk.gateway.surfaces.docs.reading import head_chunks, section_spans
from refdesk.gateway.surfaces.docs.resources import resource_path, resource_uri
from refdesk.gateway.surfaces.docs.tools import READ_DOCUMENT
from refdesk.gateway.tokens import TokenCounter, estimate_tokens
from surfaces.fakes import GENERATION, MODEL, FakeDocstore, FakeEmbedder, Part, count_words, make_document

GUIDE = make_document(
    "docs/guide.md",
    "Guide",
    [
        Part((), "Before any heading."),
        Part(("Guide",), "About."),
        Part(("Guide", "Install"), "Install it."),
        Part(("Guide", "Install", "Docker"), "With Docker."),
        Part(("Guide", "Use"), "Use it."),
        Part(("Guide", "Notes"), "First notes."),
        Part(("Guide", "Notes"), "Second notes."),
        Part(("Old", "Docker"), "Old Docker."),
    ],
)
PROJECT = docstore_api.Project(slug="handbook", model_id=MODEL, live_generation=GENERATION)


def texts(heading: str) -> list[str]:
    spans = section_spans(GUIDE, head_chunks(GUIDE, GENERATION), heading)
    return [GUIDE.text[span.start : span.end].strip() for span in spans]


def test_a_breadcrumb_gives_that_section_with_its_subsections() -> None:
    assert texts("Guide > Install") == ["## Install\n\nInstall it.\n\n### Docker\n\nWith Docker."]
    assert texts("Guide > Install > Docker") == ["### Docker\n\nWith Docker."]


def test_case_and_white_space_of_a_breadcrumb_do_not_matter() -> None:
    assert texts("guide>  INSTALL > docker") == ["### Docker\n\nWith Docker."]


def test_equal_breadcrumbs_give_every_section_that_bears_them() -> None:
    assert texts("Guide > Notes") == ["## Notes\n\nFirst notes.", "## Notes\n\nSecond notes."]


def test_the_last_headings_alone_are_enough_where_they_fit_one_section() -> None:
    assert texts("Use") == ["## Use\n\nUse it."]


def test_last_headings_that_fit_several_sections_name_the_candidates() -> None:
    with pytest.raises(
        InvalidArgument, match=r'fits several of docs/guide.md: "Guide > Install > Docker", "Old > Docker"'
    ):
        texts("Docker")


@pytest.mark.promise("docs.46")
def test_an_unknown_heading_is_answered_with_at_most_forty_that_exist() -> None:
    many = make_document("a.md", "A", [Part((f"H{number}",), "text") for number in range(45)])
    with pytest.raises(NotFound) as refusal:
        section_spans(many, head_chunks(many, GENERATION), "none")
    assert refusal.value.message.startswith('no heading "none" in a.md; its headings: "H0", "H1", ')
    assert refusal.value.message.endswith('"H39" and 5 more')


def reader(*documents: docstore_api.Document, embedder: FakeEmbedder | None = None) -> ReadDocument:
    docstore: Any = FakeDocstore(list(documents))
    tokens = TokenCounter(embedder or FakeEmbedder(), 1.0)
    return ReadDocument(docstore, Cutter(tokens), Packer(tokens))


async def read(document: docstore_api.Document, embedder: FakeEmbedder | None = None, **given_arguments: Any) -> Any:
    arguments = READ_DOCUMENT.read({"path": document.path, **given_arguments})
    return await reader(document, embedder=embedder).run(PROJECT, arguments)


@pytest.mark.promise("docs.42")
@pytest.mark.anyio
async def test_a_range_of_chunks_is_inclusive_and_counts_from_zero() -> None:
    answer = await read(GUIDE, **{"from": 2, "to": 3})
    assert answer.structured["text"] == "## Install\n\nInstall it.\n\n### Docker\n\nWith Docker."


@pytest.mark.anyio
async def test_an_open_range_ends_where_the_document_does() -> None:
    assert (await read(GUIDE, to=0)).structured["text"] == "Before any heading."
    assert (await read(GUIDE, **{"from": 7, "to": 99})).structured["text"] == "## Docker\n\nOld Docker."


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("given_arguments", "message"),
    [
        ({"from": 8}, "from 8 is past the end: docs/guide.md has chunks 0 to 7"),
        ({"from": 3, "to": 2}, "from 3 is above to 2: give the first chunk as from and the last as to"),
        ({"heading": "Guide", "from": 1}, "give heading, or from and to, not both"),
    ],
)
async def test_a_range_that_does_not_exist_is_refused(given_arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(RefdeskError) as refusal:
        await read(GUIDE, **given_arguments)
    assert refusal.value.message == message


def long_document(chunks: int, words: int) -> docstore_api.Document:
    parts = [Part((f"H{number}",), " ".join([f"w{number}"] * words)) for number in range(chunks)]
    return make_document("docs/long.md", "Long", parts)


@pytest.mark.promise("docs.43", "docs.44")
@pytest.mark.anyio
async def test_a_cut_names_the_call_for_the_rest_and_all_calls_together_give_the_whole_text() -> None:
    document = long_document(chunks=30, words=100)
    texts_read, arguments = [], {"max_tokens": 1000}
    for _ in range(30):
        answer = await read(document, **arguments)
        assert count_words(answer.text) <= 1000
        texts_read.append(answer.structured["text"])
        if not answer.structured["is_cut"]:
            break
        arguments = {name: value for name, value in answer.structured["next"].items() if name != "path"}
        assert f"[Cut at 1,000 tokens, before chunk {arguments['from']} of 30. For the rest: " in answer.text
        assert f'read_document(path="docs/long.md", from={arguments["from"]}, max_tokens=1000)]' in answer.text
    assert len(texts_read) > 3
    assert "\n\n".join(texts_read) == document.text.strip()


@pytest.mark.anyio
async def test_the_rest_of_a_section_stays_inside_the_section() -> None:
    parts = [Part(("Top",), "t"), *(Part(("Top", f"S{number}"), "word " * 150) for number in range(6))]
    document = make_document("docs/s.md", "S", [*parts, Part(("Other",), "o")])
    answer = await read(document, heading="Top", max_tokens=500)
    assert answer.structured["next"] == {"path": "docs/s.md", "from": 3, "to": 6, "max_tokens": 500}


@pytest.mark.anyio
async def test_a_chunk_over_the_cap_is_cut_inside_and_the_call_that_shows_it_whole_is_named() -> None:
    document = long_document(chunks=2, words=400)
    answer = await read(document, max_tokens=200)
    assert count_words(answer.text) <= 200
    assert answer.structured["text"].startswith("# H0\n\nw0 w0")
    assert "inside chunk 0 of 2" in answer.text
    more = answer.structured["next"]
    assert (await read(document, **{k: v for k, v in more.items() if k != "path"})).structured["text"].count(
        "w0"
    ) == 400


@pytest.mark.anyio
async def test_a_text_of_one_endless_word_is_cut_by_its_characters() -> None:
    document = make_document("docs/one.md", "One", [Part((), "x" * 500_000)])
    answer = await read(document, max_tokens=200)
    assert len(answer.text) < 10_000
    assert answer.structured["is_cut"]


@pytest.mark.anyio
async def test_while_the_embedder_is_down_tokens_are_estimated_and_the_answer_says_so() -> None:
    answer = await read(long_document(chunks=30, words=100), FakeEmbedder(down=True), max_tokens=1000)
    assert answer.structured["is_cut"]
    assert "Tokens were estimated from characters: the embedder does not answer." in answer.text
    assert count_words(answer.text) <= 1000


@pytest.mark.anyio
async def test_a_text_that_surely_fits_costs_no_question_to_the_embedder() -> None:
    embedder = FakeEmbedder()
    await read(GUIDE, embedder)
    assert embedder.counted == []


@pytest.mark.promise("docs.43")
@pytest.mark.anyio
@given(st.integers(1, 12), st.integers(1, 120), st.integers(200, 900))
async def test_no_answer_has_more_tokens_than_asked(chunks: int, words: int, max_tokens: int) -> None:
    answer = await read(long_document(chunks, words), max_tokens=max_tokens)
    assert count_words(answer.text) <= max_tokens


@given(st.text(max_size=200))
def test_an_estimate_is_never_below_the_number_of_words(text: str) -> None:
    assert estimate_tokens(text) >= len(text.split()) / 2


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_a_resource_address_leads_back_to_its_path(path: str) -> None:
    uri = resource_uri("handbook", path)
    assert uri.isascii()
    assert resource_path("handbook", uri) == path


@pytest.mark.parametrize(
    "uri", ["contextator://other/docs/a.md", "https://x/y", "file:///etc/passwd", "contextator://handbook/%ff", ""]
)
def test_an_address_of_anything_else_is_not_found(uri: str) -> None:
    with pytest.raises(NotFound):
        resource_path("handbook", uri)


@pytest.mark.promise("docs.3")
@pytest.mark.parametrize("count", [0, 1, 3, 200, 5000])
@pytest.mark.parametrize("vectors", [0, 1783])
def test_instructions_fit_where_clients_cut_however_many_sources_there_are(count: int, vectors: int) -> None:
    sources = [
        docstore_api.Source(name=f"source-{number}", kind="folder", description="d" * 300) for number in range(count)
    ]
    project = docstore_api.Project(slug="p" * 63, description="x" * 900, sources=sources, live_generation=GENERATION)
    stats = docstore_api.GetStatsResponse(
        document_count=1783, chunk_count=20_000, embeddable_count=1783, embedded_count=vectors
    )
    text = instructions.compose(project, stats)
    assert len(text) <= 2048
    assert text.endswith(instructions.USAGE)
    assert text.split("\n")[1].startswith("Sources (the first segment of every path): source-0 (local: ") is (count > 0)
    assert "It holds 1,783 documents, 20,000 chunks." in text.split("\n")[0]
    assert ("Vectors: 0 of 1,783 documents" in text) is (vectors == 0)
    if count >= 200:
        assert " more\n" in text
