"""What an address stands for while projects are being declared."""

from __future__ import annotations

from typing import cast

import pytest

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway import catalog as gateway_catalog
from refdesk.gateway.catalog import Catalog
from refdesk.gateway.surfaces.combined import SurfaceTable
from refdesk.gateway.surfaces.interface import Surface
from refdesk.gateway.targets import Targets
from surfaces.fakes import FakeDocstore, FakeEmbedder

pytestmark = pytest.mark.anyio


class Docs:
    """All that an address needs of a surface."""

    always_structured = False


SURFACES = SurfaceTable({"docs": cast(Surface, Docs())}, cast(Surface, Docs()))


class NothingDeclared(FakeDocstore):
    """A catalog without a project, until it has one."""

    async def list_projects(self, request: docstore_api.ListProjectsRequest) -> docstore_api.ListProjectsResponse:
        return docstore_api.ListProjectsResponse(projects=self.others)


def targets_of(docstore: FakeDocstore) -> tuple[Catalog, Targets]:
    catalog = Catalog(docstore, FakeEmbedder(), None, most_seconds=60, read_seconds=1)
    return catalog, Targets(catalog, SURFACES, structured_output=False)


async def test_a_project_that_was_declared_just_now_is_not_denied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_catalog, "ABSENT_SECONDS", 0.0)
    docstore = FakeDocstore(project=docstore_api.Project(slug="handbook"))
    catalog, targets = targets_of(docstore)
    await catalog.projects()
    docstore.others = [docstore_api.Project(slug="new")]
    assert (await targets.resolve("new", "")).project.slug == "new"


async def test_names_that_do_not_exist_keep_docstore_no_busier_than_one_reading_a_tenth_of_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gateway_catalog, "ABSENT_SECONDS", 30.0)
    docstore = FakeDocstore(project=docstore_api.Project(slug="handbook"))
    _, targets = targets_of(docstore)
    for number in range(50):
        with pytest.raises(errors.NotFound):
            await targets.resolve(f"absent{number}", "")
    assert docstore.calls == ["list_projects"]


async def test_before_anything_is_declared_an_address_is_not_wrong_but_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_catalog, "ABSENT_SECONDS", 0.0)
    docstore = NothingDeclared()
    catalog, targets = targets_of(docstore)
    for slug in ("", "handbook"):
        with pytest.raises(errors.Unavailable, match="no project is declared yet"):
            await targets.resolve(slug, "")
    docstore.others = [docstore_api.Project(slug="handbook")]
    assert not await catalog.projects()
    assert (await targets.resolve("", "")).project.slug == "handbook"
