"""What tests with outside clients share: one desk on every surface."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from system.desks import DeskProcess, running
from system.whole import DOCUMENTS, make_whole_desk


@pytest.fixture(scope="session")
def whole_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeskProcess]:
    """A desk as a process of its own that serves every surface, everything indexed."""
    with running(make_whole_desk(tmp_path_factory.mktemp("whole"))) as desk:
        desk.wait_until_settled(DOCUMENTS)
        yield desk
