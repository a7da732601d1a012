"""Lets operators in: by a key of scope admin, or by a secret from a file; knows nothing of what they ask for."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path

import structlog

from refdesk.api.docstore.v1 import docstore_pb2 as pb
from refdesk.desk import ADMIN_KEY
from refdesk.errors import Unauthenticated
from refdesk.gateway.callers import Callers
from refdesk.keys import make_key
from refdesk.secret_files import make_once

LEAST_CHARACTERS = 32
log = structlog.get_logger()


class Admins:
    """Checks the Authorization header of the operator API. Files are read at each call, so that a new secret holds at once."""

    def __init__(self, callers: Callers, files: Sequence[Path]) -> None:
        self._callers = callers
        self._files = files

    async def check(self, authorization: str) -> None:
        """Raises: Unauthenticated, PermissionDenied; Unavailable when a key cannot be looked up."""
        scheme, _, text = authorization.partition(" ")
        if scheme.lower() == "bearer" and self._is_in_a_file(text.strip()):
            return
        if await self._callers.identify(authorization, pb.KEY_SCOPE_ADMIN) is None:
            raise Unauthenticated("the operator API needs a key of scope admin, or a secret of gateway.admin_key_files")

    def _is_in_a_file(self, text: str) -> bool:
        given = hashlib.sha256(text.encode()).digest()
        found = False
        for file in self._files:
            secret = _read(file)
            if len(secret) < LEAST_CHARACTERS:
                continue
            found |= hmac.compare_digest(given, hashlib.sha256(secret.encode()).digest())
        return found


def ensure_admin_key(data: Path) -> Path:
    """The file with the admin's secret of a data folder, made where there is none, readable by its owner alone."""
    path = data / ADMIN_KEY
    make_once(path, f"{make_key()}\n")
    return path


def _read(file: Path) -> str:
    try:
        secret = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        log.warning("an admin key file cannot be read", file=str(file), error=type(error).__name__)
        return ""
    if len(secret) < LEAST_CHARACTERS:
        log.warning("an admin key file is too short and is left out", file=str(file), least_characters=LEAST_CHARACTERS)
    return secret
