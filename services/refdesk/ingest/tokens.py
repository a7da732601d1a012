"""Estimates how many tokens a text costs, from its characters alone; knows no tokenizer and no model.

The word phase of publishing has no time for a tokenizer. Costs are whole 64ths of a token, given to single characters
by their class and their close neighbours, so that the cost of any span is one subtraction of a running sum. The weights
are a fit to the WordPiece tokens of technical documentation in English, Chinese and Japanese, leaning towards too many.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

UNITS_PER_TOKEN = 64

_BLOCK_CHARACTERS = 1 << 18  # bounds the working memory of one very long text
_CONTEXT = 8  # a character's cost depends on no more characters before it

# Costs in 64ths of a token.
_SPACE = 1  # spaces are no tokens; a token's worth of text must be bounded in characters all the same
_WORD_START = 58
_FIFTH_LETTER = 9  # each letter from the fifth on: the longer a word, the likelier it is cut into pieces
_NINTH_LETTER = 5  # and again from the ninth on
_HUMP = 60  # the H of camelHump
_CAPITAL = 6  # the second and further letters of CAPITALS
_SECOND_DIGIT = 5
_THIRD_DIGIT = 51
_FOURTH_DIGIT = 30  # and each one after it
_DIGIT_AFTER_LETTER = 123  # v2, b64, hashes: both sides fall into short pieces
_SIGN = 68  # punctuation, ideographs, symbols
_ACCENTED = 64
_SYLLABLE = 62  # kana, hangul, and the letters of scripts other than latin

WORD_RESTART_UNITS = _WORD_START

_Bytes = npt.NDArray[np.uint8]


class _Class(IntEnum):
    """What a character is: three bits."""

    BLANK = 0
    SIGN = 1
    SYLLABLE = 2
    ACCENTED_SIGN = 3  # × and ÷ stand among the letters
    ACCENTED = 4
    UPPER = 5
    LOWER = 6
    DIGIT = 7


_OWN_COSTS = {
    _Class.BLANK: _SPACE,
    _Class.SIGN: _SIGN,
    _Class.SYLLABLE: _SYLLABLE,
    _Class.ACCENTED_SIGN: _ACCENTED,
    _Class.ACCENTED: _ACCENTED,
}
_LETTERS = frozenset({_Class.ACCENTED, _Class.UPPER, _Class.LOWER})

# A character's code holds its class twice, and whether it is a letter or a digit. What its cost is looked up by holds
# its own class, that of the character before, and how long the run of letters or digits is by now.
_OWN, _BEFORE = 0x07, 0x38
_BOTH = 0x09  # times a class: the class in both places
_LETTER, _DIGIT = 0x40, 0x80
_LONG, _LONGER = 0x40, 0x80  # from the fifth letter or third digit on, from the ninth or fourth


def _build_codes() -> _Bytes:
    """The code of every character of the basic plane; above it, every character is a symbol."""
    classes = np.full(0x10000, _Class.SIGN, np.uint8)
    for first, last, kind in (
        (0x00, 0x20, _Class.BLANK),
        (0x30, 0x39, _Class.DIGIT),
        (0x41, 0x5A, _Class.UPPER),
        (0x61, 0x7A, _Class.LOWER),
        (0x7F, 0xA0, _Class.BLANK),
        (0xC0, 0x24F, _Class.ACCENTED),
        (0xD7, 0xD7, _Class.ACCENTED_SIGN),
        (0xF7, 0xF7, _Class.ACCENTED_SIGN),
        (0x250, 0x1FFF, _Class.SYLLABLE),
        (0x2000, 0x200F, _Class.BLANK),
        (0x2028, 0x202F, _Class.BLANK),
        (0x205F, 0x2064, _Class.BLANK),
        (0x3000, 0x3000, _Class.BLANK),
        (0x3040, 0x30FF, _Class.SYLLABLE),
        (0xA000, 0xDFFF, _Class.SYLLABLE),
        (0xFE00, 0xFE0F, _Class.BLANK),  # variation selectors
        (0xFEFF, 0xFEFF, _Class.BLANK),
    ):
        classes[first : last + 1] = kind
    codes = classes * np.uint8(_BOTH)
    codes[np.isin(classes, list(_LETTERS))] |= _LETTER
    codes[classes == _Class.DIGIT] |= _DIGIT
    return codes


def _cost_of(own: _Class, before: _Class, is_long: bool, is_longer: bool) -> int:
    """What a character costs, in 64ths of a token."""
    cost = _OWN_COSTS.get(own, 0)
    is_letter = own in _LETTERS
    if (is_letter or own is _Class.DIGIT) and not (before in _LETTERS or before is _Class.DIGIT):
        cost += _WORD_START
    if is_letter:
        cost += _FIFTH_LETTER * is_long + _NINTH_LETTER * is_longer
    if own is _Class.UPPER:
        cost += {_Class.LOWER: _HUMP, _Class.UPPER: _CAPITAL}.get(before, 0)
    if own is _Class.DIGIT and before in _LETTERS:
        cost += _DIGIT_AFTER_LETTER
    if own is _Class.DIGIT and before is _Class.DIGIT:
        cost += _FOURTH_DIGIT if is_longer else _THIRD_DIGIT if is_long else _SECOND_DIGIT
    return cost


_CODES = _build_codes()
_ASCII_CODES = _CODES[:256].tobytes()
_COSTS = np.array(
    [
        _cost_of(_Class(index & _OWN), _Class((index & _BEFORE) >> 3), bool(index & _LONG), bool(index & _LONGER))
        for index in range(256)
    ],
    np.int32,
)


def _encode(text: str) -> _Bytes:
    """The code of each character."""
    if text.isascii():
        return np.frombuffer(text.encode("ascii").translate(_ASCII_CODES), np.uint8)
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    return _CODES.take(points, mode="clip")


def _block_costs(text: str) -> npt.NDArray[np.int32]:
    """The cost of each character but the first _CONTEXT, in 64ths of a token."""
    codes = _encode(text)
    # Both bits of a run at once; each of these starts later in the text by one less than its number.
    two = codes[1:] & codes[:-1]
    three = two[1:] & codes[:-2]
    four = two[2:] & two[:-2]
    five = four[1:] & codes[:-4]
    nine = five[4:] & four[:-5]
    index = codes[_CONTEXT:] & _OWN
    index |= codes[_CONTEXT - 1 : -1] & _BEFORE
    index |= five[_CONTEXT - 4 :] & _LETTER
    index |= (nine[_CONTEXT - 8 :] & _LETTER) * 2
    index |= (three[_CONTEXT - 2 :] & _DIGIT) >> 1
    index |= four[_CONTEXT - 3 :] & _DIGIT
    return _COSTS.take(index, mode="clip")  # faster than "raise", and there is nothing to clip


def running_units(text: str) -> npt.NDArray[np.int32]:
    """Costs summed up, in 64ths of a token: item i is the cost of the first i characters; len(text) + 1 items.

    Characters are looked at within their word only: a span that starts and ends between words costs exactly the
    difference of its ends; one that starts inside a word costs at most WORD_RESTART_UNITS more than that on its own.
    """
    sums = np.zeros(len(text) + 1, np.int32)
    for start in range(0, len(text), _BLOCK_CHARACTERS):
        end = min(start + _BLOCK_CHARACTERS, len(text))
        before = text[start - _CONTEXT : start] if start else " " * _CONTEXT
        block = sums[start + 1 : end + 1]
        np.add.accumulate(_block_costs(before + text[start:end]), out=block)
        if start:
            block += sums[start]
    return sums


@lru_cache(maxsize=4096)
def count_short_units(text: str) -> int:
    """`count_units` for what comes again and again: opening lines of fences, heads of tables."""
    return count_units(text)


def count_units(text: str) -> int:
    """The cost of a text in 64ths of a token."""
    return int(running_units(text)[-1])


def round_up(units: int) -> int:
    """Units as whole tokens, rounded up."""
    return -(-units // UNITS_PER_TOKEN)


def estimate_tokens(text: str) -> int:
    """About how many tokens a WordPiece or Unigram model cuts the text into, special tokens not counted."""
    return round_up(count_units(text))
