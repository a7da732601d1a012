"""One write of one document, as a bulk request has it; imports little, for child processes encode actions too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Action:
    """One write of one document, by the alias of its index."""

    verb: Literal["index", "create", "update", "delete"]
    alias: str
    id: str
    body: Mapping[str, Any] | None = None
    """The document; for update {"doc": the fields that change}; None for delete."""
    conditions: Mapping[str, int | str] = field(default_factory=dict)
    """Such as if_seq_no with if_primary_term, or version with version_type."""

    def encode(self) -> bytes:
        """Its lines of a bulk request."""
        head = {self.verb: {"_index": self.alias, "_id": self.id, **self.conditions}}
        lines = (head,) if self.body is None else (head, self.body)
        return b"".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in lines)
