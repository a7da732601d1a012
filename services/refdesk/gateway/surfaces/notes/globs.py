"""Matches paths with globs in time that grows with path and pattern and no faster; pure, knows no documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from refdesk.errors import InvalidArgument

WILD = frozenset("*?[{")
MOST_ALTERNATIVES = 64
"""Patterns that braces make of one."""

_TOKEN = re.compile(r"\*\*+/|\*\*+|\*|\?|\[[!^]?\]?[^\]]*\]|[\s\S]")
_STAR, _DEEP, _FOLDERS, _ANY = "*", "**", "**/", "?"


@dataclass(frozen=True, slots=True)
class _Class:
    """One of these characters, or one that is none of them."""

    characters: re.Pattern[str]


_Token = str | _Class


class Glob:
    """`*` and `?` stay within a folder, `**` does not, `**/` is any number of folders; `[a-z]`, `[!a]`, `{one,other}`."""

    def __init__(self, pattern: str) -> None:
        """Raises: InvalidArgument for braces that make too many patterns."""
        self._alternatives = [list(_tokens(one)) for one in expand_braces(pattern)]

    def matches(self, path: str) -> bool:
        """Whether the whole path fits."""
        return any(_matches(tokens, path) for tokens in self._alternatives)


def is_glob(pattern: str) -> bool:
    """Whether it is more than a name."""
    return not WILD.isdisjoint(pattern)


def split_list(pattern: str) -> list[str]:
    """The items of a list with commas, each once; a comma between braces or brackets parts nothing."""
    items, depth, item = [], 0, ""
    for character in pattern:
        depth += (character in "{[") - (character in "}]" and depth > 0)
        if character == "," and not depth:
            items.append(item)
            item = ""
        else:
            item += character
    return [item for item in dict.fromkeys(item.strip() for item in (*items, item)) if item]


def expand_braces(pattern: str) -> list[str]:
    """The patterns that `{one,other}` stands for, nested ones too. Raises: InvalidArgument for more than 64."""
    found = [pattern]
    while (place := next((at for at, one in enumerate(found) if _innermost(one)), None)) is not None:
        brace = _innermost(found[place])
        assert brace is not None
        before, after = found[place][: brace.start()], found[place][brace.end() :]
        found[place : place + 1] = [f"{before}{option}{after}" for option in brace[1].split(",")]
        if len(found) > MOST_ALTERNATIVES:
            raise InvalidArgument(f"pattern stands for more than {MOST_ALTERNATIVES} patterns; use fewer braces")
    return list(dict.fromkeys(found))


def _innermost(pattern: str) -> re.Match[str] | None:
    return re.search(r"\{([^{}]*)\}", pattern)


def _tokens(pattern: str) -> Iterator[_Token]:
    at_start = True
    for token in _TOKEN.findall(pattern):
        if token.startswith("**"):
            is_folders = token.endswith("/") and at_start
            yield _FOLDERS if is_folders else _DEEP
            if token.endswith("/") and not is_folders:
                yield from (_literal("/"),)
        elif token in (_STAR, _ANY):
            yield token
        elif token.startswith("[") and len(token) > 2:
            yield _read_class(token)
        else:
            yield _literal(token)
        at_start = token.endswith("/")


def _literal(character: str) -> _Class:
    return _Class(re.compile(re.escape(character)))


def _read_class(token: str) -> _Class:
    inside = token[1:-1]
    negation = inside[:1] in ("!", "^")
    body = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if negation else inside)
    try:
        return _Class(re.compile(f"(?!/)[{'^' if negation else ''}{body}]"))
    except re.error:
        raise InvalidArgument(f"pattern has a range that ends before it begins: {token[:40]}") from None


def _matches(tokens: list[_Token], path: str) -> bool:
    states = _arrive(tokens, (0,))
    for character in path:
        states = _step(tokens, states, character)
        if not states:
            return False
    return len(tokens) in states


def _arrive(tokens: list[_Token], states: Iterable[int]) -> set[int]:
    """These states, and those behind what may match nothing."""
    arrived = set()
    for state in states:
        arrived.add(state)
        while state < len(tokens) and tokens[state] in (_STAR, _DEEP, _FOLDERS):
            state += 1
            arrived.add(state)
    return arrived


def _step(tokens: list[_Token], states: set[int], character: str) -> set[int]:
    stay: set[int] = set()
    move: set[int] = set()
    for state in states:
        if state == len(tokens):
            continue
        token = tokens[state]
        if token == _DEEP or (token == _STAR and character != "/"):
            move.add(state)
        elif token == _FOLDERS:
            stay.add(state)
            if character == "/":
                move.add(state + 1)
        elif token == _ANY:
            if character != "/":
                move.add(state + 1)
        elif isinstance(token, _Class) and token.characters.fullmatch(character):
            move.add(state + 1)
    return stay | _arrive(tokens, move)
