"""Parts of a spec and what differs between two, within a number of tokens; the cutting is done in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from refdesk.children import Child
from refdesk.errors import DeadlineExceeded, InvalidArgument
from refdesk.gateway.tokens import MOST_TEXTS, TokenCounter
from refdesk.openapi.slices import Slice

OPERATION, SCHEMA, DIFF = "operation", "schema", "diff"
KINDS = (OPERATION, SCHEMA, DIFF)
CHILD_MODULE = "refdesk.openapi.slice_child"
CHILD_BYTES = 1_073_741_824
CUT_SECONDS = 10.0
"""Of one slice: a spec of 1 MB takes a fifth of a second."""
ENVELOPE_TOKENS = 200
"""For the resource's other fields."""


def asked_part(arguments: Mapping[str, Any]) -> tuple[str, str] | None:
    """Which part is asked for, and its name; None: the whole. Raises: InvalidArgument where more than one is."""
    asked = [(kind, arguments[kind]) for kind in KINDS if arguments[kind]]
    if len(asked) > 1:
        raise InvalidArgument(f"give one of {', '.join(kind for kind, _ in asked)}: each is an answer of its own")
    return asked[0] if asked else None


class SpecSlices:
    """Cuts parts out of specs; its process starts with the first of them."""

    def __init__(self, tokens: TokenCounter) -> None:
        self._tokens = tokens
        self._child = Child(CHILD_MODULE, name="spec slices", memory_limit_bytes=CHILD_BYTES)

    async def close(self) -> None:
        """Ends the process."""
        await self._child.close()

    async def cut(self, model_id: str, kind: str, name: str, spec: str, older: str, max_tokens: int) -> str:
        """The part called `name`, or what differs from `older`.

        Raises: NotFound with similar names; InvalidArgument for a spec that takes too long; Unavailable.
        """
        given = (older.encode(), spec.encode()) if kind == DIFF else (spec.encode(), name)
        try:
            found: Slice = await self._child.call(kind, *given, timeout_seconds=CUT_SECONDS)
        except DeadlineExceeded:
            raise InvalidArgument(f"this spec is too large to be cut in {CUT_SECONDS:g} s: ask for it whole") from None
        return found.pack(await self._count(model_id, found.texts), max_tokens - ENVELOPE_TOKENS)

    async def _count(self, model_id: str, texts: Sequence[str]) -> list[int]:
        """As they are sent, which is in JSON."""
        written = [json.dumps(text, ensure_ascii=False) for text in texts]
        counts: list[int] = []
        for start in range(0, len(written), MOST_TEXTS):
            counts += (await self._tokens.count(model_id, written[start : start + MOST_TEXTS])).counts
        return counts
