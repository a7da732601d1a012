"""Ids as bytes and sources as ranges of keys, as the tables have them; pure, knows nothing of SQL."""

from __future__ import annotations


def pack_id(identifier: str) -> bytes:
    """The 16 bytes of a UUID; b"" for what is none, and so equals no id that is kept."""
    try:
        packed = bytes.fromhex(identifier.replace("-", ""))
    except ValueError:
        return b""
    return packed if len(packed) == 16 else b""


def unpack_id(packed: bytes) -> str:
    """The UUID that 16 bytes stand for."""
    digits = packed.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def source_range(source: str) -> tuple[str, str]:
    """First folder key of a source, inclusive, and last, exclusive; of every source for ""."""
    return (source, source + "\x02") if source else ("", "\U0010ffff")
