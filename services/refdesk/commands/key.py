"""Runs the key verbs on a running desk: create, list, rotate, revoke; knows nothing of how keys are kept."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

from refdesk.commands.generation_lines import moment
from refdesk.commands.status import operate
from refdesk.errors import InvalidArgument


def create(fields: Mapping[str, Any]) -> str:
    """The new key, alone on the first line. Raises: InvalidArgument, Unavailable."""
    made = operate("keys", post=True, body=dict(fields))
    return f"{made['key']}\n{_line(made)}\nThe key is shown this once: keep it where its owner keeps secrets."


def list_keys() -> list[str]:
    """A line a key. Raises: Unavailable."""
    return [_line(key) for key in operate("keys")["keys"]] or ["there are no keys"]


def rotate(key_id: str, overlap_hours: int) -> str:
    """The key with its new secret, alone on the first line. Raises: InvalidArgument, NotFound, Unavailable."""
    made = operate(f"keys/{_checked(key_id)}/rotate", post=True, body={"overlap_seconds": overlap_hours * 3600})
    old = f"the old one is good for {overlap_hours} h" if overlap_hours else "the old one is good no more"
    return f"{made['key']}\nThe key is shown this once; {old}."


def revoke(key_id: str) -> str:
    """What became of it. Raises: InvalidArgument, NotFound, Unavailable."""
    return _line(operate(f"keys/{_checked(key_id)}/revoke", post=True))


def _checked(key_id: str) -> str:
    """The id, also of a whole key that somebody pasted. Raises: InvalidArgument."""
    found = re.fullmatch(r"(?:rdk_)?([0-9a-f]{12})(?:_.*)?", key_id.strip())
    if not found:
        raise InvalidArgument("a key's id is 12 hex digits: refdesk key list prints them")
    return found[1]


def _line(key: Mapping[str, Any]) -> str:
    parts = [key["key_id"], key["scope"]]
    if key["project"]:
        parts.append(f"project {key['project']}")
    if key["surfaces"]:
        parts.append(f"surfaces {', '.join(key['surfaces'])}")
    if key["name"]:
        parts.append(f'"{key["name"]}"')
    if key["calls_per_minute"]:
        parts.append(f"{key['calls_per_minute']:,} calls a minute")
    expires = int(key["expires_at_milliseconds"])
    if key["revoked_at_milliseconds"]:
        parts.append(f"revoked {moment(key['revoked_at_milliseconds'])}")
    elif expires:
        parts.append(f"{'expired' if expires <= time.time() * 1000 else 'expires'} {moment(expires)}")
    return "  ".join(parts)
