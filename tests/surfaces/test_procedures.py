"""The procedures surface: its map, its searches, its sections and its pins, in the reference's formats."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.types import Implementation

from refdesk import ids
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.gateway.sessions import LASTING_SECONDS, OwnMemory, Seal
from refdesk.gateway.surfaces.procedures.outline import estimate_tokens, first_sentence, outline
from refdesk.gateway.surfaces.procedures.pins import INSTRUCTION_CHARACTERS, PIN_TOKENS, make_block
from refdesk.gateway.surfaces.procedures.tools import LEFTOVERS, MAP_TOKENS, MOST_DOCUMENTS, SEARCH_TOKENS
from refdesk.gateway.surfaces.procedures.wording import PINS_HEADER
from surfaces.desks import Desk, handbook, served
from surfaces.fakes import FakeDocstore, FakeSearch, Part, hit, leg, make_document

pytestmark = pytest.mark.anyio
PATH = "/mcp/handbook/procedures"


def document(path: str, title: str, parts: list[Part]) -> pb.Document:
    made = make_document(path, title, parts)
    made.document_id = ids.document_id("handbook", path.partition("/")[0], path.partition("/")[2])
    return made


def small() -> pb.Document:
    return document(
        "policies/accounts.md",
        "Retrieving Customer Account Information",
        [
            Part(("Looking up accounts",), "Search by e-mail first. Names are not unique."),
            Part(("Verifying identity",), "Ask for the last invoice number."),
        ],
    )


def large(name: str = "refunds", sections: int = 12, words: int = 150) -> pb.Document:
    parts = [
        Part((f"Step {number} of {name}",), f"Do step {number}. " + "and mind the rest " * words)
        for number in range(sections)
    ]
    return document(f"policies/{name}.md", f"All about {name}", parts)


def desk_of(
    *documents: pb.Document, hits: list[str] | None = None, pins: tuple[str, ...] = (), description: str = ""
) -> Desk:
    project = handbook("handbook")
    project.pins.extend(pins)
    project.description = description
    found = [hit(chunk, cosine=0.9, coverage=0.9) for chunk in hits or []]
    search = FakeSearch(leg(search_api.LEG_KIND_LEXICAL, found), leg(search_api.LEG_KIND_SEMANTIC, found))
    return Desk(FakeDocstore(list(documents), project), search)


async def call(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    return "\n".join(part.text for part in result.content)


async def ask(desk: Desk, tool: str, **arguments: Any) -> str:
    async with served(desk.gateway()) as url, Client(url + PATH) as client:
        return await call(client, tool, **arguments)


def short(made: pb.Document) -> str:
    return made.document_id[:8]


@pytest.mark.promise("procedures.1")
@pytest.mark.promise("procedures.2")
@pytest.mark.promise("procedures.3")
@pytest.mark.promise("procedures.7")
async def test_the_map_has_an_entry_a_document_under_the_projects_description() -> None:
    one, many = small(), large()
    desk = desk_of(one, many, description="How we treat customers.")
    async with served(desk.gateway()) as url, Client(url + PATH) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            "get_toc",
            "search_instructions",
            "get_section",
        ]
        result = await client.call_tool("get_toc", {})
    assert result.structured_content is None
    text = result.content[0].text
    section = ids.section_id(one.document_id, ["Looking up accounts"], 0)[:8]
    assert text.startswith("How we treat customers.\n\n")
    assert (
        f"## Retrieving Customer Account Information  [doc {short(one)}]\nSearch by e-mail first.\n"
        f"- Looking up accounts  [id: {section}] — Search by e-mail first.\n" in text
    )
    assert f'— 12 sections; get_toc(document_id="{short(many)}") lists them' in text


@pytest.mark.promise("procedures.4")
@pytest.mark.promise("procedures.14")
async def test_one_document_comes_with_every_section_by_its_id_or_the_beginning_of_it() -> None:
    many, twin = large(), large("returns")
    desk = desk_of(many, twin)
    for given in (many.document_id, short(many)):
        text = await ask(desk, "get_toc", document_id=given)
        assert text.count("  [id: ") == 12
        assert text.startswith(f"## All about refunds  [doc {short(many)}]")
    assert "no document" in await ask(desk, "get_toc", document_id="0000ffff")
    twin.document_id = many.document_id[:10] + "-" * 26
    assert "policies/refunds.md, policies/returns.md" in await ask(desk, "get_toc", document_id=many.document_id[:8])
    assert "not both" in await ask(desk, "get_toc", document_id=short(many), query="x")


@pytest.mark.promise("procedures.5")
async def test_for_a_query_the_documents_that_fit_come_best_first() -> None:
    one, many = small(), large()
    desk = desk_of(
        one, many, large("unrelated"), hits=["policies/refunds.md#3", "policies/accounts.md#1", "policies/refunds.md#1"]
    )
    text = await ask(desk, "get_toc", query="refund a customer")
    assert text.startswith('Documents most relevant to "refund a customer" (2 of 3, best first):')
    assert text.index("All about refunds") < text.index("Retrieving Customer")


@pytest.mark.promise("procedures.6")
@pytest.mark.promise("procedures.8")
@pytest.mark.parametrize(
    ("count", "said"),
    [
        (3, ""),
        (150, "condensed to a line a document"),
        (500, "condensed to titles"),
        (1500, "condensed to an overview"),
    ],
)
async def test_the_map_is_condensed_until_it_fits_and_says_so(count: int, said: str) -> None:
    documents = [
        document(
            f"policies/{number}.md",
            f"Document {number}",
            [Part((f"Part {part}",), "It says this and that here.") for part in range(5)],
        )
        for number in range(count)
    ]
    text = await ask(desk_of(*documents), "get_toc")
    assert said in text
    assert ("condensed" in text) == bool(said)
    assert estimate_tokens(text) <= MAP_TOKENS
    if count == 1500:
        assert "1,500 instruction documents" in text
    assert await ask(desk_of(), "get_toc") == "No instruction documents are available yet."


@pytest.mark.promise("procedures.9")
@pytest.mark.promise("procedures.10")
async def test_a_search_gives_small_documents_whole_and_the_best_two_sections_of_large_ones() -> None:
    one, others = small(), [large(f"number{number}") for number in range(12)]
    hits = [f"policies/number0.md#{number}" for number in (4, 2, 7)] + ["policies/accounts.md#1"]
    hits += [f"policies/number{number}.md#1" for number in range(1, 12)]
    text = await ask(desk_of(one, *others, hits=hits), "search_instructions", plan="refunds")
    section = ids.section_id(one.document_id, ["Verifying identity"], 0)[:8]
    assert (
        f"# Verifying identity  [id: {section}]\nFrom: Retrieving Customer Account Information  [doc {short(one)}]\n\n"
        "Ask for the last invoice number." in text
    )
    assert "# Looking up accounts" in text
    assert text.index("# Step 4 of number0") < text.index("# Step 2 of number0") < text.index("# Looking up accounts")
    assert "# Step 7 of number0" not in text
    body, _, lines = text.partition("Also matched:\n")
    assert estimate_tokens(body) <= SEARCH_TOKENS
    assert len({line for line in body.splitlines() if line.startswith("From: ")}) <= MOST_DOCUMENTS
    assert 0 < len(lines.splitlines()) <= LEFTOVERS
    assert all(line.startswith("- All about number") and " [doc " in line for line in lines.splitlines())


async def test_more_than_two_sections_come_where_few_documents_matched() -> None:
    many = large(words=60)
    hits = [f"policies/refunds.md#{number}" for number in (4, 2, 7, 1)]
    text = await ask(desk_of(many, hits=hits), "search_instructions", plan="refunds")
    assert [line for line in text.splitlines() if line.startswith("# ")] == [
        line for number in (4, 2, 7, 1) for line in text.splitlines() if line.startswith(f"# Step {number} of")
    ]


@pytest.mark.promise("procedures.11")
async def test_without_a_match_get_toc_is_suggested() -> None:
    text = await ask(desk_of(small()), "search_instructions", plan="zebra")
    assert "get_toc" in text
    assert "#" not in text


@pytest.mark.promise("procedures.12")
@pytest.mark.promise("procedures.13")
async def test_a_section_comes_with_its_subsections_by_its_id_or_the_beginning_of_it() -> None:
    nested = document(
        "policies/nested.md",
        "Nested",
        [Part(("Outer",), "Of the outer."), Part(("Outer", "Inner"), "Of the inner."), Part(("Next",), "Of the next.")],
    )
    plain = document("policies/plain.md", "Plain", [Part((), "No heading at all.")])
    desk = desk_of(nested, plain)
    outer = ids.section_id(nested.document_id, ["Outer"], 0)
    for given in (outer, outer[:8]):
        text = await ask(desk, "get_section", section_id=given)
        assert text.startswith(f"# Outer  [id: {outer[:8]}]\nFrom: Nested  [doc {short(nested)}]\n\nOf the outer.")
        assert "Of the inner." in text
        assert "Of the next." not in text
    whole = ids.section_id(plain.document_id, [], 0)
    assert "No heading at all." in await ask(desk, "get_section", section_id=whole[:8])
    assert await ask(desk, "get_section", section_id="0000ffff") == "No such section."


def pinned_desk(**fields: Any) -> Desk:
    return desk_of(small(), large(), pins=("policies/accounts.md",), **fields)


@pytest.mark.promise("procedures.15")
@pytest.mark.promise("procedures.16")
async def test_the_block_is_in_the_instructions_and_once_in_an_answer_of_a_session() -> None:
    desk = pinned_desk(hits=["policies/accounts.md#0", "policies/refunds.md#1"])
    async with served(desk.gateway()) as url:
        for first in ("get_toc", "search_instructions"):
            async with Client(url + PATH, mode="legacy") as client:
                assert client.instructions is not None
                assert client.instructions.startswith(f"{PINS_HEADER}\n\n---\n\n# Looking up accounts  [id: ")
                assert "Ask for the last invoice number." in client.instructions
                arguments = {"plan": "refunds"} if first == "search_instructions" else {}
                text = await call(client, first, **arguments)
                assert text.startswith(f"{client.instructions}\n\n---\n\n")
                for tool, more in (("get_toc", {}), ("search_instructions", {"plan": "refunds"}), ("get_toc", {})):
                    assert PINS_HEADER not in await call(client, tool, **more)


@pytest.mark.promise("procedures.19")
async def test_a_first_search_leaves_out_what_stands_in_the_block() -> None:
    desk = pinned_desk(hits=["policies/accounts.md#0", "policies/refunds.md#1"])
    async with served(desk.gateway()) as url, Client(url + PATH, mode="legacy") as client:
        first = await call(client, "search_instructions", plan="refunds")
        second = await call(client, "search_instructions", plan="refunds")
    assert first.count("# Looking up accounts") == 1
    assert "# Step 1 of refunds" in first
    assert second.count("# Looking up accounts") == 1


@pytest.mark.promise("procedures.17")
@pytest.mark.promise("procedures.20")
async def test_a_client_that_honours_instructions_gets_the_block_in_an_answer_only_where_they_have_no_room() -> None:
    info = Implementation(name="claude-code", version="2.1.251")
    long = document("policies/long.md", "Long", [Part(("Long",), "Mind this. " * 300)])
    for desk, expected in ((pinned_desk(), 0), (desk_of(long, pins=("policies/long.md",)), 1)):
        async with served(desk.gateway()) as url, Client(url + PATH, mode="legacy", client_info=info) as client:
            assert client.instructions is not None
            assert client.instructions.startswith(PINS_HEADER)
            assert len(client.instructions) <= INSTRUCTION_CHARACTERS
            texts = [await call(client, "get_toc") for _ in range(3)]
            assert [PINS_HEADER in text for text in texts] == [bool(expected), False, False]
            if expected:
                assert "Mind this." not in client.instructions
                assert "- Long [doc " in client.instructions


@pytest.mark.promise("procedures.18")
async def test_without_a_session_the_block_comes_with_every_bare_map_and_with_no_search() -> None:
    desk = pinned_desk(hits=["policies/refunds.md#1"])
    async with served(desk.gateway()) as url, Client(url + PATH, mode="2026-07-28") as client:
        assert [PINS_HEADER in await call(client, "get_toc") for _ in range(2)] == [True, True]
        assert PINS_HEADER not in await call(client, "search_instructions", plan="refunds")
        assert PINS_HEADER not in await call(client, "get_toc", query="refunds")


@pytest.mark.promise("procedures.21")
async def test_without_pins_there_are_no_instructions_and_nothing_before_an_answer() -> None:
    for pins in ((), ("policies/gone.md",)):
        async with served(desk_of(small(), pins=pins).gateway()) as url, Client(url + PATH, mode="legacy") as client:
            assert not client.instructions
            assert (await call(client, "get_toc")).startswith("## Retrieving")


@pytest.mark.promise("procedures.22")
def test_the_block_has_whole_documents_as_far_as_its_cap_goes_and_names_the_rest() -> None:
    outlines = [outline(large(name, 2, 200)) for name in ("one", "two", "three", "four")]
    block = make_block(outlines)
    assert block is not None
    assert estimate_tokens(block.text) <= PIN_TOKENS
    assert 0 < len(block.document_ids) < 4
    assert "- All about four [doc " in block.text


async def test_a_first_answer_that_fails_does_not_use_up_the_block() -> None:
    desk = pinned_desk(hits=["policies/refunds.md#1"])
    async with served(desk.gateway()) as url, Client(url + PATH, mode="legacy") as client:
        assert "no document" in await call(client, "get_toc", document_id="0000ffff")
        assert PINS_HEADER in await call(client, "get_toc")


@pytest.mark.promise("procedures.23")
def test_a_session_id_is_read_by_whoever_has_the_key_and_by_nobody_else() -> None:
    seal, same, other = Seal(b"k" * 32), Seal(b"k" * 32), Seal(b"o" * 32)
    text = seal.give("claude-code", "2.1", now=1000)
    session = same.read(text, now=1001)
    assert session is not None
    assert (session.client_name, session.client_version) == ("claude-code", "2.1")
    assert text.isascii()
    assert text.isprintable()
    assert "claude" not in text
    assert other.read(text, now=1001) is None
    assert same.read(text, now=1001 + LASTING_SECONDS) is None
    for place in range(0, len(text), 7):
        changed = text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]
        assert same.read(changed, now=1001) is None
    for wrong in ("", "A", "not one", "é", "=" * 9, text[:20]):
        assert same.read(wrong, now=1001) is None
    assert len({seal.give("a", "b") for _ in range(50)}) == 50


@pytest.mark.promise("procedures.24")
async def test_a_session_that_is_not_known_turns_nobody_away() -> None:
    headers = {"accept": "application/json", "mcp-session-id": "of-an-earlier-life"}
    async with served(pinned_desk().gateway()) as url, httpx2.AsyncClient(headers=headers) as http:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_toc", "arguments": {}}}
        answer = await http.post(url + PATH, json=body)
    assert answer.status_code == 200
    assert "# Core procedures (always apply)" in answer.text


async def test_what_is_remembered_is_bounded_and_the_newest_stay() -> None:
    memory = OwnMemory(most=3)
    assert [await memory.first(name, "pins") for name in ("a", "b", "c", "a", "d", "a", "b")] == [
        *(True, True, True, False, True, False, True),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One. Two.", "One."),
        ("**Mind** the `gap`! Then go.", "Mind the gap!"),
        ("See [the page](x.md) for more.\n\nNext.", "See the page for more."),
        ("```\ncode\n```", "code"),
        ("Set `ping_request_count` to _one_. Then go.", "Set ping_request_count to one."),
        ("> Mind the gap.\n> It is wide.", "Mind the gap."),
        ("1. Take C# 12 where a > b.\n2. Go.", "Take C# 12 where a > b."),
        ("Where a > b, go - and mind #3 here.", "Where a > b, go - and mind #3 here."),
        ("- First do this\n- Then that", "First do this Then that"),
        ("| a | b |\n| - | - |\n\nAfter the table.", "After the table."),
        ("日本語の文。次の文。", "日本語の文。"),
        ("version 1.2 is out. Take it.", "version 1.2 is out."),
        ("", ""),
        ("word " * 100, "word " * 31 + "word …"),
    ],
)
def test_a_summary_is_the_first_sentence_without_marks(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence
