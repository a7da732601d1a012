"""Makes files with secrets; knows nothing of what they open."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def make_once(file: Path, secret: str) -> None:
    """Keeps a secret in a file, readable by its owner alone, whole or not at all; a file that is there stays. Raises: OSError."""
    if file.exists():
        return
    made = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as writing:
            writing.write(secret)
        with contextlib.suppress(FileExistsError):  # another process was quicker
            os.link(made, file)
    finally:
        with contextlib.suppress(OSError):
            made.unlink()
