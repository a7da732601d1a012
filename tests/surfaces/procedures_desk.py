"""A desk of instruction documents like those of the reference's examples, and what its tools answer; knows nothing of any one test."""

from __future__ import annotations

from typing import Any

from mcp import Client
from mcp.types import TextContent

from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.search.v1 import search_pb2 as search_api
from surfaces.desks import Desk, handbook
from surfaces.fakes import FakeDocstore, FakeSearch, Part, hit, leg, make_document

ADDRESS = "/mcp/support/procedures"
ACCOUNTS, REFUNDS, TONE = "policies/accounts.md", "policies/refunds.md", "policies/tone.md"


def make_support_documents() -> list[pb.Document]:
    """A small document, a large one of ten sections, and one with text above its first heading."""
    accounts = [
        Part(("Looking up accounts",), "Search by e-mail first. Names are not unique."),
        Part(("Verifying identity",), "Ask for the last invoice number."),
    ]
    refunds = [
        Part((f"Refund case {number}",), f"Case {number} needs a lead's word. " + "Write down what was agreed. " * 20)
        for number in range(1, 11)
    ]
    tone = [Part((), "Write as you would speak."), Part(("Greetings",), "Use the customer's first name.")]
    return [
        _named(make_document(ACCOUNTS, "Retrieving Customer Account Information", accounts)),
        _named(make_document(REFUNDS, "Refunds", refunds)),
        _named(make_document(TONE, "Tone", tone)),
    ]


def make_desk(*, pins: tuple[str, ...] = (), hits: tuple[str, ...] = (), empty: bool = False) -> Desk:
    """The desk; `hits` are chunks that every search finds, the best first."""
    project = handbook("support")
    project.description = "How we treat customers."
    project.pins.extend(pins)
    found = [hit(chunk, cosine=0.9, coverage=0.9) for chunk in hits]
    search = FakeSearch(leg(search_api.LEG_KIND_LEXICAL, found), leg(search_api.LEG_KIND_SEMANTIC, found))
    return Desk(FakeDocstore([] if empty else make_support_documents(), project), search)


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    """The text of an answer that is text and nothing else."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error
    assert result.structured_content is None
    [part] = result.content
    assert isinstance(part, TextContent)
    return part.text


def _named(document: pb.Document) -> pb.Document:
    source, _, path = document.path.partition("/")
    document.document_id = ids.document_id("support", source, path)
    return document
