"""`make eval`: asks our own questions of real documentation, by words, by meaning, by chunks and by both grains, and prints the table."""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from eval.judging import Found, Judged, Score, judge, score
from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.api.search.v1 import search_pb2
from refdesk.app import App
from refdesk.gateway.answers import Question, SearchCore
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.profiles import DOCS, Profile
from refdesk.settings import load
from system.desks import DeskProcess, running

ROOT = Path(__file__).resolve().parents[2]
CORPORA = Path(os.environ.get("REFDESK_CORPORA", ROOT.parent / "shared" / "corpora"))
FOLDERS: Mapping[str, Path] = {
    "helm": Path("helm/v3"),
    "prometheus": Path("prometheus"),
    "opensearch": Path("opensearch"),
}
WAYS: Mapping[str, tuple[str, Profile]] = {
    "words only": ("lexical", DOCS),
    "meaning only": ("semantic", DOCS),
    "chunks only": ("hybrid", replace(DOCS, chunks_only=True)),
    "two grains": ("hybrid", DOCS),
}
Rows = dict[str, dict[str, list[tuple[dict[str, Any], Judged]]]]


def main() -> None:
    """Indexes what is not indexed yet, asks, prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--only", default="", help="one corpus")
    parser.add_argument(
        "--misses", action="store_true", help="names the questions whose page is not among the first five"
    )
    arguments = parser.parse_args()
    if not CORPORA.is_dir():
        parser.exit(
            1, f"no documentation sets at {CORPORA}: put them there, or name their folder with REFDESK_CORPORA\n"
        )
    rows: Rows = {}
    for corpus, folder in FOLDERS.items():
        if arguments.only in ("", corpus):
            data = index(CORPORA / folder, corpus, arguments.model)
            rows[corpus] = asyncio.run(ask_all(data, corpus, folder.name, arguments.model))
    print_table(rows)
    if arguments.misses:
        print_misses(rows)


def index(docs: Path, corpus: str, model: str) -> Path:
    """The data folder of the corpus, indexed up to its last vector."""
    data = ROOT / ".refdesk" / f"eval-{corpus}-{Path(model).name}"
    with running(DeskProcess(docs, data, model)) as desk:
        desk.wait_until_settled(seconds=3600)
        desk.stop()
    return data


async def ask_all(data: Path, corpus: str, source: str, model: str) -> dict[str, list[tuple[dict[str, Any], Judged]]]:
    """Every question of a corpus in every way."""
    app = App(load("", {}, {"embedder": {"model": model}}), data, ("docstore", "embedder", "search"))
    await app.start()
    try:
        docstore, search, embedder = app.hold("docstore"), app.hold("search"), app.hold("embedder")
        core = SearchCore(docstore, search, Catalog(docstore, embedder, None, most_seconds=60, read_seconds=5))
        project = (await docstore.get_project(docstore_pb2.GetProjectRequest(project="default"))).project
        return {
            way: [(row, await ask(core, project, row, source, mode, profile)) for row in read_questions(corpus)]
            for way, (mode, profile) in WAYS.items()
        }
    finally:
        await app.close()


async def ask(core: SearchCore, project: Any, row: dict[str, Any], source: str, mode: str, profile: Profile) -> Judged:
    """One question, judged."""
    question = Question(project, row["question"], 20, search_pb2.Filter(), profile, mode)
    answer = await core.answer(question)
    found = [
        Found(result.chunk.path.removeprefix(f"{source}/"), tuple(result.chunk.breadcrumb), result.chunk.text)
        for result in answer.results
    ]
    return judge(row, found, is_good=answer.is_good)


def read_questions(corpus: str) -> list[dict[str, Any]]:
    """The corpus' own questions and those that nothing in it answers."""
    folder = Path(__file__).parent / "questions"
    own = yaml.safe_load((folder / f"{corpus}.yaml").read_text(encoding="utf-8"))
    nothing = yaml.safe_load((folder / "unanswerable.yaml").read_text(encoding="utf-8"))
    return [*own, *(row for row in nothing if row["corpus"] == corpus)]


def print_table(rows: Rows) -> None:
    """One line a way: all corpora, then each."""
    print(f"{'':<14} {'':<12} recall@5  MRR@10  section@5  refused: answerable  off-topic  near-topic")
    for corpus in ("all", *rows):
        for way in WAYS:
            judged = [pair for name, ways in rows.items() if corpus in ("all", name) for pair in ways[way]]
            print(f"{way:<14} {corpus:<12} {figures(judged)}")
    for kind in ("paraphrase", "identifier", "heading", "two_page", "task"):
        for way in WAYS:
            judged = [pair for ways in rows.values() for pair in ways[way] if pair[0]["kind"] == kind]
            print(f"{way:<14} {kind:<12} {score(row for _, row in judged).recall_at_5:>8.3f}")


def figures(judged: list[tuple[dict[str, Any], Judged]]) -> str:
    """The figures of one line."""
    total: Score = score(row for question, row in judged if question["answers"])
    shares = []
    for kind in ("off_topic", "near_topic"):
        kept = [row for question, row in judged if question["kind"] == kind]
        shares.append(f"{sum(row.refused for row in kept)}/{len(kept)}")
    head = f"{total.recall_at_5:>8.3f} {total.mrr_at_10:>7.3f} {total.section_in_5:>10.3f} {total.refused:>20.3f}"
    return f"{head} {shares[0]:>10} {shares[1]:>11}"


def print_misses(rows: Rows) -> None:
    """What the shipped way does not find in five, and what it refuses."""
    for ways in rows.values():
        for question, row in ways["two grains"]:
            if question["answers"] and not row.in_five:
                print(f"miss (rank {row.rank}) {question['id']} {question['kind']}: {question['question']}")
            if question["answers"] and row.refused:
                print(f"refused {question['id']}: {question['question']}")
            if not question["answers"] and not row.refused:
                print(f"answered {question['id']} {question['kind']}: {question['question']}")


if __name__ == "__main__":
    main()
