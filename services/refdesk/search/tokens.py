"""Takes one token apart into its words, its whole and the identifiers that it is and holds; knows no language and no engine."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

LONGEST_TERM = 64
"""Characters; what is longer is data, not a word."""
LONGEST_IDENTIFIER = 128

_JOINS = "-._/:@'’"
_CALL = "\x00"
"""Stands for `()` while a text is cut: the parentheses of prose end a word, these do not."""
BREAK = "\x01"
"""A token of its own, which no text gives: it parts texts that are cut together."""
_SPACES = str.maketrans(
    {chr(code): " " for code in range(2, 128) if not (chr(code).isalnum() or chr(code) in f"`{_JOINS}")}
)
_JOINT = f" {BREAK} "
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3005\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # han
    "\uac00-\ud7af"  # hangul
)
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f"  # accents, Hebrew and Arabic points
    "\u0900-\u0903\u093a-\u094f\u0962\u0963\u0980-\u0983\u09bc-\u09cd\u0b80-\u0b83\u0bbe-\u0bcd"  # vowels of Indic scripts
)
LETTER = rf"(?:[^\W{UNSPACED}]|[{_MARKS}])"
_TOKEN = re.compile(rf"[{UNSPACED}]+|`?(?:--?)?{LETTER}+(?:[{_JOINS}]+{LETTER}+)*(?:\(\))?`?")
_UNSPACED_RUN = re.compile(rf"[{UNSPACED}]+")

_EDGES = f"{_JOINS}`{_CALL}"
"""Punctuation at the ends of a token; dashes in front tell an option and are counted."""
_EDGES_BUT_DASHES = _EDGES.replace("-", "")
_CODE = re.compile(r"`[^`]+`[-.:']*")
_POSSESSIVES = ("'s", "'S", "’s", "’S")
_JOIN = re.compile(rf"[{_JOINS}_]+")
_SEGMENT_JOIN = re.compile(r"[./:@]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_VERSION = re.compile(r"[vV]?(\d+\.\d+)(?:\.\d+)*")
_QUANTITY = re.compile(r"\d+[A-Za-z]{1,3}")
"""5m, 10GB, 2nd: how much, not which."""
_STRIPPED_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]+")


class Token(NamedTuple):
    """What a token is made of. Parts are as they are written, not stemmed; the rest is folded."""

    parts: tuple[str, ...] = ()
    wholes: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    """Spellings of the identifier that the whole token is; none where it is an ordinary word."""
    inner: tuple[str, ...] = ()
    """Identifiers that are segments of it: `kubernetes.io` of `kubernetes.io/tls`."""


def cut(text: str) -> list[str]:
    """Tokens, those of ASCII lines first. These may bear punctuation: cutting with a table is five times as fast as with a pattern."""
    if BREAK in text:
        text = text.replace(BREAK, " ")
    if text.isascii():
        return _cut_ascii(text)
    lines = text.split("\n")
    plain = _cut_ascii("\n".join([line for line in lines if line.isascii()]))
    others = _TOKEN.findall("\n".join([line for line in lines if not line.isascii()]))
    return plain + [token.replace("()", _CALL) for token in others]


def cut_together(texts: Iterable[str]) -> list[str]:
    """Tokens of ASCII texts, a BREAK behind those of each but the last: one call for many costs a third of many calls."""
    return _cut_ascii(_JOINT.join([text.replace(BREAK, " ") if BREAK in text else text for text in texts]))


def bare_word(raw: str) -> str:
    """The token without punctuation behind it, where that changes nothing else; what most tokens are, told apart cheaply."""
    return raw if raw.endswith(("`", _CALL)) or "`" in raw else raw.rstrip(_JOINS)


def take_apart(raw: str) -> Token:
    """The words, wholes and identifiers of a token that `cut` gave."""
    if is_simple(raw):
        return Token((raw,))
    if is_unspaced(raw):
        return Token(_bigrams(raw))
    if "`" in raw.strip("`"):  # `this`/`that`
        return _join([take_apart(f"`{piece}`") for piece in raw.strip("`").split("`")])
    dashes, core = _strip_edges(raw)
    if not core:
        return Token()
    if core[0] in "vV0123456789" and (version := _VERSION.fullmatch(core)) is not None:
        return _take_version_apart(version)
    parts = tuple(
        part for piece in _JOIN.split(core) if piece for part in _split_humps(piece) if len(part) <= LONGEST_TERM
    )
    whole = fold(core)
    if len(whole) > LONGEST_IDENTIFIER or _is_apostrophe_alone(core):
        return Token(parts)
    segments = _SEGMENT_JOIN.split(core)
    inner = tuple([fold(segment) for segment in segments if _names(segment)]) if len(segments) > 1 else ()
    return Token(parts, (whole,) if len(parts) > 1 else (), _spell(raw, core, dashes), inner)


def is_simple(raw: str) -> bool:
    """Whether a token is one ordinary word of ASCII letters, as most are."""
    return raw.isascii() and raw.isalpha() and (raw.islower() or raw[1:].islower()) and len(raw) <= LONGEST_TERM


def is_unspaced(raw: str) -> bool:
    """Whether a token or a part is of a script that puts no spaces between words."""
    return not raw.isascii() and _UNSPACED_RUN.match(raw) is not None


def is_plain(raw: str) -> bool:
    """Whether an identifier is of letters and hyphens alone, as `OpenSearch` and `built-in`: it may be a common word."""
    bare = raw.strip(_JOINS)
    return not raw.startswith("-") and bare.replace("-", "").isalpha()


def fold(word: str) -> str:
    """Lower case, without the accents that a reader may leave out."""
    if word.isascii():
        return word.lower()
    decomposed = unicodedata.normalize(
        "NFKD", word.lower()
    ).lower()  # again: a mathematical A becomes a plain one only here
    return unicodedata.normalize("NFC", _STRIPPED_MARKS.sub("", decomposed)).replace("ı", "i").replace("ß", "ss")


def split_joined(raw: str) -> list[str]:
    """The pieces of a token between what joins them."""
    return _JOIN.split(raw)


def _cut_ascii(text: str) -> list[str]:
    if _CALL in text:
        text = text.replace(_CALL, " ")
    return text.replace("()", _CALL).translate(_SPACES).split()


def _take_version_apart(version: re.Match[str]) -> Token:
    """`v3.12.1` is found as itself, without its v, and as 3.12; its numbers alone say nothing."""
    whole = version.group().lower()
    bare = whole.lstrip("v")
    wholes = tuple(spelling for spelling in dict.fromkeys((whole, version.group(1))) if spelling != bare)
    return Token((bare,), wholes, tuple(dict.fromkeys((whole, bare))))


def _spell(raw: str, core: str, dashes: str) -> tuple[str, ...]:
    whole = fold(core)
    if _CALL in raw:
        return (f"{whole}()", whole)
    if dashes and _names(core):
        return (dashes + whole, whole)
    if dashes:
        return (dashes + whole,)
    return (whole,) if _CODE.fullmatch(raw) or _names(core) else ()


def _names(core: str) -> bool:
    """Whether a word looks as if it names something: joined, with digits and letters, or with capitals inside."""
    if core.isalpha():
        return _HUMP.search(core) is not None
    if core.isdigit() or _QUANTITY.fullmatch(core):
        return False
    return any(len(piece) > 1 for piece in _JOIN.split(core))  # not e.g. and i.e.


def _is_apostrophe_alone(core: str) -> bool:
    return ("'" in core or "’" in core) and core.replace("'", "").replace("’", "").isalpha()


def _strip_edges(raw: str) -> tuple[str, str]:
    """The dashes in front of a token, and the token without what is around it."""
    left = raw.lstrip(_EDGES_BUT_DASHES)
    core = left.strip(_EDGES)
    dashes = left[: len(left) - len(left.lstrip("-"))]
    if core.endswith(_POSSESSIVES):
        core = core[:-2]
    return dashes, core.strip("_") if core[:1] == core[-1:] == "_" else core  # emphasis


def _split_humps(piece: str) -> list[str]:
    return [piece] if piece.islower() or not piece.isascii() else _HUMP.split(piece)


def _join(tokens: list[Token]) -> Token:
    return Token(
        *(
            tuple(item for token in tokens for item in getattr(token, name))
            for name in ("parts", "wholes", "own", "inner")
        )
    )


def _bigrams(run: str) -> tuple[str, ...]:
    """Overlapping pairs of characters; a character that stands alone is a word of its own."""
    folded = unicodedata.normalize("NFKC", run)
    if len(folded) < 2:
        return (folded,)
    return tuple(folded[i : i + 2] for i in range(len(folded) - 1))
