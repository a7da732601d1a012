"""What the procedures surface shows of documents of any shape, and of pins in both eras."""

from __future__ import annotations

import pytest
from mcp import Client
from mcp.types import Implementation

from refdesk import ids
from refdesk.gateway.surfaces.procedures.outline import estimate_tokens
from refdesk.gateway.surfaces.procedures.tools import SEARCH_TOKENS
from refdesk.gateway.surfaces.procedures.wording import PINS_HEADER
from surfaces.desks import served
from surfaces.fakes import Part, make_document
from surfaces.procedures_desk import ACCOUNTS, ADDRESS, REFUNDS, TONE, call, make_desk

pytestmark = pytest.mark.anyio


async def test_ids_of_the_reading_above_the_first_heading_open_it() -> None:
    tone = make_desk().docstore.documents[2]
    opening = ids.section_id(tone.document_id, (), 0)
    async with served(make_desk().gateway()) as url, Client(url + ADDRESS) as client:
        text = await call(client, "get_section", {"section_id": opening[:8]})
        assert text == (
            f"# Tone  [id: {opening[:8]}]\nFrom: Tone  [doc {tone.document_id[:8]}]\n\nWrite as you would speak."
        )
        assert opening[:8] in await call(client, "get_toc", {"document_id": tone.document_id})


async def test_a_hit_in_the_opening_of_a_large_document_does_not_bring_all_of_it() -> None:
    desk = make_desk(hits=(f"{REFUNDS}#0", f"{REFUNDS}#4"))
    parts = [Part(("Refunds",), "All about refunds.")]
    parts += [Part(("Refunds", f"Case {number}"), "Mind this and that. " * 60) for number in range(20)]
    large = make_document(REFUNDS, "Refunds", parts)
    large.document_id = desk.docstore.documents[1].document_id
    desk.docstore.documents[1] = large
    async with served(desk.gateway()) as url, Client(url + ADDRESS) as client:
        text = await call(client, "search_instructions", {"plan": "refunds"})
    assert [line.split("  [")[0] for line in text.splitlines() if line.startswith("# ")] == ["# Refunds", "# Case 3"]
    assert "All about refunds." in text


async def test_one_endless_section_is_cut_to_the_budget_and_says_how_to_read_on() -> None:
    desk = make_desk(hits=(f"{REFUNDS}#0",))
    endless = make_document(REFUNDS, "Refunds", [Part((), "Mind this and that.\n" * 20_000)])
    endless.document_id = desk.docstore.documents[1].document_id
    desk.docstore.documents[1] = endless
    async with served(desk.gateway()) as url, Client(url + ADDRESS) as client:
        text = await call(client, "search_instructions", {"plan": "refunds"})
        assert 0.9 * SEARCH_TOKENS < estimate_tokens(text) <= SEARCH_TOKENS
        assert text.endswith("(cut here: the section is longer; get_section with its id reads on)")


@pytest.mark.promise("procedures.17", "procedures.18")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_in_both_eras_a_client_that_honours_instructions_gets_the_block_in_them_alone(mode: str) -> None:
    info = Implementation(name="claude-code", version="2.1.251")
    desk = make_desk(pins=(ACCOUNTS, TONE), hits=(f"{REFUNDS}#1",))
    async with served(desk.gateway()) as url, Client(url + ADDRESS, mode=mode, client_info=info) as client:
        assert (client.instructions or "").startswith(PINS_HEADER)
        texts = [
            await call(client, "get_toc", {}),
            await call(client, "search_instructions", {"plan": "refunds"}),
            await call(client, "get_toc", {}),
        ]
    assert not any(PINS_HEADER in text for text in texts)
