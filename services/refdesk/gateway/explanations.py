"""Runs a search as a surface would and explains it: for operators, on the HTTP API and the command line."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.docstore.v1.docstore_protocol import Docstore
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.api.search.v1.search_protocol import Search
from refdesk.errors import InvalidArgument
from refdesk.gateway.answers import Question, SearchCore, embedded_share
from refdesk.gateway.bodies import read_body
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.explaining import explain, why_not
from refdesk.gateway.profiles import CONNECTOR, DOCS, NOTES, PROCEDURES, SITE
from refdesk.gateway.surfaces.notes.query import make_question, read_legs
from refdesk.gateway.surfaces.notes.tools import DEFAULT_CANDIDATES
from refdesk.rpc import deadline

PROFILES = {profile.name: profile for profile in (DOCS, SITE, PROCEDURES, NOTES, CONNECTOR)}
QUESTION_SECONDS = 10.0


class SubQuery(BaseModel):
    """One sub-query of the surface notes."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["lex", "vec", "hyde"]
    query: Annotated[str, Field(min_length=1, max_length=2000)]


class Asked(BaseModel):
    """What is to be explained."""

    model_config = ConfigDict(extra="forbid")

    query: Annotated[str, Field(max_length=2000)] = ""
    searches: Annotated[tuple[SubQuery, ...], Field(max_length=10)] = ()
    """Of the surface notes, in the place of `query`."""
    intent: Annotated[str, Field(max_length=500)] = ""
    candidate_limit: Annotated[int, Field(ge=1, le=100)] = DEFAULT_CANDIDATES
    surface: Literal["docs", "site", "procedures", "notes", "connector"] = "docs"
    mode: Literal["hybrid", "lexical", "semantic"] = "hybrid"
    limit: Annotated[int, Field(ge=1, le=100)] = 5
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
    asked = read_body(Asked, body)
    if bool(asked.query) == bool(asked.searches) or (asked.searches and asked.surface != NOTES.name):
        raise InvalidArgument("query: give a query, or for the surface notes searches, one of the two")
    return asked


def _question(project: docstore_api.Project, asked: Asked, stats: docstore_api.GetStatsResponse) -> Question:
    wanted = search_api.Filter(
        sources=asked.sources, path_prefix=asked.path_prefix.strip("/"), versions=asked.versions, kinds=asked.kinds
    )
    if asked.surface == NOTES.name and asked.mode == "hybrid":
        arguments = {
            "searches": [search.model_dump() for search in asked.searches] or None,
            "query": asked.query or None,
            "intent": asked.intent or None,
            "limit": asked.limit,
            "candidateLimit": asked.candidate_limit,
            "collections": asked.sources,
        }
        return replace(make_question(project, stats, arguments, read_legs(arguments)), filter=wanted)
    share = embedded_share(stats)
    return Question(project, asked.query, asked.limit, wanted, PROFILES[asked.surface], asked.mode, share)
