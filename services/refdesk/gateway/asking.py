"""How every surface asks: what stands in a search's way is said in one wording; knows no surface and no tool."""

from __future__ import annotations

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.errors import InvalidArgument, NotFound
from refdesk.gateway.answers import Answer, Question, SearchCore
from refdesk.gateway.catalog import Catalog
from refdesk.generation import read_name

REINDEX = "its operator has to re-index it (refdesk generation build, or refdesk up --reindex)"


class Asking:
    """Asks the search core for a surface."""

    def __init__(self, core: SearchCore, catalog: Catalog) -> None:
        self._core = core
        self._catalog = catalog

    async def stats(self, project: docstore_api.Project) -> docstore_api.GetStatsResponse:
        """Counts of what can be searched. Raises: InvalidArgument where it is all of another model; Unavailable."""
        stats = await self._catalog.stats(project)
        if problem := other_model(project, stats):
            raise InvalidArgument(problem)
        return stats

    async def ask(self, question: Question) -> Answer:
        """The best current chunks. Raises: InvalidArgument where nothing can be searched for, or the model is not hosted; Unavailable."""
        try:
            return await self._core.answer(question)
        except NotFound as error:  # of all that a search needs, only the model can be missing
            raise InvalidArgument(_not_hosted(question.project, error.message)) from None


def other_model(project: docstore_api.Project, stats: docstore_api.GetStatsResponse) -> str:
    """Why a project that was indexed with another model cannot be searched; empty when it can."""
    if stats.chunk_count or not stats.other_generation_count:
        return ""
    before = list(dict.fromkeys(map(_model_of, stats.other_generations)))
    now = _model_of(project.live_generation)
    if before == [now]:  # one model, cut otherwise
        before, now = list(stats.other_generations), project.live_generation
    return (
        f'project "{project.slug}" was indexed with {" and ".join(before) or "another model"}, but is set to {now}: '
        f"{REINDEX}, or set the model back"
    )


def _not_hosted(project: docstore_api.Project, reason: str) -> str:
    """Why a project whose model nothing hosts cannot be searched by meaning; `reason` names what is hosted."""
    return f'project "{project.slug}" was indexed with {project.model_id}, but {reason}; {REINDEX}'


def _model_of(generation: str) -> str:
    return read_name(generation)[0]
