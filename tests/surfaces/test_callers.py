"""Who may call: keys on addresses that are not loopback, what each opens, and what is said to the others."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest

from refdesk import errors
from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.gateway import callers as gateway_callers
from refdesk.gateway.admins import Admins, ensure_admin_key
from refdesk.gateway.callers import Callers
from refdesk.gateway.settings import GatewaySettings
from refdesk.keys import Key, make_key, secret_of
from surfaces.desks import Desk, served
from surfaces.fakes import FakeDocstore

pytestmark = pytest.mark.anyio
OPEN = GatewaySettings(host="0.0.0.0")
ACCEPT = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
NOWHERE = "nothing is served at {}: check the names of the project and of the surface"


class Keys(FakeDocstore):
    """A docstore with keys; `looked_up` counts."""

    def __init__(self, *known: pb.AccessKey, **fields: Any) -> None:
        super().__init__(**fields)
        self.known = {key.key_id: key for key in known}
        self.looked_up = 0

    async def get_keys(self, request: pb.GetKeysRequest) -> pb.GetKeysResponse:
        self._called("get_keys")
        self.looked_up += 1
        return pb.GetKeysResponse(items=[pb.GetKeysItem(key=self.known.get(key_id)) for key_id in request.key_ids])


def request(method: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method}


def known(key: Key, scope: pb.KeyScope = pb.KEY_SCOPE_READ, **fields: Any) -> pb.AccessKey:
    project = {} if scope == pb.KEY_SCOPE_ADMIN else {"project": "handbook"}
    return pb.AccessKey(key_id=key.key_id, scope=scope, secrets=[secret_of(key)], **{**project, **fields})


def bearer(key: Key | str) -> dict[str, str]:
    return {**ACCEPT, "Authorization": f"Bearer {key}"}


def desk_with(*keys: pb.AccessKey) -> Desk:
    desk = Desk(settings=OPEN)
    desk.docstore = Keys(*keys, documents=desk.docstore.documents, project=desk.docstore.project)
    return desk


async def ping(url: str, headers: dict[str, str], path: str = "/mcp") -> httpx2.Response:
    async with httpx2.AsyncClient(headers=headers) as http:
        return await http.post(url + path, json=request("ping"))


async def test_where_the_address_is_not_loopback_a_key_decides() -> None:
    key = make_key()
    async with served(desk_with(known(key)).gateway()) as url:
        assert (await ping(url, bearer(key))).status_code == 200
        assert (await ping(url, bearer(key), "/mcp/handbook/docs")).status_code == 200
        for headers in (
            ACCEPT,
            bearer(make_key()),
            bearer(make_key(key.key_id)),
            bearer("nonsense"),
            {**ACCEPT, "Authorization": f"Basic {key}"},
        ):
            answer = await ping(url, headers)
            assert answer.status_code == 401
            assert answer.headers["WWW-Authenticate"] == 'Bearer realm="refdesk"'
            assert "refdesk key create" in answer.json()["error"]["message"]
            assert key.secret not in answer.text


async def test_on_loopback_nobody_needs_a_key_but_a_wrong_one_is_refused() -> None:
    async with served(Desk().gateway()) as url:
        assert (await ping(url, ACCEPT)).status_code == 200
    desk = desk_with()
    desk.settings = GatewaySettings()
    async with served(desk.gateway()) as url:
        assert (await ping(url, bearer(make_key()))).status_code == 401


@pytest.mark.parametrize("path", ["/mcp/other", "/mcp/handbook/sites", "/mcp/none/docs"])
async def test_what_a_key_may_not_see_is_answered_as_what_does_not_exist(path: str) -> None:
    key = make_key()
    desk = desk_with(known(key))
    other = pb.Project(slug="other", live_generation="g")
    desk.docstore.others = [other]
    async with served(desk.gateway()) as url:
        answer = await ping(url, bearer(key), path)
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == NOWHERE.format(path)


async def test_of_several_projects_a_key_opens_its_own_without_a_name() -> None:
    key = make_key()
    desk = desk_with(known(key, project="second"))
    desk.docstore.others = [
        pb.Project(slug="second", live_generation="g"),
        pb.Project(slug="default", live_generation="g"),
    ]
    async with served(desk.gateway()) as url:
        assert (await ping(url, bearer(key))).status_code == 200
        assert (await ping(url, bearer(key), "/mcp/default")).status_code == 404


async def test_a_key_for_some_surfaces_opens_no_other() -> None:
    key = make_key()
    async with served(desk_with(known(key, surfaces=["notes"])).gateway()) as url:
        for path in ("/mcp", "/mcp/handbook/docs"):
            assert (await ping(url, bearer(key), path)).status_code == 404


@pytest.mark.parametrize("scope", [pb.KEY_SCOPE_PUBLISH, pb.KEY_SCOPE_ADMIN])
async def test_a_key_for_something_else_is_told_so(scope: pb.KeyScope) -> None:
    key = make_key()
    async with served(desk_with(known(key, scope)).gateway()) as url:
        answer = await ping(url, bearer(key))
    assert answer.status_code == 403
    assert "use one for read" in answer.json()["error"]["message"]


async def test_only_a_publishers_key_for_the_project_publishes() -> None:
    reader, publisher = make_key(), make_key()
    desk = desk_with(known(reader), known(publisher, pb.KEY_SCOPE_PUBLISH))
    async with served(desk.gateway()) as url, httpx2.AsyncClient() as http:

        async def publish(project: str, headers: dict[str, str]) -> int:
            answer = await http.post(f"{url}/api/projects/{project}/events", content=b"", headers=headers)
            return answer.status_code

        assert await publish("handbook", {}) == 401
        assert await publish("handbook", bearer(reader)) == 403
        assert await publish("other", bearer(publisher)) == 404
        assert await publish("handbook", bearer(publisher)) == 400  # let in, and no event


async def test_a_key_that_is_revoked_is_refused_once_what_is_believed_of_it_is_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = make_key()
    docstore = Keys(known(key))
    callers = Callers(docstore, OPEN)
    assert await callers.identify(f"Bearer {key}", pb.KEY_SCOPE_READ)
    docstore.known[key.key_id].revoked_at_milliseconds = 1
    monkeypatch.setattr(callers._known, "_most_seconds", 0.0)
    with pytest.raises(errors.Unauthenticated):
        await callers.identify(f"Bearer {key}", pb.KEY_SCOPE_READ)
    assert gateway_callers.BELIEVED_SECONDS <= 1.5  # two seconds are promised, the lookup's own time included


async def test_what_is_known_of_a_key_is_read_once_a_second_and_not_once_a_call() -> None:
    key = make_key()
    docstore = Keys(known(key))
    callers = Callers(docstore, OPEN)
    await asyncio.gather(*(callers.identify(f"bearer {key}", pb.KEY_SCOPE_READ) for _ in range(50)))
    assert docstore.looked_up == 1


async def test_a_key_that_cannot_be_looked_up_is_not_called_wrong() -> None:
    desk = desk_with()
    async with served(desk.gateway()) as url:
        desk.docstore.down = True
        answer = await ping(url, bearer(make_key()))
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "1"
    assert "the key cannot be checked now" in answer.json()["error"]["message"]


async def test_a_key_that_calls_too_often_is_told_when_to_come_again() -> None:
    key = make_key()
    async with served(desk_with(known(key, calls_per_minute=6)).gateway()) as url:
        codes = [(await ping(url, bearer(key))).status_code for _ in range(5)]
        answer = await ping(url, bearer(key))
    assert codes == [200] * 5
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["Retry-After"]) <= 10


async def test_a_name_of_our_own_is_not_asked_for_where_keys_are_and_a_declared_one_is() -> None:
    key = make_key()
    for settings, status in ((OPEN, 200), (GatewaySettings(host="0.0.0.0", allowed_hosts=("docs.example.com",)), 421)):
        desk = desk_with(known(key))
        desk.settings = settings
        async with served(desk.gateway()) as url:
            assert (await ping(url, {**bearer(key), "Host": "desk.example.com"})).status_code == status


async def test_an_admin_is_let_in_by_a_key_or_by_a_secret_in_a_file_that_may_change(tmp_path: Path) -> None:
    key, reader = make_key(), make_key()
    first, second = ensure_admin_key(tmp_path), tmp_path / "second"
    assert first.stat().st_mode & 0o777 == 0o600
    assert ensure_admin_key(tmp_path).read_text() == first.read_text()
    admins = Admins(Callers(Keys(known(key, pb.KEY_SCOPE_ADMIN), known(reader)), OPEN), [first, second])
    await admins.check(f"Bearer {key}")
    await admins.check(f"Bearer {first.read_text().strip()}")
    for wrong, error in (
        ("", errors.Unauthenticated),
        ("Bearer ", errors.Unauthenticated),
        (f"Bearer {reader}", errors.PermissionDenied),
        (f"Bearer {make_key()}", errors.Unauthenticated),
    ):
        with pytest.raises(error):
            await admins.check(wrong)
    second.write_text("short\n")
    with pytest.raises(errors.Unauthenticated):
        await admins.check("Bearer short")
    second.write_text("x" * 32 + "\n")
    await admins.check("Bearer " + "x" * 32)
