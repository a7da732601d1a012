"""What weight the legs of a search have."""

from refdesk.api.search.v1 import search_pb2 as pb
from refdesk.gateway.fusion import fuse
from refdesk.gateway.legs import read_legs
from refdesk.gateway.profiles import DOCS


def result(kind: pb.LegKind, *ids: str) -> pb.LegResult:
    return pb.LegResult(kind=kind, status=pb.LEG_STATUS_RAN, hits=[pb.Hit(chunk_id=one) for one in ids])


def order(share: float, *results: pb.LegResult) -> list[str]:
    return [hit.chunk_id for hit in fuse(read_legs(results).ranked(DOCS, share))]


LEXICAL = result(pb.LEG_KIND_LEXICAL, "words", "second")
SEMANTIC = result(pb.LEG_KIND_SEMANTIC, "meaning")


def test_with_all_vectors_there_meaning_weighs_as_much_as_words() -> None:
    assert order(1.0, LEXICAL, SEMANTIC) == ["meaning", "words", "second"]  # 1/11 each; ties go by the semantic rank


def test_while_few_documents_have_vectors_meaning_cannot_lead() -> None:
    assert order(0.1, LEXICAL, SEMANTIC) == ["words", "second", "meaning"]  # 1/11, 1/12, 0.1/11


def test_meaning_by_itself_keeps_its_weight() -> None:
    scores = [hit.score for hit in fuse(read_legs([SEMANTIC]).ranked(DOCS, 0.1))]
    assert scores == [1 / 11]
