"""Counts tokens with the embedding model's own tokenizer, or estimates them when it does not answer; knows nothing of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from refdesk import errors
from refdesk.api.embedder.v1 import embedder_pb2
from refdesk.api.embedder.v1.embedder_protocol import Embedder
from refdesk.rpc import deadline

MOST_TEXTS = 4096
ASCII_CHARACTERS_PER_TOKEN = 3
"""Technical English has 4 and more: an estimate leans towards too many tokens, so that a cap holds."""


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """One count a text; `estimated` when the tokenizer could not be asked."""

    counts: tuple[int, ...]
    estimated: bool


class TokenCounter:
    """Asks the embedder, for at most `seconds` a call."""

    def __init__(self, embedder: Embedder, seconds: float) -> None:
        self._embedder = embedder
        self._seconds = seconds

    async def count(self, model_id: str, texts: Sequence[str]) -> TokenCounts:
        """Counts at most 4096 texts; never fails, but says when the counts are estimated."""
        if not texts:
            return TokenCounts((), False)
        request = embedder_pb2.CountTokensRequest(model_id=model_id, texts=texts[:MOST_TEXTS])
        try:
            with deadline.limit(self._seconds):
                response = await self._embedder.count_tokens(request)
        except errors.RefdeskError:
            return TokenCounts(tuple(estimate_tokens(text) for text in texts), True)
        return TokenCounts(tuple(response.token_counts), False)


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has, rather too many than too few."""
    ascii_characters = len(text.encode("ascii", "ignore"))
    return -(-ascii_characters // ASCII_CHARACTERS_PER_TOKEN) + len(text) - ascii_characters
