"""How to reach a NATS cluster and be let in, out of settings and secret files; nothing of a secret is in any message."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from refdesk.errors import InvalidArgument, Unavailable
from refdesk.ingest.events.settings import NatsSettings

URL = "ingest.events"
GROUP = "ingest.nats"
PLAIN, ENCRYPTED = "nats", "tls"
WAYS = ("token_file", "credentials_file", "nkey_file")


def read_servers(url: str) -> list[str]:
    """The servers that `nats://HOST:PORT,HOST:PORT` (or tls://) names, each as a URL. Raises: InvalidArgument."""
    scheme, separator, rest = url.partition("://")
    hosts = rest.rstrip("/").split(",")
    if scheme not in (PLAIN, ENCRYPTED) or not separator or not all(hosts):
        raise InvalidArgument(f"{URL} {_shown(url)!r} is not known: use file: or nats://host:port, tls:// with TLS")
    servers = [f"{scheme}://{host.removeprefix(f'{scheme}://')}" for host in hosts]
    for server in servers:
        parts = urlsplit(server)
        if parts.username is not None or parts.password is not None:
            raise InvalidArgument(
                f"{URL} holds a user, a password or a token: name them in {GROUP}.user with {GROUP}.password_file, "
                f"or in {GROUP}.token_file"
            )
        if not parts.hostname or parts.path:
            raise InvalidArgument(f"{URL} names no host in {server!r}: use nats://host:port,host:port")
    return servers


def check(settings: NatsSettings) -> None:
    """Raises: InvalidArgument where settings contradict each other, or a file that they name cannot be read."""
    if bool(settings.user) != bool(settings.password_file):
        raise InvalidArgument(f"set both {GROUP}.user and {GROUP}.password_file, or neither")
    if bool(settings.certificate_file) != bool(settings.key_file):
        raise InvalidArgument(f"set both {GROUP}.certificate_file and {GROUP}.key_file, or neither")
    ways = [name for name in ("user", *WAYS) if getattr(settings, name)]
    if len(ways) > 1:
        raise InvalidArgument(f"{' and '.join(f'{GROUP}.{name}' for name in ways)} are set: one way in is enough")
    for name in ("password_file", *WAYS):
        if getattr(settings, name):
            _read(settings, name, InvalidArgument)


def connect_options(settings: NatsSettings, servers: list[str]) -> dict[str, Any]:
    """What the client is told besides the servers. Passwords and tokens are read anew at every connection.

    Raises: InvalidArgument naming the setting.
    """
    check(settings)
    options: dict[str, Any] = {}
    if settings.user:
        options |= {"user": settings.user, "password": lambda: _read(settings, "password_file", Unavailable)}
    if settings.token_file:
        options["token"] = lambda: _read(settings, "token_file", Unavailable)
    if settings.credentials_file:
        options["user_credentials"] = str(_path(settings.credentials_file))
    if settings.nkey_file:
        options["nkeys_seed"] = str(_path(settings.nkey_file))
    if settings.ca_file or settings.certificate_file or servers[0].startswith(f"{ENCRYPTED}://"):
        options["tls"] = _tls(settings)
    return options


def way_in(settings: NatsSettings) -> str:
    """The settings to look at when a server lets nobody in."""
    ways = [name for name in ("user", *WAYS) if getattr(settings, name)]
    if not ways:
        return f"set {GROUP}.user and {GROUP}.password_file, or another way in"
    return f"check {GROUP}.{ways[0]}" + (f" and {GROUP}.password_file" if ways == ["user"] else "")


def _tls(settings: NatsSettings) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=_named(settings.ca_file))
    except (OSError, ssl.SSLError):
        raise InvalidArgument(f"{GROUP}.ca_file cannot be read: name a file with CA certificates in PEM") from None
    if settings.certificate_file:
        try:
            context.load_cert_chain(_path(settings.certificate_file), _path(settings.key_file), password="")
        except (OSError, ssl.SSLError):
            raise InvalidArgument(
                f"{GROUP}.certificate_file and {GROUP}.key_file cannot be used: name a certificate and its key in PEM"
            ) from None
    return context


def _read(settings: NatsSettings, name: str, failure: type[InvalidArgument] | type[Unavailable]) -> str:
    try:
        secret = _path(getattr(settings, name)).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        secret = ""
    if not secret:
        raise failure(f"{GROUP}.{name} cannot be read, or is empty: name a file with the secret")
    return secret


def _path(name: str) -> Path:
    return Path(name).expanduser()


def _named(name: str) -> str | None:
    return str(_path(name)) if name else None


def _shown(url: str) -> str:
    """A URL without what may be a secret in it."""
    scheme, separator, rest = url.partition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


Options = Mapping[str, Any]
