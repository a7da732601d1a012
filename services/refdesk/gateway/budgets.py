"""How many tokens an answer may have, and how what there is comes to fit: one packer for every tool; knows nothing of the parts."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar

from refdesk.gateway.arguments import INTEGER, Argument
from refdesk.gateway.tokens import MOST_TEXTS, TokenCounter

Value = TypeVar("Value")
MOST_TOKENS = 20_000
"""Of any answer, as the tokenizer of the project's model counts."""
LEAST_TOKENS = 200
SHARE = 0.9
"""Of what should fit by what was counted: what is made smaller does not get so evenly."""
ATTEMPTS = 6
NAME = "max_tokens"


def max_tokens(description: str = "Most tokens of the answer.", *, default: int | None = MOST_TOKENS) -> Argument:
    """The argument that says how much an answer may hold."""
    return Argument(NAME, INTEGER, description, False, LEAST_TOKENS, MOST_TOKENS, default=default)


def count_fitting(costs: Iterable[int], room: int) -> int:
    """How many of the first parts fit."""
    fitting = 0
    for cost in costs:
        room -= cost
        if room < 0:
            break
        fitting += 1
    return fitting


def longest(text: str, data: Any) -> str:
    """An answer's text, or its data as JSON: whichever is longer has to fit."""
    return max(text, json.dumps(data, ensure_ascii=False), key=len)


class Packer:
    """Counts with the model's tokenizer."""

    def __init__(self, tokens: TokenCounter) -> None:
        self._tokens = tokens

    async def cost(self, model_id: str, text: str) -> int:
        """Tokens of one text."""
        return (await self.costs(model_id, [text]))[0]

    async def costs(self, model_id: str, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, however many there are."""
        counts: list[int] = []
        for start in range(0, len(texts), MOST_TEXTS):
            counts += (await self._tokens.count(model_id, texts[start : start + MOST_TEXTS])).counts
        return counts

    async def fit(
        self,
        model_id: str,
        limit: int,
        budget: int,
        compose: Callable[[int], Awaitable[Value]],
        text_of: Callable[[Value], str],
    ) -> Value:
        """What `compose` makes of as much of `budget` (in its own unit) as keeps it within `limit` tokens; of 1 at the least."""
        for attempt in range(ATTEMPTS):
            value = await compose(budget)
            text = text_of(value)
            if len(text) <= limit or budget <= 1:  # a token has a character at least
                return value
            cost = await self.cost(model_id, text)
            if cost <= limit:
                return value
            budget = max(1, min(budget - 1, int(budget * limit / cost * SHARE ** (attempt + 1))))
        return await compose(budget)
