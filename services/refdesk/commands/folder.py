"""Prepares the data folder of a desk: makes it, locks it to one process, and writes down what the desk was declared with."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from refdesk.desk import read_note
from refdesk.errors import Unavailable

LOCK = "desk.lock"
DECLARED = "refdesk.yaml"


@contextmanager
def held(data: Path) -> Iterator[None]:
    """Makes the folder and keeps it to this process while the block runs.

    Raises: Unavailable when it cannot be made or another process has it.
    """
    try:
        data.mkdir(parents=True, exist_ok=True)
        handle = os.open(data / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as failure:
        raise Unavailable(
            f"data folder {data} cannot be used ({failure.strerror}): name another with DATA=path"
        ) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            desk = read_note(data)
            who = f" (process {desk.pid}, {desk.url})" if desk else ""
            raise Unavailable(
                f"another desk{who} uses data folder {data}: stop it, or name another with DATA=path"
            ) from None
        yield
    finally:
        os.close(handle)


def write_declared(data: Path, projects: Mapping[str, Any]) -> None:
    """Writes the declared projects as the one file that a desk can be started from again."""
    draft = data / f"{DECLARED}.tmp"
    draft.write_text(
        yaml.safe_dump({"projects": dict(projects)}, sort_keys=False, allow_unicode=True), encoding="utf-8"
    )
    draft.replace(data / DECLARED)
