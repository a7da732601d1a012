"""The references' examples as golden transcripts, on the wire in both eras; what is expected is derived from what a reference prints."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from surfaces.desks import served
from surfaces.golden_desks import ADDRESSES, make_desk
from surfaces.transcripts import ERAS, GOLDEN, Transcript, Wire, derive, shown, transcripts

pytestmark = pytest.mark.anyio
ARGUMENTS = json.loads((GOLDEN / "arguments.json").read_text(encoding="utf-8"))
"""Of each tool what its reference says of its arguments, which are required, and which are `ours` with the reason."""


def cases(surface: str) -> Any:
    """A surface's transcripts, each in its eras."""
    found = [(one, era) for one in transcripts(surface) for era in one.eras]
    return pytest.mark.parametrize(("transcript", "era"), found, ids=[f"{one.name} {era}" for one, era in found])


async def answer_of(surface: str, transcript: Transcript, era: str) -> dict[str, Any]:
    """What a desk of the surface answers, with its instructions where the transcript has them."""
    desk = make_desk(surface, transcript.desk)
    async with served(desk.gateway()) as url, httpx2.AsyncClient() as http:
        wire = Wire(http, url + ADDRESSES[surface], era)
        await wire.begin()
        answer = shown(await wire.call(transcript.tool, transcript.arguments))
    if "instructions" in transcript.answer:
        answer["instructions"] = wire.instructions
    return answer


@pytest.mark.promise(
    "docs.10",
    "docs.11",
    "docs.13",
    "docs.15",
    "docs.19",
    "docs.20",
    "docs.21",
    "docs.30",
    "docs.31",
    "docs.32",
    "docs.40",
    "docs.41",
    "docs.42",
)
@cases("docs")
async def test_docs_answers_each_example_of_its_reference(transcript: Transcript, era: str) -> None:
    assert await answer_of("docs", transcript, era) == transcript.answer


@pytest.mark.promise("site.5", "site.10", "site.20", "site.32", "site.34", "site.35")
@cases("site")
async def test_site_answers_each_example_of_its_reference(transcript: Transcript, era: str) -> None:
    answer = await answer_of("site", transcript, era)
    if "structuredContent" in transcript.answer:
        assert json.loads(answer.pop("text")) == answer["structuredContent"]
    assert answer == transcript.answer


@pytest.mark.promise("procedures.1", "procedures.2", "procedures.8", "procedures.13", "procedures.15")
@cases("procedures")
async def test_procedures_answers_each_example_of_its_reference(transcript: Transcript, era: str) -> None:
    assert await answer_of("procedures", transcript, era) == transcript.answer


@pytest.mark.promise("notes.10", "notes.11", "notes.30", "notes.34", "notes.36", "notes.44")
@cases("notes")
async def test_notes_answers_each_example_of_its_reference(transcript: Transcript, era: str) -> None:
    assert await answer_of("notes", transcript, era) == transcript.answer


@pytest.mark.promise("docs.4", "site.23", "site.33")
@pytest.mark.parametrize("surface", ARGUMENTS)
async def test_tools_take_what_the_references_say_and_beside_it_what_was_decided(surface: str) -> None:
    desk = make_desk(surface, {"pages": "topics"} if surface == "docs" else {})
    async with served(desk.gateway()) as url, httpx2.AsyncClient() as http:
        tools = (await Wire(http, url + ADDRESSES[surface], ERAS[0]).ask("tools/list", {}))["tools"]
    assert [tool["name"] for tool in tools] == list(ARGUMENTS[surface])
    for tool in tools:
        told, taken = ARGUMENTS[surface][tool["name"]], tool["inputSchema"]["properties"]
        assert tool["inputSchema"]["required"] == told["required"]
        assert told["reference"].keys() <= taken.keys() <= told["reference"].keys() | told["ours"].keys()
        for name, schema in told["reference"].items():
            assert {key: taken[name].get(key) for key in schema} == schema, (tool["name"], name)


def test_a_derivation_is_held_to_what_it_says() -> None:
    entry: dict[str, Any] = {"name": "x", "reference": {"text": ["a …", "b"], "structuredContent": {"l": [{"k": 1}]}}}
    changes = [
        {"from": "…", "to": "c", "why": "elided"},
        {"at": "structuredContent.l.0.k", "is": 2, "why": "documents"},
    ]
    assert derive({**entry, "ours": changes}) == {"text": "a c\nb", "structuredContent": {"l": [{"k": 2}]}}
    for wrong in (
        {"from": "nowhere", "to": "c", "why": "elided"},
        {"from": "…", "to": "c", "why": "because"},
        {"at": "structuredContent.l.0.k", "is": 1, "why": "documents"},
    ):
        with pytest.raises(AssertionError):
            derive({**entry, "ours": [wrong]})
    with pytest.raises(AssertionError):
        derive({"name": "x", "answer": {"text": "a"}, "fixed": ["b"]})
    assert ERAS == ("2025-11-25", "2026-07-28")
