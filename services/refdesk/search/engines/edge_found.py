"""What a search of vectors found, as it travels from the process that has them: ids as 16 bytes each, scores beside them; pure.

A named tuple a hit, its id a text: building, pickling and reading hundreds of them took a millisecond.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import starmap
from struct import Struct
from typing import NamedTuple

from refdesk.search.engines.interface import Found, ScoredChunk
from refdesk.search.engines.paths import join_id

_ID = Struct(">QQ")


class PackedFound(NamedTuple):
    """`chunks` with whose they are (`owners`) and their scores, and `documents` with theirs; ids of 16 bytes, scores of 8."""

    chunks: bytes = b""
    owners: Sequence[str] = ()
    scores: bytes = b""
    documents: bytes = b""
    document_scores: bytes = b""


def pack_ids(numbers: Iterable[int]) -> bytes:
    """Ids, each as the number that its 128 bits are."""
    return b"".join([number.to_bytes(16) for number in numbers])


def pack_scores(scores: Iterable[float]) -> bytes:
    """Scores with every bit."""
    return array("d", scores).tobytes()


def unpack_found(packed: PackedFound) -> Found:
    """What was found, as engines answer it."""
    chunks = map(ScoredChunk, _read_ids(packed.chunks), packed.owners, array("d", packed.scores))
    return Found(tuple(chunks), dict(zip(_read_ids(packed.documents), array("d", packed.document_scores), strict=True)))


def _read_ids(packed: bytes) -> Iterable[str]:
    return starmap(join_id, _ID.iter_unpack(packed))
