"""The same questions of the same pages give on OpenSearch what they give on tantivy: by scores, and by overlap at 10, which is printed."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import pytest
import yaml

from engines.entries import EVERYWHERE, HANDBOOK, USUAL, asking, id_of, word_item
from engines.words import ENGINES
from eval.corpus import CORPORA, FOLDERS, ROOT, build_documents, read_pages
from refdesk.search.analysis import QueryAnalysis, analyze_query
from refdesk.search.engines.interface import Evidence, Filter, KeywordIndex, ScoredChunk, WordDocument
from refdesk.search.grains import combine_lexical
from refdesk.search.legs import COVERED_HITS

pytestmark = pytest.mark.anyio
TOP = 10
LEAST_OVERLAP = 0.95
TIE = 1e-5
"""Share of a score by which engines that add up 32-bit floats in another order differ."""
NOTHING_MUCH = 1e-6
"""By which scores of words that stand nearly everywhere differ: one engine has 32 bits for a logarithm near 0, the other 64."""
MADE_PAGES, MADE_WORDS, MADE_QUESTIONS = 120, 900, 80
BATCH_DOCUMENTS = 200


@dataclass(frozen=True)
class Answer:
    """What one engine says to one question."""

    hits: Sequence[ScoredChunk]
    documents: Mapping[str, float]
    evidence: Mapping[str, Evidence]

    @property
    def best(self) -> list[str]:
        return [hit.chunk_id for hit in self.hits[:TOP]]


@pytest.fixture
async def both(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[list[KeywordIndex]]:
    """The embedded engine and the cluster's."""
    tantivy, opensearch = (ENGINES[name](request) for name in ("tantivy", "opensearch"))
    async with tantivy.running(tmp_path / "words") as one, opensearch.running(tmp_path / "far") as other:
        yield [one, other]


async def ask(engine: KeywordIndex, query: QueryAnalysis, narrowed: Filter = EVERYWHERE) -> Answer:
    found = await engine.search(HANDBOOK, query, narrowed, USUAL)
    hits = combine_lexical(found)
    ids = [hit.chunk_id for hit in hits]
    return Answer(hits, found.documents, await engine.weigh(HANDBOOK, query, ids[:COVERED_HITS], ids))


async def compare(engines: Sequence[KeywordIndex], questions: Sequence[str], name: str) -> str:
    """One line for people; fails where lists differ by anything but ties."""
    languages = await engines[0].list_languages(HANDBOOK)
    assert await engines[1].list_languages(HANDBOOK) == languages
    overlaps: list[float] = []
    differences = 0
    for question in questions:
        one, other = [await ask(engine, analyze_query(question, languages)) for engine in engines]
        check_ties(one, other)
        if one.best:
            overlaps.append(len({*one.best} & {*other.best}) / len(one.best))
        differences += one.best != other.best
        for id in {*one.best} & {*other.best}:
            assert other.evidence[id].coverage == pytest.approx(one.evidence[id].coverage, abs=1e-9)
            assert other.evidence[id].identifier_match == one.evidence[id].identifier_match
    assert len(overlaps) > 0.9 * len(questions)
    assert mean(overlaps) >= LEAST_OVERLAP
    return (
        f"{name}: overlap at {TOP} of tantivy and OpenSearch {mean(overlaps):.4f} over {len(overlaps)} questions; "
        f"{differences} lists differ, by ties alone"
    )


def check_ties(one: Answer, other: Answer) -> None:
    """Ranks have the same scores in both, so that whatever stands elsewhere is a tie with what stands in its place."""
    scores = [hit.score for hit in one.hits[:TOP]]
    assert [hit.score for hit in other.hits[:TOP]] == pytest.approx(scores, rel=TIE, abs=NOTHING_MUCH)
    known = {hit.chunk_id: hit.score for hit in one.hits}
    for hit in other.hits:
        assert known.get(hit.chunk_id, one.hits[-1].score) == pytest.approx(hit.score, rel=TIE, abs=NOTHING_MUCH)


async def write_all(engines: Sequence[KeywordIndex], documents: Sequence[WordDocument]) -> None:
    for engine in engines:
        for start in range(0, len(documents), BATCH_DOCUMENTS):
            await engine.write(HANDBOOK, documents[start : start + BATCH_DOCUMENTS])


def make_pages(chance: random.Random) -> dict[str, bytes]:
    """Pages of made words, few common and many rare, of very different lengths, with names, headings and tables."""
    words = [
        "".join(chance.choice("bdfgklmnprst") + chance.choice("aeiou") for _ in range(chance.randint(2, 4)))
        for _ in range(MADE_WORDS)
    ]
    weights = [1 / (rank + 3) for rank in range(MADE_WORDS)]

    def prose(count: int) -> str:
        return " ".join(chance.choices(words, weights, k=count))

    def section(number: int) -> str:
        name = f"{chance.choice(words)}_{chance.choice(words)}"
        return f"## {prose(3)} {number}\n\n{prose(chance.randint(5, 400))} `{name}`.\n\n| {prose(1)} | {name} |\n|---|---|\n"

    return {
        f"{chance.choice(words)}/{number}.md": (
            f"# {prose(2)}\n\n" + "\n".join(section(part) for part in range(chance.randint(1, 6)))
        ).encode()
        for number in range(MADE_PAGES)
    }


def draw_questions(pages: Mapping[str, bytes], chance: random.Random) -> list[str]:
    """Some words of some page each, in no order."""
    texts = [page.decode().split() for page in pages.values()]
    return [
        " ".join(chance.sample(text, min(len(text), chance.randint(1, 9))))
        for text in chance.choices(texts, k=MADE_QUESTIONS)
    ]


@pytest.mark.slow
async def test_made_pages_and_our_own_docs_are_ranked_alike(
    both: list[KeywordIndex], capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(7)
    made, own = make_pages(chance), read_pages(ROOT / "docs")
    await write_all(both, [*build_documents(made, "made"), *build_documents(own, "docs")])
    line = await compare(both, [*draw_questions(made, chance), *draw_questions(own, chance)], "made pages and our docs")
    with capsys.disabled():
        print(f"\n{line}")


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["helm", "prometheus"])
async def test_real_documentation_is_ranked_alike(
    both: list[KeywordIndex], corpus: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = CORPORA / FOLDERS[corpus]
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}; set REFDESK_CORPORA to the folder of documentation sets")
    await write_all(both, build_documents(read_pages(folder), corpus))
    rows = yaml.safe_load((ROOT / "tests" / "eval" / "questions" / f"{corpus}.yaml").read_text(encoding="utf-8"))
    line = await compare(both, [row["question"] for row in rows], corpus)
    with capsys.disabled():
        print(f"\n{line}")


async def test_lengths_are_rounded_alike(both: list[KeywordIndex]) -> None:
    """Both keep a length in one byte, by the same table: an entry of every length up to where it is coarse."""
    lengths = [*range(1, 90), *range(90, 1200, 37), 5000]
    items = [
        word_item(f"n{length}", " ".join(["alpha", *["omega"] * length]), document=f"d{length}") for length in lengths
    ]
    others = [word_item(f"o{number}", "omega", document=f"o{number}") for number in range(2 * len(items))]
    await write_all(both, [*items, *others])
    scores = []
    for engine in both:
        found = await engine.search(HANDBOOK, asking("alpha"), EVERYWHERE, USUAL._replace(chunks=len(items)))
        scores.append({hit.chunk_id: hit.score for hit in found.chunks})
    assert scores[0].keys() == {id_of(f"n{length}") for length in lengths}
    assert scores[1] == pytest.approx(scores[0], rel=TIE)
    assert len(set(scores[0].values())) > 50


async def test_a_filter_narrows_alike(both: list[KeywordIndex]) -> None:
    pages = make_pages(random.Random(3))
    await write_all(both, build_documents(dict(list(pages.items())[:40]), "made"))
    folder = next(iter(pages)).partition("/")[0]
    query = asking(" ".join(next(iter(pages.values())).decode().split()[:12]))
    one, other = [await ask(engine, query, Filter(("made",), f"made/{folder}")) for engine in both]
    assert one.hits
    check_ties(one, other)
    assert {hit.chunk_id for hit in one.hits} == {hit.chunk_id for hit in other.hits}
