"""The cluster of these tests, and what they are run by: `make test-cluster`, and `make test-cluster-full` for those marked `full`.

A plain run of pytest leaves them out: they need root, a Debian, Go, and a quarter of an hour the first time.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from cluster.cluster import Cluster
from cluster.desk import Desk
from cluster.images import Images, build_images
from cluster.programs import NEEDED, Programs
from cluster.standing import StandingDesk
from servers.process import CannotStart

WANTED = os.environ.get("REFDESK_TEST_CLUSTER", "")
"""Empty: none of them; `ci`: those that are not marked `full`; `full`: all."""
VOLUMES = 12


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leaves the folder's tests out unless they are asked for."""
    return None if WANTED or not collection_path.name.startswith("test_") else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what only a full run has."""
    if WANTED == "full":
        return
    left_out = [item for item in items if item.get_closest_marker("full")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails shows what the desk's pods were and last said."""
    report = yield
    standing = getattr(item, "funcargs", {}).get("standing")
    if report.failed and isinstance(standing, StandingDesk):
        report.sections.append(("the desk", standing.desk.describe()))
    return report


@pytest.fixture(scope="session")
def images() -> Images:
    """Built once a hash of their sources."""
    try:
        return build_images(Programs(*NEEDED))
    except CannotStart as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def cluster(images: Images, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two nodes with all images, and volumes for claims; shared, so a test takes a namespace of its own."""
    with open_cluster(
        tmp_path_factory.mktemp("cluster"), images.archives, nodes=2, firewall=WANTED == "full"
    ) as cluster:
        cluster.add_volumes(VOLUMES)
        yield cluster


@pytest.fixture(scope="session")
def standing(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> StandingDesk:
    """A desk from the chart that holds some documents; shared, so a test leaves it as it was: whole, on the first values."""
    standing = StandingDesk(Desk(cluster, "desk"), tmp_path_factory.mktemp("desk"))
    standing.install()
    return standing


@contextlib.contextmanager
def open_cluster(folder: Path, archives: tuple[Path, ...], *, nodes: int, firewall: bool) -> Iterator[Cluster]:
    """A cluster with these images, for a fixture, which fails with one line where that cannot be."""
    cluster = Cluster(folder, nodes, firewall=firewall)
    try:
        cluster.start(archives)
        yield cluster
    except CannotStart as error:
        pytest.fail(f"{error}\n{cluster.log_tails()}", pytrace=False)
    finally:
        cluster.stop()
