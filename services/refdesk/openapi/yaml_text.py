"""Builds plain data of YAML 1.2 (core schema) text within bounds; knows nothing of what the data means.

PyYAML's C parser tells the events; what it would build of them (YAML 1.1: `no` a boolean, 12:30 a number, dates) is not asked for. Keys
are the text that was written. An alias is shared, never copied, and counts as much as all that it stands for, so that a few
lines that stand for a billion are refused while they are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from refdesk.errors import InvalidArgument

MAX_NODES = 1_000_000
"""With everything that aliases stand for; the largest public specs have about as many."""
MAX_DEPTH = 100
MAX_DIGITS = 18
"""Of a number; a longer one stays text."""

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


def read_yaml(text: str) -> Any:
    """The first document's data. Raises: InvalidArgument that says where and what."""
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if builder.take(event):
                break
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark is not None else ""
        raise InvalidArgument(f"it is not valid YAML: {line}{error.problem or 'it cannot be read'}") from None
    except (yaml.YAMLError, ValueError):
        raise InvalidArgument("it is not valid YAML") from None
    return builder.root


def read_scalar(text: str) -> Any:
    """What a plain scalar is in the core schema."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if len(text) > MAX_DIGITS or text[0] not in "-+.0123456789":
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    return float(text) if _FLOAT.fullmatch(text) else text


@dataclass(slots=True)
class _Open:
    """A sequence or mapping under way. `weight` counts its nodes, `height` its levels; `takes_over`: its key is a merge key (`<<`)."""

    data: Any
    anchor: str | None
    key: str | None = None
    takes_over: bool = False
    weight: int = 1
    height: int = 1
    merged: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Anchored:
    data: Any
    weight: int
    height: int


class _Builder:
    """Takes events one by one; nothing recurses."""

    def __init__(self) -> None:
        self.root: Any = None
        self._open: list[_Open] = []
        self._anchors: dict[str, _Anchored | None] = {}
        self._line = 0

    def take(self, event: yaml.Event) -> bool:
        """Whether the document has ended with this event. Raises: InvalidArgument."""
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._scalar(event)
        elif kind is yaml.MappingStartEvent:
            self._begin({}, event)
        elif kind is yaml.SequenceStartEvent:
            self._begin([], event)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._end()
        elif kind is yaml.AliasEvent:
            self._alias(event)
        return kind is yaml.DocumentEndEvent

    def _scalar(self, event: Any) -> None:
        text = event.value
        is_plain = not event.style and event.implicit[0]  # the C parser says "" of a plain one
        self._line = event.start_mark.line + 1
        if self._wants_key():
            self._open[-1].key = text
            self._open[-1].takes_over = is_plain and text == "<<"
            return
        data = read_scalar(text) if is_plain else text
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(data, 1, 1)
        self._put(data, 1, 1)

    def _begin(self, data: Any, event: Any) -> None:
        self._line = event.start_mark.line + 1
        if self._wants_key():
            raise self._refusal("a key must be a text")
        if len(self._open) >= MAX_DEPTH:
            raise self._refusal(f"it is nested more than {MAX_DEPTH} deep")
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._open.append(_Open(data, event.anchor))

    def _end(self) -> None:
        done = self._open.pop()
        for other in done.merged:
            for key, value in other.items():
                done.data.setdefault(key, value)
        if done.anchor is not None:
            self._anchors[done.anchor] = _Anchored(done.data, done.weight, done.height)
        self._put(done.data, done.weight, done.height)

    def _alias(self, event: Any) -> None:
        self._line = event.start_mark.line + 1
        if event.anchor not in self._anchors:
            raise self._refusal(f"there is no anchor {event.anchor[:40]}")
        found = self._anchors[event.anchor]
        if found is None:
            raise self._refusal(f"anchor {event.anchor[:40]} stands within itself")
        if self._wants_key():
            if not isinstance(found.data, str):
                raise self._refusal("a key must be a text")
            self._open[-1].key = found.data
            return
        self._put(found.data, found.weight, found.height)

    def _wants_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].data, dict) and self._open[-1].key is None

    def _put(self, data: Any, weight: int, height: int) -> None:
        if not self._open:
            self.root = data
            return
        above = self._open[-1]
        above.weight += weight
        above.height = max(above.height, height + 1)
        if above.weight > MAX_NODES:
            raise self._refusal(f"it has more than {MAX_NODES:,} values, with what its aliases stand for")
        if len(self._open) + height > MAX_DEPTH:
            raise self._refusal(f"it is nested more than {MAX_DEPTH} deep, with what its aliases stand for")
        if isinstance(above.data, list):
            above.data.append(data)
            return
        if above.takes_over:
            above.merged += [one for one in (data if isinstance(data, list) else [data]) if isinstance(one, dict)]
        elif above.key is not None:
            above.data[above.key] = data
        above.key, above.takes_over = None, False

    def _refusal(self, what: str) -> InvalidArgument:
        return InvalidArgument(f"line {self._line}: {what}")
