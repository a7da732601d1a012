"""Makes what an argument does not take, from the table that says what it takes; knows no tool by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from refdesk.gateway.arguments import BOOLEAN, INTEGER, NUMBER, RECORDS, TEXT, TEXTS, Argument, Tool

VERY_LONG = 16_385
"""One character more than any text may have."""
CONTROL_CHARACTERS = ("\0", "\x1b", "\x7f")
RIGHT: dict[str, Any] = {TEXT: "words", NUMBER: 1, BOOLEAN: True, TEXTS: ["words"]}
TEXTS_THAT_ARE_NONE = (7, 1.5, True, ["words"], {"words": 1})


@dataclass(frozen=True, slots=True)
class Bad:
    """A value that `argument` does not take; every one of `says` stands in the refusal."""

    argument: str
    what: str
    value: Any
    says: tuple[str, ...]


def make_bad(argument: Argument) -> Iterator[Bad]:
    """Every way in which a value may be none for this argument."""
    for what, value, *says in _MAKERS[argument.kind](argument):
        yield Bad(argument.name, what, value, (argument.name, *says))
    if argument.required:
        for value in (None, [] if argument.kind in (TEXTS, RECORDS) else ""):
            yield Bad(argument.name, "missing", value, (argument.name,))


def right_arguments(tool: Tool) -> dict[str, Any]:
    """A value of the right kind for each argument that is required."""
    return {one.name: right_value(one) for one in tool.arguments if one.required}


def right_value(argument: Argument) -> Any:
    """One that the table lets through."""
    if argument.kind == RECORDS:
        return [{one.name: right_value(one) for one in argument.fields}]
    if argument.kind == INTEGER:
        return max(1, argument.least)
    return argument.options[0] if argument.options else RIGHT[argument.kind]


def _bad_texts(argument: Argument) -> Iterator[tuple[Any, ...]]:
    for value in TEXTS_THAT_ARE_NONE:
        yield "of another kind", value, "must be"
    if argument.options:
        for value in ("nonsense", argument.options[0].upper() + "\n", "line\nline\u2028line"):
            yield "unknown", value, *argument.options
        return
    for character in CONTROL_CHARACTERS:
        yield "with a control character", f"words{character}words", f"U+{ord(character):04X}", "without"
    if argument.most:
        yield "too long", "w" * (argument.most + 1), f"{argument.most:,}"
    yield "too long for any", "w" * VERY_LONG, f"{argument.most or VERY_LONG - 1:,}"
    if argument.required:
        yield "blank", " \n\t", "not empty"


def _bad_numbers(argument: Argument) -> Iterator[tuple[Any, ...]]:
    others: list[Any] = ["1", "many\nlines", True, [1], {"1": 1}, -1, argument.least - 1, 10**30, -(10**30), 1e300]
    others += [1.5] if argument.kind == INTEGER else []
    others += [argument.most + 1] if argument.most else []
    for value in others:
        yield "no such number", value, "must be", f"from {argument.least}"


def _bad_booleans(_: Argument) -> Iterator[tuple[Any, ...]]:
    for value in (0, 1, "true", [True], {}):
        yield "neither", value, "true or false"


def _bad_lists(argument: Argument) -> Iterator[tuple[Any, ...]]:
    for value in ("words", 7, True, {"0": "words"}):
        yield "no list", value, "a list of"
    if argument.most:
        items = [right_value(argument)[0]] * (argument.most + 1)
        yield "too many", items, f"{argument.most}", f"not {argument.most + 1:,}"
    for item in (None, 7, ["words"], True):
        yield "item of another kind", [item], "a list of"
    if argument.kind == TEXTS:
        yield "item too long for any", ["w" * VERY_LONG], f"{VERY_LONG - 1:,}"
        yield "item of another kind", ["words", {"words": 1}], "a list of"
        return
    right = right_value(argument)[0]
    yield "unknown field", [{**right, "nonsense": 1}], *(one.name for one in argument.fields)
    for field in argument.fields:
        for bad in make_bad(field):
            yield f"{field.name} {bad.what}", [{**right, field.name: bad.value}], f"{argument.name}[0]", *bad.says


_MAKERS = {
    TEXT: _bad_texts,
    INTEGER: _bad_numbers,
    NUMBER: _bad_numbers,
    BOOLEAN: _bad_booleans,
    TEXTS: _bad_lists,
    RECORDS: _bad_lists,
}
