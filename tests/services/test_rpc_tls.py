"""TLS between services over real connections: who has no certificate of the authority, or a name that is not listed, is let in nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from pydantic import ValidationError

from fakes.certificates import Authority
from refdesk import errors
from refdesk.api.embedder.v1 import embedder_pb2 as pb
from refdesk.rpc import deadline, tls
from refdesk.rpc.channel import open_channel
from refdesk.rpc.contract import CONTRACTS
from refdesk.rpc.far import Far
from refdesk.rpc.server import Server
from refdesk.rpc.settings import TlsSettings
from refdesk.rpc.tls import Callers, Certificates

pytestmark = pytest.mark.anyio


def issue(authority: Authority, name: str) -> TlsSettings:
    """A certificate for a component's name, and what names its files."""
    certificate, key = authority.issue(name, name)
    return TlsSettings(certificate_file=str(certificate), key_file=str(key), ca_file=str(authority.ca_file))


def renew(old: TlsSettings, authority: Authority, name: str) -> None:
    """Puts a new certificate of another authority in the place of an old one."""
    new = issue(authority, name)
    for field in ("certificate_file", "key_file", "ca_file"):
        Path(getattr(old, field)).write_bytes(Path(getattr(new, field)).read_bytes())


class Counter:
    """An embedder that counts characters."""

    def not_ready_reason(self) -> str:
        return ""

    async def count_tokens(self, request: pb.CountTokensRequest) -> pb.CountTokensResponse:
        return pb.CountTokensResponse(token_counts=[len(text) for text in request.texts])

    def __getattr__(self, name: str) -> object:
        async def absent(_: object) -> None:
            raise errors.Internal(name)

        return absent


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
async def server(authority: Authority) -> AsyncIterator[Server]:
    callers = Callers({"embedder": ("search.desk.svc", "gateway.desk.svc")})
    own = Certificates(issue(authority, "embedder.desk.svc"))
    server = Server({"embedder": Counter()}, "127.0.0.1:0", own, callers)
    await server.start()
    yield server
    await server.close()


@asynccontextmanager
async def opened(port: int, settings: TlsSettings, host: str = "127.0.0.1") -> AsyncIterator[grpc.aio.Channel]:
    channel = open_channel(f"{host}:{port}", Certificates(settings))
    try:
        yield channel
    finally:
        await channel.close(None)


async def ask(channel: grpc.aio.Channel) -> list[int]:
    embedder: Any = Far(channel, CONTRACTS["embedder"])
    with deadline.limit(10):
        return list((await embedder.count_tokens(pb.CountTokensRequest(texts=["abc"]))).token_counts)


async def ask_until_answered(channel: grpc.aio.Channel) -> list[int]:
    """A channel that was refused tries again after two seconds at most."""
    async with asyncio.timeout(20):
        while True:
            try:
                return await ask(channel)
            except errors.Unavailable:
                await asyncio.sleep(0.1)


async def test_a_caller_that_is_listed_is_answered(server: Server, authority: Authority) -> None:
    async with opened(server.port, issue(authority, "gateway.desk.svc")) as channel:
        assert await ask(channel) == [3]


async def test_a_caller_that_is_not_listed_is_refused_by_name(server: Server, authority: Authority) -> None:
    async with opened(server.port, issue(authority, "docstore.desk.svc")) as channel:
        with pytest.raises(errors.PermissionDenied, match=r"may not be called by .*docstore\.desk\.svc"):
            await ask(channel)


async def test_a_certificate_of_another_authority_gets_no_connection(
    server: Server, authority: Authority, tmp_path: Path
) -> None:
    stranger = issue(Authority(tmp_path, "another"), "gateway.desk.svc")
    trusting = stranger.model_copy(update={"ca_file": str(authority.ca_file)})
    async with opened(server.port, trusting) as channel:
        with pytest.raises(errors.Unavailable):
            await ask(channel)


async def test_without_a_certificate_there_is_no_connection(server: Server, authority: Authority) -> None:
    credentials = grpc.ssl_channel_credentials(authority.ca_file.read_bytes())
    for channel in (
        grpc.aio.insecure_channel(f"127.0.0.1:{server.port}"),
        grpc.aio.secure_channel(f"127.0.0.1:{server.port}", credentials),
    ):
        async with channel:
            with pytest.raises(errors.Unavailable):
                await ask(channel)


async def test_a_server_whose_certificate_has_another_name_is_not_asked(server: Server, authority: Authority) -> None:
    async with opened(server.port, issue(authority, "gateway.desk.svc"), host="localhost") as channel:
        with pytest.raises(errors.Unavailable):
            await ask(channel)


async def test_a_new_certificate_holds_on_both_sides_without_a_restart(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "LOOK_SECONDS", 0.0)
    theirs, ours = issue(authority, "embedder.desk.svc"), issue(authority, "gateway.desk.svc")
    theirs_only = tmp_path / "theirs-ca.pem"
    theirs_only.write_bytes(authority.ca_file.read_bytes())
    theirs = theirs.model_copy(update={"ca_file": str(theirs_only)})
    server = Server({"embedder": Counter()}, "127.0.0.1:0", Certificates(theirs))
    await server.start()
    try:
        async with opened(server.port, ours) as channel:
            assert await ask(channel) == [3]
            following = Authority(tmp_path, "following")
            renew(ours, following, "gateway-next")
            with pytest.raises(errors.Unavailable):  # the server does not know that authority yet
                await ask(channel)
            renew(theirs, following, "embedder-next")
            assert await ask_until_answered(channel) == [3]
    finally:
        await server.close()


async def test_files_in_the_midst_of_a_change_leave_the_ones_before(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "LOOK_SECONDS", 0.0)
    settings = issue(authority, "gateway.desk.svc")
    certificates = Certificates(settings)
    before = certificates.current()
    Path(settings.key_file).write_text("", encoding="utf-8")
    assert certificates.current() == before


def test_a_part_of_the_files_is_refused() -> None:
    with pytest.raises(ValidationError, match="or none of them"):
        TlsSettings(certificate_file="/tls.crt", key_file="", ca_file="")
    with pytest.raises(ValidationError, match="told apart by their certificates"):
        TlsSettings(certificate_file="", key_file="", ca_file="", callers={"embedder": ("search",)})


def test_a_file_that_holds_no_pem_is_named_at_the_start(authority: Authority) -> None:
    settings = issue(authority, "gateway.desk.svc")
    authority.ca_file.write_text("nothing", encoding="utf-8")
    with pytest.raises(errors.InvalidArgument, match=r"rpc\.tls\.ca_file '.*\.pem' holds no PEM"):
        Certificates(settings)
