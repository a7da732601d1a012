"""Takes a backup of a running desk into a file, and gives it one back; knows nothing of what a backup holds."""

from __future__ import annotations

import gzip
import json
import shutil
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any

from refdesk.commands.status import failed_as, operator_request
from refdesk.errors import AlreadyExists, InvalidArgument, Unavailable

TIMEOUT_SECONDS = 600.0
PIECE_BYTES = 1 << 20


def take_backup(path: Path) -> int:
    """Writes the backup of the running desk to `path`, whole or not at all, and returns its size in bytes.

    Raises: AlreadyExists where there is such a file; NotFound where no desk runs; Unavailable when it stopped halfway.
    """
    if path.exists():
        raise AlreadyExists(f"{path} exists already: name another file")
    part = path.with_name(f"{path.name}.part")
    try:
        with (
            urllib.request.urlopen(operator_request("backup"), timeout=TIMEOUT_SECONDS) as answer,
            gzip.open(part, "wb") as file,
        ):
            shutil.copyfileobj(answer, file, PIECE_BYTES)
    except urllib.error.HTTPError as failure:
        raise failed_as(failure) from None
    except (OSError, HTTPException) as error:
        part.unlink(missing_ok=True)
        raise Unavailable(f"the backup could not be taken: {error}") from None
    part.replace(path)
    return path.stat().st_size


def give_back(path: Path) -> dict[str, Any]:
    """Restores a backup into the running desk; what is there already is left alone. Returns what it did.

    Raises: InvalidArgument where the file is no backup; NotFound where no desk runs; Unavailable.
    """
    request = operator_request("restore", _pieces(path), post=True)
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            return dict(json.load(answer))
    except urllib.error.HTTPError as failure:
        raise failed_as(failure) from None
    except (OSError, HTTPException) as error:
        raise Unavailable(f"the backup could not be restored: {error}; it may be repeated") from None


def _pieces(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path, "rb") as file:
            while piece := file.read(PIECE_BYTES):
                yield piece
    except FileNotFoundError:
        raise InvalidArgument(f"there is no file {path}") from None
    except (gzip.BadGzipFile, EOFError):
        raise InvalidArgument(f"{path} is not a backup of refdesk, or it was cut off") from None
