"""Takes a clause out of the real code for the length of a test, so that the test shows that something would miss it."""

from __future__ import annotations
import __future__

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

ANNOTATIONS = __future__.annotations.compiler_flag


def change(patch: pytest.MonkeyPatch, where: Any, name: str, *clauses: tuple[str, str]) -> None:
    """Replaces each first by its second in the source of a function of a module or class, which must hold each first exactly once.

    A module that imported the function by its name keeps the real one: name that module in `where` instead.
    """
    found = inspect.getattr_static(where, name)
    function: Callable[..., Any] = found.__func__ if isinstance(found, staticmethod) else found
    source = textwrap.dedent(inspect.getsource(function))
    for clause, instead in clauses:
        assert source.count(clause) == 1, (
            f"{name} holds {clause!r} {source.count(clause)} times: the clause has changed"
        )
        source = source.replace(clause, instead)
    made: dict[str, Any] = {}
    exec(compile(source, f"<{name}, changed>", "exec", ANNOTATIONS, True), function.__globals__, made)
    patch.setattr(where, name, made[name])
