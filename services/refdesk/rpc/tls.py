"""TLS between services, both ways: what proves who this process is, looked at anew as its files change, and who may call it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import grpc
import structlog

from refdesk.errors import InvalidArgument, PermissionDenied
from refdesk.rpc.settings import TlsSettings

log = structlog.get_logger()

LOOK_SECONDS = 5.0
"""How often files are looked at for a change."""
LEAVE_SECONDS = 120.0
"""Calls on a connection with the certificate before last may take so long."""
SAN, NAME = "x509_subject_alternative_name", "x509_common_name"


@dataclass(frozen=True)
class Material:
    """PEM of a process: its key, its certificate with those between it and the authority, and the authorities."""

    key: bytes
    certificate: bytes
    authorities: bytes


class Certificates:
    """The files of the settings. What was read last holds while they cannot be read, as in the midst of a change."""

    def __init__(self, settings: TlsSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._files = [Path(name) for name in (settings.key_file, settings.certificate_file, settings.ca_file)]
        self._clock = clock
        self._looked_at = clock()
        self._material = self._read()

    def current(self) -> Material:
        """What holds now."""
        if self._clock() - self._looked_at >= LOOK_SECONDS:
            self._looked_at = self._clock()
            try:
                self._material = self._read()
            except InvalidArgument as error:
                log.warning("certificates are kept as they were", reason=error.message)
        return self._material

    def _read(self) -> Material:
        parts = []
        for file, name in zip(self._files, ("key_file", "certificate_file", "ca_file"), strict=True):
            try:
                part = file.read_bytes()
            except OSError:
                part = b""
            if b"-----BEGIN " not in part:
                raise InvalidArgument(f"rpc.tls.{name} {str(file)!r} holds no PEM: name a file that does")
            parts.append(part)
        return Material(*parts)


class RenewedChannel:
    """A channel that is opened anew when our certificate has changed; calls under way finish on the one before."""

    def __init__(self, certificates: Certificates, open: Callable[[grpc.ChannelCredentials], grpc.aio.Channel]) -> None:
        self._certificates = certificates
        self._open = open
        self._material: Material | None = None
        self._channel: grpc.aio.Channel | None = None
        self._renewals = 0
        self._leaving: list[Any] = []

    def unary_unary(self, path: str, **serializers: Any) -> Callable[..., Any]:
        """As a channel's own."""
        made: tuple[int, Any] = (0, None)

        def call(request: Any, **options: Any) -> Any:
            nonlocal made
            channel = self._current()
            if made[0] != self._renewals:
                made = (self._renewals, channel.unary_unary(path, **serializers))
            return made[1](request, **options)

        return call

    async def close(self, grace: float | None = None) -> None:
        """As a channel's own."""
        for leaving in self._leaving:
            leaving.cancel()
        if self._channel is not None:
            await self._channel.close(grace)

    def _current(self) -> grpc.aio.Channel:
        material = self._certificates.current()
        if self._channel is None or material != self._material:
            before, self._channel = self._channel, self._open(_channel_credentials(material))
            self._material = material
            self._renewals += 1
            if before is not None:
                self._leave(before)
        return self._channel

    def _leave(self, channel: grpc.aio.Channel) -> None:
        task = asyncio.ensure_future(channel.close(LEAVE_SECONDS))
        self._leaving = [each for each in self._leaving if not each.done()] + [task]


def server_credentials(certificates: Certificates) -> grpc.ServerCredentials:
    """What a listener shows and asks for; a new certificate holds from the next handshake on."""

    def configuration(material: Material) -> grpc.ServerCertificateConfiguration:
        pair = (material.key, material.certificate)
        return grpc.ssl_server_certificate_configuration([pair], root_certificates=material.authorities)

    shown = certificates.current()

    def fetch() -> grpc.ServerCertificateConfiguration | None:
        nonlocal shown
        material = certificates.current()
        if material == shown:
            return None
        shown = material
        return configuration(material)

    fetched = cast(
        Callable[[], grpc.ServerCertificateConfiguration], fetch
    )  # None: as before, which grpc-stubs do not know
    return grpc.dynamic_ssl_server_credentials(configuration(shown), fetched, require_client_authentication=True)


class Callers:
    """Who may call which component, by the names in their certificates; a component that is not listed lets in all of the authority's."""

    def __init__(self, allowed: Mapping[str, Sequence[str]]) -> None:
        self._allowed = {component: frozenset(names) for component, names in allowed.items()}

    def check(self, component: str, proved: Mapping[str, Iterable[bytes]]) -> None:
        """Raises: PermissionDenied where none of the names that were proved may call `component`."""
        allowed = self._allowed.get(component)
        if allowed is None:
            return
        names = {name.decode("utf-8", "replace") for name in (*proved.get(SAN, ()), *proved.get(NAME, ()))}
        if not names & allowed:
            said = ", ".join(sorted(names)) or "a caller without a name"
            raise PermissionDenied(f"{component} may not be called by {said}: rpc.tls.callers")


def _channel_credentials(material: Material) -> grpc.ChannelCredentials:
    return grpc.ssl_channel_credentials(material.authorities, material.key, material.certificate)
