"""Deletes an index that is a folder; knows no engine."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from uuid import uuid4

DROPPED = ".dropped"


def delete_index(root: Path, folder: Path) -> bool:
    """Deletes a folder two levels below `root`, and the one above it where it was the last; whether it was there.

    Renamed first: what is left when this process dies in between is no index any more, and goes with the next one. Raises: OSError.
    """
    for left in root.glob(f"*{DROPPED}"):
        shutil.rmtree(left)
    if not folder.exists():
        return False
    doomed = root / f"{uuid4()}{DROPPED}"
    folder.rename(doomed)
    shutil.rmtree(doomed)
    with contextlib.suppress(OSError):  # others live in it
        folder.parent.rmdir()
    return True
