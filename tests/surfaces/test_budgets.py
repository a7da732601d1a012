"""No answer has more tokens than it may, whatever is asked for, and what was cut comes whole and once by following what answers say."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from models import build_tiny_model, tiny_tokenizer
from refdesk import ids
from refdesk.gateway.arguments import Tool
from refdesk.gateway.budgets import MOST_TOKENS, NAME
from refdesk.projects import SURFACES
from surfaces.bad_desk import ALL, TABLES
from system.desks import DeskProcess, running
from system.test_openapi import SPEC

pytestmark = pytest.mark.slow
CORPUS = Path(__file__).parents[3] / "shared" / "corpora" / "prometheus"
"""Real pages, where they lie beside the checkout."""
SOURCES = 200
PAGES, SECTIONS = 100, 240
GIANT = "made/giant.md"
WITHOUT = {
    "get_site_overview": "as many sets as fit are shown",
    "list_documentation_sets": "as many sets as fit are shown",
    "describe_schema": "its answer never changes",
    "status": "as many collections as fit are shown",
    "search": "ChatGPT requires one argument and no other",
    "fetch": "ChatGPT requires one argument and no other",
}
"""Tools that are bounded without being told to, and why."""
TOKENIZER = tiny_tokenizer()
Json = dict[str, Any]


def word(number: int) -> str:
    """A word that costs many tokens."""
    return hashlib.sha256(str(number).encode()).hexdigest()


def giant() -> str:
    """A page of many sections, none of whose words stands twice."""
    parts = [
        f"## Part {number}\n\n" + " ".join(word(number * 50 + one) for one in range(8)) for number in range(SECTIONS)
    ]
    return "# Giant\n\nThe key of all.\n\n" + "\n\n".join(parts) + "\n"


def made_pages() -> dict[str, str]:
    """Pages whose titles and paths are long, in scripts that cost a token a character too."""
    pages = {"giant.md": giant()}
    for number in range(PAGES):
        title = f"鍵のローテーションと署名について {number} " + word(number) * 2
        pages[f"{word(number)}/{'鍵' * 40}-{number}.md"] = (
            f"# {title}\n\nRotate the key {word(number + 7)}. 鍵を回転する。\n" * 3
        )
    return pages


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskProcess]:
    root = tmp_path_factory.mktemp("budgets")
    for name, text in {**{f"made/{name}": text for name, text in made_pages().items()}, "shop/shop.yaml": SPEC}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    sources: list[Json] = [
        {"name": "made", "path": str(root / "made"), "description": "鍵" * 300},
        {"name": "shop", "path": str(root / "shop"), "type": "api"},
        *([{"name": "prometheus", "path": str(CORPUS)}] if CORPUS.is_dir() else []),
    ]
    sources += [
        {"name": f"empty-{number}", "kind": "push", "title": "空" * 100, "description": "空" * 300}
        for number in range(SOURCES)
    ]
    project = {"surfaces": list(SURFACES), "structured_output": True, "pins": [GIANT], "sources": sources}
    config = root / "config.yaml"
    config.write_text(yaml.safe_dump({"projects": {"default": project}}), encoding="utf-8")
    arguments = ("--docs", "", "--config", str(config))
    # Counted by the tokenizer however busy the machine is: what is estimated in its place may be too few.
    environment = {"REFDESK_GATEWAY__COUNT_SECONDS": "10", "REFDESK_GATEWAY__DEADLINE_SECONDS": "60"}
    model = build_tiny_model(root / "model")
    with running(DeskProcess(root, root / "data", model, environment, arguments)) as desk:
        desk.wait_until_settled()
        yield desk


def call(desk: DeskProcess, surface: str, tool: str, **arguments: Any) -> Json:
    answer = desk.call(tool, arguments, f"/mcp/default/{surface}")
    assert not answer["isError"], answer["content"][0]["text"]
    return answer


def text_of(answer: Json) -> str:
    """All that a model reads of it."""
    return "\n".join(
        part["text"] if part["type"] == "text" else json.dumps(part["resource"], ensure_ascii=False)
        for part in answer["content"]
    )


def count(text: str) -> int:
    return len(TOKENIZER.encode(text, add_special_tokens=False).ids)


def largest(desk: DeskProcess) -> dict[tuple[str, str], Json]:
    """The arguments of each tool that bring most."""
    pages = sorted(made_pages())[:25]
    paths = ["/made/giant/", *(f"/made/{one.removesuffix('.md')}/" for one in pages[:24])]
    page_ids = [ids.document_id("default", "made", one) for one in ["giant.md", *pages[:24]]]
    first = ids.section_id(page_ids[0], ["Giant"], 0)
    return {
        ("docs", "search_docs"): {"query": "rotate the key 鍵", "limit": 20},
        ("docs", "list_topics"): {"limit": 1_000},
        ("docs", "read_document"): {"path": GIANT},
        ("site", "get_site_overview"): {},
        ("site", "list_documentation_sets"): {},
        ("site", "describe_schema"): {},
        ("site", "get_documentation_set"): {"setId": "made"},
        ("site", "search_docs"): {"query": "rotate the key 鍵", "limit": 25},
        ("site", "search_api"): {"query": "orders", "limit": 25},
        ("site", "get_pages_by_id"): {"pageIds": page_ids},
        ("site", "get_pages_by_path"): {"paths": paths},
        ("site", "get_openapi_spec"): {"setId": "shop", "operation": "POST /orders"},
        ("procedures", "get_toc"): {"document_id": page_ids[0]},
        ("procedures", "search_instructions"): {"plan": "rotate the key 鍵"},
        ("procedures", "get_section"): {"section_id": first},
        ("notes", "query"): {"query": "rotate the key 鍵", "limit": 100, "candidateLimit": 100},
        ("notes", "get"): {"file": GIANT, "lineNumbers": True},
        ("notes", "multi_get"): {"pattern": "made/**", "maxBytes": 10_000_000, "lineNumbers": True},
        ("notes", "status"): {},
        ("connector", "search"): {"query": "rotate the key 鍵"},
        ("connector", "fetch"): {"id": page_ids[0]},
    }


def all_tools() -> list[tuple[str, Tool]]:
    return [(surface, tool) for surface, tools in TABLES.items() for tool in tools]


def test_every_tool_says_how_much_it_may_answer_or_why_not() -> None:
    for _, tool in (*all_tools(), *(("all", tool) for tool in ALL)):
        has = any(one.name == NAME and one.most == MOST_TOKENS for one in tool.arguments)
        assert has != (tool.name in WITHOUT), tool.name


@pytest.mark.parametrize(("surface", "tool"), all_tools(), ids=lambda one: getattr(one, "name", one))
def test_no_answer_has_more_than_20_000_tokens_and_none_more_than_was_asked(
    desk: DeskProcess, surface: str, tool: Tool
) -> None:
    arguments = largest(desk)[surface, tool.name]
    may_say = any(one.name == NAME for one in tool.arguments)
    for most in (MOST_TOKENS, 5_000, 1_000) if may_say else (MOST_TOKENS,):
        # Each page of a batch is named in any case, so that fewer tokens have room for fewer pages.
        asked = {name: one[: most // 500] if isinstance(one, list) else one for name, one in arguments.items()}
        answer = call(desk, surface, tool.name, **asked, **({NAME: most} if may_say else {}))
        assert count(text_of(answer)) <= most, (tool.name, most)
        assert count(json.dumps(answer.get("structuredContent", {}), ensure_ascii=False)) <= MOST_TOKENS, (
            tool.name,
            most,
        )
    usual = call(desk, surface, tool.name, **arguments)
    assert count(text_of(usual)) <= MOST_TOKENS


def test_a_map_with_the_pins_above_it_has_no_more_tokens_than_it_may(desk: DeskProcess) -> None:
    for most in (MOST_TOKENS, 12_000):
        text = text_of(call(desk, "procedures", "get_toc", max_tokens=most))
        assert "Core procedures" in text
        assert count(text) <= most


def whole_giant() -> list[str]:
    return giant().split()


def follow(step: Any, first: Json) -> list[str]:
    """Words of all parts; a step gives a part's text and the arguments of the next, None at the end."""
    words, arguments = [], first
    for _ in range(400):
        text, following = step(arguments)
        words += text.split()
        if following is None:
            return words
        assert following != arguments, "the same call again would never end"
        arguments = following
    raise AssertionError("the parts do not end")


def test_read_document_gives_the_whole_text_once(desk: DeskProcess) -> None:
    def step(arguments: Json) -> tuple[str, Json | None]:
        told = call(desk, "docs", "read_document", **arguments)["structuredContent"]
        return told["text"], told.get("next")

    assert follow(step, {"path": GIANT, "max_tokens": 15_000}) == whole_giant()


@pytest.mark.parametrize("tool", ["get_pages_by_id", "get_pages_by_path"])
def test_pages_give_the_whole_text_once(desk: DeskProcess, tool: str) -> None:
    name, one = {"get_pages_by_id": ("pageIds", ids.document_id("default", "made", "giant.md"))}.get(
        tool, ("paths", "/made/giant/")
    )

    def step(arguments: Json) -> tuple[str, Json | None]:
        [page] = call(desk, "site", tool, **arguments)["structuredContent"]["resources"]
        following = page.get("next")
        return page["content"], following and {**following, "max_tokens": 15_000}

    assert follow(step, {name: [one], "max_tokens": 15_000}) == whole_giant()


def test_pages_that_are_omitted_come_when_they_are_asked_for_again(desk: DeskProcess) -> None:
    wanted = [f"/made/{one.removesuffix('.md')}/" for one in sorted(made_pages()) if one != "giant.md"][:25]
    left, got = wanted, []
    for _ in range(30):
        resources = call(desk, "site", "get_pages_by_path", paths=left, max_tokens=3_000)["structuredContent"][
            "resources"
        ]
        got += [path for path, one in zip(left, resources, strict=True) if "content" in one]
        left = [path for path, one in zip(left, resources, strict=True) if one.get("error", "").startswith("omitted: ")]
        if not left:
            break
    assert got == wanted


def test_fetch_gives_the_whole_text_once(desk: DeskProcess) -> None:
    def step(arguments: Json) -> tuple[str, Json | None]:
        told = call(desk, "connector", "fetch", **arguments)["structuredContent"]
        following = told["metadata"].get("next_id")
        return told["text"], following and {"id": following}

    assert follow(step, {"id": ids.document_id("default", "made", "giant.md")}) == whole_giant()


def test_get_gives_the_whole_text_once(desk: DeskProcess) -> None:
    def step(arguments: Json) -> tuple[str, Json | None]:
        told = call(desk, "notes", "get", **arguments)["structuredContent"]
        ends = told["toLine"] == told["totalLines"]
        return told["text"], None if ends else {**arguments, "fromLine": told["toLine"] + 1}

    assert follow(step, {"file": GIANT, "max_tokens": 15_000}) == whole_giant()


def test_files_that_multi_get_omits_are_named_for_get(desk: DeskProcess) -> None:
    told = call(desk, "notes", "multi_get", pattern="made/**", maxBytes=10_000_000, max_tokens=8_000)[
        "structuredContent"
    ]
    whole = [one["name"] for one in told["documents"]]
    named = [one["file"] for one in told["skipped"] if one["reason"].startswith("omitted: ")]
    assert named and whole
    assert len({*whole, *named}) == len(whole) + len(named)
    assert call(desk, "notes", "get", file=named[0])["structuredContent"]["name"] == named[0]


def test_get_section_gives_the_whole_text_once(desk: DeskProcess) -> None:
    section = ids.section_id(ids.document_id("default", "made", "giant.md"), ["Giant"], 0)

    def step(arguments: Json) -> tuple[str, Json | None]:
        head, origin, _, text = text_of(call(desk, "procedures", "get_section", **arguments)).split("\n", 3)
        assert head.startswith("# Giant  [id: ") and origin.startswith("From: Giant  [doc ")
        text, _, note = text.partition("\n\n(cut here; for the rest: ")
        found = re.search(r'section_id="(\w+)", from=(\d+)\)', note)
        return text, {**arguments, "section_id": found[1], "from": int(found[2])} if found else None

    assert ["#", "Giant", *follow(step, {"section_id": section, "max_tokens": 15_000})] == whole_giant()


def test_get_toc_names_every_section_of_a_document_once(desk: DeskProcess) -> None:
    def step(arguments: Json) -> tuple[str, Json | None]:
        text = text_of(call(desk, "procedures", "get_toc", **arguments))
        found = re.search(r'more sections: get_toc\(document_id="(\w+)", from=(\d+)\)\)$', text)
        listed = " ".join(re.findall(r"^- Part (\d+)  \[id: ", text, re.MULTILINE))
        return listed, {**arguments, "document_id": found[1], "from": int(found[2])} if found else None

    first = {"document_id": ids.document_id("default", "made", "giant.md"), "max_tokens": 4_000}
    assert follow(step, first) == [str(number) for number in range(SECTIONS)]


def test_list_topics_names_every_document_once(desk: DeskProcess) -> None:
    def step(arguments: Json) -> tuple[str, Json | None]:
        told = call(desk, "docs", "list_topics", **arguments)["structuredContent"]
        paths = [one["path"] for directory in told["directories"] for one in directory["documents"]]
        return "\n".join(paths), {**arguments, "cursor": told["next_cursor"]} if told["next_cursor"] else None

    words = follow(step, {"limit": 1_000, "max_tokens": 9_000})
    assert len(words) == len(set(words)) == int(desk.status()["stats"]["document_count"])
    assert {f"made/{one}" for one in made_pages()} <= set(words)


def test_get_documentation_set_names_every_page_once(desk: DeskProcess) -> None:
    def pages(items: list[Json]) -> list[str]:
        return [
            one for item in items for one in ([item["pageId"]] if "pageId" in item else pages(item.get("children", [])))
        ]

    def step(arguments: Json) -> tuple[str, Json | None]:
        told = call(desk, "site", "get_documentation_set", **arguments)["structuredContent"]
        following = told.get("nextCursor")
        return " ".join(pages(told["items"])), {**arguments, "cursor": following} if following else None

    words = follow(step, {"setId": "made", "max_tokens": 9_000})
    assert sorted(words) == sorted(ids.document_id("default", "made", one) for one in made_pages())


def test_a_search_names_what_did_not_fit_and_how_to_read_it(desk: DeskProcess) -> None:
    text = text_of(call(desk, "docs", "search_docs", query="rotate the key 鍵", limit=20, max_tokens=1_000))
    found = re.search(
        r'did not fit: an answer is capped at 1,000 tokens\. Next: read_document\(path="([^"]+)", from=(\d+)', text
    )
    assert found is not None, text[-600:]
    assert call(desk, "docs", "read_document", path=found[1], **{"from": int(found[2])})
    for surface, tool in (("site", "search_docs"), ("notes", "query")):
        told = call(desk, surface, tool, query="rotate the key 鍵", limit=25, max_tokens=1_000)["structuredContent"]
        assert "results did not fit" in told["message"]
        assert told["results"]
