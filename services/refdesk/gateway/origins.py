"""Decides whether a Host and an Origin header may be answered, against pages that call a desk behind their reader's back."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from refdesk.errors import PermissionDenied

LOOPBACK_NAMES = ("127.0.0.1", "[::1]", "localhost")


class Origins:
    """Loopback's names on any port, and what an operator allows.

    `any_host`: where every caller brings a key, a page that calls a name of its own gains nothing.
    """

    def __init__(self, hosts: Iterable[str] = (), origins: Iterable[str] = (), *, any_host: bool = False) -> None:
        self._any_host = any_host
        self._hosts = frozenset(host.lower() for host in (*LOOPBACK_NAMES, *hosts))
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)

    def allows_host(self, host: str) -> bool:
        """Whether a Host header names this server; an allowed name without a port fits any port."""
        host = host.lower()
        return self._any_host or host in self._hosts or _without_port(host) in self._hosts

    def check_host(self, host: str) -> None:
        """Raises: PermissionDenied for a Host header that is not answered."""
        if not self.allows_host(host):
            raise PermissionDenied("this server does not answer to that Host header")

    def allows_origin(self, origin: str) -> bool:
        """Whether a page from there may call; no Origin header ("") is no page."""
        if not origin or origin.lower() in self._origins:
            return True
        try:
            parts = urlsplit(origin.lower())
            return parts.scheme in ("http", "https") and _without_port(parts.netloc) in LOOPBACK_NAMES
        except ValueError:
            return False


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
