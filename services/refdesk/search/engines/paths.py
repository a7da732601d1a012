"""Folders that a path starts with, and ids as numbers; pure, shared by engines that filter by whole segments or keep ids as numbers."""

from __future__ import annotations

from functools import lru_cache
from struct import Struct

_LOW = (1 << 64) - 1
_PAIR = Struct(">QQ")


def list_folders(path: str) -> list[str]:
    """Every prefix of a path by whole segments, itself included: `a`, `a/b`, `a/b/c.md`."""
    segments = path.strip("/").split("/")
    return ["/".join(segments[:count]) for count in range(1, len(segments) + 1)]


def split_id(id: str) -> tuple[int, int]:
    """High and low 64 bits of a UUID; they sort as its text does."""
    number = int(id.replace("-", ""), 16)
    return number >> 64, number & _LOW


@lru_cache(maxsize=65_536)
def join_id(high: int, low: int) -> str:
    """The text of a UUID from its high and low 64 bits; a search names hundreds, and often the same."""
    digits = _PAIR.pack(high, low).hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
