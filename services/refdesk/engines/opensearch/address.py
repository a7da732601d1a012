"""Reads where a cluster is from a URL, and what proves who we are from files; knows nothing of requests."""

from __future__ import annotations

import base64
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from refdesk.engines.opensearch.settings import OpenSearchSettings
from refdesk.errors import InvalidArgument, Unavailable

PLAIN, ENCRYPTED = "opensearch", "opensearch+tls"
SCHEMES = (PLAIN, ENCRYPTED)
PORT = 9200
FORM = "write opensearch://HOST:PORT, several as HOST:PORT,HOST:PORT, or opensearch+tls:// for TLS"


@dataclass(frozen=True)
class Names:
    """What a service calls its settings of a cluster, to name them in errors."""

    url: str
    """Such as docstore.url."""
    group: str
    """Such as docstore.opensearch."""


@dataclass(frozen=True)
class Address:
    """Where a cluster listens."""

    hosts: tuple[tuple[str, int], ...]
    is_encrypted: bool

    def __str__(self) -> str:
        return ",".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.hosts)


def read_address(url: str, names: Names) -> Address:
    """The nodes that `opensearch://host:port,…` names. Raises: InvalidArgument naming the setting."""
    scheme, _, place = url.partition("://")
    if "@" in place:  # not repeated: it may hold a secret
        raise InvalidArgument(
            f"{names.url} holds a user or a password; name them in {names.group}.user and {names.group}.password_file"
        )
    try:
        hosts = tuple(_read_host(part) for part in place.removesuffix("/").split(","))
    except ValueError:
        raise InvalidArgument(f"{names.url} {url!r} names no cluster; {FORM}") from None
    return Address(hosts, scheme == ENCRYPTED)


def _read_host(text: str) -> tuple[str, int]:
    parts = urlsplit(f"//{text}")
    if not parts.hostname or parts.path or parts.query or parts.fragment:
        raise ValueError(text)
    return parts.hostname, parts.port or PORT


def read_certificates(address: Address, settings: OpenSearchSettings, names: Names) -> ssl.SSLContext | None:
    """What a node's certificate is checked with; None without TLS. Raises: InvalidArgument naming the setting."""
    if not address.is_encrypted:
        if settings.ca_file:
            raise InvalidArgument(
                f"{names.group}.ca_file is set, but {names.url} is not encrypted; write {ENCRYPTED}://"
            )
        return None
    try:
        return ssl.create_default_context(cafile=settings.ca_file or None)
    except (OSError, ssl.SSLError):
        raise InvalidArgument(f"{names.group}.ca_file {settings.ca_file!r} holds no certificates in PEM") from None


class Credentials:
    """The header that proves who we are, made anew when the file with the password changes."""

    def __init__(self, settings: OpenSearchSettings, names: Names) -> None:
        self._user = settings.user
        self._file = Path(settings.password_file).expanduser() if settings.password_file else None
        self._names = names
        self._seen: tuple[int, int, int] | None = None
        self._header: dict[str, str] = {}
        if bool(self._user) != bool(self._file):
            raise InvalidArgument(f"set both {names.group}.user and {names.group}.password_file, or neither")

    def header(self, *, starting: bool = False) -> dict[str, str]:
        """Empty where nobody is named.

        Raises: Unavailable naming the setting where the file cannot be read; with `starting` InvalidArgument.
        """
        if self._file is None:
            return {}
        try:
            status = self._file.stat()
            seen = (status.st_mtime_ns, status.st_ino, status.st_size)
            if seen != self._seen:
                password = self._file.read_text(encoding="utf-8").strip("\r\n")
                encoded = base64.b64encode(f"{self._user}:{password}".encode()).decode()
                self._header, self._seen = {"authorization": f"Basic {encoded}"}, seen
        except (OSError, UnicodeDecodeError):
            failure = InvalidArgument if starting else Unavailable
            raise failure(f"{self._names.group}.password_file cannot be read; name a file with the password") from None
        return self._header
