"""A service on an engine that refuses it starts, is not ready, names the setting in one line, changes nothing; mended, it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import pytest
from structlog.testing import capture_logs

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.api.search.v1 import search_pb2 as search_api
from refdesk.app import App
from refdesk.errors import Unavailable
from refdesk.settings import load
from servers.gate import Gate, open_gate
from servers.opensearch import OpenSearchServer

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

WAIT_SECONDS = 15.0
NEWER = {"mappings": {"_meta": {"refdesk": {"version": 99, "min_reader": 98}}}}
INDICES = {"docstore": "{}-records", "search": "{}-words.chunk.handbook.tiny.c1-000000000000"}
"""By the service that has them: what an index of its own is called, without the version behind it."""


@pytest.fixture
async def gate(opensearch_server: OpenSearchServer) -> AsyncIterator[Gate]:
    async with open_gate(opensearch_server.address) as opened:
        yield opened


@pytest.fixture
def prefix() -> str:
    return f"bad{uuid4().hex[:8]}"


@pytest.mark.parametrize("service", INDICES)
async def test_a_wrong_password_keeps_a_service_waiting_and_names_the_setting(
    service: str, gate: Gate, prefix: str, tmp_path: Path
) -> None:
    gate.password, file = "desk:right", tmp_path / "password"
    file.write_text("wrong", encoding="utf-8")
    app = open_app(service, gate, prefix, tmp_path, user="desk", password_file=str(file))
    with capture_logs() as logs:
        await app.start()
        try:
            reason = await refusal(app, service)
            assert (
                f"refuses user 'desk'; check {service}.opensearch.user and {service}.opensearch.password_file" in reason
            )
            file.write_text("right", encoding="utf-8")
            await until(lambda: is_answering(app, service))
        finally:
            await app.close()
    assert "wrong" not in str(logs)


@pytest.mark.parametrize("service", INDICES)
@pytest.mark.parametrize(
    ("body", "why"), [({}, "was not made by refdesk, or only in part"), (NEWER, "was written by a newer release")]
)
async def test_an_index_that_is_half_made_or_newer_keeps_a_service_waiting_and_is_left_as_it_is(
    service: str, body: dict[str, Any], why: str, gate: Gate, prefix: str, tmp_path: Path
) -> None:
    alias = INDICES[service].format(prefix)
    await send(gate, "PUT", f"/{alias}-v1", {**body, "aliases": {alias: {}}})
    before = await send(gate, "GET", f"/{alias}-v1")
    app = open_app(service, gate, prefix, tmp_path)
    await app.start()
    try:
        reason = await refusal(app, service)
        assert f"index {alias}-v1 {why}" in reason
        assert f"set {service}.opensearch.index_prefix to another one" in reason
        assert await send(gate, "GET", f"/{alias}-v1") == before
        assert list(await send(gate, "GET", f"/{prefix}-*?expand_wildcards=all")) == [f"{alias}-v1"]
        await send(gate, "DELETE", f"/{alias}-v1")
        await until(lambda: is_answering(app, service))
    finally:
        await app.close()


def open_app(service: str, gate: Gate, prefix: str, data: Path, **opensearch: str) -> App:
    """The one service, on the engine behind the gate."""
    url = {"docstore": "url", "search": "keyword_url"}[service]
    settings = {url: f"opensearch://{gate.address}", "opensearch": {"index_prefix": prefix, **opensearch}}
    return App(load("", {}, {service: settings}), data, (service,))


async def refusal(app: App, service: str) -> str:
    """What a call fails with; docstore is not ready for the same reason, and search has its vectors still."""
    with pytest.raises(Unavailable) as refused:
        await ask(app, service)
    reason = refused.value.message
    assert "\n" not in reason
    assert app.readiness()[service] == (reason if service == "docstore" else "")
    return reason


async def ask(app: App, service: str) -> None:
    """Something that needs the engine."""
    if service == "docstore":
        await app.services[service].list_projects(docstore_api.ListProjectsRequest())
        return
    listing = search_api.ListEntriesRequest(project="handbook", generation="tiny.c1", engine=search_api.ENGINE_WORDS)
    await app.services[service].list_entries(listing)


async def is_answering(app: App, service: str) -> bool:
    try:
        await ask(app, service)
    except Unavailable:
        return False
    return not app.readiness()[service]


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while not await holds():  # noqa: ASYNC110 - what another task waits for has no event
            await asyncio.sleep(0.05)


async def send(gate: Gate, method: str, path: str, body: object = None) -> Any:
    """The engine's own answer, past the gate."""
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, f"http://{gate.target}{path}", json=body) as answer,
    ):
        assert answer.status == 200, await answer.text()
        return await answer.json()
