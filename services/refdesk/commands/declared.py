"""Says what ingest would do with a declared file, without doing it: the dry run of reconciling projects; knows nothing of documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf.json_format import ParseDict

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.errors import InvalidArgument
from refdesk.ingest.catalog import refuse_another_model, refuse_another_root, wanted_project
from refdesk.projects import ProjectSettings

REFUSED = "refused: "
KEPT = ("sources", "revision")
"""Fields of a project that are looked at on their own, or are the catalog's."""


def differences(projects: Mapping[str, ProjectSettings], status: Mapping[str, Any]) -> list[str]:
    """A line for each thing that ingest would change at its start, and for each that it would refuse; `status` is the operator API's."""
    known = {project["project"]: project for project in status["projects"]}
    lines = [line for slug in sorted(projects) for line in _of_project(slug, projects[slug], known.get(slug))]
    for slug in sorted(known.keys() - projects.keys()):
        count = int(known[slug]["stats"]["document_count"])
        lines.append(
            f"project {slug}: declared no more; it is still answered from, and nothing follows its {count:,} documents"
        )
    return lines


def _of_project(slug: str, settings: ProjectSettings, known: Mapping[str, Any] | None) -> Iterator[str]:
    if known is None:
        yield f"project {slug}: new, with sources {', '.join(source.name for source in settings.sources) or 'none'}"
        return
    existing = ParseDict(known["catalog"], pb.Project())
    try:
        refuse_another_model(existing, settings.model or existing.model_id)
        refuse_another_root(existing, settings.sources)
    except InvalidArgument as error:
        yield f"project {slug}: {REFUSED}{error.message}"
        return
    wanted = wanted_project(slug, settings, existing.model_id, existing)
    changed = [name for name in _differing(existing, wanted) if name not in KEPT]
    if changed:
        yield f"project {slug}: {', '.join(changed)} would change"
    yield from (f"project {slug}: {line}" for line in _of_sources(existing, wanted, known["ingest"]["sources"]))


def _of_sources(existing: pb.Project, wanted: pb.Project, followed: list[Mapping[str, Any]]) -> Iterator[str]:
    counts = {source["name"]: int(source["listed_count"]) for source in followed}
    before = {source.name: source for source in existing.sources}
    for source in wanted.sources:
        if source.name not in before:
            yield f"source {source.name} is new"
        elif changed := _differing(before[source.name], source):
            yield f"source {source.name}: {', '.join(changed)} would change"
    for name in before.keys() - {source.name for source in wanted.sources}:
        if not before[name].standing:
            yield f"source {name} is declared no more; its {counts.get(name, 0):,} documents would be kept until a person lets them go"


def _differing(one: Any, other: Any) -> list[str]:
    """Names of the fields in which two messages differ."""
    names = [field.name for field in one.DESCRIPTOR.fields]
    return [name for name in names if _field(one, name) != _field(other, name)]


def _field(message: Any, name: str) -> Any:
    field = message.DESCRIPTOR.fields_by_name[name]
    if field.has_presence and not message.HasField(name):
        return None
    value = getattr(message, name)
    return list(value) if field.is_repeated else value
