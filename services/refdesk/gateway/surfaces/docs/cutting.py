"""Cuts what is read to a number of tokens, at chunks where it can; knows nothing of where documents come from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from refdesk.gateway.packing import close_fence
from refdesk.gateway.surfaces.docs.reading import NO_CHUNK, Piece, joined
from refdesk.gateway.tokens import MOST_TEXTS, TokenCounter

CHARACTERS_PER_TOKEN = 20
"""A text with more characters a token is cut too: a tokenizer may call a word of a megabyte one token."""
NOTE_TOKENS = 90
"""Kept back for the lines that say where it was cut; the path stands in them and is counted on top."""
ROUND_TOKENS = 100


@dataclass(frozen=True, slots=True)
class Cut:
    """What fits. `next_chunk` is where the rest starts; None: nothing is left, or the cut is inside `first_chunk`."""

    text: str
    is_cut: bool
    is_estimated: bool
    first_chunk: int = NO_CHUNK
    next_chunk: int | None = None
    needed_tokens: int = 0
    """Tokens that would show the first piece whole; 0 where more tokens cannot help."""


class Cutter:
    """Counts with the model's tokenizer."""

    def __init__(self, tokens: TokenCounter) -> None:
        self._tokens = tokens

    async def cut(self, model_id: str, head: str, parts: Sequence[Sequence[Piece]], max_tokens: int, path: str) -> Cut:
        """The start of the parts (sections, each in pieces) that fits in `max_tokens` together with `head` and a note."""
        whole = "\n\n".join(joined(pieces) for pieces in parts)
        if len(head) + len(whole) <= max_tokens:  # a token has a character at least
            return Cut(whole, False, False)
        pieces = [piece for part in parts for piece in part]
        taken = _countable(pieces, max_tokens * CHARACTERS_PER_TOKEN)
        counted = await self._tokens.count(model_id, [head, path, *(f"{one.lead}\n{one.text}" for one in taken)])
        head_tokens, path_tokens, *costs = counted.counts
        if len(taken) == len(pieces) and head_tokens + sum(costs) <= max_tokens and _fits(whole, max_tokens):
            return Cut(whole, False, counted.estimated)
        room = max_tokens - head_tokens - path_tokens - NOTE_TOKENS
        fitting = min(_fitting(taken, costs, room, max_tokens * CHARACTERS_PER_TOKEN), len(pieces) - 1)
        if fitting:
            rest = pieces[fitting].chunk if pieces[fitting].chunk != NO_CHUNK else None
            needed = 0 if rest is not None else _rounded(head_tokens + path_tokens + NOTE_TOKENS + sum(costs))
            return Cut(_text(parts, fitting), True, counted.estimated, NO_CHUNK, rest, needed)
        needed = _rounded(max_tokens - room + (costs[0] if costs else 0))
        text, estimated = await self._cut_inside(model_id, pieces[0], room, max_tokens * CHARACTERS_PER_TOKEN)
        return Cut(text, True, counted.estimated or estimated, pieces[0].chunk, None, needed)

    async def _cut_inside(self, model_id: str, piece: Piece, room: int, most_characters: int) -> tuple[str, bool]:
        text = "\n".join(part for part in (piece.lead, piece.text[:most_characters]) if part)
        words = re.findall(r"\S{1,200}\s*|\s+", text)[: MOST_TEXTS - 1]
        counted = await self._tokens.count(model_id, words)
        kept = 0
        for cost in counted.counts:
            room -= cost
            if room < 0:
                break
            kept += 1
        return close_fence("".join(words[:kept]).rstrip()), counted.estimated


def _countable(pieces: Sequence[Piece], most_characters: int) -> list[Piece]:
    taken: list[Piece] = []
    characters = 0
    for piece in pieces[: MOST_TEXTS - 2]:
        if characters > most_characters or (taken and len(piece.text) > most_characters):
            break
        taken.append(Piece(piece.chunk, piece.text[: 2 * most_characters], piece.lead, piece.tail))
        characters += len(piece.text)
    return taken


def _fits(text: str, max_tokens: int) -> bool:
    return len(text) <= max_tokens * CHARACTERS_PER_TOKEN


def _fitting(pieces: Sequence[Piece], costs: Sequence[int], room: int, most_characters: int) -> int:
    """How many pieces fit."""
    fitting = characters = 0
    for piece, cost in zip(pieces, costs, strict=True):
        room -= cost
        characters += len(piece.text)
        if room < 0 or characters > most_characters:
            break
        fitting += 1
    return fitting


def _text(parts: Sequence[Sequence[Piece]], fitting: int) -> str:
    texts = []
    for pieces in parts:
        if fitting <= 0:
            break
        texts.append(close_fence(joined(pieces[:fitting])))
        fitting -= len(pieces)
    return "\n\n".join(texts)


def _rounded(tokens: int) -> int:
    return -(-tokens // ROUND_TOKENS) * ROUND_TOKENS
