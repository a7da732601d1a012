"""Runs a search as a surface would and explains it: for operators, on the HTTP API and the command line."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.api.search.v1.search_protocol import Search
from refdesk.errors import InvalidArgument
from refdesk.gateway.answers import Question, SearchCore
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.explaining import explain, why_not
from refdesk.gateway.profiles import CONNECTOR, DOCS, NOTES, PROCEDURES, SITE
from refdesk.rpc import deadline

PROFILES = {profile.name: profile for profile in (DOCS, SITE, PROCEDURES, NOTES, CONNECTOR)}
QUESTION_SECONDS = 10.0


class Asked(BaseModel):
    """What is to be explained."""

    model_config = ConfigDict(extra="forbid")

    query: Annotated[str, Field(min_length=1, max_length=2000)]
    surface: Literal["docs", "site", "procedures", "notes", "connector"] = "docs"
    mode: Literal["hybrid", "lexical", "semantic"] = "hybrid"
    limit: Annotated[int, Field(ge=1, le=50)] = 5
    sources: tuple[str, ...] = ()
    path_prefix: str = ""
    versions: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    why_not: Annotated[str, Field(max_length=4096)] = ""


class Explanations:
    """Traces questions by the search core of every surface."""

    def __init__(self, docstore: Docstore, search: Search, embedder: Embedder) -> None:
        self._docstore = docstore
        self._catalog = Catalog(docstore, embedder, None, most_seconds=1.0, read_seconds=QUESTION_SECONDS)
        self._core = SearchCore(docstore, search, self._catalog)

    async def run(self, slug: str, body: bytes) -> dict[str, Any]:
        """The explanation of a search that a body of JSON describes.

        Raises: InvalidArgument naming the field; NotFound; Unavailable.
        """
        asked = read(body)
        with deadline.limit(QUESTION_SECONDS):
            project = (await self._docstore.get_project(docstore_api.GetProjectRequest(project=slug))).project
            stats = await self._catalog.stats(project)
            question = _question(project, asked, stats)
            trace = await self._core.trace(question)
            explained = explain(question, trace)
            if asked.why_not:
                path = asked.why_not.strip("/")
                request = docstore_api.GetDocumentsRequest(project=slug, paths=[path])
                [item] = (await self._docstore.get_documents(request)).items
                explained["why_not"] = why_not(question, trace, path, item)
        return explained


def read(body: bytes) -> Asked:
    """What a body asks for. Raises: InvalidArgument naming the field."""
    try:
        return Asked.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        raise InvalidArgument(f"{where}: {first['msg'][:200].lower()}") from None


def _question(project: docstore_api.Project, asked: Asked, stats: docstore_api.GetStatsResponse) -> Question:
    wanted = search_api.Filter(
        sources=asked.sources, path_prefix=asked.path_prefix.strip("/"), versions=asked.versions, kinds=asked.kinds
    )
    share = stats.embedded_count / stats.embeddable_count if stats.embeddable_count else 1.0
    return Question(project, asked.query, asked.limit, wanted, PROFILES[asked.surface], asked.mode, share)
