"""Turns texts and queries into the terms and identifiers that every keyword engine indexes; pure, knows no engine.

A token gives the stems of its parts and its whole; and where it looks like an identifier, its whole as an identifier too. What it gives
depends on the token and the language alone, so it is worked out once for each and looked up from then on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import Stemmer

from refdesk.search.stop_words import STOP_WORDS
from refdesk.search.tokens import (
    BREAK,
    bare_word,
    cut,
    cut_together,
    fold,
    is_plain,
    is_simple,
    is_unspaced,
    split_joined,
    take_apart,
)

_REMEMBERED_TOKENS = 120_000
"""Most tokens a language whose terms are remembered, some 250 bytes each; then remembering starts anew."""
_REMEMBERED_RUN = 4
"""Longest run of an unspaced script that is remembered: longer ones hardly come again."""
_TELLING_STOP_WORDS = 2
_QUOTED = re.compile(r"[\"“”«»]([^\"“”«»`\s]+)[\"“”«»]")

_ALGORITHMS = {
    "ar": "arabic", "hy": "armenian", "eu": "basque", "ca": "catalan", "cs": "czech", "da": "danish", "nl": "dutch", "en": "english",
    "eo": "esperanto", "et": "estonian", "fi": "finnish", "fr": "french", "de": "german", "el": "greek", "hi": "hindi",
    "hu": "hungarian", "id": "indonesian", "ga": "irish", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nb": "norwegian",
    "nn": "norwegian", "no": "norwegian", "fa": "persian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sr": "serbian", "es": "spanish", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
_OTHER_SCRIPTS = frozenset({"ar", "hy", "el", "fa", "hi", "ne", "ru", "sr", "ta", "yi"})
"""Not written in Latin letters: Latin words among theirs are stemmed as English."""


@dataclass(frozen=True)
class Analysis:
    """What an entry is indexed by; both are separated by single spaces, as the engines take them."""

    terms: str
    identifiers: str


class Found(NamedTuple):
    """What a piece of a text gives: terms and identifiers, each with a space behind it, identifiers as often as they are there."""

    terms: str
    identifiers: str


NOTHING = Found("", "")


@dataclass(frozen=True)
class QueryWord:
    """One word of a query: the terms that stand for it, one or more a language; any of them is the word."""

    terms: tuple[str, ...]


@dataclass(frozen=True)
class QueryIdentifier:
    """A word of a query that names something; the index may have it in any of its spellings."""

    spellings: tuple[str, ...]
    is_plain: bool
    """Letters and hyphens alone: it may be a common word, or the name of the product that all is about."""


@dataclass(frozen=True)
class QueryAnalysis:
    """What a query looks for."""

    words: tuple[QueryWord, ...]
    wholes: tuple[str, ...]
    """Joined words as one term: evidence for ranking beside their parts, no words of their own."""
    identifiers: tuple[QueryIdentifier, ...]


def analyze(text: str, language: str) -> Analysis:
    """What an entry with this text is indexed by; `language` is ISO 639-1; one that has no stemmer is read as English where it is Latin."""
    memory = _memory(language)
    return join([memory.look_up(cut(text))])


def analyze_pieces(texts: Sequence[str], language: str) -> list[Found]:
    """What each text gives, as `analyze` has it, to be joined to entries; ASCII ones are cut together."""
    memory = _memory(language)
    plain = iter(memory.look_up_together(cut_together([text for text in texts if _is_plain_text(text)])))
    return [
        next(plain) if _is_plain_text(text) else NOTHING if text.isspace() else memory.look_up(cut(text))
        for text in texts
    ]


def _is_plain_text(text: str) -> bool:
    return text.isascii() and not text.isspace()


def join(pieces: Sequence[Found]) -> Analysis:
    """The analysis of an entry that consists of these pieces."""
    terms = "".join([piece.terms for piece in pieces])
    identifiers = "".join([piece.identifiers for piece in pieces])
    return Analysis(terms.rstrip(), " ".join(dict.fromkeys(identifiers.split())))


def analyze_query(text: str, languages: Iterable[str]) -> QueryAnalysis:
    """What this query looks for in an index that holds `languages`; with no language, as in English."""
    asked = sorted({_stemmed_as(language) for language in languages}) or ["en"]
    quoted = set(_QUOTED.findall(text))
    tokens = list(dict.fromkeys(cut(_QUOTED.sub(r"`\1`", text))))
    stop_words = _likely_stop_words(tokens, asked)
    words: dict[QueryWord, None] = {}
    wholes: dict[str, None] = {}
    identifiers: dict[QueryIdentifier, None] = {}
    for raw in tokens:
        token = take_apart(raw)
        for part in token.parts:
            if part.lower() not in stop_words or part in quoted:
                words[QueryWord(tuple(dict.fromkeys(stem(part, language) for language in asked)))] = None
        wholes.update(dict.fromkeys(token.wholes))
        if token.own:
            identifiers[QueryIdentifier(token.own, is_plain(raw))] = None
    return QueryAnalysis(tuple(words), tuple(wholes), tuple(identifiers))


def guess_language(text: str, languages: Iterable[str]) -> str:
    """The language among `languages` and English that a query's stop words speak for; empty where they do not tell.

    It takes two of them, and more than of any other: `die`, `in` and `was` are words of several.
    """
    plain = {part for token in cut(text) for part in split_joined(token.lower())}
    counts = {language: len(STOP_WORDS[language] & plain) for language in {"en", *languages} if language in STOP_WORDS}
    best = max(counts, key=lambda language: (counts[language], language == "en"))
    most = counts.pop(best)
    return best if most >= _TELLING_STOP_WORDS and most > max(counts.values(), default=0) else ""


def stem(part: str, language: str) -> str:
    """The term of one word: its stem, without accents, so that a reader may leave them out."""
    if is_unspaced(part) or not part.isalpha():
        return fold(part)
    stemmed_as = "en" if part.isascii() and language in _OTHER_SCRIPTS else _stemmed_as(language)
    if stemmed_as == "tr":
        part = part.replace("İ", "i").replace("I", "ı")
    word = part.lower()
    if stemmed_as == "en":
        if not (folded := fold(word)).isascii():
            return folded
        word = folded
    return fold(_stemmer(stemmed_as).stemWord(word))


class _Memory(dict[str, str]):
    """The terms of a token, each with a space behind it; beside them its identifiers, where it has any."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._identifiers: dict[str, str] = {}
        self._language = language
        self._stop_words = STOP_WORDS.get(language, frozenset())
        self._forget()

    def look_up(self, tokens: Sequence[str]) -> Found:
        """What these tokens give."""
        if len(self) > _REMEMBERED_TOKENS:
            self._forget()
        terms = "".join(map(self.__getitem__, tokens))
        return Found(terms, "".join(filter(None, map(self._identifiers.get, tokens))))

    def look_up_together(self, tokens: Sequence[str]) -> list[Found]:
        """What the tokens between each two BREAKs give."""
        terms, identifiers = self.look_up(tokens)
        return list(map(Found, terms.split(BREAK), identifiers.split(BREAK)))

    def __missing__(self, raw: str) -> str:
        if is_simple(raw):
            return self._remember(raw, self._term(raw), "")
        if (bare := bare_word(raw)) and bare != raw:
            return self._remember(raw, self[bare], self._identifiers.get(bare, ""))
        token = take_apart(raw)
        identifiers = "".join([f"{one} " for one in (*token.own, *token.inner)])
        if len(token.parts) > 1 and not is_unspaced(raw):
            terms = "".join([self[part] for part in token.parts]) + "".join([f"{whole} " for whole in token.wholes])
            return self._remember(raw, terms, identifiers)
        terms = "".join(map(self._term, token.parts)) + "".join([f"{whole} " for whole in token.wholes])
        if len(raw) > _REMEMBERED_RUN and is_unspaced(raw):
            return terms
        return self._remember(raw, terms, identifiers)

    def _term(self, part: str) -> str:
        return "" if part.lower() in self._stop_words else f"{stem(part, self._language)} "

    def _remember(self, raw: str, terms: str, identifiers: str) -> str:
        if identifiers:
            self._identifiers[raw] = identifiers
        self[raw] = terms
        return terms

    def _forget(self) -> None:
        """Only between texts: what a text gives is looked up twice."""
        self.clear()
        self._identifiers.clear()
        self[BREAK] = self._identifiers[BREAK] = BREAK


@cache
def _memory_of(language: str) -> _Memory:
    return _Memory(language)


def _memory(language: str) -> _Memory:
    return _memory_of(_stemmed_as(language))


def _stemmed_as(language: str) -> str:
    return language if language in _ALGORITHMS else "en"


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(_ALGORITHMS[language], 0)  # no memory of its own: ours is bounded


def _likely_stop_words(tokens: Sequence[str], languages: Sequence[str]) -> frozenset[str]:
    """Stop words of the language that the query seems to be in: the one of which it holds most."""
    plain = {part for token in tokens for part in split_joined(token.lower())}
    lists = [STOP_WORDS.get(language, frozenset()) for language in languages]
    return max(lists, key=lambda words: len(words & plain), default=frozenset())
