"""The notes surface with the official client: each promise of its manifest."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from mcp import Client

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.gateway.surfaces.notes.status import compose_instructions
from surfaces.desks import served
from surfaces.fakes import Part, make_document
from surfaces.notes_desk import NotesSearch, asked_of, call, make_desk, make_project, refusal, text_of

pytestmark = pytest.mark.anyio
BOTH = {"error handling": ["src/errors.ts", "docs/errors.md"]}
VEC = [{"type": "vec", "query": "error handling"}]
FAR = "journals/2025-06-01.md"


def searches(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"type": kind, "query": text} for kind, text in pairs]


@pytest.mark.promise("notes.1", "notes.2")
async def test_four_tools_are_listed_in_order_and_their_answers_fit_their_schemas() -> None:
    desk = make_desk(BOTH)
    calls: dict[str, dict[str, Any]] = {
        "query": {"searches": VEC, "rerank": True},
        "get": {"file": "docs/errors.md", "maxLines": 1},
        "multi_get": {"pattern": "docs/*,nope"},
        "status": {},
    }
    async with served(desk.gateway()) as url, Client(f"{url}/mcp/default/notes") as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(calls)
        for tool in tools:
            assert tool.title and tool.annotations and tool.annotations.read_only_hint
            assert len(tool.description or "") <= 2_048
            answer = await client.call_tool(tool.name, calls[tool.name])
            assert text_of(answer)
            assert tool.output_schema
            jsonschema.validate(answer.structured_content, tool.output_schema)


@pytest.mark.promise("notes.12", "notes.13")
async def test_sub_queries_are_legs_of_their_kind_and_the_first_weighs_double() -> None:
    desk = make_desk({'"exact" auth': ["docs/errors.md"], "why": ["src/errors.ts"], "made up": ["src/errors.ts"]})
    asked = searches(("lex", '"exact" auth'), ("vec", "why"), ("hyde", "made up"))
    answer = await call(desk, "query", searches=asked)
    legs = asked_of(desk).legs
    assert [(leg.kind, leg.text, leg.syntax) for leg in legs] == [
        (search_api.LEG_KIND_LEXICAL, '"exact" auth', search_api.LEG_SYNTAX_LEX),
        (search_api.LEG_KIND_SEMANTIC, "why", search_api.LEG_SYNTAX_UNSPECIFIED),
        (search_api.LEG_KIND_HYDE, "made up", search_api.LEG_SYNTAX_UNSPECIFIED),
    ]
    # 2 of 4 shares each: one first of a leg that weighs 2, the other first of two that weigh 1.
    assert answer.structured_content is not None
    assert [one["score"] for one in answer.structured_content["results"]] == [0.5, 0.5]
    second = await call(desk, "query", searches=asked[1:])
    assert second.structured_content is not None
    assert [one["score"] for one in second.structured_content["results"]] == [1.0]


@pytest.mark.promise("notes.14")
async def test_min_score_leaves_out_what_is_below_it_and_keeps_what_is_shown_as_equal() -> None:
    for least, files in ((0.92, ["src/errors.ts", "docs/errors.md"]), (0.93, ["src/errors.ts"])):
        answer = await call(make_desk(BOTH), "query", searches=VEC, minScore=least)
        assert answer.structured_content is not None
        assert [one["file"] for one in answer.structured_content["results"]] == files
    assert text_of(answer).splitlines()[0] == 'Found 1 result for "error handling":'


@pytest.mark.promise("notes.15")
async def test_a_plain_query_is_plain_words_and_a_question() -> None:
    desk = make_desk(BOTH)
    await call(desk, "query", query="error handling")
    legs = asked_of(desk).legs
    assert [(leg.kind, leg.text, leg.syntax) for leg in legs] == [
        (search_api.LEG_KIND_LEXICAL, "error handling", search_api.LEG_SYNTAX_UNSPECIFIED),
        (search_api.LEG_KIND_SEMANTIC, "error handling", search_api.LEG_SYNTAX_UNSPECIFIED),
    ]


@pytest.mark.promise("notes.16")
async def test_collections_narrow_and_unknown_ones_are_named() -> None:
    desk = make_desk(BOTH)
    await call(desk, "query", searches=VEC, collections=["docs", "src"])
    assert list(asked_of(desk).filter.sources) == ["docs", "src"]
    said = await refusal(desk, "query", searches=VEC, collections=["nope"])
    assert said == 'no collection "nope"; valid: src, docs, journals'


@pytest.mark.promise("notes.17")
async def test_rerank_is_answered_as_usual_and_said_not_to_be_available() -> None:
    plain, reranked = [await call(make_desk(BOTH), "query", searches=VEC, rerank=one) for one in (False, True)]
    assert text_of(reranked) == f"{text_of(plain)}\n\nrerank: not available"


@pytest.mark.promise("notes.18")
async def test_a_leg_that_did_not_answer_is_said_and_nothing_found_is_not() -> None:
    desk = make_desk({"auth": ["docs/errors.md"]})
    assert isinstance(desk.search, NotesSearch)
    desk.search.failed[search_api.LEG_KIND_SEMANTIC] = "embedder_unavailable"
    both = await call(desk, "query", searches=searches(("lex", "auth"), ("vec", "why")))
    assert text_of(both).endswith("Mode: lexical (meaning not searched: embedder_unavailable).")
    assert both.structured_content is not None
    assert both.structured_content["mode"] == "lexical"
    none = await call(desk, "query", searches=searches(("lex", "nothing"), ("vec", "why")))
    assert text_of(none).startswith('No answer yet for "nothing": meaning could not be searched')
    alone = await refusal(desk, "query", searches=searches(("vec", "why")))
    assert alone.startswith("temporarily unavailable, retry in 1 s: nothing was searched (embedder_unavailable)")
    fine = await call(desk, "query", searches=searches(("lex", "nothing")))
    assert text_of(fine) == 'No results found for "nothing"'


@pytest.mark.promise("notes.19")
async def test_candidates_are_documents_and_bound_the_results() -> None:
    desk = make_desk({"all": [document.path for document in make_desk().docstore.documents]})
    for more, count in (({}, 5), ({"candidateLimit": 2}, 2), ({"limit": 3}, 3)):
        answer = await call(desk, "query", searches=searches(("lex", "all")), **more)
        assert answer.structured_content is not None
        assert len(answer.structured_content["results"]) == count


@pytest.mark.promise("notes.20")
async def test_an_intent_tells_legs_by_meaning_and_picks_lines() -> None:
    text = "\n".join(["intro"] * 3 + ["pool of swimmers " * 20, "filler " * 40, "connection pool size " + "x" * 250])
    desk = make_desk({"pool": ["docs/pool.md"], "pool (database connection)": []})
    document = make_document("docs/pool.md", "Pools", [Part((), text)])
    document.content_hash = "c" * 64
    desk.docstore.documents.append(document)
    asked = searches(("lex", "pool"), ("vec", "pool"), ("hyde", "pool"))
    answer = await call(desk, "query", searches=asked, intent="database connection")
    assert [leg.text for leg in asked_of(desk).legs] == ["pool", "pool (database connection)", "pool"]
    assert answer.structured_content is not None
    assert answer.structured_content["results"][0]["snippet"].startswith("6: connection pool size")


@pytest.mark.promise("notes.30", "notes.31")
@pytest.mark.parametrize(
    ("arguments", "text", "lines"),
    [
        (
            {"file": "docs/errors.md", "lineNumbers": True, "fromLine": 3},
            "3: Say what failed.\n4: Say what to do.",
            (3, 4),
        ),
        ({"file": "#DEF456", "maxLines": 1}, "# Errors", (1, 1)),
        ({"file": "def456", "fromLine": 3, "maxLines": 1}, "Say what failed.", (3, 3)),
        ({"file": "qmd://docs/errors.md"}, "# Errors\n\nSay what failed.\nSay what to do.", (1, 4)),
        ({"file": "docs/errors.md:4"}, "Say what to do.", (4, 4)),
        ({"file": "docs/errors.md:4", "fromLine": 3}, "Say what failed.\nSay what to do.", (3, 4)),
        ({"file": "docs/errors.md", "fromLine": 9}, "", (9, 8)),
    ],
)
async def test_get_finds_and_slices(arguments: dict[str, Any], text: str, lines: tuple[int, int]) -> None:
    answer = await call(make_desk(), "get", **arguments)
    data = answer.structured_content
    assert data is not None
    assert (data["text"], data["fromLine"], data["toLine"], data["totalLines"]) == (text, *lines, 4)


@pytest.mark.promise("notes.32")
async def test_a_docid_of_an_older_content_brings_what_is_there_now_and_says_so() -> None:
    for tool, arguments in (("get", {"file": "#feed01"}), ("multi_get", {"pattern": "#feed01,src/errors.ts"})):
        answer = await call(make_desk(), tool, **arguments)
        assert "content changed, now #def456" in text_of(answer).splitlines()
        assert "Say what failed." in str(answer.structured_content)


@pytest.mark.promise("notes.33")
async def test_an_unknown_file_is_answered_with_similar_names() -> None:
    said = await refusal(make_desk(), "get", file="doc/errors.md")
    assert said == 'document not found: "doc/errors.md"; did you mean docs/errors.md?'
    desk = make_desk()
    desk.docstore.moved["docs/old.md"] = "docs/errors.md"
    assert await refusal(desk, "get", file="docs/old.md") == '"docs/old.md" has moved to docs/errors.md: get that'


@pytest.mark.promise("notes.34", "notes.35")
async def test_multi_get_brings_what_fits_and_names_what_it_skips() -> None:
    desk = make_desk()
    desk.docstore.documents.append(make_document("docs/big.md", "Big", [Part((), "x " * 40_000)]))
    answer = await call(desk, "multi_get", pattern="{docs,src}/*, #0b0b01, nothing/*, docs/none.md", maxLines=1)
    data = answer.structured_content
    assert data is not None
    assert [one["name"] for one in data["documents"]] == ["docs/errors.md", "src/errors.ts", FAR]
    assert [one["file"] for one in data["skipped"]] == ["nothing/*", "docs/none.md", "docs/big.md"]
    assert "more than maxBytes 65,536; read it with get" in data["skipped"][2]["reason"]
    assert "[SKIPPED: docs/big.md: " in text_of(answer)
    assert len(answer.content) == 4
    said = await refusal(desk, "multi_get", pattern="nothing/*")
    assert said == 'no files match "nothing/*": query finds what there is'


@pytest.mark.promise("notes.37")
async def test_no_answer_is_above_its_tokens_and_the_next_call_brings_the_rest() -> None:
    desk = make_desk()
    lines = [f"line {number} of the long document" for number in range(1, 201)]
    desk.docstore.documents.append(make_document("docs/long.md", "Long", [Part((), "\n".join(lines))]))
    read: list[str] = []
    for _ in range(40):
        answer = await call(desk, "get", file="docs/long.md", fromLine=len(read) + 1, max_tokens=200)
        data = answer.structured_content
        assert data is not None
        assert len((text_of(answer) + data["text"]).split()) <= 200
        read += data["text"].split("\n")
        if data["toLine"] == 200:
            break
        assert f"For more: get with fromLine={len(read) + 1}." in text_of(answer)
    assert read == lines
    both = await call(desk, "multi_get", pattern="docs/*", max_tokens=300)
    assert both.structured_content is not None
    assert [one["file"] for one in both.structured_content["skipped"]] == ["docs/long.md"]
    assert "omitted: does not fit in max_tokens" in text_of(both)


@pytest.mark.promise("notes.36", "notes.42")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_documents_are_resources_with_their_context(mode: Any) -> None:
    async with served(make_desk().gateway()) as url, Client(f"{url}/mcp/default/notes", mode=mode) as client:
        resources = (await client.list_resources()).resources
        by_name = {one.name: one for one in resources}
        code = by_name["src/errors.ts"]
        assert (code.uri, code.title, code.mime_type, code.description) == (
            "qmd://src/errors.ts",
            "Error handling utilities",
            "text/markdown",
            "Source code for error utilities",
        )
        contents = (await client.read_resource(code.uri)).contents[0].model_dump()
        assert contents["text"].startswith("<!-- Context: Source code for error utilities -->\n\nexport function")
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == ["qmd://{collection}/{+path}"]
        for uri in ("qmd://src/none.ts", "contextator://default/src/errors.ts"):
            with pytest.raises(Exception, match=r"document not found|no resource"):
                await client.read_resource(uri)


@pytest.mark.promise("notes.43")
async def test_instructions_name_what_there_is_and_how_to_ask() -> None:
    async with served(make_desk().gateway()) as url, Client(f"{url}/mcp/default/notes") as client:
        said = client.instructions or ""
    assert said.startswith("5 Markdown documents to search.")
    assert "- docs (1 document): The handbook\n" in said
    assert "Embeddings: complete" in said
    assert "The first sub-query weighs double" in said


@pytest.mark.promise("notes.43")
async def test_instructions_of_200_sources_fit_in_what_clients_keep() -> None:
    project, stats = (
        make_project(),
        docstore_api.GetStatsResponse(document_count=9, embeddable_count=9, embedded_count=4),
    )
    project.description = "d" * 300
    for number in range(200):
        project.sources.add(name=f"collection-{number}", kind="folder", description="about " * 60)
    said = compose_instructions(project, stats)
    assert len(said) <= 2_048
    assert "Embeddings: 4 of 9 documents" in said
    assert "more: status" in said
    assert said.endswith("Cite the file of every document that you use.")


@pytest.mark.promise("notes.45")
async def test_nothing_of_another_project_is_told_apart_from_nothing() -> None:
    for name in ("#fff000", "fff000", "other/secret.md"):
        said = await refusal(make_desk(), "get", file=name)
        assert said.startswith(("no document has the docid #fff000", "document not found: "))


@pytest.mark.promise("notes.3")
@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("query", {}, "query needs searches, a list of {type, query}, or query, a plain text: one of the two"),
        ("query", {"query": "a", "searches": VEC}, "query needs searches, a list of {type, query}, or query"),
        ("query", {"searches": "lex"}, "searches must be a list of 1 to 10 objects with type, query, not"),
        ("query", {"searches": VEC * 11}, "searches must be a list of 1 to 10 objects with type, query, not 11"),
        ("query", {"searches": ["a"]}, "searches must be a list of 1 to 10 objects with type, query; one of them is"),
        ("query", {"searches": [{"type": "lex"}]}, "searches[0] needs query: a text of 1 to 2,000 characters"),
        ("query", {"searches": [{"query": "a"}]}, "searches[0] needs type: one of lex, vec, hyde"),
        ("query", {"searches": [{"type": "sem", "query": "a"}]}, "searches[0].type must be one of lex, vec, hyde, not"),
        (
            "query",
            {"searches": [{"type": "vec", "query": "a", "x": 1}]},
            'searches[0] takes no argument "x"; valid: type',
        ),
        ("query", {"searches": searches(("vec", "x" * 2_001))}, "searches[0].query must be a text of 1 to 2,000"),
        ("query", {"searches": searches(("vec", "a"), ("lex", "-draft"))}, "searches[1]: lex: -draft only excludes"),
        ("query", {"searches": searches(("lex", '"odd'))}, 'searches[0]: lex: odd quote in "odd'),
        ("query", {"query": " "}, "query must be a text of 1 to 2,000 characters, not empty"),
        ("query", {"query": 5}, "query must be a text of 1 to 2,000 characters, not 5"),
        ("query", {"query": "a", "limit": 101}, "limit must be an integer from 1 to 100, not 101"),
        ("query", {"query": "a", "minScore": 1.5}, "minScore must be a number from 0 to 1, not 1.5"),
        ("query", {"query": "a", "collections": "docs"}, "collections must be a list of 1 to 100 texts, not"),
        ("query", {"query": "a", "candidateLimit": 0}, "candidateLimit must be an integer from 1 to 100, not 0"),
        ("query", {"query": "a", "intent": "x" * 501}, "intent must be a text of 1 to 500 characters, not 501"),
        ("query", {"query": "a", "rerank": "yes"}, "rerank must be true or false, not"),
        ("query", {"query": "a", "minscore": 1}, 'query takes no argument "minscore" (did you mean minScore?)'),
        ("get", {}, "get needs file: a text of 1 to 4,200 characters"),
        ("get", {"file": "a", "fromLine": 0}, "fromLine must be an integer from 1 to 1000000, not 0"),
        ("get", {"file": "a", "maxLines": "x"}, "maxLines must be an integer from 1 to 1000000, not"),
        ("get", {"file": "a", "lineNumbers": 1}, "lineNumbers must be true or false, not 1"),
        ("get", {"file": "a", "max_tokens": 100}, "max_tokens must be an integer from 200 to 20000, not 100"),
        ("multi_get", {}, "multi_get needs pattern: a text of 1 to 8,000 characters"),
        ("multi_get", {"pattern": ","}, "pattern must name 1 to 200 files, docids or globs, not 0"),
        ("multi_get", {"pattern": "{a,b}" * 7}, "pattern stands for more than 64 patterns; use fewer braces"),
        ("multi_get", {"pattern": "[z-a]*"}, "pattern has a range that ends before it begins: [z-a]"),
        ("multi_get", {"pattern": "a", "maxBytes": 0}, "maxBytes must be an integer from 1 to 10000000, not 0"),
        ("status", {"x": 1}, "status takes no arguments; call it without"),
    ],
)
async def test_bad_input_gets_one_line_that_says_what_is_valid(tool: str, arguments: dict[str, Any], says: str) -> None:
    assert (await refusal(make_desk(), tool, **arguments)).startswith(says)
