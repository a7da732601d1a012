"""What a tool takes, as one table: its JSON schema and the strict reading of what came, in our own words; knows no tool by name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from refdesk.errors import InvalidArgument

TEXT, INTEGER, NUMBER, BOOLEAN, TEXTS = "string", "integer", "number", "boolean", "array"
RECORDS = "array of objects"
MOST_CHARACTERS = 16_384
"""Of any text: errors repeat what they refuse, and the longest that is right is a path of 4,096 bytes in a cursor."""
MOST_INTEGER = 1_000_000_000
"""Of any integer without a bound of its own: no document has so many lines or chunks."""
NAME_CHARACTERS = 60
"""What is looked at of the name of an unknown argument."""
SHOWN_CHARACTERS = 40
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""Tabs and line ends are how texts are written; the rest is how binary data looks."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument; `least` and `most` bound an integer or number, the characters of a text, the items of a list (0: no bound).

    `options`: the texts that it may be, for a list the texts that its items may be; empty: any. `fields`: what each record of
    a list has.
    """

    name: str
    kind: str
    description: str
    required: bool = False
    least: int = 0
    most: int = 0
    default: int | float | bool | str | None = None
    options: tuple[str, ...] = ()
    fields: tuple[Argument, ...] = ()


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
    """Refuses what is no text, or is longer than any that could be right.

    Raises: InvalidArgument.
    """
    check_sendable(name, text)
    if found := _CONTROL.search(text):
        raise InvalidArgument(f"{name} holds the control character U+{ord(found[0]):04X}: send text without it")


def check_sendable(name: str, text: str) -> None:
    """Refuses what cannot be stored or sent at all, or is longer than any that could be right. Raises: InvalidArgument."""
    if len(text) > MOST_CHARACTERS:
        raise InvalidArgument(f"{name} has more than {MOST_CHARACTERS:,} characters; send a shorter one")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(
            f"{name} holds half a character (a lone surrogate): send whole Unicode characters"
        ) from None


def _property(argument: Argument) -> dict[str, Any]:
    kind = TEXTS if argument.kind == RECORDS else argument.kind
    shown: dict[str, Any] = {"type": kind, "description": argument.description}
    text = {"type": TEXT, **({"enum": list(argument.options)} if argument.options else {})}
    if argument.kind == TEXTS:
        shown["items"] = text
    elif argument.kind == RECORDS:
        shown["items"] = input_schema(argument.fields)
    elif argument.options:
        shown |= text
    least, most = _BOUNDS[argument.kind]
    if least and (argument.kind in (INTEGER, NUMBER) or argument.least):
        shown[least] = argument.least
    if argument.most:
        shown[most] = argument.most
    if argument.default is not None:
        shown["default"] = argument.default
    return shown


_BOUNDS = {
    TEXT: ("minLength", "maxLength"),
    INTEGER: ("minimum", "maximum"),
    NUMBER: ("minimum", "maximum"),
    TEXTS: ("minItems", "maxItems"),
    RECORDS: ("minItems", "maxItems"),
    BOOLEAN: ("", ""),
}


def _read(tool: str, argument: Argument, value: Any) -> Any:
    if value is None or (not argument.required and value in ("", [])):
        if argument.required:
            raise InvalidArgument(f"{tool} needs {argument.name}: {_takes(argument)}")
        return argument.default
    return _READERS[argument.kind](argument, value)


def _read_integer(argument: Argument, value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        raise _refusal(argument, value)
    return int(_read_number(argument, value))


def _read_number(argument: Argument, value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise _refusal(argument, value)
    most = argument.most or MOST_INTEGER
    # Not the other way round: what is no number at all compares with nothing.
    if not argument.least <= value <= most:
        raise _refusal(argument if value < most else replace(argument, most=most), value)
    return value


def _read_boolean(argument: Argument, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _refusal(argument, value)
    return value


def _read_text(argument: Argument, value: Any) -> str:
    if not isinstance(value, str) or (argument.options and value not in argument.options):
        raise _refusal(argument, value)
    if argument.most and len(value) > argument.most:
        raise InvalidArgument(f"{argument.name} must be {_takes(argument)}, not {len(value):,} characters")
    check_text(argument.name, value)
    if argument.least and not value.strip():
        raise InvalidArgument(f"{argument.name} must be {_takes(argument)}, not empty")
    return value


def _read_texts(argument: Argument, value: Any) -> list[str]:
    if not isinstance(value, list):
        raise _refusal(argument, value)
    if len(value) < argument.least or (argument.most and len(value) > argument.most):
        raise InvalidArgument(f"{argument.name} must be {_takes(argument)}, not {len(value):,}")
    for item in value:
        if not isinstance(item, str) or (argument.options and item not in argument.options):
            raise InvalidArgument(f"{argument.name} must be {_takes(argument)}; one of them is {_shown(item)}")
        check_sendable(argument.name, item)  # what else is wrong with one of them, its tool says of that one
    return value


def _read_records(argument: Argument, value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise _refusal(argument, value)
    if len(value) < argument.least or (argument.most and len(value) > argument.most):
        raise InvalidArgument(f"{argument.name} must be {_takes(argument)}, not {len(value):,}")
    return [_read_record(argument, f"{argument.name}[{place}]", item) for place, item in enumerate(value)]


def _read_record(argument: Argument, place: str, item: Any) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise InvalidArgument(f"{argument.name} must be {_takes(argument)}; one of them is {_shown(item)}")
    names = [one.name for one in argument.fields]
    for name in item:
        if name not in names:
            raise InvalidArgument(_unknown(place, str(name), names))
    try:
        return {one.name: _read(place, one, item.get(one.name)) for one in argument.fields}
    except InvalidArgument as refusal:
        named = refusal.message if refusal.message.startswith(place) else f"{place}.{refusal.message}"
        raise InvalidArgument(named) from None


_READERS: Mapping[str, Callable[[Argument, Any], Any]] = {
    TEXT: _read_text,
    INTEGER: _read_integer,
    NUMBER: _read_number,
    BOOLEAN: _read_boolean,
    TEXTS: _read_texts,
    RECORDS: _read_records,
}


def _refusal(argument: Argument, value: Any) -> InvalidArgument:
    return InvalidArgument(f"{argument.name} must be {_takes(argument)}, not {_shown(value)}")


def _takes(argument: Argument) -> str:
    least, most = argument.least, argument.most
    if argument.kind == INTEGER:
        return f"an integer from {least} to {most}" if most else f"an integer from {least}"
    if argument.kind == NUMBER:
        return f"a number from {least} to {most}" if most else f"a number from {least}"
    if argument.kind == BOOLEAN:
        return "true or false"
    if argument.kind == TEXTS:
        number = f" of {least} to {most}" if most else ""
        return f"a list{number}{' of' if not number else ''} texts{_among(argument)}"
    if argument.kind == RECORDS:
        names = ", ".join(one.name for one in argument.fields)
        return f"a list of {least} to {most} objects with {names}"
    if argument.options:
        return f"one of {', '.join(argument.options)}"
    return f"a text of {least} to {most:,} characters" if most else "a text"


def _among(argument: Argument) -> str:
    return f" among {', '.join(argument.options)}" if argument.options else ""


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f'"{_visible(value, SHOWN_CHARACTERS)}"'
    if isinstance(value, int) and abs(value) > MOST_INTEGER:
        return "a number far above" if value > 0 else "a number far below"  # it may have thousands of digits
    if isinstance(value, (bool, int, float)):
        return str(value).lower()
    if value is None:
        return "null"
    return "a list" if isinstance(value, list) else "an object"


def _visible(text: str, most_characters: int) -> str:
    """The start of a text on one line."""
    return _CONTROL.sub("\ufffd", " ".join(text[:most_characters].split()))


def _unknown(tool: str, name: str, names: Sequence[str]) -> str:
    taken = _visible(name, NAME_CHARACTERS)
    if not names:
        return f"{tool} takes no arguments; call it without"
    near = difflib.get_close_matches(taken, names, n=1)
    hint = f" (did you mean {near[0]}?)" if near else ""
    return f'{tool} takes no argument "{taken}"{hint}; valid: {", ".join(names)}'
