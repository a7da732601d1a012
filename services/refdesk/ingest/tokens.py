"""Estimates how many tokens a text costs, from its characters alone; knows no tokenizer and no model.

The word phase of publishing has no time for a tokenizer. Costs are whole 64ths of a token, given to single characters
by their class and their close neighbours, so that the cost of any span is one subtraction of a running sum. The weights
are a fit to the WordPiece tokens of technical documentation in English, Chinese and Japanese, leaning towards too many.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

UNITS_PER_TOKEN = 64

_BLOCK_CHARACTERS = 1 << 18  # bounds the working memory of one very long text
_CONTEXT = 16  # a character's cost depends on fewer characters than this before it

_LETTER, _DIGIT, _UPPER, _LOWER = 1, 2, 4, 8

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
_PUNCTUATION = 68
_IDEOGRAPH = 68
_ACCENTED = 64
_SYLLABLE = 62  # kana, hangul, and the letters of scripts other than latin

WORD_RESTART_UNITS = _WORD_START

_Bytes = npt.NDArray[Any]


def _build_tables() -> tuple[_Bytes, _Bytes]:
    """Class bits and base cost of every character of the basic plane; above it, every character is a symbol."""
    bits = np.zeros(0x10000, np.uint8)
    cost = np.full(0x10000, _PUNCTUATION, np.uint8)
    for first, last in ((0x00, 0x20), (0x7F, 0xA0), (0x2000, 0x200F), (0x2028, 0x202F), (0x205F, 0x2064)):
        cost[first : last + 1] = _SPACE
    cost[[0x3000, 0xFEFF]] = _SPACE
    cost[0xFE00:0xFE10] = _SPACE  # variation selectors
    cost[0xC0:0x250] = _ACCENTED
    cost[0x250:0x2000] = _SYLLABLE
    cost[0x3040:0x3100] = cost[0xA000:0xE000] = _SYLLABLE
    cost[0x3400:0xA000] = cost[0xF900:0xFB00] = _IDEOGRAPH
    for first, last, flags in (
        (0x41, 0x5A, _LETTER | _UPPER),
        (0x61, 0x7A, _LETTER | _LOWER),
        (0x30, 0x39, _DIGIT),
    ):
        bits[first : last + 1] = flags
        cost[first : last + 1] = 0
    bits[0xC0:0x250] = _LETTER
    bits[[0xD7, 0xF7]] = 0  # the signs × and ÷ stand among the letters
    return bits, cost


_BITS, _COST = _build_tables()
_ASCII_BITS, _ASCII_COST = _BITS[:256].tobytes(), _COST[:256].tobytes()


def _classify(text: str) -> tuple[_Bytes, _Bytes]:
    """The class bits and the base cost of each character."""
    if text.isascii():
        raw = text.encode("ascii")
        bits, cost = raw.translate(_ASCII_BITS), bytearray(raw.translate(_ASCII_COST))
        return np.frombuffer(bits, np.uint8), np.frombuffer(cost, np.uint8)
    wide = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    codes = np.minimum(wide, np.uint32(0xFFFF)).astype(np.uint16)
    return _BITS[codes], _COST[codes]


def _then(flags: _Bytes, later: _Bytes, distance: int) -> _Bytes:
    """1 for each character of `later` that stands `distance` after one of `flags`; both of equal length."""
    both = np.empty_like(later)
    both[:distance] = 0
    np.bitwise_and(later[distance:], flags[:-distance], out=both[distance:])
    return both


def _block_costs(text: str) -> _Bytes:
    """The cost of each character, in 64ths of a token. Flags are 0 or 1, so that they can be multiplied."""
    bits, cost = _classify(text)
    letter, digit = bits & 1, (bits >> 1) & 1
    upper, lower = (bits >> 2) & 1, bits >> 3
    word = letter | digit
    start = word ^ _then(word, word, 1)
    two = _then(letter, letter, 1)
    four = _then(two, two, 2)
    five = _then(letter, four, 4)
    flagged = [
        (start, _WORD_START),
        (five, _FIFTH_LETTER),
        (_then(four, five, 5), _NINTH_LETTER),
        (_then(lower, upper, 1), _HUMP),
        (_then(upper, upper, 1), _CAPITAL),
    ]
    if digit.any():
        two = _then(digit, digit, 1)
        three = _then(digit, two, 2)
        four = _then(digit, three, 3)
        flagged += [
            (two ^ three, _SECOND_DIGIT),
            (three ^ four, _THIRD_DIGIT),
            (four, _FOURTH_DIGIT),
            (_then(letter, digit, 1), _DIGIT_AFTER_LETTER),
        ]
    for flags, units in flagged:
        flags *= np.uint8(units)
        cost += flags
    return cost


def running_units(text: str) -> npt.NDArray[np.int32]:
    """Costs summed up, in 64ths of a token: item i is the cost of the first i characters; len(text) + 1 items.

    Characters are looked at within their word only: a span that starts and ends between words costs exactly the
    difference of its ends; one that starts inside a word costs at most WORD_RESTART_UNITS more than that on its own.
    """
    sums = np.zeros(len(text) + 1, np.int32)
    for start in range(0, len(text), _BLOCK_CHARACTERS):
        end = min(start + _BLOCK_CHARACTERS, len(text))
        before = min(start, _CONTEXT)
        costs = _block_costs(text[start - before : end])
        np.cumsum(costs[before:], dtype=np.int32, out=sums[start + 1 : end + 1])
        sums[start + 1 : end + 1] += sums[start]
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
