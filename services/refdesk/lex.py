"""Reads the lex grammar: term, "phrase", -term, all of which must hold; pure, knows no index and no word of any language."""

from __future__ import annotations

import re
from dataclasses import dataclass

from refdesk.errors import InvalidArgument

MOST_PARTS = 32
"""Of one query: each is a clause of its own in every engine."""
SHOWN_CHARACTERS = 60
"""Of a part that an error repeats."""

_QUOTES = str.maketrans("“”„‟", '""""')
_PART = re.compile(r'(-?)"([^"]*)"|(-?)([^\s"]+)')


@dataclass(frozen=True, slots=True)
class Part:
    """What must stand in a document, or must not: a phrase word for word, else a term that a word begins with."""

    text: str
    is_phrase: bool = False
    is_excluded: bool = False


@dataclass(frozen=True, slots=True)
class Lex:
    """A query: documents that hold all of `wanted` and nothing of `excluded`; at least one is wanted."""

    parts: tuple[Part, ...]

    @property
    def wanted(self) -> tuple[Part, ...]:
        """What must be there."""
        return tuple(part for part in self.parts if not part.is_excluded)

    @property
    def excluded(self) -> tuple[Part, ...]:
        """What must not."""
        return tuple(part for part in self.parts if part.is_excluded)

    @property
    def wanted_text(self) -> str:
        """What must be there as plain words, by which documents are ranked."""
        return " ".join(part.text for part in self.wanted)


def parse(text: str) -> Lex:
    """The parts of a query in their order, each once. A hyphen excludes only where it stands in front, alone: `--flag` is a term.

    Raises: InvalidArgument for an odd quote, a negation without or of nothing, a part without letters and digits, too many parts.
    """
    plain = text.translate(_QUOTES)
    if plain.count('"') % 2:
        raise InvalidArgument(f"lex: odd quote in {_shown(text)}: a phrase needs a quote on both sides")
    parts = tuple(dict.fromkeys(_read(*found.groups(default="")) for found in _PART.finditer(plain)))
    if not parts:
        raise InvalidArgument('lex: nothing to look for: give a term, a "phrase", and -term for what must not be there')
    if all(part.is_excluded for part in parts):
        raise InvalidArgument(
            f"lex: {_shown(text)} only excludes: a negation needs something to look for beside it, so add a term"
        )
    if len(parts) > MOST_PARTS:
        raise InvalidArgument(f"lex: {len(parts)} terms and phrases; give at most {MOST_PARTS}")
    return Lex(parts)


def _read(phrase_sign: str, phrase: str, sign: str, term: str) -> Part:
    is_phrase = not term
    excluded = bool(phrase_sign or sign)
    if sign and term.startswith("-"):  # two and more are an option's name
        term, excluded = f"-{term}", False
    text = " ".join(phrase.split()) if is_phrase else term
    if not any(character.isalnum() for character in text):
        if text == "-" or (excluded and not text):
            raise InvalidArgument("lex: a - with nothing behind it: put the term right behind it, as in -draft")
        shown = f'"{text}"' if is_phrase else text
        raise InvalidArgument(f"lex: {_shown(shown)} has no letter and no digit to look for")
    return Part(text, is_phrase, excluded)


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"
