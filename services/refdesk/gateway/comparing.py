"""Asks questions of two generations of one project and says how their answers differ; knows nothing of where questions come from."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.api.search.v1.search_protocol import Search
from refdesk.errors import InvalidArgument
from refdesk.gateway.answers import Question, SearchCore
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.profiles import DOCS
from refdesk.generation import read_name
from refdesk.rpc import deadline

RESULTS = 10
MOST_QUESTIONS = 100
QUESTION_CHARACTERS = 2_000
QUESTION_SECONDS = 10.0


@dataclass(frozen=True)
class Answered:
    """What one generation answers: documents of its best ten excerpts, best first, whether the floor refuses it, how long it took."""

    paths: tuple[str, ...]
    refused: bool
    milliseconds: float


@dataclass(frozen=True)
class Compared:
    """One question, as the live generation and the other one answer it."""

    question: str
    live: Answered
    other: Answered

    @property
    def overlap(self) -> float:
        """The share of documents that both have among their best ten excerpts; 1 where both have the same, or none."""
        live, other = set(self.live.paths), set(self.other.paths)
        return len(live & other) / max(len(live), len(other)) if live or other else 1.0


class Comparison:
    """Answers by the search core of every surface, for whichever generation is asked."""

    def __init__(self, docstore: Docstore, search: Search, embedder: Embedder) -> None:
        self._docstore = docstore
        catalog = Catalog(docstore, embedder, None, most_seconds=1.0, read_seconds=QUESTION_SECONDS)
        self._core = SearchCore(docstore, search, catalog)

    async def run(self, slug: str, generation: str, questions: Sequence[str]) -> tuple[str, str, list[Compared]]:
        """The two generations' names, and an outcome a question; where none is named, the other one is that which is being built, else the
        one that was live last.

        Raises: InvalidArgument for no question, too many or too long ones, or a generation that is not followed; NotFound, Unavailable.
        """
        _check(questions)
        project = (await self._docstore.get_project(docstore_api.GetProjectRequest(project=slug))).project
        other = _answering(project, generation or _find_other(project))
        compared = []
        for number, question in enumerate(questions):
            # In turns: whichever is asked second finds the question's vector at hand where both have one model.
            turns = (project, other) if number % 2 == 0 else (other, project)
            first, second = [await self._ask(one, question) for one in turns]
            live, built = (first, second) if number % 2 == 0 else (second, first)
            compared.append(Compared(question, live, built))
        return project.live_generation, other.live_generation, compared

    async def _ask(self, project: docstore_api.Project, text: str) -> Answered:
        question = Question(project, text, RESULTS, search_api.Filter(), DOCS)
        started = time.perf_counter()
        try:
            with deadline.limit(QUESTION_SECONDS):
                answer = await self._core.answer(question)
        except InvalidArgument:  # nothing in it can be searched
            return Answered((), True, 1000 * (time.perf_counter() - started))
        paths = tuple(result.chunk.path for result in answer.results)
        return Answered(paths, not answer.is_good or not paths, 1000 * (time.perf_counter() - started))


def _check(questions: Sequence[str]) -> None:
    if not 1 <= len(questions) <= MOST_QUESTIONS:
        raise InvalidArgument(f"{len(questions)} questions; send 1 to {MOST_QUESTIONS} a call")
    for question in questions:
        if not question.strip() or len(question) > QUESTION_CHARACTERS:
            raise InvalidArgument(
                f"a question has {len(question)} characters; 1 to {QUESTION_CHARACTERS}, not all blank"
            )


def _find_other(project: docstore_api.Project) -> str:
    if project.building_generation:
        return project.building_generation
    if project.rollback_generations:
        return project.rollback_generations[-1].generation
    raise InvalidArgument(f"project {project.slug} has one generation only: build another one to compare it with")


def _answering(project: docstore_api.Project, generation: str) -> docstore_api.Project:
    """The project as it would be if this generation answered. Raises: InvalidArgument where it is not followed."""
    if generation not in project.followed_generations:
        followed = ", ".join(project.followed_generations)
        raise InvalidArgument(f"generation {generation} of project {project.slug} is not followed, but {followed}")
    changed = docstore_api.Project()
    changed.CopyFrom(project)
    changed.live_generation, changed.model_id = generation, read_name(generation)[0]
    return changed
