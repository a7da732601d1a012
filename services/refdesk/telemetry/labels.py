"""What things with names are called in metrics, whose readers may know none of the names; pure."""

from __future__ import annotations

import hashlib


def source_label(project: str, source: str) -> str:
    """A source's label: 12 hex digits that tell nothing of either name."""
    return hashlib.sha256(f"{project}/{source}".encode()).hexdigest()[:12]
