"""Small stand-ins for the services that the gateway asks: a library in memory whose every answer a test can set."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from fakes.docstore import resolve_ids
from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.embedder.v1 import embedder_pb2 as embedder_api
from refdesk.api.ingest.v1 import ingest_pb2 as ingest_api
from refdesk.api.search.v1 import search_pb2 as search_api

MODEL = "all-MiniLM-L6-v2"
GENERATION = f"{MODEL}.c1"


@dataclass(frozen=True)
class Part:
    """A heading with the text right under it; it becomes one section and one chunk."""

    breadcrumb: tuple[str, ...]
    text: str


def make_document(path: str, title: str, parts: Sequence[Part], *, version: str = "") -> docstore_api.Document:
    """A record whose text is its parts under their headings; a part without a breadcrumb has no heading."""
    document = docstore_api.Document(
        document_id=f"id of {path}", source=path.split("/")[0], path=path, title=title, version=version, revision=1
    )
    head = document.heads.add(generation=GENERATION, swept=True, embeddable=True)
    text = ""
    for place, part in enumerate(parts):
        heading = f"{'#' * len(part.breadcrumb)} {part.breadcrumb[-1]}\n\n" if part.breadcrumb else ""
        start = len(text)
        text += f"{heading}{part.text}"
        head.chunks.add(chunk_id=f"{path}#{place}", breadcrumb=part.breadcrumb, start=start, end=len(text))
        text += "\n\n"
        if part.breadcrumb:
            document.sections.add(level=len(part.breadcrumb), breadcrumb=part.breadcrumb, start=start, end=len(text))
    for place, section in enumerate(document.sections):
        later = document.sections[place + 1 :]
        section.end = next((other.start for other in later if other.level <= section.level), len(text))
    document.text = text
    return document


@dataclass
class FakeDocstore:
    """Documents and projects; `down` makes every call fail."""

    documents: list[docstore_api.Document] = field(default_factory=list)
    project: docstore_api.Project = field(default_factory=docstore_api.Project)
    others: list[docstore_api.Project] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    stale: set[str] = field(default_factory=set)
    without_vector: set[str] = field(default_factory=set)
    stats: docstore_api.GetStatsResponse | None = None
    down: bool = False
    calls: list[str] = field(default_factory=list)
    noted: list[docstore_api.CallRecord] = field(default_factory=list)
    purged: list[tuple[str, int]] = field(default_factory=list)

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if self.down:
            raise errors.Unavailable("docstore does not answer")

    async def get_keys(self, request: docstore_api.GetKeysRequest) -> docstore_api.GetKeysResponse:
        return docstore_api.GetKeysResponse(items=[docstore_api.GetKeysItem() for _ in request.key_ids])

    async def put_calls(self, request: docstore_api.PutCallsRequest) -> docstore_api.PutCallsResponse:
        if self.down:
            raise errors.Unavailable("docstore does not answer")
        self.noted.extend(request.calls)
        return docstore_api.PutCallsResponse()

    async def purge_calls(self, request: docstore_api.PurgeCallsRequest) -> docstore_api.PurgeCallsResponse:
        self.purged.append((request.project, request.before_milliseconds))
        return docstore_api.PurgeCallsResponse()

    async def list_projects(self, request: docstore_api.ListProjectsRequest) -> docstore_api.ListProjectsResponse:
        self._called("list_projects")
        return docstore_api.ListProjectsResponse(projects=[self.project, *self.others])

    async def get_stats(self, request: docstore_api.GetStatsRequest) -> docstore_api.GetStatsResponse:
        self._called("get_stats")
        if self.stats is not None:
            return self.stats
        chunks = [chunk.chunk_id for document in self.documents for chunk in document.heads[0].chunks]
        return docstore_api.GetStatsResponse(
            document_count=len(self.documents),
            chunk_count=len(chunks),
            embeddable_count=len(self.documents),
            embedded_count=len(self.documents),
            versions=sorted({document.version for document in self.documents if document.version}),
            sources=[
                docstore_api.SourceStats(source=source)
                for source in sorted({document.source for document in self.documents})
            ],
        )

    async def get_documents(self, request: docstore_api.GetDocumentsRequest) -> docstore_api.GetDocumentsResponse:
        self._called("get_documents")
        known = {document.path: document for document in self.documents}
        by_id = {document.document_id: document.path for document in self.documents}
        response = docstore_api.GetDocumentsResponse()
        for path in request.paths or (by_id.get(one, one) for one in request.document_ids):
            item = response.items.add(moved_to=self.moved.get(path, ""))
            if path in known:
                item.document.CopyFrom(known[path])
            else:
                item.unknown.SetInParent()
        return response

    async def list_documents(self, request: docstore_api.ListDocumentsRequest) -> docstore_api.ListDocumentsResponse:
        self._called("list_documents")
        held = [document for document in self.documents if request.source in ("", document.source)]
        ordered = sorted(held, key=lambda document: (document.path.rpartition("/")[0], document.path))
        if request.page_token and not re.fullmatch(rf"{request.project}-\d+", request.page_token):
            raise errors.InvalidArgument("page_token is of another listing")
        start = int(request.page_token.rpartition("-")[2]) if request.page_token else 0
        end = start + (request.page_size or 200)
        response = docstore_api.ListDocumentsResponse(
            next_page_token=f"{request.project}-{end}" if end < len(ordered) else ""
        )
        for document in ordered[start:end]:
            response.documents.add(
                document_id=document.document_id,
                source=document.source,
                path=document.path,
                title=document.title,
                chunk_count=len(document.heads[0].chunks),
            )
        return response

    async def hydrate_chunks(self, request: docstore_api.HydrateChunksRequest) -> docstore_api.HydrateChunksResponse:
        self._called("hydrate_chunks")
        known: dict[str, docstore_api.HydratedChunk] = {}
        for document in self.documents:
            chunks = document.heads[0].chunks
            texts = [document.text[chunk.start : chunk.end] for chunk in chunks]
            for place, chunk in enumerate(chunks):
                known[chunk.chunk_id] = docstore_api.HydratedChunk(
                    chunk_id=chunk.chunk_id,
                    document_id=document.document_id,
                    path=document.path,
                    title=document.title,
                    breadcrumb=chunk.breadcrumb,
                    ordinal=place,
                    chunk_count=len(chunks),
                    text=texts[place],
                    before=texts[place - 1] if place and request.include_neighbors else "",
                    after=texts[place + 1] if place + 1 < len(chunks) and request.include_neighbors else "",
                    has_vector=chunk.chunk_id not in self.without_vector,
                    source=document.source,
                    version=document.version,
                )
        current = [known[chunk] for chunk in request.chunk_ids if chunk in known and chunk not in self.stale]
        return docstore_api.HydrateChunksResponse(chunks=current)

    async def resolve_ids(self, request: docstore_api.ResolveIdsRequest) -> docstore_api.ResolveIdsResponse:
        self._called("resolve_ids")
        return resolve_ids(self.documents, request)

    async def suggest_paths(self, request: docstore_api.SuggestPathsRequest) -> docstore_api.SuggestPathsResponse:
        self._called("suggest_paths")
        name = request.path.rpartition("/")[2]
        near = [document.path for document in self.documents if document.path.endswith(name[-6:])]
        return docstore_api.SuggestPathsResponse(paths=near[: request.limit])


def leg(
    kind: search_api.LegKind,
    hits: Sequence[search_api.Hit] = (),
    *,
    status: search_api.LegStatus = search_api.LEG_STATUS_RAN,
    reason: str = "",
) -> search_api.LegResult:
    """One leg's result."""
    return search_api.LegResult(kind=kind, status=status, reason=reason, hits=hits)


def hit(
    chunk: str, *, cosine: float | None = None, coverage: float | None = None, whole: bool = False
) -> search_api.Hit:
    """One hit of a leg, of the document that its chunk id names."""
    return search_api.Hit(
        chunk_id=chunk,
        document_id=f"id of {chunk.rpartition('#')[0]}",
        cosine=cosine,
        coverage=coverage,
        identifier_match=whole,
    )


def _tell_what_decides(response: search_api.RetrieveResponse, floor_cosine: float) -> None:
    """Leaves out evidence of words that the contract leaves out."""
    by_meaning = [leg for leg in response.legs if leg.kind != search_api.LEG_KIND_LEXICAL]
    hits = [hit for leg in response.legs for hit in leg.hits]
    ran = any(leg.status == search_api.LEG_STATUS_RAN for leg in by_meaning)
    if ran and not any(hit.HasField("cosine") and hit.cosine >= floor_cosine for hit in hits):
        return
    for hit in hits:
        hit.ClearField("coverage")
        hit.ClearField("identifier_match")


@dataclass
class FakeSearch:
    """Answers with what a test put in `lexical` and `semantic`, after `wait` where one is set."""

    lexical: search_api.LegResult = field(default_factory=lambda: leg(search_api.LEG_KIND_LEXICAL))
    semantic: search_api.LegResult = field(default_factory=lambda: leg(search_api.LEG_KIND_SEMANTIC))
    requests: list[search_api.RetrieveRequest] = field(default_factory=list)
    next_lexical: list[search_api.LegResult] = field(default_factory=list)
    wait: asyncio.Event | None = None
    failure: errors.RefdeskError | None = None

    async def retrieve(self, request: search_api.RetrieveRequest) -> search_api.RetrieveResponse:
        self.requests.append(request)
        if self.failure is not None:
            raise self.failure
        if self.wait is not None:
            await self.wait.wait()
        legs = {search_api.LEG_KIND_LEXICAL: self.lexical, search_api.LEG_KIND_SEMANTIC: self.semantic}
        if self.next_lexical and len(request.legs) > 1:
            legs[search_api.LEG_KIND_LEXICAL] = self.next_lexical.pop(0)
        response = search_api.RetrieveResponse(legs=[legs[asked.kind] for asked in request.legs])
        if request.HasField("floor_cosine"):
            _tell_what_decides(response, request.floor_cosine)
        return response


@dataclass
class FakeEmbedder:
    """A model whose tokens are words; `down` makes every call fail."""

    down: bool = False
    counted: list[int] = field(default_factory=list)

    async def list_models(self, request: embedder_api.ListModelsRequest) -> embedder_api.ListModelsResponse:
        if self.down:
            raise errors.Unavailable("embedder does not answer")
        model = embedder_api.Model(model_id=MODEL, dimension=384, floor_cosine=0.48, floor_coverage=0.35)
        return embedder_api.ListModelsResponse(models=[model])

    async def count_tokens(self, request: embedder_api.CountTokensRequest) -> embedder_api.CountTokensResponse:
        if self.down:
            raise errors.Unavailable("embedder does not answer")
        self.counted.append(len(request.texts))
        return embedder_api.CountTokensResponse(token_counts=[count_words(text) for text in request.texts])


def count_words(text: str) -> int:
    """Tokens of the fake model: words, and single characters that are none."""
    return len(re.findall(r"\w+|[^\w\s]", text))


@dataclass
class FakeIngest:
    """Says whether it has published the words of all that it knows."""

    words_current: bool = True
    failed: bool = False

    async def get_status(self, request: ingest_api.GetStatusRequest) -> ingest_api.GetStatusResponse:
        state = ingest_api.SOURCE_STATE_FAILED if self.failed else ingest_api.SOURCE_STATE_FOLLOWED
        return ingest_api.GetStatusResponse(
            words_current=self.words_current, sources=[ingest_api.SourceStatus(name="policies", state=state)]
        )
