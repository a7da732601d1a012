"""Access keys: how one is made, written, read and recognised; knows nothing of where they are kept or what they open.

A key is `rdk_`, 12 hex digits that name it, `_`, and 256 random bits. Only the secret's SHA-256 is kept: so many random bits cannot be
guessed at any speed, so a slow hash would protect nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

from refdesk.api.docstore.v1 import docstore_pb2 as pb

SECRET_BYTES = 32
ID_BYTES = 6
MOST_SECRETS = 2
_WRITTEN = re.compile(r"rdk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NOBODY = bytes(hashlib.sha256().digest_size)


@dataclass(frozen=True, slots=True)
class Key:
    """A key as its owner has it; never logged, and shown once."""

    key_id: str
    secret: str

    def __str__(self) -> str:
        return f"rdk_{self.key_id}_{self.secret}"

    def __repr__(self) -> str:
        return f"Key({self.key_id}, …)"


def make_key(key_id: str = "") -> Key:
    """A new key, or a new secret for one."""
    return Key(key_id or secrets.token_hex(ID_BYTES), secrets.token_urlsafe(SECRET_BYTES))


def read_key(text: str) -> Key | None:
    """The key that a text is; None where it is none."""
    found = _WRITTEN.fullmatch(text)
    return Key(found[1], found[2]) if found else None


def secret_of(key: Key, until_milliseconds: int = 0) -> pb.KeySecret:
    """What the key is recognised by."""
    return pb.KeySecret(sha256=hashlib.sha256(key.secret.encode()).digest(), until_milliseconds=until_milliseconds)


def opens(key: Key, known: pb.AccessKey | None, now_milliseconds: int) -> bool:
    """Whether a key is the one that is known, and good now. It takes the same time whichever secret differs, and where."""
    digest = hashlib.sha256(key.secret.encode()).digest()
    if known is None:
        hmac.compare_digest(digest, _NOBODY)
        return False
    is_known = False
    for secret in known.secrets:
        is_current = not _is_over(secret.until_milliseconds, now_milliseconds)
        is_known |= hmac.compare_digest(digest, secret.sha256) and is_current
    return (
        is_known and not known.revoked_at_milliseconds and not _is_over(known.expires_at_milliseconds, now_milliseconds)
    )


def rotate(known: pb.AccessKey, key: Key, now_milliseconds: int, overlap_milliseconds: int) -> pb.AccessKey:
    """The key with a new secret; the newest of the old ones opens it for a while longer."""
    rotated = pb.AccessKey()
    rotated.CopyFrom(known)
    old = pb.KeySecret(sha256=known.secrets[-1].sha256, until_milliseconds=now_milliseconds + overlap_milliseconds)
    del rotated.secrets[:]
    rotated.secrets.extend([*([old] if overlap_milliseconds else []), secret_of(key)])
    return rotated


def _is_over(until_milliseconds: int, now_milliseconds: int) -> bool:
    return bool(until_milliseconds) and now_milliseconds >= until_milliseconds
