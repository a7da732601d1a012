"""Decides how many documents the next batch takes: few while little comes in, many in a large load, never too many bytes; pure."""

from __future__ import annotations

LEAST = 16
FIRST = 64
"""So that the first documents of a large load are searchable soon."""
BYTES = 16 * 1024 * 1024
"""Of documents' raw content in one batch, about."""


class Pace:
    """Every batch is one commit of each engine, so a large load goes faster in large batches."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = min(FIRST, most)
        self._document_bytes = 0.0

    @property
    def size(self) -> int:
        """Documents that the next batch may take."""
        if self._document_bytes * self._size <= BYTES:
            return self._size
        return max(LEAST, min(self._size, int(BYTES / self._document_bytes)))

    def observe(self, document_count: int, size_bytes: int) -> None:
        """Takes note of a batch: a full one doubles the next, another goes back to the start."""
        if not document_count:
            return
        self._document_bytes = size_bytes / document_count
        self._size = min(self._size * 2, self._most) if document_count >= self.size else min(FIRST, self._most)
