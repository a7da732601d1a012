"""Being let in to a NATS server that somebody else runs: TLS, passwords, tokens, NKeys and credentials out of files, on real servers."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import nkeys
import pytest
from structlog.testing import capture_logs

from fakes.certificates import Authority
from fakes.nats_accounts import Accounts, Identity
from fakes.waiting import until
from refdesk.engines.nats.settings import NatsSettings
from refdesk.errors import InvalidArgument, Unavailable
from refdesk.ingest.events.event import ChangeEvent, ChangeType, now
from refdesk.ingest.events.interface import Events
from refdesk.ingest.events.table import events as events_of
from refdesk.ingest.settings import IngestSettings
from servers.nats import NatsProcess

pytestmark = pytest.mark.anyio
Start = Callable[[str], NatsProcess]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server with a configuration, and stops it in the end."""
    started: list[NatsProcess] = []

    def begin(config: str) -> NatsProcess:
        server = NatsProcess(tmp_path / "nats", config)
        server.start()
        started.append(server)
        return server

    yield begin
    for server in started:
        server.stop()


def file(folder: Path, name: str, secret: str | bytes) -> str:
    path = folder / name
    path.write_bytes(secret.encode() if isinstance(secret, str) else secret)
    return str(path)


def events_at(url: str, **settings: object) -> Events:
    nats_settings = NatsSettings.model_validate(settings)
    return events_of(IngestSettings(events=url, events_max_bytes=4_194_304, nats=nats_settings), Path("unused"))


def event(name: str) -> ChangeEvent:
    return ChangeEvent(name, "default", "docs", f"{name}.md", ChangeType.CHANGED, now())


async def go_through(events: Events) -> None:
    """An event in and out again."""
    await events.start()
    await events.publish([event("a")])
    [delivery] = await events.fetch(1, 10)
    assert delivery.event == event("a") or delivery.event.project == "default"
    await delivery.ack()
    await events.close()


async def test_a_user_and_a_password_in_a_file_are_let_in_and_others_are_told_which_settings_to_check(
    start: Start, tmp_path: Path
) -> None:
    server = start('authorization { user: desk, password: "s3cret!" }')
    await go_through(events_at(server.url, user="desk", password_file=file(tmp_path, "password", "s3cret!\n")))
    wrong = events_at(server.url, user="desk", password_file=file(tmp_path, "wrong", "hunter2-wrong"))
    with capture_logs() as logs, pytest.raises(InvalidArgument) as refusal:
        await wrong.start()
    assert refusal.value.message == (
        "the NATS server lets us not in: check ingest.nats.user and ingest.nats.password_file"
    )
    assert "hunter2-wrong" not in str(logs) + str(refusal.value)
    with pytest.raises(InvalidArgument, match=r"set ingest\.nats\.user and ingest\.nats\.password_file"):
        await events_at(server.url).start()


async def test_a_password_that_is_changed_on_both_sides_is_used_from_then_on(start: Start, tmp_path: Path) -> None:
    server = start("authorization { user: desk, password: first }")
    password = file(tmp_path, "password", "first")
    events = events_at(server.url, user="desk", password_file=password)
    await events.start()
    Path(password).write_text("second")
    server.configure("authorization { user: desk, password: second }")
    os.kill(server.process.pid, signal.SIGHUP)  # the server ends the connection of whoever came in with the first
    found: list[str] = []

    async def publish_and_fetch() -> bool:
        """What is under way as the connection ends comes again in its time; what is published then comes at once."""
        try:
            await events.publish([event(f"after {len(found)}")])
            found.extend(one.event.id for one in await events.fetch(1, 0.2) if isinstance(one.event, ChangeEvent))
        except Unavailable:
            return False
        return bool(found)

    try:
        await until(lambda: "Reloaded" in server.process.log.read_text(), 10)
        await until(publish_and_fetch, 30)
    finally:
        await events.close()


async def test_a_token_in_a_file_is_let_in(start: Start, tmp_path: Path) -> None:
    server = start('authorization { token: "t0ken" }')
    await go_through(events_at(server.url, token_file=file(tmp_path, "token", "t0ken")))
    with pytest.raises(InvalidArgument, match=r"check ingest\.nats\.token_file"):
        await events_at(server.url, token_file=file(tmp_path, "wrong", "other")).start()


async def test_an_nkey_in_a_file_is_let_in(start: Start, tmp_path: Path) -> None:
    mine, other = Identity(nkeys.PREFIX_BYTE_USER), Identity(nkeys.PREFIX_BYTE_USER)
    server = start(f"authorization {{ users = [ {{ nkey: {mine.public} }} ] }}")
    await go_through(events_at(server.url, nkey_file=file(tmp_path, "seed", mine.seed)))
    with pytest.raises(InvalidArgument, match=r"check ingest\.nats\.nkey_file"):
        await events_at(server.url, nkey_file=file(tmp_path, "other", other.seed)).start()


async def test_credentials_in_a_file_are_let_in(start: Start, tmp_path: Path) -> None:
    accounts, others = Accounts(), Accounts()
    server = start(accounts.config)
    await go_through(events_at(server.url, credentials_file=file(tmp_path, "ingest.creds", accounts.credentials)))
    with pytest.raises(InvalidArgument, match=r"check ingest\.nats\.credentials_file"):
        await events_at(server.url, credentials_file=file(tmp_path, "other.creds", others.credentials)).start()


async def test_tls_with_an_own_authority_and_a_certificate_of_our_own(start: Start, tmp_path: Path) -> None:
    authority, stranger = Authority(tmp_path), Authority(tmp_path, "stranger")
    certificate, key = authority.issue("server")
    server = start(
        f'tls {{ cert_file: "{certificate}", key_file: "{key}", ca_file: "{authority.ca_file}", verify: true }}'
    )
    url = server.url.replace("nats://", "tls://")
    mine, my_key = authority.issue("ingest")
    ours = {"certificate_file": str(mine), "key_file": str(my_key)}
    await go_through(events_at(url, ca_file=str(authority.ca_file), **ours))
    with pytest.raises(InvalidArgument, match=r"TLS with the NATS server failed: check ingest\.nats\.ca_file"):
        await events_at(url, ca_file=str(stranger.ca_file), **ours).start()
    with pytest.raises((InvalidArgument, Unavailable)):  # without a certificate it is not let in
        await events_at(url, ca_file=str(authority.ca_file)).start()


async def test_several_servers_are_one_cluster_and_one_that_is_away_is_passed_over(start: Start) -> None:
    server = start("max_payload: 1MB")
    await go_through(events_at(f"nats://127.0.0.1:1,{server.url.removeprefix('nats://')}"))


@pytest.mark.parametrize(
    ("url", "settings", "complaint"),
    [
        ("nats://desk:hunter2@127.0.0.1:4222", {}, "ingest.events holds a user, a password or a token"),
        ("nats://t0ken@127.0.0.1:4222", {}, "ingest.events holds a user, a password or a token"),
        ("nats://127.0.0.1:4222,", {}, "is not known"),
        ("nats://127.0.0.1:4222/path", {}, "names no host"),
        ("nats://:4222", {}, "names no host"),
        ("amqp://desk:hunter2@127.0.0.1", {}, r"ingest\.events 'amqp://127\.0\.0\.1' is not known"),
        ("nats://127.0.0.1", {"user": "desk"}, "set both ingest.nats.user and ingest.nats.password_file"),
        ("nats://127.0.0.1", {"key_file": "/k"}, "set both ingest.nats.certificate_file and ingest.nats.key_file"),
        ("nats://127.0.0.1", {"token_file": "/none"}, "ingest.nats.token_file cannot be read"),
        ("nats://127.0.0.1", {"nkey_file": "/dev/null"}, "ingest.nats.nkey_file cannot be read, or is empty"),
        ("nats://127.0.0.1", {"token_file": "/a", "nkey_file": "/b"}, "one way in is enough"),
        ("nats://127.0.0.1", {"ca_file": "/none"}, "ingest.nats.ca_file cannot be read"),
        ("nats://127.0.0.1", {"ca_file": "/dev/null"}, "ingest.nats.ca_file cannot be read"),
        (
            "nats://127.0.0.1",
            {"certificate_file": "/dev/null", "key_file": "/dev/null"},
            "ingest.nats.certificate_file and ingest.nats.key_file cannot be used",
        ),
    ],
)
async def test_settings_that_cannot_work_stop_the_start_by_name_and_without_a_secret(
    url: str, settings: dict[str, str], complaint: str
) -> None:
    with pytest.raises(InvalidArgument, match=complaint) as refusal:
        await events_at(url, **settings).start()
    assert "hunter2" not in refusal.value.message
