"""How to reach a NATS cluster and be let in, out of settings and secret files; nothing of a secret is in any message."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from refdesk.engines.nats.settings import NatsSettings
from refdesk.errors import InvalidArgument, Unavailable

PLAIN, ENCRYPTED = "nats", "tls"


@dataclass(frozen=True)
class Names:
    """What a service calls its settings of a NATS server, to name them in errors."""

    url: str
    """Such as ingest.events."""
    group: str
    """Such as ingest.nats."""
    also: str = ""
    """What the URL may be besides, such as "file: or "."""


WAYS = ("token_file", "credentials_file", "nkey_file")


def read_servers(url: str, names: Names) -> list[str]:
    """The servers that `nats://HOST:PORT,HOST:PORT` (or tls://) names, each as a URL. Raises: InvalidArgument."""
    scheme, separator, rest = url.partition("://")
    hosts = rest.rstrip("/").split(",")
    if scheme not in (PLAIN, ENCRYPTED) or not separator or not all(hosts):
        raise InvalidArgument(
            f"{names.url} {_shown(url)!r} is not known: use {names.also}nats://host:port, tls:// with TLS"
        )
    servers = [f"{scheme}://{host.removeprefix(f'{scheme}://')}" for host in hosts]
    for server in servers:
        parts = urlsplit(server)
        if parts.username is not None or parts.password is not None:
            raise InvalidArgument(
                f"{names.url} holds a user, a password or a token: name them in {names.group}.user with {names.group}.password_file, "
                f"or in {names.group}.token_file"
            )
        if not parts.hostname or parts.path:
            raise InvalidArgument(f"{names.url} names no host in {server!r}: use nats://host:port,host:port")
    return servers


def check(settings: NatsSettings, names: Names) -> None:
    """Raises: InvalidArgument where settings contradict each other, or a file that they name cannot be read."""
    if bool(settings.user) != bool(settings.password_file):
        raise InvalidArgument(f"set both {names.group}.user and {names.group}.password_file, or neither")
    if bool(settings.certificate_file) != bool(settings.key_file):
        raise InvalidArgument(f"set both {names.group}.certificate_file and {names.group}.key_file, or neither")
    ways = [name for name in ("user", *WAYS) if getattr(settings, name)]
    if len(ways) > 1:
        raise InvalidArgument(f"{' and '.join(f'{names.group}.{name}' for name in ways)} are set: one way in is enough")
    for name in ("password_file", *WAYS):
        if getattr(settings, name):
            _read(settings, names, name, InvalidArgument)


def connect_options(settings: NatsSettings, servers: list[str], names: Names) -> dict[str, Any]:
    """What the client is told besides the servers. Passwords and tokens are read anew at every connection.

    Raises: InvalidArgument naming the setting.
    """
    check(settings, names)
    options: dict[str, Any] = {}
    if settings.user:
        options |= {"user": settings.user, "password": lambda: _read(settings, names, "password_file", Unavailable)}
    if settings.token_file:
        options["token"] = lambda: _read(settings, names, "token_file", Unavailable)
    if settings.credentials_file:
        options["user_credentials"] = str(_path(settings.credentials_file))
    if settings.nkey_file:
        options["nkeys_seed"] = str(_path(settings.nkey_file))
    if settings.ca_file or settings.certificate_file or servers[0].startswith(f"{ENCRYPTED}://"):
        options["tls"] = _tls(settings, names)
    return options


def way_in(settings: NatsSettings, names: Names) -> str:
    """The settings to look at when a server lets nobody in."""
    ways = [name for name in ("user", *WAYS) if getattr(settings, name)]
    if not ways:
        return f"set {names.group}.user and {names.group}.password_file, or another way in"
    return f"check {names.group}.{ways[0]}" + (f" and {names.group}.password_file" if ways == ["user"] else "")


def _tls(settings: NatsSettings, names: Names) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=_named(settings.ca_file))
    except (OSError, ssl.SSLError):
        raise InvalidArgument(
            f"{names.group}.ca_file cannot be read: name a file with CA certificates in PEM"
        ) from None
    if settings.certificate_file:
        try:
            context.load_cert_chain(_path(settings.certificate_file), _path(settings.key_file), password="")
        except (OSError, ssl.SSLError):
            raise InvalidArgument(
                f"{names.group}.certificate_file and {names.group}.key_file cannot be used: name a certificate and its key in PEM"
            ) from None
    return context


def _read(settings: NatsSettings, names: Names, name: str, failure: type[InvalidArgument] | type[Unavailable]) -> str:
    try:
        secret = _path(getattr(settings, name)).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        secret = ""
    if not secret:
        raise failure(f"{names.group}.{name} cannot be read, or is empty: name a file with the secret")
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
