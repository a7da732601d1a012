"""The note that a running desk leaves in its data folder, by which commands find it; knows nothing of what a desk does."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from refdesk.errors import InvalidArgument, NotFound

FOLDER = ".refdesk"
NOTE = "desk.json"
ADMIN_KEY = "admin.key"
"""Within the data folder of a desk that can be reached from outside."""
UNNAMED_DATA = Path(FOLDER) / "desk"
"""Where an index lives that no folder of documents names."""


@dataclass(frozen=True)
class Desk:
    """A running desk: its HTTP address without a trailing slash, its process, its data folder."""

    url: str
    pid: int
    data: str

    @property
    def runs(self) -> bool:
        """Whether its process is alive."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


def source_name(folder: Path) -> str:
    """A folder's name as a source's name: letters, digits, `_`, `.` and `-`."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", folder.resolve().name).strip("-.")
    return name[:63] or "documents"


def default_data(folder: Path) -> Path:
    """Where the index of a folder lives by default, below the current folder."""
    digest = sha256(str(folder.resolve()).encode()).hexdigest()[:8]
    return Path(FOLDER) / f"{source_name(folder)}-{digest}"


def write_note(desk: Desk) -> None:
    """Leaves the note, whole or not at all."""
    path = Path(desk.data) / NOTE
    draft = path.with_suffix(".tmp")
    draft.write_text(json.dumps(asdict(desk)) + "\n", encoding="utf-8")
    draft.replace(path)


def remove_note(desk: Desk) -> None:
    """Takes the note away when it is still ours."""
    if read_note(Path(desk.data)) == desk:
        (Path(desk.data) / NOTE).unlink(missing_ok=True)


def read_note(data: Path) -> Desk | None:
    """The note of a data folder, or None."""
    try:
        return Desk(**json.loads((data / NOTE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def find_url() -> str:
    """Address of the desk to ask: REFDESK_URL, else the newest running desk of this folder's data folders.

    Raises: NotFound, saying how to start one; InvalidArgument where REFDESK_URL is no address.
    """
    if url := os.environ.get("REFDESK_URL", ""):
        if not re.match(r"https?://[^/\s]", url):
            raise InvalidArgument(f"REFDESK_URL is {url}: make it an address, such as http://127.0.0.1:8080")
        return url.rstrip("/")
    if desk := _running_desk():
        return desk.url
    raise NotFound("no desk runs here: start one with `make up` (or `refdesk up`), or set REFDESK_URL to its address")


def find_admin_key() -> str:
    """The admin's secret for the desk to ask: REFDESK_ADMIN_KEY, else what a running desk of this folder keeps; "" without one."""
    if given := os.environ.get("REFDESK_ADMIN_KEY", "").strip():
        return given
    desk = None if os.environ.get("REFDESK_URL") else _running_desk()
    try:
        return (Path(desk.data) / ADMIN_KEY).read_text(encoding="utf-8").strip() if desk else ""
    except OSError:
        return ""


def _running_desk() -> Desk | None:
    """The newest running desk of this folder's data folders."""
    notes = sorted(Path(FOLDER).glob(f"*/{NOTE}"), key=lambda path: path.stat().st_mtime, reverse=True)
    desks = (read_note(note.parent) for note in notes)
    return next((desk for desk in desks if desk is not None and desk.runs), None)
