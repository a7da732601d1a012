"""What a tool takes, as one table: its JSON schema and the strict reading of what came, in our own words; knows no tool by name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from refdesk.errors import InvalidArgument

TEXT, INTEGER = "string", "integer"
MOST_CHARACTERS = 16_384
"""Of any text: errors repeat what they refuse, and the longest that is right is a path of 4,096 bytes in a cursor."""
NAME_CHARACTERS = 60
"""What is looked at of the name of an unknown argument."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument; `least` and `most` bound an integer, or the characters of a text (0: no bound)."""

    name: str
    kind: str
    description: str
    required: bool = False
    least: int = 0
    most: int = 0
    default: int | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as it is published; `arguments` in the order in which they are named."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    output_schema: Mapping[str, Any]

    def definition(self, *, structured: bool) -> dict[str, Any]:
        """The tool for tools/list: read-only, closed-world; with its output schema where `structured`."""
        shown: dict[str, Any] = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": input_schema(self.arguments),
            "annotations": {
                "title": self.title,
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            },
        }
        if structured:
            shown["outputSchema"] = dict(self.output_schema)
        return shown

    def read(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """The arguments that came, with defaults; an optional one that was not given is None.

        Raises: InvalidArgument that names the argument and what it takes.
        """
        given = given or {}
        names = [argument.name for argument in self.arguments]
        for name in given:
            if name not in names:
                raise InvalidArgument(_unknown(self.name, str(name), names))
        return {argument.name: _read(self.name, argument, given.get(argument.name)) for argument in self.arguments}


def input_schema(arguments: Sequence[Argument]) -> dict[str, Any]:
    """The arguments as a JSON schema."""
    return {
        "type": "object",
        "properties": {argument.name: _property(argument) for argument in arguments},
        "required": [argument.name for argument in arguments if argument.required],
        "additionalProperties": False,
    }


def check_text(name: str, text: str) -> None:
    """Refuses what cannot be stored or sent as text, or is longer than any that could be right.

    Raises: InvalidArgument.
    """
    if len(text) > MOST_CHARACTERS:
        raise InvalidArgument(f"{name} has more than {MOST_CHARACTERS:,} characters; send a shorter one")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(
            f"{name} holds half a character (a lone surrogate): send whole Unicode characters"
        ) from None


def _property(argument: Argument) -> dict[str, Any]:
    shown: dict[str, Any] = {"type": argument.kind, "description": argument.description}
    bounds = ("minimum", "maximum") if argument.kind == INTEGER else ("minLength", "maxLength")
    if argument.kind == INTEGER or argument.least:
        shown[bounds[0]] = argument.least
    if argument.most:
        shown[bounds[1]] = argument.most
    if argument.default is not None:
        shown["default"] = argument.default
    return shown


def _read(tool: str, argument: Argument, value: Any) -> Any:
    if value is None or (value == "" and not argument.required):
        if argument.required:
            raise InvalidArgument(f"{tool} needs {argument.name}: {_takes(argument)}")
        return argument.default
    if argument.kind == INTEGER:
        return _read_integer(argument, value)
    return _read_text(argument, value)


def _read_integer(argument: Argument, value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidArgument(f"{argument.name} must be {_takes(argument)}, not {_shown(value)}")
    if value < argument.least or (argument.most and value > argument.most):
        raise InvalidArgument(f"{argument.name} must be {_takes(argument)}, not {_shown(value)}")
    return value


def _read_text(argument: Argument, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidArgument(f"{argument.name} must be {_takes(argument)}, not {_shown(value)}")
    if argument.most and len(value) > argument.most:
        raise InvalidArgument(f"{argument.name} must be {_takes(argument)}, not {len(value):,} characters")
    check_text(argument.name, value)
    if argument.least and not value.strip():
        raise InvalidArgument(f"{argument.name} must be {_takes(argument)}, not empty")
    return value


def _takes(argument: Argument) -> str:
    if argument.kind == INTEGER:
        return f"an integer from {argument.least} to {argument.most}" if argument.most else "an integer from 0"
    if argument.most:
        return f"a text of {argument.least} to {argument.most:,} characters"
    return "a text"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value[:40]}"'
    if isinstance(value, (bool, int, float)):
        return str(value).lower()[:40]
    return "a list" if isinstance(value, list) else "an object"


def _unknown(tool: str, name: str, names: Sequence[str]) -> str:
    name = name[:NAME_CHARACTERS]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    taken = " ".join(name.split())
    return f'{tool} takes no argument "{taken}"{hint}; valid: {", ".join(names)}'
