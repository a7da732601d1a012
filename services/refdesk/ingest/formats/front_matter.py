"""Reads the YAML block at the top of a page; knows nothing of Markdown and never fails because of an author's slip."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field

import yaml

from refdesk.ingest.formats.document import JsonValue

MAX_CHARACTERS = 65_536
MAX_ALIASES = 8
MAX_VALUES = 5_000
MAX_DEPTH = 20

_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The values, the text below them, and what was wrong; values that are not JSON's own became strings."""

    values: dict[str, JsonValue] = field(default_factory=dict)
    body: str = ""
    warning: str = ""


class _Refused(ValueError):
    """The block is more than a page's front matter may be."""


def read_front_matter(text: str) -> FrontMatter:
    """Split a page with LF line ends into front matter and body.

    A block that cannot be read stays in the body, as a fence, and the warning says why.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return FrontMatter(body=text)
    closing = _CLOSING.search(text, opening.end(), opening.end() + MAX_CHARACTERS)
    if closing is None:
        return FrontMatter(body=text)  # a page may well start with a thematic break
    source, below = text[opening.end() : closing.start()], text[closing.end() :]
    try:
        values = _load(source)
    except _Refused as error:
        return _leave_as_text(source, below, str(error))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark is not None else 1
        return _leave_as_text(source, below, f"line {line}: {error.problem or 'it is not valid YAML'}")
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return _leave_as_text(source, below, "it is not valid YAML")
    return FrontMatter(body=text) if values is None else FrontMatter(values=values, body=below)


def _leave_as_text(source: str, below: str, reason: str) -> FrontMatter:
    """The block as code: as it stands, its closing line would make a heading of the line before."""
    marker = "````" if "```" in source else "```"
    return FrontMatter(body=f"{marker}yaml\n{source}{marker}\n{below}", warning=f"front matter left as text: {reason}")


def _load(source: str) -> dict[str, JsonValue] | None:
    """The mapping that the block holds; none where it holds something else, which then is not front matter."""
    if "*" in source and "&" in source:
        _refuse_many_aliases(source)
    loaded = yaml.load(source, Loader=yaml.CSafeLoader)  # SafeLoader's twin in C, 10 times as fast
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        return None
    budget = [MAX_VALUES]
    return {str(key): _to_json(value, 1, budget) for key, value in loaded.items()}


def _refuse_many_aliases(source: str) -> None:
    """Count before anything is built: merge keys copy while they build."""
    aliases = sum(isinstance(event, yaml.AliasEvent) for event in yaml.parse(source, Loader=yaml.CSafeLoader))
    if aliases > MAX_ALIASES:
        raise _Refused(f"it has {aliases} aliases, at most {MAX_ALIASES} are read")


def _to_json(value: object, depth: int, budget: list[int]) -> JsonValue:
    """A tree of JSON's own types; the budget counts values as written out, so that aliases cannot multiply."""
    budget[0] -= 1
    if budget[0] < 0:
        raise _Refused(f"it has more than {MAX_VALUES} values")
    if depth > MAX_DEPTH:
        raise _Refused(f"it is nested more than {MAX_DEPTH} deep")
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)  # JSON has no infinity
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _to_json(item, depth + 1, budget) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_to_json(item, depth + 1, budget) for item in value]
    return str(value)


def text_value(values: dict[str, JsonValue], *names: str) -> str:
    """The first of the named values that is text or a number, on one line; empty where there is none."""
    for name in names:
        value = values.get(name)
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            text = " ".join(str(value).split())
            if text:
                return text
    return ""


def flag_value(values: dict[str, JsonValue], name: str, default: bool) -> bool:
    """A yes or no, also where an author wrote it as text; anything else is the default."""
    value = values.get(name)
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in _TRUE:
        return True
    return False if word in _FALSE else default
