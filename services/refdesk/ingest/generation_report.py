"""Says of each generation of a project what it is followed for, how far it is and what keeps it; knows nothing of how it is built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.api.ingest.v1 import ingest_pb2 as pb
from refdesk.generation import read_name
from refdesk.ingest.catalog import Catalog
from refdesk.ingest.stores import Stores


async def report_generations(
    project: docstore_pb2.Project,
    stores: Stores,
    catalog: Catalog,
    failures: Mapping[str, str],
    declared_model: str,
) -> list[pb.GenerationStatus]:
    """The live one first; `failures` are documents that could not be cut, and why. Raises: Unavailable and the like."""
    found = []
    for name, role, until in _list_roles(project):
        status = _describe(name, role, until, await stores.count(name))
        status.hold_switch = project.hold_switch and role == pb.GENERATION_ROLE_BUILDING
        status.message = catalog.absent_reason(name) or _message(status, project, failures, declared_model)
        found.append(status)
    return found


def _list_roles(project: docstore_pb2.Project) -> Iterator[tuple[str, pb.GenerationRole, int]]:
    yield project.live_generation, pb.GENERATION_ROLE_LIVE, 0
    if project.building_generation:
        yield project.building_generation, pb.GENERATION_ROLE_BUILDING, 0
    for kept in reversed(project.rollback_generations):
        yield kept.generation, pb.GENERATION_ROLE_ROLLBACK, kept.until_milliseconds
    for gone in project.dropped_generations:
        if not gone.dropped_once:  # after that only what a stalled writer may have left is looked for
            yield gone.generation, pb.GENERATION_ROLE_DROPPED, 0


def _describe(
    name: str, role: pb.GenerationRole, until_milliseconds: int, stats: docstore_pb2.GetStatsResponse
) -> pb.GenerationStatus:
    model_id, chunker_version = read_name(name)
    return pb.GenerationStatus(
        generation=name,
        role=role,
        model_id=model_id,
        chunker_version=chunker_version,
        until_milliseconds=until_milliseconds,
        document_count=stats.document_count,
        behind_count=stats.other_generation_count,
        chunk_count=stats.chunk_count,
        embeddable_count=stats.embeddable_count,
        embedded_count=stats.embedded_count,
    )


def _message(
    status: pb.GenerationStatus, project: docstore_pb2.Project, failures: Mapping[str, str], declared_model: str
) -> str:
    if status.role == pb.GENERATION_ROLE_LIVE and declared_model != status.model_id:
        return f"the project is declared with {declared_model}: declare {status.model_id} before that one is followed no more"
    if status.role != pb.GENERATION_ROLE_BUILDING:
        return ""
    if status.behind_count and failures:
        path, reason = next(iter(failures.items()))
        return f"{len(failures):,} documents cannot be cut for it: {path}: {reason}"
    complete = not status.behind_count and status.embedded_count == status.embeddable_count
    if complete and project.hold_switch:
        return "it is complete and held: `refdesk generation switch` has it answer"
    if project.HasField("floor_cosine") and status.model_id != project.model_id:
        return "the project's own floor.cosine belongs to its present model: change it when this one answers"
    return ""
