"""The real engines of a test session, each started when the first test asks for it; a test takes names of its own on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import pytest

from servers.nats import NatsProcess
from servers.opensearch import OpenSearchServer
from servers.process import CannotStart

Server = TypeVar("Server", OpenSearchServer, NatsProcess)


@pytest.fixture(scope="session")
def opensearch_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSearchServer]:
    """One OpenSearch node for the whole session, shared: use an index prefix of your own, and never stop it."""
    yield from serve(OpenSearchServer(tmp_path_factory.mktemp("opensearch")))


@pytest.fixture(scope="session")
def nats_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsProcess]:
    """One nats-server for the whole session, shared: use streams of your own, and never stop it."""
    yield from serve(NatsProcess(tmp_path_factory.mktemp("nats")))


def serve(server: Server) -> Iterator[Server]:
    """Starts it for a fixture, which fails with one line where that cannot be; stops it in the end."""
    try:
        server.start()
    except CannotStart as error:
        pytest.fail(str(error), pytrace=False)
    yield server
    server.stop()
