"""Sessions of the handshake era: ids that the gateway seals itself, and what is remembered of them; knows nothing of MCP's messages.

A session id holds the client's name and version and a random part, sealed with a key that all replicas have, so that any of them reads an
id that another one gave. What must be remembered of a session is in a memory that replicas share where there is one.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from refdesk.errors import InvalidArgument

KEY_BYTES, NONCE_BYTES, RANDOM_BYTES = 32, 12, 12
NAME_CHARACTERS = 60
LASTING_SECONDS = 86_400.0
"""After so long a session is over, and its client begins a new one."""
MOST_REMEMBERED = 100_000


@dataclass(frozen=True, slots=True)
class Session:
    """What an id says: a random part that names the session, and the client as it called itself."""

    name: str
    client_name: str
    client_version: str


class Seal:
    """Makes and reads session ids. `key`: 32 random bytes, the same in every replica."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def give(self, client_name: str, client_version: str, *, now: float | None = None) -> str:
        """A new session's id, of visible ASCII characters."""
        began = int(time.time() if now is None else now)
        parts = [
            secrets.token_hex(RANDOM_BYTES),
            began,
            client_name[:NAME_CHARACTERS],
            client_version[:NAME_CHARACTERS],
        ]
        nonce = secrets.token_bytes(NONCE_BYTES)
        sealed = nonce + self._cipher.encrypt(nonce, json.dumps(parts).encode(), None)
        return base64.urlsafe_b64encode(sealed).decode().rstrip("=")

    def read(self, text: str, *, now: float | None = None) -> Session | None:
        """The session of an id; None where it was not sealed with this key, or is over."""
        try:
            sealed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            plain = self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], None)
        except (ValueError, binascii.Error, InvalidTag):
            return None
        name, began, client_name, client_version = json.loads(plain)
        is_over = (time.time() if now is None else now) - began > LASTING_SECONDS
        return None if is_over else Session(name, client_name, client_version)


class Sessions(Protocol):
    """What is remembered of sessions."""

    async def first(self, session: str, fact: str) -> bool:
        """Whether this is the first time that a fact of a session is asked for; True where that cannot be known."""

    async def forget(self, session: str, fact: str) -> None:
        """The fact did not come about after all: the next one that asks is the first."""


class OwnMemory:
    """Of one process, the newest sessions."""

    def __init__(self, most: int = MOST_REMEMBERED) -> None:
        self._most = most
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    async def first(self, session: str, fact: str) -> bool:
        """True once."""
        key = session, fact
        if key in self._known:
            self._known.move_to_end(key)
            return False
        self._known[key] = None
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return True

    async def forget(self, session: str, fact: str) -> None:
        """As if it had never been asked for."""
        self._known.pop((session, fact), None)


def session_key(file: str) -> bytes:
    """The key of a file's content, the same wherever the content is; without a file a new one, of this process alone.

    Raises: InvalidArgument where the file cannot be read, or holds too little to be secret.
    """
    if not file:
        return secrets.token_bytes(KEY_BYTES)
    try:
        content = Path(file).read_bytes().strip()
    except OSError as error:
        raise InvalidArgument(f"gateway.session_key_file {file} cannot be read: {error.strerror}") from None
    if len(content) < KEY_BYTES:
        raise InvalidArgument(f"gateway.session_key_file {file} must hold {KEY_BYTES} characters or more")
    return hashlib.sha256(content).digest()
