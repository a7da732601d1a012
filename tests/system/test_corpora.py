"""Real documentation as people declare it: three versions and four languages of Helm, an API source of each spec, in one project."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from models import build_tiny_model
from system.desks import SETTLE_SECONDS, DeskProcess, running, ticks

pytestmark = pytest.mark.slow
CORPORA = Path(os.environ.get("REFDESK_CORPORA", Path(__file__).parents[3] / "shared" / "corpora"))
HELM = {
    "helm-v4": ("v4", "v4", "en"),
    "helm-v3": ("v3", "v3", "en"),
    "helm-v2": ("v2", "v2", "en"),
    "helm-de": ("de", "v3", "de"),
    "helm-ja": ("ja", "v3", "ja"),
    "helm-zh": ("zh", "v3", "zh"),
}
"""Folder, version and language of each source."""
SPECS = {"projects": "xero-projects.yaml", "accounting": "xero_accounting.yaml", "assets": "xero_assets.yaml"}
LANGUAGES = [
    # question in the language of the page, its source, the end of the page's path, words that the excerpt holds
    ("ラベルとアノテーションの違いは何ですか", "helm-ja", "chart_best_practices/labels.md", "ラベル"),
    ("チャートのファイル構造", "helm-ja", "topics/charts.md", "ファイル構造"),
    ("如何运行和测试你的 chart", "helm-zh", "topics/chart_tests.md", "测试"),
    ("chart 钩子 的 生命周期", "helm-zh", "topics/charts_hooks.md", "hook"),
    ("Ist es ein Label oder eine Annotation", "helm-de", "chart_best_practices/labels.md", "Label"),
    ("Wie räume ich Hook-Ressourcen auf", "helm-de", "topics/charts_hooks.md", "Hook"),
]
Json = dict[str, Any]


def missing() -> str:
    """What of the corpora is not there; empty where all of it is."""
    wanted = [
        *(Path("helm") / folder for folder, *_ in HELM.values()),
        *(Path("openapi") / one for one in SPECS.values()),
    ]
    absent = [str(one) for one in wanted if not (CORPORA / one).exists()]
    return f"no corpora: {CORPORA} lacks {', '.join(absent)}; set REFDESK_CORPORA" if absent else ""


if reason := missing():
    pytest.skip(reason, allow_module_level=True)


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskProcess]:
    """One config; questions by words are answered as soon as the words are there, so vectors are not waited for."""
    root = tmp_path_factory.mktemp("corpora")
    sources: list[Json] = [
        {"name": name, "path": str(CORPORA / "helm" / folder), "version": version, "language": language}
        for name, (folder, version, language) in HELM.items()
    ]
    for name, file in SPECS.items():
        sources.append({"name": name, "path": str(CORPORA / "openapi"), "type": "api", "include": [file]})
    project = {"surfaces": ["docs", "site", "procedures", "notes", "connector"], "sources": sources}
    config = root / "config.yaml"
    config.write_text(yaml.safe_dump({"projects": {"default": project}}), encoding="utf-8")
    arguments = ("--docs", "", "--config", str(config))
    with running(DeskProcess(root, root / "data", build_tiny_model(root / "model"), arguments=arguments)) as desk:
        files = sum(len(list((CORPORA / "helm" / folder).rglob("*.md*"))) for folder, *_ in HELM.values())
        for _ in ticks(SETTLE_SECONDS, every=0.5):
            status = desk.status()
            if status["ingest"]["words_current"] and int(status["stats"]["document_count"]) > files:
                break
        else:
            raise AssertionError(f"the words are not there: {status['stats']}\n{desk.tail()}")
        yield desk


def call(desk: DeskProcess, surface: str, tool: str, **arguments: Any) -> Json:
    answer = desk.call(tool, arguments, f"/mcp/default/{surface}")
    assert not answer["isError"], answer["content"][0]["text"]
    return answer


def told(desk: DeskProcess, surface: str, tool: str, **arguments: Any) -> Any:
    return json.loads(call(desk, surface, tool, **arguments)["content"][0]["text"])


def text(desk: DeskProcess, surface: str, tool: str, **arguments: Any) -> str:
    return str(call(desk, surface, tool, **arguments)["content"][0]["text"])


@pytest.mark.parametrize(("question", "source", "page", "words"), LANGUAGES)
def test_a_question_in_the_language_of_a_page_finds_it_by_words(
    desk: DeskProcess, question: str, source: str, page: str, words: str
) -> None:
    found = told(desk, "site", "search_docs", query=question, mode="keyword", limit=5)
    assert found["mode"] == "keyword"
    places = [one["path"] for one in found["results"]]
    assert f"/{source}/{page.removesuffix('.md')}/" in places[:3], places
    excerpts = text(desk, "docs", "search_docs", query=question, source=source)
    heads = re.findall(r"^### \d+\. (\S+)", excerpts, re.MULTILINE)
    assert f"{source}/{page}" in heads, heads
    assert words in excerpts


@pytest.mark.parametrize("version", ["v2", "v3", "v4"])
def test_a_version_narrows_to_its_own_pages(desk: DeskProcess, version: str) -> None:
    excerpts = text(desk, "docs", "search_docs", query="install a chart from a repository", version=version, limit=10)
    heads = re.findall(r"^### \d+\. ([^/]+)/", excerpts, re.MULTILINE)
    assert heads
    assert {HELM[source][1] for source in heads} == {version}


def test_what_only_one_version_has_is_found_in_it_alone(desk: DeskProcess) -> None:
    by_version = {
        version: text(desk, "docs", "search_docs", query="tiller", version=version, limit=3) for version in ("v2", "v4")
    }
    assert re.search(r"^### 1\. helm-v2/", by_version["v2"], re.MULTILINE)
    found = told(desk, "site", "search_docs", query="tiller", mode="keyword", limit=5)
    assert "/helm-v2/" in {one["path"][: len("/helm-v2/")] for one in found["results"]}


def test_an_unknown_version_is_told_those_there_are(desk: DeskProcess) -> None:
    answer = desk.call("search_docs", {"query": "chart", "version": "v5"}, "/mcp/default/docs")
    assert answer["isError"]
    assert answer["content"][0]["text"].endswith("its versions: v2, v3, v4")


@pytest.mark.parametrize(
    ("question", "set_id", "title"),
    [
        ("GET /Invoices/{InvoiceID}", "accounting", "/Invoices/{InvoiceID}"),
        ("create a task in a project", "projects", "/Projects/{projectId}/Tasks"),
        ("depreciation settings of an asset", "assets", "/AssetTypes"),
    ],
)
def test_an_operation_is_found_in_the_reference_of_its_own_spec(
    desk: DeskProcess, question: str, set_id: str, title: str
) -> None:
    found = told(desk, "site", "search_api", query=question, mode="keyword", limit=5, pageTypeIds=[set_id])
    assert {one["setId"] for one in found["results"]} == {set_id}
    [page, *_] = told(desk, "site", "get_pages_by_id", pageIds=[one["pageId"] for one in found["results"][:1]])[
        "resources"
    ]
    assert page["content"]
    assert any(title.lower() in json.dumps(one).lower() for one in found["results"]), found["results"]


@pytest.mark.parametrize("set_id", SPECS)
def test_a_spec_is_read_whole_and_its_menu_has_operations(desk: DeskProcess, set_id: str) -> None:
    spec = told(desk, "site", "get_openapi_spec", setId=set_id)
    assert spec["content"] == (CORPORA / "openapi" / SPECS[set_id]).read_text(encoding="utf-8")
    menu = told(desk, "site", "get_documentation_set", setId=set_id)
    assert '"method": "GET"' in json.dumps(menu)


def test_a_reader_sees_sets_with_versions_apart_and_every_language(desk: DeskProcess) -> None:
    overview = told(desk, "site", "get_site_overview")
    assert {one["id"]: one["type"] for one in overview["sets"]} == {
        **dict.fromkeys(HELM, "documentation"),
        **dict.fromkeys(SPECS, "api"),
    }
    for source in HELM:
        document = told(desk, "site", "get_documentation_set", setId=source, max_tokens=2_000)
        assert document["items"], source
    assert "helm-ja (" in text(desk, "docs", "list_topics", limit=1)
