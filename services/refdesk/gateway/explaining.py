"""Says why a search answered as it did, and why a document is not among its results; never part of an agent's answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.gateway.answers import Question, Trace
from refdesk.gateway.fusion import Fused

LEG_NAMES = {
    search_api.LEG_KIND_LEXICAL: "lexical",
    search_api.LEG_KIND_SEMANTIC: "semantic",
    search_api.LEG_KIND_HYDE: "hyde",
}


def explain(question: Question, trace: Trace) -> dict[str, Any]:
    """What was asked, what each leg gave, how each candidate was ranked, and what the floor decided."""
    profile, kept = question.profile, {hit.chunk_id: place for place, hit in enumerate(trace.kept, start=1)}
    return {
        "generation": question.project.live_generation,
        "model": question.project.model_id,
        "profile": asdict(profile) | {"grouping": profile.grouping.value},
        "filter": {
            "sources": list(question.filter.sources),
            "path_prefix": question.filter.path_prefix,
            "versions": list(question.filter.versions),
            "kinds": list(question.filter.kinds),
        },
        "asked": [{"leg": LEG_NAMES[leg.kind], "text": leg.text, "weight": leg.weight} for leg in question.asked],
        "embedded_share": question.embedded_share,
        "ran": [{"leg": leg.name, "weight": leg.weight, "hits": len(leg.chunk_ids)} for leg in trace.legs.ran],
        "absent": [{"leg": leg.name, "reason": leg.reason, "failed": leg.failed} for leg in trace.legs.absent],
        "mode": trace.legs.mode,
        "floor": _floor(trace),
        "candidates": [_candidate(place, hit, trace, kept) for place, hit in enumerate(trace.fused, start=1)],
    }


def why_not(question: Question, trace: Trace, path: str, item: docstore_api.GetDocumentsItem) -> str:
    """Why a document is not among the results, by the first thing that keeps it out, in one or two sentences."""
    if not item.HasField("document"):
        return f"{path} is not indexed: no document of that path is known"
    document = item.document
    if document.deleted:
        gone = f"; it moved to {item.moved_to}" if item.moved_to else ""
        return f"{path} does not exist any more{gone}"
    if reason := _filtered(question.filter, document):
        return f"{path} was not searched: {reason}"
    head = next((one for one in document.heads if one.generation == question.project.live_generation), None)
    if head is None:
        return f"{path} has no head in generation {question.project.live_generation}: it was not indexed with this model and chunker"
    if not head.chunks:
        return f"{path} holds no text that can be searched"
    return _ranked_out(question, trace, path, head)


def _ranked_out(question: Question, trace: Trace, path: str, head: docstore_api.Head) -> str:
    ours = {chunk.chunk_id for chunk in head.chunks}
    shown = [place for place, hit in enumerate(trace.kept, start=1) if hit.chunk_id in ours]
    if shown:
        good = "" if trace.is_good else ", but the floor refuses the whole answer"
        return f"{path} is result {shown[0]}{good}"
    ranks = ", ".join(_leg_rank(leg.name, leg.chunk_ids, ours) for leg in trace.legs.ran)
    vectors = _vectors(head, ranks)
    fused = [(place, hit) for place, hit in enumerate(trace.fused, start=1) if hit.chunk_id in ours]
    if not fused:
        most = question.profile.kept + question.profile.spare
        return f"{path}: {ranks}; none of its {len(ours)} chunks is among the {most} best when both are fused{vectors}"
    place, hit = fused[0]
    if hit.chunk_id not in trace.chunks:
        return f"{path}: its best chunk was just replaced; ask again"
    last = trace.kept[-1].score if trace.kept else 0.0
    return (
        f"{path}: {ranks}; its best chunk is number {place} of {len(trace.fused)} when fused, and the last of "
        f"{len(trace.kept)} results scores {last:.4f} against its {hit.score:.4f} before documents and sections are weighed{vectors}"
    )


def _vectors(head: docstore_api.Head, ranks: str) -> str:
    if "semantic" not in ranks:
        return ""
    if not head.embeddable:
        return "; the model does not speak its language, so it is found by words alone"
    if head.missing_vectors:
        return f"; {len(head.missing_vectors)} of its chunks have no vector yet"
    return ""


def _leg_rank(name: str, chunk_ids: Sequence[str], ours: set[str]) -> str:
    rank = next((place for place, chunk_id in enumerate(chunk_ids, start=1) if chunk_id in ours), 0)
    return f"{name} rank {rank}" if rank else f"not among the {len(chunk_ids)} hits of {name}"


def _filtered(wanted: search_api.Filter, document: docstore_api.Document) -> str:
    if wanted.sources and document.source not in wanted.sources:
        return f"only sources {', '.join(wanted.sources)} were"
    prefix = wanted.path_prefix.strip("/")
    if prefix and not f"{document.path}/".startswith(f"{prefix}/"):
        return f"only paths below {prefix} were"
    if wanted.versions and document.version not in wanted.versions:
        return f"only versions {', '.join(wanted.versions)} were"
    if wanted.kinds and document.kind not in wanted.kinds:
        return f"only documents of kind {', '.join(wanted.kinds)} were"
    return ""


def _floor(trace: Trace) -> dict[str, Any]:
    limits = asdict(trace.floor) if trace.floor else None
    return {"limits": limits, "evidence": asdict(trace.evidence), "is_good": trace.is_good}


def _candidate(place: int, hit: Fused, trace: Trace, kept: Mapping[str, int]) -> dict[str, Any]:
    ranks = [
        next((rank for rank, chunk_id in enumerate(leg.chunk_ids, start=1) if chunk_id == hit.chunk_id), None)
        for leg in trace.legs.ran
    ]
    chunk = trace.chunks.get(hit.chunk_id)
    return {
        "fused_rank": place,
        "fused_score": hit.score,
        "ranks": [{"leg": leg.name, "rank": rank} for leg, rank in zip(trace.legs.ran, ranks, strict=True)],
        "cosine": trace.legs.cosines.get(hit.chunk_id),
        "coverage": trace.legs.coverages.get(hit.chunk_id),
        "identifier_match": hit.chunk_id in trace.legs.identifier_matches,
        "path": chunk.path if chunk else None,
        "heading": " > ".join(chunk.breadcrumb) if chunk else None,
        "chunk": chunk.ordinal if chunk else None,
        "current": chunk is not None,
        "result": kept.get(hit.chunk_id),
    }
