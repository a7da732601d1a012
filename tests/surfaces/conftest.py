"""Real desks on the same few pages, each started once a session: all in one process, and five processes on OpenSearch and NATS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.stand import stand
from models import build_tiny_model
from system.desks import DeskProcess, running

PAGES = {
    "ops/keys.md": "# Keys\n\nAbout keys.\n\n## Rotation\n\n"
    + "Rotate the signing key with keytool every month. " * 40,
    "ops/pager.md": "# Pager\n\nThe rota changes on Monday.\n\n## Rotation\n\nThe pager goes round by the week.\n",
    "travel.md": "---\ntitle: Travel policy\n---\nBook trains before flights, within HALYARD_DISPATCH_TIMEOUT seconds.\n",
}
DESKS = ("one_process", "five_on_servers")


@pytest.fixture(scope="session")
def pages() -> dict[str, str]:
    """What the desks hold, by path in the folder `handbook`."""
    return PAGES


@pytest.fixture(scope="session")
def one_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskProcess]:
    """`refdesk up` on embedded engines."""
    root = tmp_path_factory.mktemp("one")
    environment = {"REFDESK_GATEWAY__STRUCTURED_OUTPUT": "true"}
    with running(DeskProcess(_write(root), root / "data", build_tiny_model(root / "model"), environment)) as desk:
        desk.wait_until_settled(len(PAGES))
        yield desk


@pytest.fixture(scope="session")
def five_on_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskProcess]:
    """Five processes; records and words on OpenSearch, events on a nats-server."""
    root = tmp_path_factory.mktemp("five")
    with stand(_write(root), root / "data", build_tiny_model(root / "model"), on_opensearch=True) as one:
        yield one.desk


@pytest.fixture(params=DESKS)
def desk(request: pytest.FixtureRequest) -> DeskProcess:
    """Each of the two."""
    found: DeskProcess = request.getfixturevalue(request.param)
    return found


def _write(root: Path) -> Path:
    docs = root / "handbook"
    for name, text in PAGES.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text, encoding="utf-8")
    return docs
