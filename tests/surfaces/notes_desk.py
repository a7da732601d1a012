"""A desk on the notes surface over the fakes: documents that have a content, legs that answer by their text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp import Client
from mcp.types import CallToolResult, TextContent

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from surfaces.desks import Desk, served
from surfaces.fakes import GENERATION, MODEL, FakeDocstore, FakeSearch, Part, hit, make_document

RAN = search_api.LEG_STATUS_RAN
CODE = "export function handleError(err: Error) {\n  logger.error(err.message);\n}"


def make_project(slug: str = "default") -> docstore_api.Project:
    """Three collections, with contexts."""
    return docstore_api.Project(
        slug=slug,
        surfaces=["docs", "notes"],
        model_id=MODEL,
        live_generation=GENERATION,
        followed_generations=[GENERATION],
        sources=[
            docstore_api.Source(
                name="src",
                kind="folder",
                contexts=[docstore_api.PathContext(prefix="errors.ts", text="Source code for error utilities")],
            ),
            docstore_api.Source(name="docs", kind="folder", description="The handbook"),
            docstore_api.Source(name="journals", kind="folder"),
        ],
        revision=1,
    )


def make_documents() -> list[docstore_api.Document]:
    """The reference's examples, and a journal of three days."""
    documents = [
        make_document("src/errors.ts", "Error handling utilities", [Part((), CODE)]),
        make_document(
            "docs/errors.md", "Error handling guide", [Part(("Errors",), "Say what failed.\nSay what to do.")]
        ),
        *(
            make_document(f"journals/2025-05-0{day}.md", f"Day {day}", [Part((), f"Day {day} of May.")])
            for day in (1, 2)
        ),
        make_document("journals/2025-06-01.md", "June", [Part((), "A day of June.")]),
    ]
    hashes = ["abc123", "def456", "0a0a01", "0a0a02", "0b0b01"]
    for document, digits in zip(documents, hashes, strict=True):
        document.content_hash = f"{digits}{'0' * 58}"
    documents[1].previous_content_hashes.append(f"feed01{'0' * 58}")
    return documents


@dataclass
class NotesDocstore(FakeDocstore):
    """Finds documents by id too, and tells lines of chunks."""

    async def get_documents(self, request: docstore_api.GetDocumentsRequest) -> docstore_api.GetDocumentsResponse:
        if request.paths:
            return await super().get_documents(request)
        paths = {document.document_id: document.path for document in self.documents}
        asked = docstore_api.GetDocumentsRequest(paths=[paths.get(one, one) for one in request.document_ids])
        return await super().get_documents(asked)

    async def hydrate_chunks(self, request: docstore_api.HydrateChunksRequest) -> docstore_api.HydrateChunksResponse:
        response = await super().hydrate_chunks(request)
        known = {document.path: document for document in self.documents}
        for chunk in response.chunks:
            span = known[chunk.path].heads[0].chunks[chunk.ordinal]
            chunk.first_line = known[chunk.path].text[: span.start].count("\n") + 1
            chunk.last_line = chunk.first_line + chunk.text.count("\n")
        return response

    async def get_stats(self, request: docstore_api.GetStatsRequest) -> docstore_api.GetStatsResponse:
        response = await super().get_stats(request)
        if self.stats is None:
            for one in response.sources:
                one.document_count = sum(document.source == one.source for document in self.documents)
        return response


@dataclass
class NotesSearch(FakeSearch):
    """Each leg lists what a test said of its text, else nothing; `failed`: kinds that do not answer, and why."""

    found: dict[str, Sequence[str]] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)

    async def retrieve(self, request: search_api.RetrieveRequest) -> search_api.RetrieveResponse:
        self.requests.append(request)
        response = search_api.RetrieveResponse()
        for asked in request.legs:
            if asked.kind in self.failed:
                failed = search_api.LEG_STATUS_FAILED
                response.legs.add(kind=asked.kind, status=failed, reason=self.failed[asked.kind])
                continue
            hits = [hit(f"{path}#0", cosine=0.5) for path in self.found.get(asked.text, ())]
            response.legs.add(kind=asked.kind, status=RAN, hits=hits)
        return response


def make_desk(found: dict[str, Sequence[str]] | None = None) -> Desk:
    """A desk whose legs find what is given by their texts."""
    search: Any = NotesSearch(found=found or {})
    return Desk(docstore=NotesDocstore(make_documents(), make_project()), search=search)


async def call(desk: Desk, tool: str, mode: Any = "auto", **arguments: Any) -> CallToolResult:
    """What a tool answers the official client."""
    async with served(desk.gateway()) as url, Client(f"{url}/mcp/default/notes", mode=mode) as client:
        return await client.call_tool(tool, arguments)


def text_of(result: CallToolResult) -> str:
    """The text of an answer."""
    part = result.content[0]
    assert isinstance(part, TextContent)
    return part.text


async def refusal(desk: Desk, tool: str, **arguments: Any) -> str:
    """The text of an error, which is one line."""
    result = await call(desk, tool, **arguments)
    assert result.is_error
    assert "\n" not in text_of(result)
    return text_of(result)


def asked_of(desk: Desk) -> search_api.RetrieveRequest:
    """What search was asked last, by a question: the gateway's own check asks for `documentation`."""
    return [one for one in desk.search.requests if one.legs[0].text != "documentation"][-1]
