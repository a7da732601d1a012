"""The dry run of reconciling projects: what would change, what would be refused, and what is kept."""

from __future__ import annotations

from typing import Any

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.commands.declared import differences
from refdesk.commands.status import status_lines
from refdesk.gateway.bodies import plain
from refdesk.ingest.catalog import wanted_project
from refdesk.projects import ProjectSettings

WIKI = {"name": "wiki", "kind": "push"}
GUIDE = {"name": "guide", "path": "/docs/guide"}


def declared(*sources: dict[str, Any], **fields: Any) -> ProjectSettings:
    return ProjectSettings.model_validate({"sources": sources, **fields})


def running(settings: ProjectSettings, **standing: int) -> dict[str, Any]:
    """What the operator API says of a desk that runs these settings."""
    project = wanted_project("handbook", settings, "made", None)
    project.revision = 7
    for source in project.sources:
        source.standing = standing.get(source.name, 0)  # type: ignore[assignment]
    sources = [{"name": source.name, "listed_count": "1204"} for source in project.sources]
    found = {"project": "handbook", "catalog": plain(project), "ingest": {"sources": sources}}
    return {"projects": [{**found, "stats": {"document_count": "1204"}}]}


def test_nothing_differs_of_what_runs() -> None:
    settings = declared(GUIDE, WIKI, description="How we work", floor={"cosine": 0.5})
    assert differences({"handbook": settings}, running(settings)) == []


def test_what_would_change_is_named() -> None:
    status = running(declared(WIKI, title="Handbook"))
    after = declared({**WIKI, "title": "The wiki"}, GUIDE, title="The handbook", floor={"cosine": 0.5})
    assert differences({"handbook": after, "other": declared(WIKI)}, status) == [
        "project handbook: floor_cosine, title would change",
        "project handbook: source wiki: title would change",
        "project handbook: source guide is new",
        "project other: new, with sources wiki",
    ]


def test_what_is_declared_no_more_is_said_to_be_kept() -> None:
    status = running(declared(GUIDE, WIKI))
    assert differences({"handbook": declared(WIKI)}, status) == [
        "project handbook: source guide is declared no more; its 1,204 documents would be kept until a person lets them go"
    ]
    withdrawn = running(declared(GUIDE, WIKI), guide=pb.SOURCE_STANDING_WITHDRAWN)
    assert differences({"handbook": declared(WIKI)}, withdrawn) == []
    assert differences({}, status) == [
        "project handbook: declared no more; it is still answered from, and nothing follows its 1,204 documents"
    ]


def test_what_ingest_would_refuse_is_said_before() -> None:
    status = running(declared(GUIDE))
    [root] = differences({"handbook": declared({**GUIDE, "path": "/elsewhere"})}, status)
    assert root.startswith("project handbook: refused: source guide of project handbook has the root /docs/guide")
    [model] = differences({"handbook": declared(GUIDE, model="other")}, status)
    assert model.startswith("project handbook: refused: project handbook was indexed with model made")


def test_status_says_that_nothing_follows_a_project() -> None:
    counts = dict.fromkeys(("document_count", "chunk_count", "embedded_count", "embeddable_count"), "2")
    ingest = {"pending_events": "0", "sources": []}
    project = {
        "project": "old",
        "model": "made",
        "stats": counts,
        "ingest": ingest,
        "followed": False,
        "generations": [],
    }
    lines = list(status_lines({"projects": [{**project, "report_count": 0, "reports": []}]}))
    assert "  it is declared no more: it is answered from what it holds, and nothing follows it" in lines
