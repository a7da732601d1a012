"""Every promise of a surface has a test that runs, and every test that claims to show one shows one that was made."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent.parent
MANIFEST = TESTS / "surfaces" / "manifest"
LINE = re.compile(r"([a-z]+)\.([1-9]\d*) (\S.*\S)")
SURFACES = [path.stem for path in sorted(MANIFEST.glob("*.txt"))]
NOT_RUN = {"skip", "skipif", "xfail"}


def promises_of(text: str) -> list[tuple[str, int, str]]:
    """Surface, number and wording of each promise of a manifest, in its order. Raises: ValueError for a line that is none."""
    found = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        match = LINE.fullmatch(line)
        if match is None:
            raise ValueError(f"not a promise: {line}")
        found.append((match[1], int(match[2]), match[3]))
    return found


def marks_of(source: str) -> Iterator[tuple[str, str, bool]]:
    """Of each promise that a test file claims to show: its id, the test's name, and whether that test runs everywhere."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        marks = [one for decorator in node.decorator_list for one in ast.walk(decorator)]
        runs = not any(isinstance(one, ast.Attribute) and one.attr in NOT_RUN for one in marks)
        for call in marks:
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "promise":
                yield from ((_text(argument, node.name), node.name, runs) for argument in call.args)


def _text(argument: ast.expr, test: str) -> str:
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    raise ValueError(f"{test}: a promise is named by its id as plain text, so that it can be searched for")


def all_marks() -> list[tuple[str, str, bool]]:
    """The marks of every test file."""
    files = sorted(TESTS.rglob("test_*.py"))
    return [mark for file in files for mark in marks_of(file.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("surface", SURFACES)
def test_a_manifest_numbers_its_own_promises_upwards_and_words_each_once(surface: str) -> None:
    promises = promises_of((MANIFEST / f"{surface}.txt").read_text(encoding="utf-8"))
    numbers = [number for _, number, _ in promises]
    assert {name for name, _, _ in promises} <= {surface}
    assert numbers == sorted(set(numbers))
    assert len({words for _, _, words in promises}) == len(promises)


@pytest.mark.parametrize("surface", SURFACES)
def test_every_promise_has_a_test_that_runs(surface: str) -> None:
    shown = {promise for promise, test, runs in all_marks() if runs and test.startswith("test_")}
    promises = promises_of((MANIFEST / f"{surface}.txt").read_text(encoding="utf-8"))
    assert [f"{name}.{number} {words}" for name, number, words in promises if f"{name}.{number}" not in shown] == []


def test_every_mark_names_a_promise_that_was_made() -> None:
    made = {
        f"{name}.{number}"
        for surface in SURFACES
        for name, number, _ in promises_of((MANIFEST / f"{surface}.txt").read_text(encoding="utf-8"))
    }
    assert [f"{test} shows {promise}" for promise, test, _ in all_marks() if promise not in made] == []


def test_marks_are_found_on_tests_and_on_their_parameters_and_a_skipped_test_shows_nothing() -> None:
    source = """
import pytest
@pytest.mark.promise("site.1", "site.2")
async def test_a(): ...
@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.promise("site.3"))])
def test_b(x): ...
@pytest.mark.skip
@pytest.mark.promise("site.4")
def test_c(): ...
"""
    assert sorted(marks_of(source)) == [
        ("site.1", "test_a", True),
        ("site.2", "test_a", True),
        ("site.3", "test_b", True),
        ("site.4", "test_c", False),
    ]


def test_a_line_that_is_no_promise_is_refused() -> None:
    assert promises_of("# heading\n\nsite.1 it answers\n") == [("site", 1, "it answers")]
    for line in ("site.0 no", "site 1 no", "site.1", "site.1 "):
        with pytest.raises(ValueError, match="not a promise"):
            promises_of(line)
