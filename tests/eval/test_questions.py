"""Hold the evaluation questions to their pages; must not know how refdesk searches, ranks or chunks."""

import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

QUESTIONS = Path(__file__).parent / "questions"
CORPORA = Path(os.environ.get("REFDESK_CORPORA", Path(__file__).parents[2].parent / "shared" / "corpora"))
FOLDERS = {"helm": "helm/v3", "prometheus": "prometheus", "opensearch": "opensearch"}
KINDS = ("paraphrase", "identifier", "heading", "two_page", "task")
QUESTIONS_PER_KIND = 8
MAX_QUESTIONS_PER_PAGE = 2
# Words so common that sharing one says nothing about what a question and a heading have in common.
COMMON_WORDS = (
    "about after also and are because been before being both but can cannot could does doing down each even every "
    "from have having here into just like made make many more most much must need only other over same should some "
    "such than that the their them then there these they this those through under until very want what when where "
    "which while whose will with without would your"
)
STOPWORDS = frozenset(COMMON_WORDS.split())

requires_corpora = pytest.mark.skipif(
    not all((CORPORA / folder).is_dir() for folder in FOLDERS.values()),
    reason=f"the corpora are not at {CORPORA}; set REFDESK_CORPORA to their folder",
)


def read_questions(name: str) -> list[dict[str, Any]]:
    """Return the questions of one file, in file order."""
    questions: list[dict[str, Any]] = yaml.safe_load((QUESTIONS / f"{name}.yaml").read_text(encoding="utf-8"))
    return questions


def split_front_matter(page: str) -> tuple[str, str]:
    """Return a page's title and its body; the title is empty where the page has none."""
    match = re.match(r"---\n(.*?)\n---\n", page, re.DOTALL)
    if match is None:
        return "", page
    title = re.search(r"^title:\s*(.+)$", match.group(1), re.MULTILINE)
    return (title.group(1).strip("\"' ") if title else ""), page[match.end() :]


def list_headings(body: str) -> list[str]:
    """Return the ATX headings outside fenced code, without their marks."""
    headings: list[str] = []
    fenced = False
    for line in body.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and (match := re.match(r"#{1,6}\s+(.+?)\s*$", line)):
            headings.append(match.group(1))
    return headings


def text_before_first_heading(body: str) -> str:
    """Return the prose that stands above a page's first heading."""
    return re.split(r"^#{1,6}\s", body, maxsplit=1, flags=re.MULTILINE)[0].strip()


def content_words(text: str) -> set[str]:
    """Return the lowercase words of more than three letters that carry meaning."""
    return set(re.findall(r"[a-z]{4,}", text.lower())) - STOPWORDS


def shared_words(question: str, other: str) -> set[tuple[str, str]]:
    """Return pairs of words that are the same up to their ending: one begins with five letters of the other, or all."""
    return {
        (left, right)
        for left in content_words(question)
        for right in content_words(other)
        if left[: min(5, len(left), len(right))] == right[: min(5, len(left), len(right))]
    }


def read_page(corpus: str, path: str) -> str:
    """Return a page's text, path being relative to the corpus."""
    return (CORPORA / FOLDERS[corpus] / path).read_text(encoding="utf-8")


def test_every_question_id_is_unique() -> None:
    ids = [question["id"] for name in (*FOLDERS, "unanswerable") for question in read_questions(name)]
    assert [id_ for id_, count in Counter(ids).items() if count > 1] == []


@pytest.mark.parametrize("corpus", FOLDERS)
def test_a_corpus_has_eight_questions_of_each_kind(corpus: str) -> None:
    counts = Counter(question["kind"] for question in read_questions(corpus))
    assert counts == dict.fromkeys(KINDS, QUESTIONS_PER_KIND)


@pytest.mark.parametrize("corpus", FOLDERS)
def test_only_two_page_questions_name_two_different_pages(corpus: str) -> None:
    for question in read_questions(corpus):
        pages = {answer["path"] for answer in question["answers"]}
        expected = 2 if question["kind"] == "two_page" else 1
        assert len(pages) == len(question["answers"]) == expected, question["id"]


@pytest.mark.parametrize("corpus", FOLDERS)
def test_no_page_is_asked_for_more_than_twice(corpus: str) -> None:
    pages = Counter(answer["path"] for question in read_questions(corpus) for answer in question["answers"])
    assert {page: count for page, count in pages.items() if count > MAX_QUESTIONS_PER_PAGE} == {}


def test_opensearch_questions_span_35_pages_in_20_folders() -> None:
    pages = {answer["path"] for question in read_questions("opensearch") for answer in question["answers"]}
    assert len(pages) >= 35
    assert len({page.split("/")[0] for page in pages}) >= 20


def test_unanswerable_questions_are_eight_near_and_twelve_off_topic_spread_evenly() -> None:
    questions = read_questions("unanswerable")
    assert Counter(question["kind"] for question in questions) == {"near_topic": 8, "off_topic": 12}
    assert sorted(Counter(question["corpus"] for question in questions).values()) == [6, 7, 7]
    assert all(question["answers"] == [] for question in questions)


@requires_corpora
@pytest.mark.parametrize("corpus", FOLDERS)
def test_every_answer_names_a_heading_that_stands_on_its_page(corpus: str) -> None:
    for question in read_questions(corpus):
        for answer in question["answers"]:
            _, body = split_front_matter(read_page(corpus, answer["path"]))
            found = answer["heading"] in list_headings(body) if answer["heading"] else text_before_first_heading(body)
            assert found, (question["id"], answer)


@requires_corpora
@pytest.mark.parametrize("corpus", FOLDERS)
def test_a_paraphrase_shares_no_content_word_with_its_heading_or_title(corpus: str) -> None:
    for question in read_questions(corpus):
        if question["kind"] != "paraphrase":
            continue
        for answer in question["answers"]:
            title, _ = split_front_matter(read_page(corpus, answer["path"]))
            shared = shared_words(question["question"], f"{title} {answer['heading']}")
            assert shared == set(), (question["id"], shared)
