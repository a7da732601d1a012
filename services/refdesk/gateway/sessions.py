"""Sessions of the handshake era: ids that the gateway seals itself, and what is remembered of them; knows nothing of MCP's messages.

A session id holds the client's name and version and a random part, sealed with a key that all replicas have, so that any of them reads an
id that another one gave. What must be remembered of a session is in a memory that replicas share where there is one.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
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

from refdesk.errors import InvalidArgument, Unavailable
from refdesk.secret_files import make_once

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

    def start(self) -> None:
        """Begins to remember; returns at once."""

    async def close(self) -> None:
        """Ends; what others share stays."""

    async def first(self, session: str, fact: str) -> bool:
        """Whether this is the first time that a fact of a session is asked for; True where that cannot be known."""

    async def forget(self, session: str, fact: str) -> None:
        """The fact did not come about after all: the next one that asks is the first."""


class OwnMemory:
    """Of one process, the newest sessions."""

    def __init__(self, most: int = MOST_REMEMBERED) -> None:
        self._most = most
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()

    def start(self) -> None:
        """Nothing to do."""

    async def close(self) -> None:
        """Nothing to do."""

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


class Marks(Protocol):
    """Marks that all gateways share, each set once."""

    def start(self) -> None:
        """Begins to connect to where they are; returns at once."""

    async def close(self) -> None:
        """Ends the connection."""

    async def set(self, key: str) -> bool:
        """Whether the mark was not there and is now. Raises: Unavailable."""

    async def clear(self, key: str) -> None:
        """Takes a mark away. Raises: Unavailable."""


class SharedMemory:
    """Of all gateways by marks that they share, and of this one while those cannot be reached."""

    def __init__(self, marks: Marks, own: OwnMemory | None = None) -> None:
        self._marks = marks
        self._own = own or OwnMemory()

    def start(self) -> None:
        """Connects behind."""
        self._marks.start()

    async def close(self) -> None:
        """Ends the connection."""
        await self._marks.close()

    async def first(self, session: str, fact: str) -> bool:
        """True once among all gateways; while the marks cannot be reached, once in this one."""
        if not await self._own.first(session, fact):
            return False
        try:
            return await self._marks.set(_mark(session, fact))
        except Unavailable:
            return True

    async def forget(self, session: str, fact: str) -> None:
        """As if nobody had asked for it."""
        await self._own.forget(session, fact)
        with contextlib.suppress(Unavailable):
            await self._marks.clear(_mark(session, fact))


def _mark(session: str, fact: str) -> str:
    return f"{session}.{fact}"


def ensure_key(file: Path) -> str:
    """The name of a file with a secret, which is made where it is not there: readable by its owner alone, whole or not at all.

    Raises: InvalidArgument where it cannot be made.
    """
    try:
        make_once(file, secrets.token_hex(KEY_BYTES))
    except OSError as error:
        raise InvalidArgument(
            f"a key for session ids cannot be kept in {file}: {error.strerror}; set gateway.session_key_file"
        ) from None
    return str(file)


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
