"""Words as they are written, in order: what the lex grammar looks through, beside the stems that ranking uses; pure, knows no engine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from refdesk.lex import Lex, Part
from refdesk.search.tokens import LETTER, LONGEST_TERM, UNSPACED, fold

BREAK = "|"
"""Stands between path, headings and text, so that no phrase reaches from one into the next; no text gives it."""

WANTED_DOCUMENTS = 100
"""Whole documents of which chunks are found, where a query says what they must hold."""

_BARE = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalnum()})
_WORD = re.compile(rf"[{UNSPACED}]|(?:(?!_){LETTER})+")


@dataclass(frozen=True)
class Sought:
    """Words that must stand one behind the other; of a term, the last one only has to begin so."""

    words: tuple[str, ...]
    is_prefix: bool


@dataclass(frozen=True)
class Wanted:
    """What a document must hold, all of it, and what it must not, any of it."""

    held: tuple[Sought, ...]
    excluded: tuple[Sought, ...]

    @property
    def beginnings(self) -> tuple[str, ...]:
        """Beginnings of words that are held, each once: what of a chunk's stems speaks for it."""
        return tuple(dict.fromkeys(sought.words[-1] for sought in self.held if sought.is_prefix))


def list_words(text: str) -> list[str]:
    """The words of a text in lower case without accents, split at all but letters and digits; of scripts without spaces each character."""
    text = _drop_signs(text)
    words = text.lower().translate(_BARE).split() if text.isascii() else _WORD.findall(fold(text))
    return [word[:LONGEST_TERM] for word in words] if max(map(len, words), default=0) > LONGEST_TERM else words


def _drop_signs(text: str) -> str:
    """The text with spaces for typographic quotes, dashes and the like: many pages have no more beyond ASCII, which is cut faster."""
    if not text.isascii():
        for sign in filter(_is_sign, set(text)):
            text = text.replace(sign, " ")
    return text


@lru_cache(maxsize=4096)
def _is_sign(character: str) -> bool:
    """Whether a character beyond ASCII parts words, whatever stands beside it."""
    return not character.isascii() and _WORD.findall(fold(f"a{character}b")) == ["a", "b"]


def join_words(*parts: str) -> str:
    """The words of these parts as an engine takes them, separated by spaces."""
    return f" {BREAK} ".join(" ".join(list_words(part)) for part in parts)


def read_wanted(query: Lex) -> Wanted:
    """The words that a query's parts look for; a part of none, as an emoji, is left out."""
    return Wanted(_read_parts(query.wanted), _read_parts(query.excluded))


def _read_parts(parts: tuple[Part, ...]) -> tuple[Sought, ...]:
    sought = (Sought(tuple(list_words(part.text)), not part.is_phrase) for part in parts)
    return tuple(one for one in sought if one.words)
