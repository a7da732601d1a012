"""A request of the handshake era is answered without a session, and to the letter as the SDK's own transport answers it."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from refdesk.api.docstore.v1 import docstore_pb2 as docstore_api
from refdesk.gateway import exchange
from surfaces.desks import Desk, few_documents, handbook, served
from surfaces.fakes import FakeDocstore

HEADERS = {"accept": "application/json, text/event-stream"}
OPENING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
REQUESTS: list[dict[str, Any]] = [
    {"method": "ping", "id": "a text"},
    {"method": "ping", "id": 2**70},
    {"method": "ping", "params": None},
    {"method": "ping", "surplus": 1},
    {"method": "initialize", "params": OPENING},
    {"method": "initialize", "params": {**OPENING, "protocolVersion": "1999-01-01"}},
    {"method": "initialize", "params": {}},
    {"method": "tools/list"},
    {"method": "tools/list", "params": {"cursor": 5}},
    {"method": "tools/call", "params": {"name": "list_topics", "_meta": {"progressToken": 5}}},
    {"method": "tools/call", "params": {"name": "list_topics", "_meta": 5}},
    {"method": "tools/call", "params": {"name": "read_document", "arguments": {"path": "none.md"}}},
    {"method": "tools/call", "params": {"name": "no_such_tool"}},
    {"method": "tools/call", "params": {"name": 5}},
    {"method": "resources/read", "params": {"uri": "contextator://handbook/none.md"}},
    {"method": "completion/complete", "params": {}},
    {"method": "prompts/get", "params": {"name": "x"}},
    {"method": "server/discover"},
    {"method": "no/such/method", "params": {"x": 1}},
]


async def post(http: httpx2.AsyncClient, url: str, message: dict[str, Any]) -> tuple[int, str, str]:
    answer = await http.post(f"{url}/mcp", json={"jsonrpc": "2.0", "id": 1, **message})
    return answer.status_code, answer.headers["content-type"], answer.text


@pytest.mark.anyio
@pytest.mark.parametrize("version", [None, "2025-11-25", "2024-11-05"])
async def test_requests_are_answered_as_the_sdks_transport_answers_them(
    version: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = HEADERS if version is None else {**HEADERS, "mcp-protocol-version": version}
    async with served(Desk().gateway()) as url, httpx2.AsyncClient(headers=headers) as http:
        ours = [await post(http, url, message) for message in REQUESTS]
        monkeypatch.setattr(exchange, "takes", lambda *_: False)
        theirs = [await post(http, url, message) for message in REQUESTS]
    assert ours == theirs


def test_only_requests_of_the_handshake_era_are_taken() -> None:
    ping: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert exchange.takes(None, ping)
    assert exchange.takes("2025-11-25", ping)
    assert not exchange.takes("2026-07-28", ping)
    assert not exchange.takes("1999-01-01", ping)
    assert not exchange.takes(None, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert not exchange.takes(None, {**ping, "error": {"code": 1, "message": "x"}})


class BrokenDocstore(FakeDocstore):
    """A docstore with a defect in it."""

    async def list_documents(self, request: docstore_api.ListDocumentsRequest) -> docstore_api.ListDocumentsResponse:
        raise RuntimeError("a secret")


@pytest.mark.anyio
async def test_a_defect_is_an_error_that_shows_nothing_of_itself() -> None:
    desk = Desk(docstore=BrokenDocstore(few_documents(), handbook()))
    async with served(desk.gateway()) as url, httpx2.AsyncClient(headers=HEADERS) as http:
        status, _, body = await post(http, url, {"method": "resources/list"})
    assert status == 200
    assert '"code":-32603' in body
    assert "secret" not in body
