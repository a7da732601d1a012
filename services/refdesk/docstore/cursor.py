"""Opaque page tokens: where a listing goes on, and of which listing it is; knows nothing of what is listed."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence

from refdesk.errors import InvalidArgument

MAX_TOKEN_CHARACTERS = 32_768
"""Room for the longest path, 4 bytes a character."""

WRONG_TOKEN = "page token is not of this project and listing; start again without a page token"

Key = Sequence[str | int | bool]


def encode(scope: Sequence[str], key: Key) -> str:
    """The token of the page that follows `key` in the listing that `scope` names."""
    return base64.urlsafe_b64encode(_dump(scope, key)).decode()


def decode(token: str, scope: Sequence[str], types: Sequence[type]) -> list[str | int | bool] | None:
    """The key in a token, or None for the empty token.

    Raises: InvalidArgument for a token of another scope, or one that we never made.
    """
    if not token:
        return None
    if len(token) > MAX_TOKEN_CHARACTERS:
        raise InvalidArgument(WRONG_TOKEN)
    try:
        found_scope, key = json.loads(base64.b64decode(token, altchars=b"-_", validate=True))
        if found_scope == list(scope) and [type(part) for part in key] == list(types) and _fits(key):
            return list(key)
    except (binascii.Error, ValueError, TypeError, RecursionError):
        pass
    raise InvalidArgument(WRONG_TOKEN)


def _dump(scope: Sequence[str], key: Key) -> bytes:
    return json.dumps([list(scope), list(key)], ensure_ascii=False, separators=(",", ":")).encode()


def _fits(key: Key) -> bool:
    # Half a character (a lone surrogate) raises ValueError here, and an engine's numbers have 64 bits.
    _dump((), key)
    return all(abs(part) < 2**63 for part in key if isinstance(part, int))
