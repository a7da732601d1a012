"""Comparing two generations: each question is asked of both with its own model, and what differs is said."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from fakes.embedder import FakeEmbedder
from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.api.ingest.v1 import ingest_pb2
from refdesk.api.search.v1 import search_pb2
from refdesk.commands import generation
from refdesk.commands.generation_lines import generation_lines
from refdesk.errors import InvalidArgument
from refdesk.gateway.comparing import Answered, Compared, Comparison
from refdesk.gateway.operator import build_operator

pytestmark = pytest.mark.anyio
LIVE, OTHER = "made.c1", "other.c2"
PROJECT = docstore_pb2.Project(
    slug="p",
    live_generation=LIVE,
    model_id="made",
    followed_generations=[LIVE, OTHER],
    building_generation=OTHER,
)


class Engines:
    """Docstore and search of two generations: the words of a question name the documents that each one finds."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.project = PROJECT

    async def get_project(self, _: Any) -> Any:
        return docstore_pb2.GetProjectResponse(project=self.project)

    async def retrieve(self, request: Any) -> Any:
        self.asked.append((request.generation, request.model_id))
        both, _, one = request.legs[0].text.partition("|")
        names = both.split() + (one.split() if request.generation == LIVE else [])
        hits = [search_pb2.Hit(chunk_id=f"{request.generation}/{name}", cosine=0.9) for name in names]
        kind = search_pb2.LEG_KIND_SEMANTIC
        leg = search_pb2.LegResult(kind=kind, status=search_pb2.LEG_STATUS_RAN, hits=hits)
        words = search_pb2.LegResult(status=search_pb2.LEG_STATUS_SKIPPED, kind=search_pb2.LEG_KIND_LEXICAL)
        return search_pb2.RetrieveResponse(legs=[words, leg])

    async def hydrate_chunks(self, request: Any) -> Any:
        names = {one: one.partition("/")[2] for one in request.chunk_ids}
        found = [
            docstore_pb2.HydratedChunk(chunk_id=one, document_id=name, path=name)
            for one, name in names.items()
            if one.startswith(f"{request.generation}/")
        ]
        return docstore_pb2.HydrateChunksResponse(chunks=found)


def comparison(engines: Engines) -> Comparison:
    return Comparison(engines, engines, FakeEmbedder())  # type: ignore[arg-type]


async def test_each_generation_is_asked_with_its_own_model_in_turns() -> None:
    engines = Engines()
    live, other, compared = await comparison(engines).run("p", "", ["a b | c", "a"])
    assert (live, other) == (LIVE, OTHER)
    assert engines.asked == [(LIVE, "made"), (OTHER, "other"), (OTHER, "other"), (LIVE, "made")]
    assert [one.live.paths for one in compared] == [("a", "b", "c"), ("a",)]
    assert [one.other.paths for one in compared] == [("a", "b"), ("a",)]
    assert [one.overlap for one in compared] == [pytest.approx(2 / 3), 1.0]


async def test_a_question_that_nothing_is_found_for_is_refused_and_two_empty_answers_are_the_same() -> None:
    _, _, [compared] = await comparison(Engines()).run("p", OTHER, ["|only"])
    assert (compared.live.refused, compared.other.refused, compared.overlap) == (False, True, 0.0)
    assert Compared("q", Answered((), True, 1), Answered((), True, 1)).overlap == 1.0


@pytest.mark.parametrize(
    ("name", "questions", "why"),
    [
        ("made.c9", ["a"], r"made\.c9 of project p is not followed, but made\.c1, other\.c2"),
        ("", [], "0 questions; send 1 to 100"),
        ("", ["a"] * 101, "101 questions"),
        ("", [" "], "a question has 1 characters"),
    ],
)
async def test_what_cannot_be_compared_is_refused(name: str, questions: list[str], why: str) -> None:
    with pytest.raises(InvalidArgument, match=why):
        await comparison(Engines()).run("p", name, questions)


async def test_without_a_second_generation_there_is_nothing_to_compare() -> None:
    engines = Engines()
    engines.project = docstore_pb2.Project(slug="p", live_generation=LIVE, followed_generations=[LIVE])
    with pytest.raises(InvalidArgument, match="one generation only: build another"):
        await comparison(engines).run("p", "", ["a"])


class Ingest:
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def build_generation(self, request: Any) -> Any:
        self.asked.append(request)
        return ingest_pb2.BuildGenerationResponse(generation=OTHER)

    async def roll_back_generation(self, request: Any) -> Any:
        self.asked.append(request)
        raise InvalidArgument("no generation of project p is followed for rollback any more: build one anew")


def test_the_operator_api_passes_generation_calls_on_and_says_what_is_wrong() -> None:
    engines, ingest = Engines(), Ingest()
    app = build_operator(engines, ingest, comparison(engines), None)  # type: ignore[arg-type]
    client = TestClient(app, base_url="http://127.0.0.1")
    folder = "/api/operator/projects/p/generations"
    assert client.post(f"{folder}/build?model=other&chunker=2&hold=true").json() == {"generation": OTHER}
    wanted = ingest_pb2.BuildGenerationRequest(project="p", model_id="other", chunker_version=2, hold_switch=True)
    assert ingest.asked == [wanted]
    assert client.post(f"{folder}/build?chunker=two").status_code == 400
    refused = client.post(f"{folder}/rollback")
    assert (refused.status_code, refused.json()["detail"].startswith("no generation of project p")) == (400, True)
    for body in (b"", b"{}", b'{"questions": "a"}', b'{"questions": [1]}'):
        assert client.post(f"{folder}/compare", content=body).status_code == 400
    answer = client.post(f"{folder}/compare", json={"questions": ["a | b"]}).json()
    assert (answer["live"], answer["other"], answer["questions"][0]["overlap"]) == (LIVE, OTHER, 0.5)


def row(question: str, overlap: float, *, refused: tuple[bool, bool] = (False, False), took: float = 10) -> Any:
    sides = {"paths": ["a"], "milliseconds": took}
    live, other = ({**sides, "refused": one} for one in refused)
    return {"question": question, "overlap": overlap, "live": live, "other": other}


def test_a_comparison_is_summed_up_and_the_most_different_questions_are_named() -> None:
    rows = [row(f"same {n}", 1.0, took=n) for n in range(1, 9)]
    rows += [row("half", 0.5, took=9), row("refused by one", 1.0, refused=(False, True), took=10)]
    assert list(generation.comparison_lines(LIVE, OTHER, rows)) == [
        "10 questions, documents that both have among their best ten excerpts: 0.95",
        "the same document first: 10 of 10",
        "made.c1   refused 0, p50 5 ms, p95 10 ms",
        "other.c2  refused 1, p50 5 ms, p95 10 ms",
        "0.50  half",
        "1.00  refused by one, refused by other.c2",
    ]


def test_each_role_has_a_line_of_its_own() -> None:
    shared = {"document_count": "1200", "behind_count": "0", "embedded_count": "9", "embeddable_count": "10"}
    shared |= {"until_milliseconds": "0", "message": "", "hold_switch": False}  # type: ignore[dict-item]
    rows: list[Any] = [
        {**shared, "generation": "a.c1", "role": "GENERATION_ROLE_LIVE"},
        {**shared, "generation": "a.c22", "role": "GENERATION_ROLE_BUILDING", "behind_count": "200", "message": "why"},
        {**shared, "generation": "b.c1", "role": "GENERATION_ROLE_ROLLBACK", "until_milliseconds": "86400000"},
        {**shared, "generation": "c.c1", "role": "GENERATION_ROLE_DROPPED"},
    ]
    live, building, why, kept, dropped = generation_lines(rows)
    assert live == "a.c1   answers: words 1,200 of 1,200 documents, vectors 9 of 10"
    assert building.startswith("a.c22  is being built: words 1,000 of 1,200 documents")
    assert why == "  why"
    assert kept.startswith("b.c1   is followed until 1970-01-0")
    assert dropped == "c.c1   is being dropped"


def test_questions_are_read_one_a_line_and_the_log_is_named_as_what_is_missing(tmp_path: Any) -> None:
    file = tmp_path / "questions.txt"
    file.write_text("how do I?\n\n  what is it \n")
    assert generation.read_questions(file) == ["how do I?", "what is it"]
    file.write_text("\n")
    with pytest.raises(InvalidArgument, match="holds none"):
        generation.read_questions(file)
    with pytest.raises(InvalidArgument, match="cannot be read"):
        generation.read_questions(tmp_path / "nothing")
    with pytest.raises(InvalidArgument, match="not logged yet: name a file"):
        generation.read_logged("p")
