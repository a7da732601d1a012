"""What a search of vectors found survives its way between processes."""

from __future__ import annotations

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from refdesk.search.engines.edge_found import PackedFound, pack_ids, pack_scores, unpack_found
from refdesk.search.engines.interface import Found, ScoredChunk

ids = st.uuids().map(str)
scores = st.floats(allow_nan=False)


def test_what_was_never_written_is_nothing() -> None:
    assert unpack_found(PackedFound()) == Found((), {})


@given(st.lists(st.builds(ScoredChunk, ids, ids, scores)), st.dictionaries(ids, scores))
def test_every_id_and_every_bit_of_a_score_arrives_in_order(
    chunks: list[ScoredChunk], documents: dict[str, float]
) -> None:
    packed = PackedFound(
        pack_ids(UUID(chunk.chunk_id).int for chunk in chunks),
        [chunk.document_id for chunk in chunks],
        pack_scores(chunk.score for chunk in chunks),
        pack_ids(UUID(id).int for id in documents),
        pack_scores(documents.values()),
    )
    found = unpack_found(packed)
    assert found == Found(tuple(chunks), documents)
    assert list(found.documents) == list(documents)
