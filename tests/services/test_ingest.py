"""IngestService as its callers hold it, near and far: a real folder and real parsers, with engines in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from fakes.docstore import FakeDocstore
from fakes.embedder import FakeEmbedder
from fakes.events import MemoryEvents
from fakes.search import FakeSearch
from fakes.waiting import until
from refdesk.api.docstore.v1 import docstore_pb2
from refdesk.api.embedder.v1 import embedder_pb2
from refdesk.api.ingest.v1 import ingest_pb2 as pb
from refdesk.api.ingest.v1.ingest_protocol import Ingest
from refdesk.errors import InvalidArgument, NotFound, Unavailable
from refdesk.ingest.service import IngestService
from refdesk.ingest.settings import IngestSettings
from refdesk.projects import ProjectSettings, SourceSettings
from refdesk.rpc.boundary import Near
from refdesk.rpc.channel import open_channel
from refdesk.rpc.contract import CONTRACTS
from refdesk.rpc.far import Far
from refdesk.rpc.server import Server

pytestmark = pytest.mark.anyio
CONTRACT = CONTRACTS["ingest"]
SETTINGS = IngestSettings(outage_seconds=0.1, retry_seconds=0.05, vector_poll_seconds=0.2)


class Desk:
    """What surrounds the service."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.docstore = FakeDocstore()
        self.search = FakeSearch()
        self.embedder = FakeEmbedder()
        self.events = MemoryEvents()

    def projects(self, **changes: object) -> dict[str, ProjectSettings]:
        values: dict[str, object] = {"name": "guide", "path": str(self.folder), "poll_seconds": 1, "language": "en"}
        source = SourceSettings.model_validate({**values, **changes})
        return {"handbook": ProjectSettings(sources=(source,))}

    def service(self, projects: dict[str, ProjectSettings] | None = None) -> IngestService:
        return IngestService(
            SETTINGS, projects or self.projects(), self.docstore, self.search, self.embedder, self.events
        )

    def live(self) -> dict[str, docstore_pb2.Document]:
        return {record.path: record for record in self.docstore.records.values() if not record.deleted}

    def settled(self) -> bool:
        heads = [head for record in self.docstore.records.values() for head in record.heads]
        return all(head.swept and not head.missing_vectors for head in heads)


def page(name: str) -> str:
    return f"# {name}\n\n" + " ".join(f"{name}{number}" for number in range(80))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "docs"
    (folder / "ops").mkdir(parents=True)
    (folder / "a.md").write_text(page("alpha"))
    (folder / "ops/b.md").write_text(page("beta"))
    return Desk(folder)


@pytest.fixture
async def service(desk: Desk) -> AsyncIterator[IngestService]:
    service = desk.service()
    await service.start()
    yield service
    await service.close()


@pytest.fixture(params=["near", "far"])
async def ingest(request: pytest.FixtureRequest, service: IngestService) -> AsyncIterator[Ingest]:
    if request.param == "near":
        yield Near(service, CONTRACT)  # type: ignore[misc]
        return
    server = Server({"ingest": service}, "127.0.0.1:0")
    await server.start()
    async with open_channel(f"127.0.0.1:{server.port}") as channel:
        yield Far(channel, CONTRACT)  # type: ignore[misc]
    await server.close()


def words_current(ingest: Ingest) -> Callable[[], object]:
    async def ask() -> bool:
        return (await ingest.get_status(pb.GetStatusRequest(project="handbook"))).words_current

    return ask


async def test_a_folder_is_published_and_its_status_says_so(desk: Desk, ingest: Ingest) -> None:
    await until(words_current(ingest))  # type: ignore[arg-type]
    assert desk.live().keys() == {"guide/a.md", "guide/ops/b.md"}
    status = await ingest.get_status(pb.GetStatusRequest(project="handbook"))
    assert (status.published_count, status.pending_events) == (2, 0)
    assert [(source.name, source.kind, source.listed_count) for source in status.sources] == [("guide", "folder", 2)]
    await until(desk.settled)
    project = desk.docstore.projects["handbook"]
    assert (project.model_id, list(project.followed_generations)) == ("made", ["made.c1"])


async def test_a_sync_publishes_an_edit_a_new_page_and_a_delete(desk: Desk, ingest: Ingest) -> None:
    await until(words_current(ingest))  # type: ignore[arg-type]
    (desk.folder / "a.md").write_text(page("gamma"))
    (desk.folder / "c.md").write_text(page("delta"))
    (desk.folder / "ops/b.md").unlink()
    await ingest.sync_source(pb.SyncSourceRequest(project="handbook", source="guide"))
    await until(
        lambda: desk.live().keys() == {"guide/a.md", "guide/c.md"} and "gamma" in desk.live()["guide/a.md"].text
    )
    await until(desk.settled)


async def test_a_reconciliation_writes_what_an_engine_lost(desk: Desk, ingest: Ingest) -> None:
    await until(words_current(ingest))  # type: ignore[arg-type]
    await until(desk.settled)
    for record in desk.docstore.records.values():
        record.put_at_milliseconds -= 60_000
    for index in desk.search.indices.values():
        index.clear()
    response = await ingest.reconcile_project(pb.ReconcileProjectRequest(project="handbook"))
    assert (response.record_count, response.republished_count) == (2, 2)
    await until(lambda: desk.settled() and all(len(index) >= 4 for index in desk.search.indices.values()))


async def test_what_is_not_known_is_not_found(ingest: Ingest) -> None:
    with pytest.raises(NotFound, match="project nobody is not followed here"):
        await ingest.get_status(pb.GetStatusRequest(project="nobody"))
    with pytest.raises(NotFound, match="project handbook has no source nothing"):
        await ingest.sync_source(pb.SyncSourceRequest(project="handbook", source="nothing"))
    with pytest.raises(NotFound):
        await ingest.reconcile_project(pb.ReconcileProjectRequest(project="nobody"))


async def test_a_queue_that_is_away_is_unavailable_and_not_an_empty_queue(desk: Desk, ingest: Ingest) -> None:
    desk.events.is_down = True
    with pytest.raises(Unavailable):
        await ingest.get_status(pb.GetStatusRequest(project="handbook"))


async def test_bad_files_are_reported_by_name_and_hold_up_nothing(desk: Desk, service: IngestService) -> None:
    (desk.folder / "latin.md").write_bytes(b"# caf\xe9\n" * 20)
    (desk.folder / "c.md").write_text(page("gamma"))
    await service.sync_source(pb.SyncSourceRequest(project="handbook", source="guide"))
    await until(lambda: "guide/latin.md" in desk.docstore.reports and "guide/c.md" in desk.live())
    puts = desk.docstore.puts
    response = await service.sync_source(pb.SyncSourceRequest(project="handbook", source="guide"))
    assert response.changed_count == 0
    assert desk.docstore.puts == puts
    (desk.folder / "latin.md").write_text(page("latin"))
    await service.sync_source(pb.SyncSourceRequest(project="handbook", source="guide"))
    await until(lambda: "guide/latin.md" in desk.live() and not desk.docstore.reports)


async def test_an_index_of_another_model_stops_the_start_and_names_both(desk: Desk) -> None:
    first = desk.service()
    await first.start()
    await first.close()
    desk.embedder.model = embedder_pb2.Model(model_id="other", dimension=4, window_tokens=250)
    second = desk.service()
    with pytest.raises(InvalidArgument, match=r"model made and is declared with other.*--reindex"):
        await second.start()
    await second.close()


async def test_a_known_source_with_another_root_stops_the_start(desk: Desk, tmp_path: Path) -> None:
    first = desk.service()
    await first.start()
    await first.close()
    (tmp_path / "elsewhere").mkdir()
    second = desk.service(desk.projects(path=str(tmp_path / "elsewhere")))
    with pytest.raises(InvalidArgument, match="source guide of project handbook has the root"):
        await second.start()
    await second.close()


def another_source(desk: Desk) -> dict[str, ProjectSettings]:
    """The project with an empty folder in place of its source."""
    folder = desk.folder.parent / "wiki"
    folder.mkdir()
    wiki = SourceSettings.model_validate({"name": "wiki", "path": str(folder)})
    return {"handbook": ProjectSettings(sources=(wiki,))}


async def test_documents_of_a_source_that_is_declared_no_more_are_kept_until_a_person_lets_them_go(desk: Desk) -> None:
    first = desk.service()
    await first.start()
    await until(lambda: len(desk.live()) == 2 and desk.settled())
    await first.close()
    other = another_source(desk)
    (desk.folder / "a.md").write_text(page("gamma"))
    second = desk.service(other)
    await second.start()

    async def said() -> bool:
        status = await second.get_status(pb.GetStatusRequest(project="handbook"))
        return any("guide is declared no more" in source.message for source in status.sources)

    await until(said)
    with pytest.raises(Unavailable, match="refdesk source sync guide --confirm-deletes"):
        await second.sync_source(pb.SyncSourceRequest(project="handbook", source="guide"))
    await second.reconcile_project(pb.ReconcileProjectRequest(project="handbook"))
    assert "gamma" not in desk.live()["guide/a.md"].text
    assert len(desk.live()) == 2
    await second.sync_source(pb.SyncSourceRequest(project="handbook", source="guide", confirm_deletes=True))
    await until(lambda: not desk.live())
    await second.close()
    third = desk.service(other)
    await third.start()
    status = await third.get_status(pb.GetStatusRequest(project="handbook"))
    assert [source.name for source in status.sources] == ["wiki"]
    await third.close()


async def test_a_source_that_is_declared_again_is_followed_as_before(desk: Desk) -> None:
    for projects in (None, another_source(desk)):
        service = desk.service(projects)
        await service.start()
        await until(lambda: len(desk.live()) == 2 and desk.settled())
        await service.close()
    (desk.folder / "a.md").write_text(page("gamma"))
    again = desk.service()
    await again.start()
    await until(lambda: "gamma" in desk.live()["guide/a.md"].text)
    standing = {source.name: source.standing for source in desk.docstore.projects["handbook"].sources}
    assert standing == {"guide": docstore_pb2.SOURCE_STANDING_UNSPECIFIED}
    await again.close()


async def test_an_engine_that_is_away_at_the_start_is_waited_for_and_named(desk: Desk) -> None:
    desk.embedder.weather.down.add("embedder")
    service = desk.service()
    await service.start()
    assert service.not_ready_reason() == "embedder cannot be reached"
    desk.embedder.weather.down.clear()
    await until(lambda: service.not_ready_reason() == "")
    await until(lambda: len(desk.live()) == 2)
    await service.close()


async def test_a_restart_publishes_only_what_changed_meanwhile(desk: Desk) -> None:
    first = desk.service()
    await first.start()
    await until(lambda: len(desk.live()) == 2 and desk.settled())
    await first.close()
    puts = desk.docstore.puts
    (desk.folder / "a.md").write_text(page("gamma"))
    second = desk.service()
    await second.start()
    await until(lambda: "gamma" in desk.live()["guide/a.md"].text)
    await until(desk.settled)
    await second.close()
    assert desk.docstore.puts == puts + 1


async def test_generations_are_built_listed_gone_back_from_and_dropped(desk: Desk, ingest: Ingest) -> None:
    async def list_roles() -> list[tuple[str, int]]:
        listed = await ingest.list_generations(pb.ListGenerationsRequest(project="handbook"))
        return [(one.generation, one.role) for one in listed.generations]

    async def answers() -> bool:
        return ("made.c2", pb.GENERATION_ROLE_LIVE) in await list_roles()

    await until(words_current(ingest))  # type: ignore[arg-type]
    built = await ingest.build_generation(pb.BuildGenerationRequest(project="handbook", chunker_version=2))
    assert built.generation == "made.c2"
    await until(answers)
    assert await list_roles() == [("made.c2", pb.GENERATION_ROLE_LIVE), ("made.c1", pb.GENERATION_ROLE_ROLLBACK)]
    back = await ingest.roll_back_generation(pb.RollBackGenerationRequest(project="handbook"))
    assert (back.generation, back.previous_generation) == ("made.c1", "made.c2")
    forth = await ingest.switch_generation(pb.SwitchGenerationRequest(project="handbook", generation="made.c2"))
    assert forth.previous_generation == "made.c1"
    dropped = await ingest.drop_generation(pb.DropGenerationRequest(project="handbook", generation="made.c1"))
    assert dropped.generation == "made.c1"
    assert await list_roles() == [("made.c2", pb.GENERATION_ROLE_LIVE), ("made.c1", pb.GENERATION_ROLE_DROPPED)]


async def test_a_generation_call_that_cannot_be_says_why(ingest: Ingest) -> None:
    await until(words_current(ingest))  # type: ignore[arg-type]
    with pytest.raises(NotFound, match="project nobody is not followed here"):
        await ingest.list_generations(pb.ListGenerationsRequest(project="nobody"))
    with pytest.raises(InvalidArgument, match="model nobody is not hosted by the embedder, which hosts made"):
        await ingest.build_generation(pb.BuildGenerationRequest(project="handbook", model_id="nobody"))
    with pytest.raises(InvalidArgument, match="no generation of project handbook is being built"):
        await ingest.switch_generation(pb.SwitchGenerationRequest(project="handbook"))
    with pytest.raises(InvalidArgument, match=r"made\.c1 answers project handbook: switch to another one first"):
        await ingest.drop_generation(pb.DropGenerationRequest(project="handbook", generation="made.c1"))
