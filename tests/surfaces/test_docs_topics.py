"""list_topics and read_document as an agent reads them: pages, parts, and everything unknown."""

from __future__ import annotations

import re

import pytest

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.errors import InvalidArgument
from refdesk.gateway.surfaces.docs.by_source import list_by_source
from surfaces.desks import Desk, ask, few_documents, handbook
from surfaces.fakes import FakeDocstore, Part, count_words, make_document


@pytest.mark.promise("docs.32", "docs.34")
@pytest.mark.anyio
async def test_a_page_ends_with_its_cursor_and_all_pages_together_list_every_document_once() -> None:
    desk = Desk()
    listed: list[str] = []
    cursor = None
    for _ in range(len(few_documents())):
        text = await ask(desk, "list_topics", limit=1, **({"cursor": cursor} if cursor else {}))
        listed += re.findall(r"^• (\S+)", text, re.MULTILINE)
        ending = re.search(r"\nnext_cursor: (\S+)\nMore documents remain: call list_topics again", text)
        if ending is None:
            break
        cursor = ending.group(1)
    assert sorted(listed) == sorted(document.path for document in few_documents())


@pytest.mark.anyio
async def test_a_directory_that_may_go_on_elsewhere_counts_this_page_only_and_says_so() -> None:
    text = await ask(Desk(), "list_topics", limit=3)
    assert "policies/ — 2 documents, 13 chunks\n" in text
    assert "api/ — 1 document, 1 chunk on this page\n" in text


@pytest.mark.promise("docs.33")
@pytest.mark.anyio
async def test_a_cursor_of_something_else_is_refused() -> None:
    assert await ask(Desk(), "list_topics", cursor="other-3") == (
        'error: cursor is not one that list_topics gave for project "handbook": call it without cursor to start again'
    )


@pytest.mark.promise("docs.35")
@pytest.mark.anyio
async def test_a_page_over_twenty_thousand_tokens_goes_on_by_cursor() -> None:
    documents = [
        make_document(f"policies/{number:04d}/{'very-long-name-' * 8}.md", "A title " * 20, [Part((), "x")])
        for number in range(400)
    ]
    text = await ask(Desk(docstore=FakeDocstore(documents, handbook())), "list_topics", limit=1000)
    assert count_words(text) <= 20_000
    shown = len(re.findall(r"^• ", text, re.MULTILINE))
    assert 100 < shown < 400
    cursor = re.search(r"^next_cursor: (\S+)$", text, re.MULTILINE)
    assert cursor is not None
    rest = await ask(Desk(docstore=FakeDocstore(documents, handbook())), "list_topics", limit=1000, cursor=cursor[1])
    assert re.search(r"^• policies/(\d{4})/", rest, re.MULTILINE)[1] == f"{shown:04d}"  # type: ignore[index]


@pytest.mark.anyio
async def test_an_empty_project_lists_nothing_and_says_what_to_do() -> None:
    text = await ask(Desk(docstore=FakeDocstore([], handbook())), "list_topics")
    assert text.startswith(
        'Project "handbook": 0 documents, 0 chunks\nSources (the first path segment): policies (local)'
    )
    assert 'Nothing is indexed yet in project "handbook".' in text


@pytest.mark.promise("docs.41")
@pytest.mark.anyio
async def test_a_breadcrumb_of_a_search_result_reads_that_section_and_its_subsections() -> None:
    text = await ask(Desk(), "read_document", path="api/reference/auth.md", heading="Authentication > Tokens")
    assert text.endswith(
        "---\n## Tokens\n\nA token lives for an hour.\n\n### Rotation\n\nRotate a token before it ends."
    )


@pytest.mark.promise("docs.5", "docs.45", "docs.47")
@pytest.mark.anyio
@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (
            {"path": "api/auth.md"},
            'error: no document "api/auth.md" in project "handbook"; nearest: api/reference/auth.md',
        ),
        ({"path": "zzz"}, 'error: no document "zzz" in project "handbook"; list_topics shows every path'),
        (
            {"path": "../../etc/passwd"},
            'error: no document "../../etc/passwd" in project "handbook"; list_topics shows every path',
        ),
        (
            {"path": "policies/old.md"},
            'error: policies/old.md has moved to policies/travel.md: read_document(path="policies/travel.md")',
        ),
        (
            {"path": "api/changes.md", "heading": "None"},
            'error: no heading "None" in api/changes.md; it has none: read it without heading',
        ),
        (
            {"path": "api/reference/auth.md", "heading": "Keys"},
            'error: no heading "Keys" in api/reference/auth.md; its headings: "Authentication", '
            '"Authentication > Tokens", "Authentication > Tokens > Rotation", "Authentication > Errors"',
        ),
        ({"path": "x", "max_tokens": 100}, "error: max_tokens must be an integer from 200 to 20000, not 100"),
        (
            {"file": "x"},
            'error: read_document takes no argument "file"; valid: path, heading, from, to, max_tokens',
        ),
    ],
)
async def test_what_does_not_exist_is_answered_with_what_does(arguments: dict[str, object], answer: str) -> None:
    desk = Desk()
    desk.docstore.moved = {"policies/old.md": "policies/travel.md"}
    assert await ask(desk, "read_document", **arguments) == answer


@pytest.mark.promise("docs.48")
@pytest.mark.anyio
async def test_a_deleted_document_reads_like_one_that_never_was() -> None:
    desk = Desk()
    desk.docstore.documents[3].deleted = True
    assert (await ask(desk, "read_document", path="api/changes.md")).startswith('error: no document "api/changes.md"')


@pytest.mark.promise("docs.31", "docs.34")
@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 50])
async def test_sources_are_listed_one_after_the_other_as_declared_in_pages_of_any_size(size: int) -> None:
    names = ["zulu", "alpha", "empty", "mike", "undeclared"]
    documents = [
        make_document(f"{name}/{number}.md", name, [Part((), "x")])
        for name in names
        if name != "empty"
        for number in (1, 2)
    ]
    project = handbook()
    del project.sources[:]
    project.sources.extend(docstore_api.Source(name=name, kind="folder") for name in names[:-1])
    docstore = FakeDocstore(documents, project)
    listed: list[str] = []
    cursor = ""
    for _ in range(len(documents) + 1):
        page = await list_by_source(docstore, project, names, cursor, size)  # type: ignore[arg-type]
        assert len(page.documents) <= size
        listed += [document.path for document in page.documents]
        cursor = page.next_page_token
        if not cursor:
            break
        assert page.documents
    assert listed == [document.path for document in documents]


@pytest.mark.promise("docs.33", "docs.34")
@pytest.mark.anyio
async def test_a_listing_goes_on_where_it_stood_while_sources_come_and_documents_of_others_go() -> None:
    documents = [make_document(f"{name}/{n}.md", name, [Part((), "x")]) for name in ("b", "a") for n in (1, 2, 3)]
    project = handbook()
    docstore = FakeDocstore(list(documents), project)
    first = await list_by_source(docstore, project, ["b", "a"], "", 4)  # type: ignore[arg-type]
    docstore.documents = [make_document("new/1.md", "new", [Part((), "x")]), *documents[3:]]
    rest = await list_by_source(docstore, project, ["new", "b", "a"], first.next_page_token, 50)  # type: ignore[arg-type]
    assert [one.path for one in rest.documents] == ["a/2.md", "a/3.md"]
    for sources, other in ((["b"], project), (["b", "a"], docstore_api.Project(slug="other"))):
        with pytest.raises(InvalidArgument):
            await list_by_source(docstore, other, sources, first.next_page_token, 50)  # type: ignore[arg-type]
