"""How much room an answer of the procedures surface has; knows nothing of what fills it.

Its budgets are the reference's, estimated at four Latin characters to a token; how many tokens an answer may have is counted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway.budgets import MOST_TOKENS, Packer
from refdesk.gateway.surfaces.interface import ToolAnswer


@dataclass(frozen=True, slots=True)
class Room:
    """What was asked for at most (None: the tool's own), and what other parts of the answer have taken already, tokens."""

    packer: Packer
    asked: int | None = None
    taken: int = 0

    async def fit(
        self, project: docstore_api.Project, usual: int, compose: Callable[[int], Awaitable[ToolAnswer]]
    ) -> ToolAnswer:
        """What `compose` makes of a budget of estimated tokens, `usual` where nothing was asked for, so that it fits."""
        limit = max(1, (self.asked or MOST_TOKENS) - self.taken)
        budget = self.asked or usual
        return await self.packer.fit(project.model_id, limit, budget, compose, lambda one: one.text)
